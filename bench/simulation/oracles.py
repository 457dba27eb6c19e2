"""Invariants that must hold after every run, whatever faults it had.  Each complaint is a violation.

Safety of the final log, checked by rules that are independent of the fold:

    fold        each live state is the fold of its log, from nothing: the owner's, a standby's and a reader's
    zombie      what counts was written by the process whose claim is the latest before it
    rights      no request on behalf of a subject gives it a right, unless it had the right to give rights
    erased      no key opens what was erased; and a branch of the log has its rights and its turns
    accounted   the records of `turns` are accounted for in order, but what `TurnsLost` tells, which is gone
    once        no turn is recorded twice; what was said well is recorded, not rejected; what was not, is rejected;
                what was told to be accepted is recorded; no question reinforces twice.  Where `turns` was made again, a
                worker may take its records for the old one's until the next tick: either may be what it judged
    letter      what was rejected is in dead-letters
    told        what a window decided is in changes, and nothing else does; every question gets an answer or a refusal,
                and every turn an outcome, if its worker lived on, and no other claimed the partition next
    time        no turn counts as said later than its worker could know; an imported graph gets no time of day

Liveness is checked in the running world (world.py).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from bench.simulation.branching import unlike
from bench.simulation.broker import Broker, Log
from bench.simulation.clients import Client, Sent
from emgas.errors import HaltedError
from emgas.times import DAY_MS
from emgas.wire import Record, TopicNames, as_mapping
from processors.extraction.extractor import Extractor
from replay.log import LogReader
from replay.skipped_records import instead_of
from replay.verify.counted_turns import CountedTurns
from state.errors import UnreadableEventError
from state.events.events import (
    AnyEvent,
    Claim,
    ConceptsRecalled,
    DataEvent,
    GraphEvent,
    Sealed,
    SubjectErased,
    TurnRecorded,
    TurnRejected,
    TurnsLost,
    WindowEvent,
    decode,
    source_of,
)
from state.log_position import Acceptance
from state.partition import Partition
from state.sealing.graph_key import DEPTH, GraphKey
from state.sealing.keyring import NO_KEYS, Keyring
from state.store.store import MemoryStore

LAST = (1 << DEPTH) - 1  # ordinal that a graph can have


class CountedEvent(NamedTuple):
    """An accepted event, its writer, the owner of the claim before it, and the id of its topic `turns`."""

    offset: int
    event: DataEvent
    writer: str
    owner: str
    source_topic: str
    is_first: bool  # of its topic: reading starts at its beginning


class FoldedLog(NamedTuple):
    """A partition's log, folded from nothing.  `digests`: at chosen watermarks; `claims`: (offset, writer)."""

    digest: str
    watermark: int
    counted: list[CountedEvent]
    digests: dict[int, str]
    seized: list[str]  # rights that a subject took without permission
    claims: list[tuple[int, str]]


class Lagging(NamedTuple):
    """The fold of a partition by a standby or a reader."""

    name: str
    partition: int
    watermark: int
    digest: str


class WholeLog:
    """A LogReader of what is in a partition, whatever a broker shows of it."""

    def __init__(self, log: Log, keys: Keyring = NO_KEYS) -> None:
        self._log = log
        self.graph_keys = keys

    async def partitions(self) -> int:
        return 1

    async def bounds(self, partition: int) -> tuple[int, int]:
        return 0, self._log.end

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        yield [stored.record for stored in self._log.stored[start:end]]


def event_time(event: DataEvent) -> int:
    """Return the time of an event, ms; 0 if it has none."""
    at: int = getattr(event, "at", 0)
    return at


async def folded(
    log: Log, end: int, keys: Keyring, chosen: Collection[int], subject_of: Callable[[int, str], str]
) -> FoldedLog:
    """Fold a partition of `events` up to before offset `end`, or a bit on, to what is `chosen`.  Raises HaltedError.

    subject_of  tells on whose behalf the record of a topic `turns` at an offset came
    """
    state, reader, counted = Partition(MemoryStore(), graph_keys=keys), WholeLog(log, keys), list[CountedEvent]()
    owner, topic, is_first, digests, seized = "", "", True, dict[int, str](), list[str]()
    claims = list[tuple[int, str]]()
    for stored in log.stored[:end]:
        events, value = await _read(reader, stored.record)
        before, subject, rights = state.position, "", frozenset[str]()
        if isinstance(events, GraphEvent) and (source := source_of(events)) is not None:
            subject = subject_of(source, topic)
            rights = rights_of(state, events.graph, subject)
        event, acceptance = state.fold(stored.record.offset, value)
        if stored.record.offset in chosen:
            digests[stored.record.offset] = state.digest()
        if subject and isinstance(event, GraphEvent) and "admin" not in rights and acceptance is Acceptance.ACCEPTED:
            gained = rights_of(state, event.graph, subject) - rights
            seized += [
                f"rights: event {stored.record.offset}, {type(event).__name__}, gives {subject} {sorted(gained)}"
            ] * bool(gained)
        if isinstance(event, Claim):
            owner = stored.writer
            claims.append((stored.record.offset, owner))
            is_first |= state.position.source < before.source
            topic = state.position.source_topic
        elif acceptance is Acceptance.ACCEPTED:
            assert isinstance(event, DataEvent)
            counted.append(CountedEvent(stored.record.offset, event, stored.writer, owner, topic, is_first))
            is_first &= source_of(event) is None
    return FoldedLog(state.digest(), state.position.watermark, counted, digests, seized, claims)


RIGHTS = frozenset({"read", "write", "forget", "admin"})


def rights_of(state: Partition, graph_id: str, subject: str) -> frozenset[str]:
    """Return the rights of a subject in a graph: all rights if the graph has granted none to anyone."""
    graph = state.graph(graph_id)
    return RIGHTS if graph is None or not graph.access else frozenset(graph.access.get(subject, ()))


async def _read(reader: LogReader, record: Record) -> tuple[AnyEvent, bytes]:
    try:
        return decode(record.value), record.value
    except UnreadableEventError as error:
        skipping = await instead_of(reader, 0, record, error)
        return decode(skipping.value), skipping.value


class Oracle:
    """Looks at one run.

    latest_ms  no turn may count as said later
    tail_lost  whether some partition's events lost their end
    replying   the processes that live, and could tell each outcome
    """

    def __init__(
        self,
        broker: Broker,
        topics: TopicNames,
        client: Client,
        *,
        keys: Keyring,
        latest_ms: int,
        tail_lost: bool,
        replying: Collection[str] = (),
    ) -> None:
        self._broker = broker
        self._topics = topics
        self._ledger = client.ledger
        self._answers = client.answers()
        self._keys = keys
        self._latest_ms = latest_ms
        self._imported_until = broker.now() - 100 * DAY_MS
        self._tail_lost = tail_lost
        self._replying = replying
        self._turns = {
            topic.id: topic for topic in [*broker.gone, *broker.topics.values()] if topic.plan.name == topics.turns
        }
        self._letters = set(_letters(broker, topics))

    async def complaints(self, partition: int, live: Partition, lagging: Sequence[Lagging] = ()) -> list[str]:
        """List what is wrong with a partition's live state `live`, and with the states of processes that follow it."""
        log = self._broker.log(self._topics.events, partition)
        watermarks = {it.watermark for it in lagging}
        try:
            folded_log = await folded(
                log, live.position.watermark + 1, self._keys, watermarks, partial(self._subject, partition)
            )
        except HaltedError as error:
            return [f"fold: partition {partition} cannot be folded: {error}"]
        complaints = [*self._all(partition, live, folded_log), *folded_log.seized, *self._unequal(lagging, folded_log)]
        return [f"partition {partition}: {each}" for each in [*complaints, *self._readable(folded_log.counted, live)]]

    def _subject(self, partition: int, source: int, topic: str) -> str:
        sent = self._ledger.sent.get((topic, partition, source))
        return sent.subject if sent else ""

    def _unequal(self, lagging: Sequence[Lagging], expected: FoldedLog) -> Iterator[str]:
        """Complain of folds beside the owner's that differ; before an erasure they may hold more."""
        erased = max((it.offset for it in expected.counted if isinstance(it.event, SubjectErased)), default=-1)
        for each in lagging:
            if each.watermark >= erased and expected.digests.get(each.watermark, each.digest) != each.digest:
                yield f"fold: what {each.name} holds at {each.watermark} is not the fold of its log"

    def _readable(self, counted: list[CountedEvent], live: Partition) -> Iterator[str]:
        """Complain of keys that open what was erased, and of erasures that no one will finish."""
        for each in counted:
            event = each.event
            for key in self._named(event) if isinstance(event, SubjectErased) else ():
                runs = [(0, LAST)] if event.whole else event.events  # type: ignore[union-attr]  # as above
                if any(key.secret_of(ordinal) is not None for first, last in runs for ordinal in (first, last)):
                    yield f"erased: a key opens what was erased of {key.graph} at {each.offset}"
        if unfinished := live.graphs_to_erase():
            yield f"erased: keys of {unfinished} are yet to be destroyed"

    def _named(self, event: SubjectErased) -> list[GraphKey]:
        key = self._keys.of(event.graph)
        return [key[name] for name in event.keys if name in key]

    async def branched(self, partition: int, live: Partition, extractor: Extractor) -> list[str]:
        """List how a branch of a partition differs from it, in rights or turns, or why it cannot be made."""
        log = WholeLog(self._broker.log(self._topics.events, partition), self._keys)
        try:
            return [f"branch: {complaint}" for complaint in await unlike(log, live, extractor)]
        except Exception as error:  # noqa: BLE001 - any error means that this cannot be branched
            return [f"branch: partition {partition} cannot be branched: {type(error).__name__}: {error}"[:400]]

    def _all(self, partition: int, live: Partition, expected: FoldedLog) -> Iterator[str]:
        if live.digest() != expected.digest:
            yield f"fold: the live state at {live.position.watermark} is not the fold of its log"
        for each in expected.counted:
            if each.writer != each.owner:
                yield f"zombie: event {each.offset} of {each.writer} counts, but {each.owner} owns the partition"
        yield from self._unaccounted(partition, expected.counted)
        yield from self._miscounted(partition, expected.counted)
        yield from self._unanswered(partition, expected)
        if not self._tail_lost:
            yield from self._untold(partition, expected.counted)

    def unread(self) -> list[str]:
        """Complain of answers to questions that were given before the turn that they wait for."""
        return [
            f"told: the question {correlation!r} wants turn {after}, and was answered before"
            for correlation, after in self._ledger.questions.items()
            if after is not None
            and (answer := self._answers.get(correlation)) is not None
            and answer["kind"] == "reply"
            and answer["position"]["source"] < after
        ]

    def silence(self) -> list[str]:
        """Complain of questions that got no answer of any kind."""
        silent = [correlation.decode() for correlation in self._ledger.questions if correlation not in self._answers]
        return [f"told: the questions {silent} got no answer of any kind"] if silent else []

    # accounted

    def _unaccounted(self, partition: int, counted: list[CountedEvent]) -> Iterator[str]:
        last, topic = -1, ""
        for each in counted:
            source = source_of(each.event)
            if source is None:
                continue
            if each.is_first or each.source_topic != topic:
                last, topic = -1, each.source_topic
            first = each.event.first if isinstance(each.event, TurnsLost) else source
            if first != last + 1:
                yield f"accounted: event {each.offset} accounts for turn {first}, the one before for {last}"
            if isinstance(each.event, TurnsLost) and source >= self._log(topic, partition).start:
                yield f"accounted: event {each.offset} says that turn {source} is lost, but it is there"
            last = source
        current = self._broker.topic(self._topics.turns)
        if topic != current.id and current.logs[partition].end:
            yield f"accounted: the topic {current.id} was never read"
        elif topic == current.id and last + 1 != current.logs[partition].end:
            yield f"accounted: {current.logs[partition].end} turns were taken, {last + 1} are accounted for"

    def _log(self, topic: str, partition: int) -> Log:
        return self._turns[topic].logs[partition] if topic in self._turns else Log()

    # once, letter, time

    def _miscounted(self, partition: int, counted: list[CountedEvent]) -> Iterator[str]:
        seen, turns, sealed = (
            set[tuple[str, str]](),
            defaultdict[str, CountedTurns](CountedTurns),
            set[tuple[str, int]](),
        )
        for each in counted:
            event = each.event
            if isinstance(event, GraphEvent) and (again := turns[event.graph].observe(event)) is not None:
                yield f"once: turn {again} of {event.graph} is recorded again at {each.offset}"
            if isinstance(event, TurnRecorded):
                seen.add((event.graph, event.id))
            if isinstance(event, Sealed) and event.src is not None:
                sealed.update((topic, event.src) for topic in self._topics_from(each.source_topic))
            yield from self._mistimed(each)
            yield from self._misjudged(partition, each)
        woken = Counter((it.event.graph, it.event.at) for it in counted if isinstance(it.event, ConceptsRecalled))
        for (graph, at), questions in self._ledger.woken.items():
            if woken[graph, at] > questions:
                yield f"once: what was asked of {graph} at {at} reinforces {woken[graph, at]} times"
        for (topic, place, source), sent in self._ledger.sent.items():
            is_erased = (topic, source) in sealed  # whatever it was
            replies = self._answers.get(sent.correlation, {}) if place == partition and not is_erased else {}
            if sent.kind == "good" and replies.get("status") == "accepted" and (sent.graph, sent.id) not in seen:
                yield f"once: turn {sent.id} of {sent.graph} was reported as accepted, but is not recorded"

    def _mistimed(self, each: CountedEvent) -> Iterator[str]:
        event, graph = each.event, getattr(each.event, "graph", "")
        if isinstance(event, TurnRecorded) and event.at > self._latest_ms:
            yield f"time: turn {event.id} at {each.offset} was said at {event.at}, after {self._latest_ms}"
        if graph == self._ledger.imported and event_time(event) > self._imported_until:
            yield f"time: {graph} was imported, but gets the time of day at {each.offset}"

    def _misjudged(self, partition: int, each: CountedEvent) -> Iterator[str]:
        source = source_of(each.event)
        if source is None or isinstance(each.event, TurnsLost):
            return
        kinds, is_rejected = self._kinds(each, partition, source), isinstance(each.event, TurnRejected)
        if is_rejected and kinds and kinds <= {"good", "again"}:
            yield f"once: a good turn was rejected at {each.offset}: {each.event.reason}"  # type: ignore[attr-defined]
        if not is_rejected and kinds and kinds <= {"bad", "poison"}:
            yield f"once: a bad turn was taken at {each.offset}: {type(each.event).__name__}"
        if is_rejected and f"{self._topics.turns}/{partition}@{source}" not in self._letters:
            yield f"letter: turn {source} was rejected at {each.offset}, but has no dead letter"

    def _kinds(self, each: CountedEvent, partition: int, source: int) -> set[str]:
        """Return the possible kinds of the record that an event accounts for; empty if no client sent such a record.

        A live worker sees within a tick, not at once, that `turns` was made again: what it reads until then at the next
        offset may be a successor's record.  Nothing is lost or doubled by it, as all of that one is read again.
        """
        sent = self._sent(each, partition, source)
        named = getattr(each.event, "graph", ""), getattr(each.event, "id", "")
        fitting = [it for it in sent if it.id and (it.graph, it.id) == named] or sent
        return {it.kind for it in fitting}

    def _sent(self, each: CountedEvent, partition: int, source: int) -> list[Sent]:
        """List the records that an event may account for: of its topic, or of a successor under the same name."""
        later = self._topics_from(each.source_topic)
        return [it for topic in later if (it := self._ledger.sent.get((topic, partition, source))) is not None]

    def _topics_from(self, topic: str) -> list[str]:
        """Return the ids of a topic `turns` and of its successors, whose records a worker may take for its own."""
        topics = list(self._turns)
        return topics[topics.index(topic) :] if topic in topics else []

    # told

    def _unanswered(self, partition: int, log: FoldedLog) -> Iterator[str]:
        """Complain of senders who got no reply, though the worker that recorded their turn lived, and claimed next.

        A worker that dies may have sent no reply, and the next owner does not know.
        """
        for each in log.counted:
            source = source_of(each.event)
            if source is None or isinstance(each.event, TurnsLost) or each.writer not in self._replying:
                continue
            heir = next((writer for offset, writer in log.claims if offset > each.offset), each.writer)
            sent = self._sent(each, partition, source) if heir == each.writer else []
            if sent and not any(it.correlation in self._answers or not it.correlation for it in sent):
                yield f"told: {each.writer} accounted for turn {source} at {each.offset}, and its sender got no reply"

    def _untold(self, partition: int, counted: list[CountedEvent]) -> Iterator[str]:
        sent = set()
        for stored in self._broker.log(self._topics.changes, partition).stored:
            header = as_mapping(stored.record.headers).get("emgas.event-offset", b"")
            if stored.writer != "client" and header.isdigit():
                sent.add(int(header))
        closed = {each.offset for each in counted if isinstance(each.event, WindowEvent)}
        yield from (f"told: what the window at {it} decided lies not in changes" for it in sorted(closed - sent))
        closed |= {each.offset for each in counted if isinstance(each.event, Sealed)}  # or anything else, once
        yield from (f"told: changes has the event at {it}, which does not count" for it in sorted(sent - closed))


def _letters(broker: Broker, topics: TopicNames) -> Iterator[str]:
    """Yield the source of each dead letter, as topic/partition@offset."""
    letters = [it for it in [*broker.gone, *broker.topics.values()] if it.plan.name == topics.dead_letters]
    for topic in letters:
        for stored in (stored for log in topic.logs for stored in log.stored):
            headers = {
                name: value.decode() for name, value in stored.record.headers if name.startswith("emgas.errors.")
            }
            place = headers["emgas.errors.topic"], headers["emgas.errors.partition"], headers["emgas.errors.offset"]
            yield "{}/{}@{}".format(*place)
