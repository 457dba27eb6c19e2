"""Whatever happened, and whoever is erased at whatever point of it: all else is as it was, and nobody can read it.

A generated log is written once more with every graph encrypted, and erasures in between, as a worker writes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from emgas.wire import Record
from processors.lifecycle.decay.erasing import erasures
from replay.as_of.history import histories
from state.erasure import erased_by
from state.events.events import (
    UNSTAMPED,
    Claim,
    DataEvent,
    GraphEvent,
    Retracted,
    SubjectErased,
    TurnRecorded,
    decode,
    encode,
)
from state.log_position import stamp
from state.partition import Partition
from state.sealing.graph_key import GraphKey
from state.sealing.keyring import HeldKeys, Keyring, read, read_as, sealed
from state.store.store import MemoryStore
from streams.ingest.sealing import Sealer
from streams.transport.keys.key_store import MemoryKeys
from tests.support.strategies import GRAPHS, Step, steps_taken_back, written

SUBJECTS: list[dict[str, Any]] = [
    *({"turn": name} for name in ("a", "b", "c", "t1")),
    {"speaker": "Ada"},
    {"speaker": "Bob"},
    {"whole": True},
]
Erasing = tuple[int, str, dict[str, Any]]  # after so many events, in this graph, this subject
ERASURES = st.lists(st.tuples(st.integers(0, 25), st.sampled_from(GRAPHS), st.sampled_from(SUBJECTS)), max_size=4)


class Worker:
    """Writes and folds the log of one partition; destroys keys at once, or never if it `hoards`."""

    def __init__(self) -> None:
        self.keys, self.hoarded = MemoryKeys(), HeldKeys()  # those that are left; and all that there ever were
        self.state = Partition(MemoryStore(), graph_keys=self.keys)
        self.values: list[bytes] = []
        self._sealer = Sealer(self.keys)
        for number, name in enumerate(GRAPHS):
            self._give_birth(name, number)

    def _give_birth(self, name: str, number: int) -> None:
        key = GraphKey.born(name, number.to_bytes(8, "big"), bytes([number]) * 32, bytes([number + 100]) * 32)
        self.keys.hold(key)
        self.hoarded.hold(key)

    def append(self, event: Any) -> None:
        """Append one event, as its owner would: an undo that reaches too far is refused."""
        if isinstance(event, Retracted):
            graph = self.state.graph(event.graph)
            if graph is None or event.first < graph.undoable_from:
                return
        if isinstance(event, Claim):
            value, record = encode(event), None
        else:
            value, record = self._sealer.values(self.state)(stamp(event, self.state.position), None)
        self.values.append(value)
        self.state.fold(self.state.position.watermark + 1, value, record)

    def erase(self, graph: str, *, turn: str | None = None, speaker: str | None = None, whole: bool = False) -> None:
        living = [key for key in self.keys.of(graph).values() if not key.is_destroyed]
        if self.state.graph(graph) is None or not living:
            return
        names = [key.id for key in living]
        if whole:
            parts = [SubjectErased(graph=graph, whole=True, keys=names, turns=[], events=[], instead=[], **UNSTAMPED)]
        else:
            ids = erasures(self._standing(graph), lambda event: turn == event.id or speaker == event.speaker)
            some = {"graph": graph, "whole": False, "keys": names, **UNSTAMPED}
            parts = [SubjectErased(**some, **each._asdict()) for each in ids]
        for part in parts:
            self.append(part)
        self.state.flush()
        asyncio.run(self._sealer.finish_erasures(self.state))
        if whole:
            self._give_birth(graph, 10 + len(self.values))

    def _standing(self, graph: str) -> list[GraphEvent | None]:
        events = [read_as(GraphEvent, value, self.keys) for value in self.state.rows_of(graph)]
        erased = erased_by({at: event for at, event in enumerate(events) if isinstance(event, SubjectErased)})
        return [erased.standing(at, event) for at, event in enumerate(events)]


def worked(
    happened: list[Step], erased: Sequence[Erasing], observe: Callable[[Worker, int], None] = lambda *_: None
) -> Worker:
    """Live through what happened, and erase in between; `observe` sees the worker after each event."""
    worker = Worker()
    log = written(happened)
    reference = Partition(MemoryStore())
    for number, (offset, value) in enumerate(log.records):
        folded = reference.fold(offset, value)
        if folded.acceptance.value == "accepted":
            worker.append(_unstamped(folded.event))
        observe(worker, number)
        for at, graph, subject in erased:
            if at == number:
                before = worker.state.digests()
                worker.erase(graph, **subject)
                after = worker.state.digests()
                assert {**before, graph: ""} == {**after, graph: ""} or graph not in before
    return worker


def _unstamped(event: Any) -> Any:
    return event if isinstance(event, Claim) else replace(event, **UNSTAMPED)


def fold_anew(worker: Worker, keys: Keyring, *, at_once: bool) -> Partition:
    state = Partition(MemoryStore(), graph_keys=keys)
    records = list(enumerate(worker.values))
    if at_once:
        state.fold_all(records)
    for offset, value in [] if at_once else records:
        state.fold(offset, value)
    return state


class Log:
    """The log of one partition, with the keys that are left."""

    def __init__(self, worker: Worker) -> None:
        self.graph_keys = worker.keys
        self._records = [Record(offset, 0, None, value, ()) for offset, value in enumerate(worker.values)]

    async def partitions(self) -> int:
        return 1

    async def bounds(self, partition: int) -> tuple[int, int]:
        return 0, len(self._records)

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        if start < min(end, len(self._records)):
            yield self._records[start:end]


@given(happened=steps_taken_back(25), erased=ERASURES)
def test_a_fold_of_what_can_still_be_read_is_what_the_worker_holds_that_read_it_all(
    happened: list[Step], erased: list[Erasing]
) -> None:
    worker = worked(happened, erased)
    live = worker.state.digest()
    for keys in (worker.keys, worker.hoarded):
        for at_once in (True, False):
            assert fold_anew(worker, keys, at_once=at_once).digest() == live


@given(happened=steps_taken_back(25), erased=ERASURES)
def test_a_store_that_is_opened_again_and_a_history_hold_the_same(happened: list[Step], erased: list[Erasing]) -> None:
    worker = worked(happened, erased)
    live = worker.state.digests()
    worker.state.flush()
    assert Partition(worker.state.store, graph_keys=worker.keys).digests() == live
    result = asyncio.run(histories(Log(worker), 0))
    assert {name: history.folded().digest() for name, history in result.items()} == live
    stored = [value for _, value in worker.state.store.scan(b"", b"")]
    for value in (*worker.values, *stored):
        assert not any(word.encode() in value for word in ("coffee", "sugar", "咖啡")), "neither log nor store tells"


@given(happened=steps_taken_back(25), erased=ERASURES)
def test_no_record_opens_any_more_that_tells_what_an_erased_subject_alone_said(
    happened: list[Step], erased: list[Erasing]
) -> None:
    worker = worked(happened, [])
    for _, graph, subject in erased:
        worker.erase(graph, **subject)
        left = [event for event in map(worker_reads(worker), worker.values) if getattr(event, "graph", "") == graph]
        turns_left = [event for event in left if isinstance(event, TurnRecorded)]
        assert not [turn for turn in turns_left if _is(turn, **subject)]
        words = {concept.id for turn in turns_left for concept in turn.concepts}
        instead = [decode(value) for event in left if isinstance(event, SubjectErased) for _, value in event.instead]
        for event in (*left, *instead):
            assert not set(getattr(event, "concepts", ())) - words - _unmentioned(worker, graph) or event in turns_left


def worker_reads(worker: Worker) -> Any:
    return lambda value: read(value, worker.keys)


def _is(event: TurnRecorded, *, turn: str | None = None, speaker: str | None = None, whole: bool = False) -> bool:
    return whole or turn == event.id or speaker == event.speaker


def _unmentioned(worker: Worker, graph: str) -> set[str]:
    """List what events may name though no turn ever said it: generated windows name whatever they like."""
    turns = [event for value in worker.values if isinstance(event := read(value, worker.hoarded), TurnRecorded)]
    concepts = {concept.id for turn in turns if turn.graph == graph for concept in turn.concepts}
    named = {
        name
        for value in worker.values
        for event in [read(value, worker.hoarded)]
        if isinstance(event, DataEvent) and not isinstance(event, TurnRecorded)
        for name in getattr(event, "concepts", ())
    }
    return named - concepts


def test_the_sealed_form_is_what_a_worker_writes() -> None:
    worker = worked([("turn", {"graph": "ada", "at": 0, "concepts": [], "session": "main"})], [])
    event = decode(worker.values[-1])
    key = worker.keys.of("ada")[(0).to_bytes(8, "big").hex()]
    assert event == sealed(read(worker.values[-1], worker.keys), key, 0)  # type: ignore[arg-type]
