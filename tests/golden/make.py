"""Make the golden log of the schema version that this EMGAS writes: `python -m tests.golden.make`.

It is written by the real pipeline on an embedded log, from a made-up conversation, over some months that pass in a
moment.  It holds every kind of event, and all that a graph can go through:

    demo, demo-zh   the conversation of `emgas demo`, imported: English and Chinese, with times; topics; undo
    garden          forgetful, with settings of its own: weeks of talk that end decay, session and tumbling windows
    mornings        a habit, what is history since another turn, and a photo
    sieve           with gates, clauses and dreams: what is not counted, linked by frequency and in the night
    notices         a turn with an origin, which expires; a quota
    kitchen         live: said as the clock stands, near-duplicates, a late turn, one from the future, then silence
    vault, ashes    some of one graph, and all of another, is erased
    attic           the vault, received under another name; the vault leaves then, and the ashes stay
    a log between two lives: exported, restored elsewhere, where it goes on, with a model of text embeddings

A version's folder that is there is left alone: once released, a log never changes.

    --check     folds every golden log, and compares: for other Pythons and machines than the tests run on
    --digests   writes only the digests of every golden log anew: after the layout of graphs was raised
                (state/graph/codec.py), which changes all of them
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy
from msgspec.structs import replace

from emgas import Turn
from emgas.client import switches
from emgas.messages.advice import Advice
from emgas.messages.fields import Attachment
from emgas.messages.rights import Grant, Quota, Revoke
from emgas.messages.sessions import EndSession
from emgas.messages.transfer import Move
from emgas.messages.turns import Feedback, Pin, Undo, Unpin
from emgas.messages.views import Habits
from emgas.times import DAY_MS as DAY
from emgas.times import HOUR_MS as HOUR
from emgas.times import MINUTE_MS as MINUTE
from emgas.wire import Record
from replay.transfer import Transferred, folded, messages, restamped, survey
from state.events.events import (
    UNSTAMPED,
    ConceptsRecalled,
    DecayWindowClosed,
    MemoryArchived,
    MemoryRestored,
    RecordSkipped,
    Sealed,
    SubjectErased,
    Ticked,
    TurnsLost,
    decode,
    encode,
)
from state.events.upcasting import VERSION
from streams.settings import WorkerSettings
from streams.worker import service
from tests.support.cli import ROOT, emgas
from tests.support.fakes import ListReader
from tests.support.golden import VERSIONS, as_lines, digests, expected, folder, golden, schema
from tests.support.pipeline import Pipeline, settings_for
from tests.support.transports import sqlite_transport
from tests.support.weeks import FIRST_WEEK, talk

CONVERSATION = ROOT / "streams" / "cli" / "memory" / "demo_data" / "conversation.jsonl"
WINTER = 1_766_000_000_000  # 2025-12-17T19:33:20Z, ms: after the conversation, and gone when anyone reads this
KITCHEN = (
    "We bake sourdough bread every Friday evening.",
    "The blue oven dish is in the cellar.",
    "Grandma's plum cake needs four eggs and cinnamon.",
    "We bake sourdough bread every Friday evening!",
    "Tomorrow the plumber comes because of the dripping tap.",
)

SIEVED = (
    "The ferry to the island leaves at noon, because the harbour freezes at night.",
    "The island has a volcano. Its ash feeds the garden of the old monastery.",
    "The ferry to the island leaves at noon.",
    "haha",
    "Monks sell honey from the garden, and the roses smell of smoke.",
    "In the spring the harbour is full of herring.",
)
VAULT = (
    ("vault", "The emerald lies in the vault behind the painting."),
    ("vault", "The painting shows a lighthouse and the emerald sea."),
    ("vault", "Nobody knows who painted the lighthouse."),
    ("ashes", "These letters are to be burned."),
)
MOVES = (("vault", ("begin", "finish")), ("ashes", ("begin", "cancel")))


class Story:
    """What happens in a memory, and the clock of its worker."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self.now = WINTER
        service.now_ms = lambda: self.now
        service.writer_name = lambda: "golden"  # not the name of this machine

    async def tell(self) -> None:
        """Live through everything once."""
        memory = self.pipeline.memory
        for line in CONVERSATION.read_text(encoding="utf-8").splitlines():
            await memory.record(json.loads(line))
        await memory.configure(
            "garden", "forgetful", least_turns=2, recall_boost=0.75, weights={"match": 2.5}, steady_growth=0.2
        )
        for turn in talk(["garden"], weeks=8):
            await memory.record(turn)
        await self.kitchen()
        await self.mornings()
        await self.sieve()
        await self.expire()
        await self.pipeline.restart()
        await self.change_our_minds()
        await self.disturb()

    async def kitchen(self) -> None:
        memory = self.pipeline.memory
        await memory.configure("kitchen", "mofox", duplicate_above=0.6, least_turns=2)
        for day in range(4):
            for number, text in enumerate(KITCHEN):
                await self.say(f"k{day}-{number}", text, self.now)
                self.now += MINUTE
            self.now += DAY
        await memory.query("kitchen", "who bakes sourdough bread?", reinforce=True)
        await self.say("late", "Last week the cellar was flooded.", WINTER - 10 * DAY)
        await self.say("early", "One day we shall have a larger kitchen.", self.now + 300 * DAY)
        self.now += 20 * DAY
        await self.timer("kitchen").tick(self.now)

    async def mornings(self) -> None:
        """Let something recur, with an exception; say how things are, and otherwise; send a photo from elsewhere."""
        memory = self.pipeline.memory
        await memory.configure("mornings", "elephant", least_turns=4, timezone="Europe/Berlin")
        for day in range(12):
            text = "No latte today, the café is closed." if day == 7 else "A latte at the corner café."
            at = WINTER + day * DAY
            await memory.record(Turn(id=f"m{day}", graph="mornings", speaker="Ada", text=text, session=f"{day}", at=at))
        photo = Attachment(uri="photos/harbour.png", mime="image/png", kind="image", caption="Boats in the harbour")
        for number, (text, attached) in enumerate(
            (("I live in Berlin.", []), ("I live in Lisbon now.", []), ("Look at this!", [photo]))
        ):
            at, there = WINTER + (20 + number) * DAY, {"timezone": "Europe/Lisbon" if number else "Europe/Berlin"}
            fields = {"text": text, "attachments": attached, "metadata": there, "session": f"h{number}"}
            await memory.record(Turn(id=f"h{number}", graph="mornings", speaker="Ada", at=at, **fields))

    async def sieve(self) -> None:
        """Let gates leave out what is said again and what is small talk; recall, consolidate and dream."""
        memory = self.pipeline.memory
        gates = {"novelty_above": 0.35, "worth_words": 2, "clauses": 1, "least_turns": 2, "habit_members": 0}
        linking = {
            "dream_every": DAY,
            "dream_at": 3 * HOUR,
            "dream_steps": 3,
            "frequent_linked": 2,
            "recall_spread": 0.5,
        }
        await memory.configure("sieve", "elephant", **gates, **linking)
        for number, text in enumerate(SIEVED):
            at = WINTER + number * DAY // 2
            await memory.record(
                Turn(id=f"s{number}", graph="sieve", speaker="Ada", text=text, session=f"{number}", at=at)
            )
            if number == 1:
                await memory.query("sieve", "the ferry", reinforce=True)

    async def expire(self) -> None:
        """Read something on the web that is true for a week, and talk on."""
        memory, facts = self.pipeline.memory, {"graph": "notices", "speaker": "Ada"}
        notice = {"origin": "web", "expires_at": WINTER + 7 * DAY}
        await memory.record({"id": "n0", "text": "The tram is free this week.", "at": WINTER, **notice, **facts})
        await memory.record({"id": "n1", "text": "The tram costs again.", "at": WINTER + 8 * DAY, **facts})

    async def change_our_minds(self) -> None:
        memory = self.pipeline.memory
        await memory.record(Turn(id="demo-001", graph="demo", speaker="Mei", text="Another text under a known id."))
        await memory.record(json.loads(CONVERSATION.read_text(encoding="utf-8").splitlines()[0]))
        await memory.query("demo", "what is the cat called?", reinforce=True)
        await memory.query("demo-zh", "味道", reinforce=True)
        await memory.forget("demo", concepts=["biscuit"], turns=["demo-007"], sessions=["2025-01-18"])
        await memory.forget("garden", concepts=["basil"])
        await memory.send(Feedback(graph="demo", turns=["demo-010"], value=1, query="what is the cat called?"))
        await memory.send(Feedback(graph="demo", turns=["demo-011", "demo-012"], value=-0.5))
        await memory.send(Pin(graph="demo", concepts=["cat"], turns=["demo-010"]))
        await memory.send(Pin(graph="garden", concepts=["tomato"]))
        await memory.send(Unpin(graph="demo", turns=["demo-010"]))
        await self.share()
        await self.undo("demo", 3)
        await self.undo("demo", 1)
        await self.undo("demo-zh", 2)
        await memory.configure("demo-zh", "memorybank")
        await memory.configure("demo", "elephant", long_recalls=1)
        await memory.query("demo", "what is the cat called?", reinforce=True)

    async def share(self) -> None:
        """Talk in conversations that end, with somebody else, and now and then off the record."""
        memory = self.pipeline.memory
        await memory.configure("talks", end_sessions=1, topic_shift=0.1)
        for number, text in enumerate(KITCHEN):
            facts = {"graph": "talks", "speaker": "Ada", "at": self.now + number * MINUTE, "session": f"s{number // 2}"}
            await memory.record({"id": f"talk-{number}", "text": text, **facts})
        await memory.send(EndSession(graph="talks", session="s0"))
        await switches.pause(memory, "talks")
        await memory.record({"id": "unheard", "graph": "talks", "speaker": "Ada", "text": "Nobody shall know."})
        await switches.resume(memory, "talks")
        await memory.record(
            {"id": "later", "graph": "talks", "speaker": "Ada", "text": "Hello.", "at": self.now + HOUR}
        )
        await self.advise()
        await memory.send(Grant(graph="talks", subject="planner", rights=["read", "write"]))
        await memory.send(Revoke(graph="talks", subject="planner", rights=["write"]))

    async def advise(self) -> None:
        """Let an advisor say something of each kind, beside what the memory has of its own."""
        memory = self.pipeline.memory
        themes = {graph: (await memory.describe(graph)).themes for graph in ("demo", "demo-zh", "kitchen", "garden")}
        named, (theme, *_) = next((graph, theme) for graph, theme in themes.items() if theme)
        habit = (await memory.send(Habits(graph="mornings"))).habits[0]
        words = f"{habit.text.swapcase()} So it goes."
        for graph, advised in (
            (named, {"named": {"theme": theme.id, "name": "What it is about"}}),
            (
                "talks",
                {"summary": {"session": "s0", "topic": "Baking", "summary": "Ada bakes sourdough bread on Fridays."}},
            ),
            ("talks", {"judged": {"turn": "talk-4", "worth": 0.2, "keywords": ["plumber"]}}),
            ("talks", {"split": {"turn": "talk-2", "parts": [{"start": 0, "end": 20}, {"start": 20, "end": 49}]}}),
            (
                "talks",
                {"rewritten": {"turn": "talk-1", "text": "In the cellar the dish is.", "role": "a sage"}},
            ),
            ("talks", {"rated": [{"source": "blue", "target": "cellar", "rating": 0.75}]}),
            ("mornings", {"rewritten": {"habit": habit.id, "text": words}}),
        ):
            outcome = await memory.send(Advice(graph=graph, by="golden advisor 1", **advised))
            if outcome.status != "accepted":
                sys.exit(f"advice was to be recorded: {outcome.reason}")

    async def disturb(self) -> None:
        """Append what workers once wrote and operators write; a record twice, and one of a writer that was replaced."""
        timer = self.timer("garden")
        async with timer.lock:
            end, graph = FIRST_WEEK + 100 * DAY, self.pipeline.graph("garden")
            assert graph is not None
            words, turns = list(graph.concepts.numbers), list(graph.passages.numbers)
            there = {"graph": "garden", "at": end, **UNSTAMPED}
            await timer.append(
                [
                    Ticked(**there),
                    DecayWindowClosed(concepts=words[:1], turns=turns[:1], **there),
                    MemoryArchived(concepts=words[1:4], turns=turns[1:4], links=[words[4:8]], **there),
                    MemoryRestored(concepts=words[1:2], turns=turns[1:2], **there),
                    RecordSkipped(offset=0, sha256="0" * 64, reason="made up", **UNSTAMPED),
                ]
            )
        place = self.pipeline.place("garden")
        *_, last = await self.records(place)
        for _ in range(2):
            await self.pipeline.produce(self.pipeline.topics.events, last.key, last.value, place)
            await self.pipeline.restart()
        await self.erase()

    async def erase(self) -> None:
        """Append what erases, in graphs that are in clear: no keys are needed to fold this log.

        What is sealed is by nobody who owned the partition.
        """
        for number, (graph, text) in enumerate(VAULT):
            turn = Turn(id=f"v{number}", graph=graph, speaker="Ada", text=text, at=self.now)
            await self.pipeline.memory.record(turn)
        await self.pipeline.memory.query("vault", "which emerald?", reinforce=True)
        recalled = (await self.events("vault"))[-1]
        assert isinstance(recalled, ConceptsRecalled)
        instead = [(4, encode(replace(recalled, concepts=recalled.concepts[1:])))]
        erased = {"turns": ["v0"], "events": [(1, 1), (4, 4)], "instead": instead, "keys": ["0123456789abcdef"]}
        for event in (
            SubjectErased(graph="vault", whole=False, **erased, **UNSTAMPED),
            SubjectErased(graph="ashes", whole=True, keys=[], turns=[], events=[], instead=[], **UNSTAMPED),
        ):
            timer = self.timer(event.graph)
            async with timer.lock:
                await timer.append([event])
        sealed = Sealed(epoch=0, claim="", seq=0, chain="", graph="vault", key="0123456789abcdef", n=7, body=b"sealed")
        place = self.pipeline.place("vault")
        await self.pipeline.produce(self.pipeline.topics.events, b"vault", encode(sealed), place)
        await self.pipeline.restart()
        await self.move()

    async def move(self) -> None:
        """Let a graph with an erasure be received under another name, and leave; another one stays."""
        memory, place = self.pipeline.memory, self.pipeline.place("vault")
        log = ListReader([await self.records(number) for number in range(place + 1)])
        known = await survey(log, place, "vault")
        assert known is not None
        digest = await folded(restamped(log, known, "attic"), "attic")
        what = Transferred("attic", known.origin, known.events, digest, is_encrypted=False)
        sent = [message async for message in messages(restamped(log, known, "attic"), what)]
        leaves = {"to": "embedded:/elsewhere"}
        vault, ashes = ([Move(graph=graph, phase=phase, **leaves) for phase in phases] for graph, phases in MOVES)
        for number, request in enumerate([*sent, *vault, *ashes]):
            outcome = await memory.send(request.model_copy(update={"id": f"move-{number}"}))
            if outcome.status != "accepted":
                sys.exit(f"a graph was to move: {outcome.reason}")
        await memory.send(Quota(id="quota-0", graph="notices", turns=9))
        turn = {"id": "counted", "graph": "notices", "speaker": "Ada", "text": "Nine more notices may hang here."}
        await memory.record({**turn, "at": self.now})

    async def events(self, graph: str) -> list[Any]:
        events = [decode(record.value) for record in await self.records(self.pipeline.place(graph))]
        return [event for event in events if getattr(event, "graph", None) == graph]

    async def go_on(self) -> None:
        """Let happen what happens in the restored log."""
        for graph in ("demo", "demo-zh", "garden", "kitchen"):
            await self.pipeline.memory.record(
                {"id": "after", "graph": graph, "speaker": "Mei", "text": "We moved house yesterday.", "at": self.now}
            )
        await self.undo("garden", 1)
        await self.undo("garden", 1)
        self.now += HOUR
        timer = self.timer("garden")
        async with timer.lock:
            source = self.pipeline.app.ownership.writers[self.pipeline.place("garden")].state.position.source
            await timer.append([TurnsLost(src=source + 5, first=source + 1, last=source + 5, **UNSTAMPED)])

    async def say(self, id: str, text: str, at: int) -> None:
        turn = Turn(id=id, graph="kitchen", speaker="Ada", text=text, at=at, metadata={"source": "golden", "n": 1.5})
        outcome = await self.pipeline.memory.record(turn)
        assert outcome.status == "accepted", outcome

    async def undo(self, graph: str, count: int) -> None:
        """Take back the last `count` events of a graph."""
        contents = self.pipeline.graph(graph)
        assert contents is not None
        outcome = await self.pipeline.memory.send(Undo(graph=graph, first=contents.events - count))
        assert outcome.status == "accepted", outcome

    def timer(self, graph: str) -> Any:
        return self.pipeline.app.ownership.timers[self.pipeline.place(graph)]

    async def records(self, partition: int) -> list[Record]:
        return await self.pipeline.records(self.pipeline.topics.events, partition)


def settings(data: Path, embedder: Path | None = None) -> WorkerSettings:
    return settings_for(data, "emgas", None, tick_seconds=3600.0, embedder=embedder)


def model(data: Path) -> Path:
    """Return the path of a tiny table of word vectors, made in `data`."""
    path = data / "tiny.npz"
    numpy.savez(path, words=numpy.array(["house", "yesterday"]), vectors=numpy.array([[1.0, 0.5], [0.25, -1.0]]))
    return path


async def golden_records(data: Path, again: bool) -> list[list[Record]]:
    """Tell the story, or what comes after it, on the log in `data`; return that log."""
    keys = settings(data).keys_directory
    assert keys is not None
    keys.mkdir(parents=True)
    (keys / "lock").touch()  # a directory of keys that are lost: what `erase` destroys was never there
    async with sqlite_transport(settings(data).home) as transport:
        story = Story(Pipeline(settings(data, model(data) if again else None), transport))
        async with story.pipeline as pipeline:
            await (story.go_on() if again else story.tell())
            return [await story.records(partition) for partition in range(pipeline.partitions)]


def made() -> list[list[Record]]:
    """Return a log that was told, exported, restored elsewhere, and told on."""
    with tempfile.TemporaryDirectory() as directory:
        first, second, backup = Path(directory, "1"), Path(directory, "2"), Path(directory, "backup.jsonl")
        asyncio.run(golden_records(first, again=False))
        emgas(first, "export", "--out", str(backup))
        emgas(second, "import", str(backup))
        return asyncio.run(golden_records(second, again=True))


def write_digests(version: int) -> None:
    text = json.dumps(digests(golden(version)), indent=2)
    (folder(version) / "digests.json").write_text(text + "\n")


def check() -> None:
    """Exit unless every golden log folds to its digests here."""
    for version in VERSIONS:
        if digests(golden(version)) != expected(version):
            sys.exit(f"version {version} folds to other digests here")
        print(f"version {version} folds to its digests (Python {platform.python_version()}, numpy {numpy.__version__})")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden.make", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only fold the logs that are there, and compare")
    parser.add_argument("--digests", action="store_true", help="only the digests of the logs that are there")
    options = parser.parse_args()
    if options.check:
        check()
    elif options.digests:
        for version in VERSIONS:
            write_digests(version)
    else:
        make()


def make() -> None:
    """Write the folder of this version."""
    if folder(VERSION).exists():
        sys.exit(f"{folder(VERSION)} is there: if version {VERSION} was never released, remove it first")
    partitions = made()
    folder(VERSION).mkdir()
    (folder(VERSION) / "log.ndjson").write_bytes(as_lines(partitions))
    (folder(VERSION) / "schema.json").write_text(json.dumps(schema(), indent=1, sort_keys=True) + "\n")
    write_digests(VERSION)
    print(f"wrote {folder(VERSION)}: {sum(map(len, partitions))} records")


if __name__ == "__main__":
    main()
