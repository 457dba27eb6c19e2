"""The clients that write to the memory and query it, and the ledger of accepted records for the oracles.

good        a turn that must be recorded, exactly once        again    one of them once more, word by word
bad         what must be rejected, with a dead letter         poison   a text at which extraction fails permanently
request     configure, forget: accepted or rejected, never lost
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from bench.simulation.broker import Broker, StoredRecord
from emgas.limits import RECORD_BYTES
from emgas.times import DAY_MS, HOUR_MS
from emgas.wire import CORRELATION_ID, SUBJECT, Headers, ProducerRecord, ReplyAddress, as_mapping, partition_of
from processors.extraction.extractor import Extraction
from state.events.extraction_types import Concept
from streams.settings import WorkerSettings

POISON, FLAKY = "poison", "flaky"
EVE, MALLORY = "eve", "mallory"  # subjects that graphs are shared with
# fmt: off
WORDS = (
    "kettle", "teapot", "garden", "river", "piano", "violin", "harbour",
    "lantern", "meadow", "orchard", "saddle", "thimble", "walnut", "anchor",
    "basket", "candle", "dagger", "engine", "feather", "glacier", "hammer",
    "island", "jacket", "kitchen", "ladder", "market", "needle", "oyster",
)
# fmt: on
BAD = (b"not JSON", b'{"id": 3}', b"", b"\xff\xfe", b'{"id":"x","graph":"other","speaker":"Ada","text":"kettle"}')
HOSTILE: tuple[Headers, ...] = (
    (("emgas.event-offset", b"9" * 5000),),
    (("reply-to", b"\xff\xff"), ("reply-partition", b"9" * 400)),
    (("deadline", b"9" * 400),),
    (("correlation-id", b"\x00" * 2000), ("traceparent", b"\xff")),
)


class WordExtractor:
    """Finds each word as a concept: a fraction of YAKE's time.  Fails at POISON always, at FLAKY every other time."""

    version = "words of the simulation"

    def __init__(self) -> None:
        self._tries = 0

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        words = text.split()
        if POISON in words:
            raise RecursionError("too deep")
        self._tries += FLAKY in words
        if FLAKY in words and self._tries % 2:
            raise ValueError("this time only")
        return _extraction(words)

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        return _extraction(text.split())


def _extraction(words: list[str]) -> Extraction:
    named = sorted({word for word in words if word in WORDS})
    concepts = tuple(Concept(word, word.title(), 1.0, words.count(word)) for word in named)
    return Extraction(concepts, question=False, tokens=len(words))


class Sent(NamedTuple):
    """One record of `turns`: what must become of it, and how its sender knows its outcome."""

    kind: str
    graph: str
    id: str
    correlation: bytes
    subject: str = ""  # on whose behalf; "": of who runs the memory


@dataclass
class Ledger:
    """The records that were accepted.

    sent      (id of the topic, partition, offset) → what it was
    asked     correlation id → the turn that the question wants to be answered behind, None for none
    woken     (graph, when the broker took it, ms) of each question that reinforces
    imported  a graph of old turns alone, to which no one ever tells the time of day
    """

    imported: str
    sent: dict[tuple[str, int, int], Sent] = field(default_factory=dict)
    questions: dict[bytes, int | None] = field(default_factory=dict)
    woken: Counter[tuple[str, int]] = field(default_factory=Counter)


class Client:
    """Writes and asks, as `chance` has it."""

    def __init__(self, broker: Broker, settings: WorkerSettings, chance: Random) -> None:
        self._broker = broker
        self._topics = settings.topics
        self._partitions = settings.partitions
        self._chance = chance
        self._numbers = 0
        self.graphs = list(graphs_of(settings.partitions))
        self.ledger = Ledger(self.graphs[0])
        self._good_turns: list[tuple[str, bytes, str]] = []  # (graph, value, id) of good turns
        self._read_of, self._read = "", 0  # which topic of replies was read, and how far
        self._replies = defaultdict[bytes, list[StoredRecord]](list)  # what is in it, by correlation id
        self._imported = {graph: broker.now() - 400 * DAY_MS for graph in self.graphs[::2]}

    # to write

    def say(self, graph: str | None = None, *, text: str = "") -> Sent:
        """Publish a good turn."""
        graph = graph or self._chance.choice(self.graphs)
        id = f"t{self._number()}"
        speaker = self._chance.choice(["Ada", "Bob"])
        turn: dict[str, Any] = {"id": id, "graph": graph, "speaker": speaker, "text": text or self._text()}
        if graph in self._imported and (graph == self.ledger.imported or self._chance.random() < 0.9):
            self._imported[graph] += round(self._chance.expovariate(1 / (20 * HOUR_MS)))
            turn["at"] = self._imported[graph]
        value = json.dumps(turn).encode()
        self._good_turns.append((graph, value, id))
        return self._publish("good", graph, value, id)

    def say_again(self) -> None:
        if self._good_turns:
            graph, value, id = self._chance.choice(self._good_turns)
            self._publish("again", graph, value, id)

    def say_badly(self, graph: str | None = None) -> Sent:
        """Publish what must be rejected."""
        return self._publish("bad", graph or self._chance.choice(self.graphs), self._chance.choice(BAD), "")

    def say_in_future(self) -> None:
        """Publish a good turn that claims to be of another century."""
        graph, id = self._chance.choice(self.graphs[1::2]), f"t{self._number()}"
        at = self._broker.now() + self._chance.choice([40, 4000, 40_000]) * DAY_MS
        value = json.dumps({"id": id, "graph": graph, "speaker": "Ada", "text": self._text(), "at": at}).encode()
        self._publish("good", graph, value, id)

    def say_poison(self) -> None:
        graph, id = self._chance.choice(self.graphs[1:]), f"p{self._number()}"
        text = {"id": id, "graph": graph, "speaker": "Ada", "text": f"{POISON} {self._text()}"}
        self._publish("poison", graph, json.dumps(text).encode(), id)

    def say_much(self, size: int = RECORD_BYTES + 1) -> None:
        """Publish a record that is too large."""
        self._publish("bad", self._chance.choice(self.graphs), b"x" * size, "")

    def request(self) -> None:
        """Configure a graph, or have it forget something."""
        graph, id = self._chance.choice(self.graphs), f"r{self._number()}"
        fields: dict[str, Any] = self._chance.choice(
            [
                {"kind": "configure", "preset": self._chance.choice(["default", "forgetful", "mofox"])},
                {"kind": "configure", "settings": {"half_life": 10**9, "grace": 0, "least_turns": 2}},
                {"kind": "forget", "concepts": [self._chance.choice(WORDS)]},
            ]
        )
        self._publish("request", graph, json.dumps({"id": id, "graph": graph, **fields}).encode(), id)

    def be_hostile(self) -> None:
        """Publish a good turn, a question and a change with headers that mean harm."""
        headers = self._chance.choice(HOSTILE)
        graph, id = self._chance.choice(self.graphs[1:]), f"t{self._number()}"
        value = json.dumps({"id": id, "graph": graph, "speaker": "Eve", "text": self._text()}).encode()
        self._append(self._topics.turns, graph, value, headers, Sent("good", graph, id, b""))
        self._append(
            self._topics.queries, graph, b'{"kind":"query","graph":"%s","text":"kettle"}' % graph.encode(), headers
        )
        self._append(self._topics.changes, graph, b"{}", headers)

    # to ask

    def ask(self, graph: str | None = None, **query: Any) -> bytes:
        """Ask a graph; return the correlation id."""
        graph = graph or self._chance.choice(self.graphs)
        correlation = b"q%d" % self._number()
        self.ledger.questions[correlation] = query.get("after")
        if query.get("reinforce") and graph not in self._imported:  # those have a clock of their own
            self.ledger.woken[graph, self._broker.now()] += 1
        value = json.dumps({"kind": "query", "graph": graph, "text": self._text(), **query}).encode()
        self._append(self._topics.queries, graph, value, self._address(correlation, 20_000))
        return correlation

    def ask_something(self) -> None:
        """Ask, in one way or another."""
        kinds: list[dict[str, Any]] = [
            {},
            {"reinforce": True},
            {"as_of": self._broker.now() - self._chance.choice([0, 300, 390]) * DAY_MS},
            {"after": self._chance.choice([0, 5, 50])},
            {"explain": True},
        ]
        self.ask(**self._chance.choice(kinds))

    def answer(self, correlation: bytes) -> dict[str, Any] | None:
        """Return the latest answer to a question or outcome of a turn, None if there is none yet."""
        replies = self.told(correlation)
        return replies[-1] if replies else None

    def told(self, correlation: bytes) -> list[dict[str, Any]]:
        """Return all replies to a request, in the order of the topic."""
        topic = self._broker.topics.get(self._topics.replies)
        if topic is None:
            return []
        if topic.id != self._read_of:
            self._read_of, self._read, self._replies = topic.id, 0, defaultdict(list)
        for each in topic.logs[0].stored[self._read :]:
            self._replies[_correlation(each)].append(each)
        self._read = topic.logs[0].end
        return [_message(each) for each in self._replies.get(correlation, ())]

    def answers(self) -> dict[bytes, dict[str, Any]]:
        """Return all answers, also those in deleted topics: correlation id → the first one."""
        topics = [*self._broker.gone, *self._broker.topics.values()]
        records = [each for topic in topics if topic.plan.name == self._topics.replies for each in topic.logs[0].stored]
        return {_correlation(each): _message(each) for each in reversed(records)}

    # how

    def _publish(self, kind: str, graph: str, value: bytes, id: str, subject: str = "") -> Sent:
        correlation = b"c%d" % self._number()
        sent, headers = Sent(kind, graph, id, correlation, subject), self._address(correlation, 60_000)
        named = ((SUBJECT, subject.encode()),) if subject else ()
        self._append(self._topics.turns, graph, value, (*headers, *named), sent)
        return sent

    def _append(self, name: str, graph: str, value: bytes, headers: Headers, sent: Sent | None = None) -> None:
        topic = self._broker.topics.get(name)
        if topic is None:  # a client would wait
            return
        partition = partition_of(graph, self._partitions)
        receipt = self._broker.append(ProducerRecord(name, graph.encode(), value, headers, partition), "client")
        if sent is not None:
            self.ledger.sent[topic.id, partition, receipt.offset] = sent

    def _address(self, correlation: bytes, patience: int) -> Headers:
        return ReplyAddress(self._topics.replies, 0, correlation).headers(self._broker.now() + patience)

    def _text(self) -> str:
        words = self._chance.choices(WORDS, k=self._chance.randint(2, 6))
        return " ".join([*words, FLAKY] if self._chance.random() < 0.03 else words)

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers


class Keeper(Client):
    """Tells graphs of its own, which it shares with EVE and MALLORY, and has them changed, taken back and erased.

    No one is in the right to have more done than they may: each request may be rejected, and none may be lost.
    """

    def __init__(self, broker: Broker, settings: WorkerSettings, chance: Random, ledger: Ledger) -> None:
        super().__init__(broker, settings, chance)
        self.graphs = list(graphs_of(settings.partitions, name="kept"))
        self.ledger = ledger
        self._imported = {}
        self._numbers = 10**6  # its ids are its own
        self._events: Counter[str] = Counter()  # of each graph, about so many

    def do_something(self) -> None:
        """Send a turn (the most frequent choice) or another command, on behalf of a random client."""
        doing = [self.say_as, self.erase, self.undo, self.grant, self.revoke, self.configure, self.forget]
        action = self._chance.choices(doing, [12, 3, 4, 3, 2, 1, 2])[0]
        action(self._chance.choice(self.graphs), subject=self._chance.choice(["", "", EVE, MALLORY]))

    def say_as(self, graph: str, subject: str = "") -> None:
        """Publish a turn; of a subject it may be rejected."""
        if not subject:
            self.say(graph)
            self._events[graph] += 1
            return
        self._ask_for(graph, subject, speaker=subject, text=self._text())

    def say_many(self, graph: str, count: int) -> None:
        """Publish many short turns."""
        for _ in range(count):
            self.say(graph, text=self._chance.choice(WORDS))
        self._events[graph] += count

    def erase(self, graph: str, subject: str = "") -> None:
        """Request the erasure of one turn, of all turns of a speaker, or of a whole graph."""
        ids = [id for name, _, id in self._good_turns if name == graph]
        what: list[dict[str, Any]] = [{"turn": self._chance.choice(ids)}] * 6 if ids else []
        what += [{"speaker": self._chance.choice(["Ada", EVE])}, {"whole": True}]
        self._ask_for(graph, subject, kind="erase", **self._chance.choice(what))

    def erase_turn(self, graph: str) -> None:
        """Request the erasure of one of the newest turns, if there is any."""
        ids = [id for name, _, id in self._good_turns if name == graph][-6:]
        if ids:
            self._ask_for(graph, "", kind="erase", turn=self._chance.choice(ids))

    def undo(self, graph: str, subject: str = "") -> None:
        """Request that some of the newest events are undone."""
        first = max(0, self._events[graph] - self._chance.randint(-3, 6))
        last = self._chance.choice([first, first, first + 1, first + 3, None])
        self._ask_for(graph, subject, kind="undo", first=first, last=last)

    def grant(self, graph: str, subject: str = "") -> None:
        """Request some rights for a subject."""
        self._ask_for(graph, subject, kind="grant", subject=self._chance.choice([EVE, MALLORY]), rights=self._rights())

    def revoke(self, graph: str, subject: str = "") -> None:
        """Request that some rights of a subject are revoked."""
        self._ask_for(graph, subject, kind="revoke", subject=self._chance.choice([EVE, MALLORY]), rights=self._rights())

    def fight(self, graph: str) -> None:
        """Grant EVE to forget and to write, revoke the second, and let her try to take that back."""
        self._ask_for(graph, "", kind="grant", subject=EVE, rights=["read", "write", "forget"])
        self._ask_for(graph, "", kind="revoke", subject=EVE, rights=["write", "admin"])
        about = self._events[graph]
        for first in range(max(0, about - 6), about + 6):
            self._ask_for(graph, EVE, kind="undo", first=first, last=first)
        self._ask_for(graph, EVE, speaker=EVE, text=self._text())

    def configure(self, graph: str, subject: str = "") -> None:
        """Request another preset for a graph."""
        self._ask_for(graph, subject, kind="configure", preset=self._chance.choice(["default", "forgetful"]))

    def forget(self, graph: str, subject: str = "", *, everything: bool = False) -> None:
        """Request that a graph forgets one word, or everything."""
        what = {"everything": True} if everything else {"concepts": [self._chance.choice(WORDS)]}
        self._ask_for(graph, subject, kind="forget", **what)

    def _rights(self) -> list[str]:
        return self._chance.sample(["read", "write", "forget", "admin"], self._chance.randint(1, 3))

    def _ask_for(self, graph: str, by: str, /, **request: Any) -> None:
        id = f"k{self._number()}"
        self._publish("request", graph, json.dumps({"id": id, "graph": graph, **request}).encode(), id, by)
        self._events[graph] += 1


def _correlation(stored: StoredRecord) -> bytes:
    return as_mapping(stored.record.headers).get(CORRELATION_ID, b"")


def _message(stored: StoredRecord) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(stored.record.value)
    return message


def graphs_of(partitions: int, each: int = 2, name: str = "graph") -> Iterator[str]:
    """Yield `each` graph names for every partition."""
    names = [f"{name}{number}" for number in range(100 * partitions)]
    for partition in range(partitions):
        yield from [name for name in names if partition_of(name, partitions) == partition][:each]
