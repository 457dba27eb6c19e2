"""Logs that a fold accepts: claims, sequence numbers and chain are kept right, a test tells only what happens.

    log = LogWriter()                      claims at once (claimed=False: not)
    log.turn(concepts="coffee tea")        fields as in turn_recorded; id and source follow by themselves
    log.embed(vector=[0.6, 0.8])           of the last turn, by a model called m 1
    log.recall(concepts="coffee"), log.duplicate(), log.reject(), log.claim("other worker")
    log.undo(first=3, last=5)              takes back its graph's events 3, 4, 5
    log.configure(preset="forgetful"), log.forget(concepts="tea"), log.tick(at=…), log.decay(…), log.consolidation(…)
    log.keep(event)                        any event built elsewhere, linked
    log.records                            [(offset, value), …]
    log.folded()                           a Partition that folded them all

    reader_of(log), records_of(log)        what a LogReader gives of it

The chain is computed here anew and not by state/log_position.py, so that the two check each other.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from emgas.wire import Record
from state.events.events import Claim, DataEvent, GraphEvent, TurnRecorded, decode, encode
from state.log_position import LogPosition
from state.partition import Partition
from state.store.store import MemoryStore, Store
from tests.support.builders import (
    access_granted,
    access_revoked,
    concept,
    concepts_recalled,
    consolidation_closed,
    decay_closed,
    feedback_given,
    forgotten,
    graph_configured,
    memory_archived,
    memory_restored,
    pinned,
    retracted,
    session_ended,
    session_summarised,
    ticked,
    topic_change,
    turn_duplicated,
    turn_embedded,
    turn_not_recorded,
    turn_recorded,
    turn_rejected,
    unpinned,
)
from tests.support.clocks import DAY, NOON
from tests.support.fakes import ListReader

OffsetValue = tuple[int, bytes]


def _appending(build: Callable[..., DataEvent], *, requested: bool = False) -> Callable[..., DataEvent]:
    """Return a method that appends and returns what `build` makes; `requested`: of the next input."""

    def append(log: LogWriter, **changes: Any) -> DataEvent:
        source = {"src": log.source + 1} if requested else {}
        event: DataEvent = log._data(build, changes | source)  # noqa: SLF001 - a method of it
        return event

    return append


class LogWriter:
    """A partition's log in the making, written by honest owners.  Offsets are `stride` apart: logs may have gaps."""

    def __init__(self, *, partitions: int = 4, stride: int = 1, claimed: bool = True) -> None:
        self.records: list[OffsetValue] = []
        self.epoch = -1
        self.claimed = ""
        self.seq = 0
        self.chain = bytes(32)
        self.source = -1
        self.next_offset = 0
        self._partitions = partitions
        self._stride = stride
        if claimed:
            self.claim()

    @property
    def link(self) -> dict[str, Any]:
        """What the next accepted event must carry."""
        return {"epoch": self.epoch, "claim": self.claimed, "seq": self.seq + 1, "chain": self.chain[:8].hex()}

    def append(self, value: bytes) -> int:
        """Append a record as it is, which no fold need accept; return its offset."""
        offset, self.next_offset = self.next_offset, self.next_offset + self._stride
        self.records.append((offset, value))
        return offset

    def claim(self, writer: str = "worker", nonce: str | None = None) -> int:
        """Append a Claim: what follows is written by its owner."""
        nonce = f"{self.next_offset}" if nonce is None else nonce
        value = encode(Claim(writer=writer, partitions=self._partitions, nonce=nonce))
        self.epoch, self.claimed = self.append(value), hashlib.sha256(value).hexdigest()[:8]
        self._roll(value)
        return self.epoch

    def turn(self, **changes: Any) -> TurnRecorded:
        """Append and return the next turn; without `id`, one that is new."""
        return self._data(turn_recorded, {"id": f"t{self.source + 1}", **changes, "src": self.source + 1})

    def embed(self, **changes: Any) -> DataEvent:
        """Append and return a TurnEmbedded: without `id`, of the last turn, if it came without one."""
        return self._data(turn_embedded, {"id": f"t{self.source}", **changes})

    recall = _appending(concepts_recalled)
    duplicate = _appending(turn_duplicated, requested=True)
    reject = _appending(turn_rejected, requested=True)
    pass_over = _appending(turn_not_recorded, requested=True)
    forget = _appending(forgotten, requested=True)
    undo = _appending(retracted, requested=True)
    pin = _appending(pinned, requested=True)
    unpin = _appending(unpinned, requested=True)
    judge = _appending(feedback_given, requested=True)
    end = _appending(session_ended, requested=True)
    grant = _appending(access_granted, requested=True)
    revoke = _appending(access_revoked, requested=True)
    sum_up = _appending(session_summarised)
    tick = _appending(ticked)
    decay = _appending(decay_closed)
    archive = _appending(memory_archived)
    restore = _appending(memory_restored)
    consolidation = _appending(consolidation_closed)

    def configure(self, *, wished: bool = False, **changes: Any) -> DataEvent:
        """Append and return a GraphConfigured: the owner's, or a user's request."""
        return self._data(graph_configured, {**changes, "src": self.source + 1} if wished else changes)

    def keep(self, event: DataEvent) -> DataEvent:
        """Append `event` as its owner would have, and return it."""
        source = {"src": self.source + 1} if getattr(event, "src", None) is not None else {}
        return self._data(lambda **changes: msgspec.structs.replace(event, **changes), source)

    def _data(self, build: Callable[..., Any], fields: dict[str, Any]) -> Any:
        event = build(**{**fields, **self.link})
        self.append(encode(event))
        self.seq = event.seq
        self.source = fields.get("src", self.source)
        self._roll(self.records[-1][1])
        return event

    def _roll(self, value: bytes) -> None:
        self.chain = hashlib.sha256(self.chain + value).digest()

    def folded(self, store: Store | None = None) -> Partition:
        """Return a partition that folded the whole log."""
        return fold(self.records, Partition(store if store is not None else MemoryStore()))


def fold(records: Iterable[OffsetValue], partition: Partition | None = None) -> Partition:
    """Fold `records` into `partition` (a new one in memory by default) and return it."""
    partition = partition or Partition(MemoryStore())
    for offset, value in records:
        partition.fold(offset, value)
    return partition


def long_log(turns: int = 400) -> LogWriter:
    """Return a log in which graphs grow long enough for snapshots, and more than one."""
    seeded, log, words = random.Random(11), LogWriter(), ["coffee", "tea", "milk", "sugar", "@day:2023-05-08", "咖啡"]
    for number in range(turns):
        names = seeded.sample(words, 3)
        log.turn(graph=seeded.choice(["ada", "ada", "ada", "bob", "cyd"]), concepts=names, at=NOON + number * 10**7)
        if number % 9 == 0:
            log.recall(concepts=seeded.sample(words, 2), at=NOON + number * 10**7)
    return log


def golden_log() -> LogWriter:
    """Return a small log with all that a graph can hold.  Its digest is pinned: never change it."""
    log = LogWriter()
    log.configure(preset="forgetful", recall_boost=0.25)
    log.turn(concepts=[concept("coffee", "Coffees", 0.987654, 2), concept("tea", weight=0.25), "@day:2023-05-08"])
    log.turn(concepts=[concept("coffee", "coffee", 0.5), concept("牛奶", "牛奶", 0.333333)], at=NOON + 12345 * 678)
    log.turn(concepts=[concept("coffee", "coffee", 0.125)], session="two", speaker="Bot", role=None, at=NOON - DAY)
    log.turn(graph="bob", concepts="tea sugar", question=True, metadata={"source": "test", "n": 1.5})
    log.claim("another worker")
    log.recall(concepts="coffee 牛奶 unheard-of", at=NOON + 40 * DAY)
    log.turn(id="t0", concepts="milk")
    log.reject()
    log.duplicate()
    log.turn(concepts="", role="assistant", at=NOON + 41 * DAY)
    topics = [topic_change("topic-0", "coffee tea"), topic_change("topic-1", "牛奶")]
    log.consolidation(consolidated="coffee", topics=topics, merged=[("t0", "t2")], at=NOON + 42 * DAY)
    log.decay(concepts="tea", turns="", at=NOON + 49 * DAY)
    log.turn(concepts="tea coffee", session="two", at=NOON + 50 * DAY)
    log.forget(concepts="牛奶", turns="t1")
    log.tick(at=NOON + 90 * DAY)
    log.configure(wished=True, graph="bob", preset="memorybank")
    log.turn(graph="bob", concepts="tea", at=NOON + DAY, live=False)
    return log


def unmoved(position: LogPosition, offset: int, value: bytes) -> LogPosition:
    """Return `position` after a record that was not accepted: only what tells how far the log was read has moved."""
    return replace(position, watermark=offset, last=hashlib.sha256(value).hexdigest()[:8])


def reader_of(*logs: LogWriter, batch: int = 3) -> ListReader:
    """Read what the logs hold now, one log per partition."""
    return ListReader((records_of(log) for log in logs), batch)


def records_of(log: LogWriter) -> list[Record]:
    """List what a log holds now, as a reader gives it."""
    return [Record(offset, 0, None, value) for offset, value in log.records]


def events_of(log: LogWriter, graph: str) -> list[GraphEvent]:
    """List the events of one graph, accepted or not."""
    decoded = [decode(value) for _, value in log.records]
    return [event for event in decoded if isinstance(event, GraphEvent) and event.graph == graph]
