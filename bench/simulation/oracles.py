"""What must hold after every run, whatever went wrong in it.  Each complaint is a violation.

Safety, of the log as it is in the end, by rules of their own beside those of the fold:

    fold        each live state is the fold of its log, from nothing
    zombie      what counts was written by the process whose claim is the latest before it
    accounted   the records of `turns` are accounted for in order, but what `TurnsLost` tells, which is gone
    once        no turn is recorded twice; what was said well is recorded, not rejected; what was not, is rejected;
                what was told to be accepted is recorded; no question reinforces twice.  Where `turns` was made anew, a
                worker may take its records for the old one's until the next tick: either may be what it judged
    letter      what was rejected lies in dead-letters
    told        what a window decided lies in changes, and nothing else does; every question gets an answer or a refusal
    time        no turn counts as said later than its worker could know; an imported graph is told no time of day

Liveness is asked of the running world (world.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import NamedTuple

from bench.simulation.broker import Broker, Log
from bench.simulation.clients import Client
from emgas.errors import HaltedError
from emgas.times import DAY_MS
from emgas.wire import Record, TopicNames, as_mapping
from replay.log import LogReader
from replay.skipped_records import instead_of
from state.errors import UnreadableEventError
from state.events.events import (
    AnyEvent,
    Claim,
    ConceptsRecalled,
    DataEvent,
    TurnRecorded,
    TurnRejected,
    TurnsLost,
    WindowEvent,
    decode,
    source_of,
)
from state.log_position import Acceptance
from state.partition import Partition
from state.store.store import MemoryStore


class Counted(NamedTuple):
    """An event that counts, who wrote it, whose claim it followed, and of which topic `turns` it tells."""

    offset: int
    event: DataEvent
    writer: str
    owner: str
    source_topic: str
    is_first: bool  # of its topic: reading began anew


class Folded(NamedTuple):
    """A partition's log, folded from nothing."""

    digest: str
    watermark: int
    counted: list[Counted]


class WholeLog:
    """A LogReader of what lies in a partition, whatever a broker shows of it."""

    def __init__(self, log: Log) -> None:
        self._log = log

    async def partitions(self) -> int:
        return 1

    async def bounds(self, partition: int) -> tuple[int, int]:
        return 0, self._log.end

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        yield [held.record for held in self._log.held[start:end]]


def event_time(event: DataEvent) -> int:
    """Give the time that an event tells its graph, ms; 0 for one that tells none."""
    told: int = getattr(event, "at", 0)
    return told


async def folded(log: Log, end: int) -> Folded:
    """Fold a partition of `events` up to before offset `end`.  Raises HaltedError."""
    state, reader, counted = Partition(MemoryStore()), WholeLog(log), list[Counted]()
    owner, topic, is_first = "", "", True
    for held in log.held[:end]:
        event, value = await _read(reader, held.record)
        before = state.position
        acceptance = state.fold(held.record.offset, value).acceptance
        if isinstance(event, Claim):
            owner = held.writer
            is_first |= state.position.source < before.source
            topic = state.position.source_topic
        elif acceptance is Acceptance.ACCEPTED:
            assert isinstance(event, DataEvent)
            counted.append(Counted(held.record.offset, event, held.writer, owner, topic, is_first))
            is_first &= source_of(event) is None
    return Folded(state.digest(), state.position.watermark, counted)


async def _read(reader: LogReader, record: Record) -> tuple[AnyEvent, bytes]:
    try:
        return decode(record.value), record.value
    except UnreadableEventError as error:
        skipping = await instead_of(reader, 0, record, error)
        return decode(skipping.value), skipping.value


class Oracle:
    """Looks at one run.  `latest_ms`: no turn may count as said later; `tail_lost`: of some partition's events."""

    def __init__(self, broker: Broker, topics: TopicNames, client: Client, *, latest_ms: int, tail_lost: bool) -> None:
        self._broker = broker
        self._topics = topics
        self._ledger = client.ledger
        self._answers = client.answers()
        self._latest_ms = latest_ms
        self._imported_until = broker.now() - 100 * DAY_MS
        self._tail_lost = tail_lost
        self._turns = {
            topic.id: topic for topic in [*broker.gone, *broker.topics.values()] if topic.plan.name == topics.turns
        }
        self._letters = set(_letters(broker, topics))

    async def complaints(self, partition: int, live: Partition) -> list[str]:
        """Say what is wrong with a partition, whose live state is `live`."""
        log = self._broker.log(self._topics.events, partition)
        try:
            found = await folded(log, live.position.watermark + 1)
        except HaltedError as error:
            return [f"fold: partition {partition} cannot be folded: {error}"]
        return [f"partition {partition}: {told}" for told in self._all(partition, live, found)]

    def _all(self, partition: int, live: Partition, found: Folded) -> Iterator[str]:
        if live.digest() != found.digest:
            yield f"fold: the live state at {live.position.watermark} is not the fold of its log"
        for each in found.counted:
            if each.writer != each.owner:
                yield f"zombie: event {each.offset} of {each.writer} counts, but {each.owner} owns the partition"
        yield from self._unaccounted(partition, found.counted)
        yield from self._miscounted(partition, found.counted)
        if not self._tail_lost:
            yield from self._untold(partition, found.counted)

    def unread(self) -> list[str]:
        """Complain of answers to questions that were given before the turn that they wait for."""
        return [
            f"told: the question {correlation!r} wants turn {after}, and was answered before"
            for correlation, after in self._ledger.asked.items()
            if after is not None
            and (answer := self._answers.get(correlation)) is not None
            and answer["kind"] == "reply"
            and answer["position"]["source"] < after
        ]

    def silence(self) -> list[str]:
        """Complain of questions that got no answer of any kind."""
        silent = [correlation.decode() for correlation in self._ledger.asked if correlation not in self._answers]
        return [f"told: the questions {silent} got no answer of any kind"] if silent else []

    # accounted

    def _unaccounted(self, partition: int, counted: list[Counted]) -> Iterator[str]:
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

    def _miscounted(self, partition: int, counted: list[Counted]) -> Iterator[str]:
        known: set[tuple[str, str]] = set()
        for each in counted:
            event = each.event
            if isinstance(event, TurnRecorded):
                if (event.graph, event.id) in known:
                    yield f"once: turn {event.id} of {event.graph} is recorded again at {each.offset}"
                known.add((event.graph, event.id))
            yield from self._mistimed(each)
            yield from self._misjudged(partition, each)
        woken = Counter((it.event.graph, it.event.at) for it in counted if isinstance(it.event, ConceptsRecalled))
        for (graph, at), questions in self._ledger.woken.items():
            if woken[graph, at] > questions:
                yield f"once: what was asked of {graph} at {at} reinforces {woken[graph, at]} times"
        for (_, place, _), sent in self._ledger.sent.items():
            told = self._answers.get(sent.correlation, {}) if place == partition else {}
            if sent.kind == "good" and told.get("status") == "accepted" and (sent.graph, sent.id) not in known:
                yield f"once: turn {sent.id} of {sent.graph} was told to be accepted, and is not recorded"

    def _mistimed(self, each: Counted) -> Iterator[str]:
        event, graph = each.event, getattr(each.event, "graph", "")
        if isinstance(event, TurnRecorded) and event.at > self._latest_ms:
            yield f"time: turn {event.id} at {each.offset} was said at {event.at}, after {self._latest_ms}"
        if graph == self._ledger.imported and event_time(event) > self._imported_until:
            yield f"time: {graph} was imported, and is told the time of day at {each.offset}"

    def _misjudged(self, partition: int, each: Counted) -> Iterator[str]:
        source = source_of(each.event)
        if source is None or isinstance(each.event, TurnsLost):
            return
        kinds, is_rejected = self._kinds(each, partition, source), isinstance(each.event, TurnRejected)
        if is_rejected and kinds and kinds <= {"good", "again"}:
            yield f"once: a good turn was rejected at {each.offset}: {each.event.reason}"  # type: ignore[attr-defined]
        if not is_rejected and kinds and kinds <= {"bad", "poison"}:
            yield f"once: a bad turn was taken at {each.offset}: {type(each.event).__name__}"
        if is_rejected and f"{self._topics.turns}/{partition}@{source}" not in self._letters:
            yield f"letter: turn {source} was rejected at {each.offset}, and lies in no dead letter"

    def _kinds(self, each: Counted, partition: int, source: int) -> set[str]:
        """Tell what the record may have been that an event accounts for; nothing of what nobody sent.

        A live worker sees within a tick, not at once, that `turns` was made anew: what it reads until then at the next
        offset may be a successor's record.  Nothing is lost or doubled by it, as all of that one is read again.
        """
        topics = list(self._turns)
        later = topics[topics.index(each.source_topic) :] if each.source_topic in topics else []
        sent = [it for topic in later if (it := self._ledger.sent.get((topic, partition, source))) is not None]
        named = getattr(each.event, "graph", ""), getattr(each.event, "id", "")
        fitting = [it for it in sent if it.id and (it.graph, it.id) == named] or sent
        return {it.kind for it in fitting}

    # told

    def _untold(self, partition: int, counted: list[Counted]) -> Iterator[str]:
        sent = set()
        for held in self._broker.log(self._topics.changes, partition).held:
            header = as_mapping(held.record.headers).get("emgas.event-offset", b"")
            if held.writer != "client" and header.isdigit():
                sent.add(int(header))
        closed = {each.offset for each in counted if isinstance(each.event, WindowEvent)}
        yield from (f"told: what the window at {it} decided lies not in changes" for it in sorted(closed - sent))
        yield from (f"told: changes has the event at {it}, which does not count" for it in sorted(sent - closed))


def _letters(broker: Broker, topics: TopicNames) -> Iterator[str]:
    """Name the place of each record that became a dead letter."""
    letters = [it for it in [*broker.gone, *broker.topics.values()] if it.plan.name == topics.dead_letters]
    for topic in letters:
        for held in (held for log in topic.logs for held in log.held):
            told = {name: value.decode() for name, value in held.record.headers if name.startswith("emgas.errors.")}
            place = told["emgas.errors.topic"], told["emgas.errors.partition"], told["emgas.errors.offset"]
            yield "{}/{}@{}".format(*place)
