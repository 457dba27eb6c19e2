"""Rebuild: fold a partition's log again, from its beginning or from where a store stands, without any live worker.

    refold           the fold itself, into any store, which goes on where the store stands
    rebuild          one partition of a plan (replay/rebuild/plan.py): all of it, one graph, or every graph as of a time

A store of some graphs, or of graphs as of a time, holds their tables, with the texts of their turns and a head
that says how far the log was read.  It can be read as any other; a worker would fold it again, for nothing follows it.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from emgas.wire import Record, partition_of
from replay.accepted_events import AcceptedEvents, decoded, end_behind, read_records
from replay.as_of.graph_as_of import AsOf
from replay.as_of.history import History, histories, history
from replay.log import LogReader, keys_of
from replay.rebuild.plan import Plan
from replay.skipped_records import decision_on
from state.errors import LogRewrittenError, UnreadableEventError
from state.events.events import Claim, RecordSkipped, decode
from state.graph.graph import Graph
from state.log_position import Acceptance, LogPosition, fingerprint
from state.lsm.graph_pages import GraphPages
from state.partition import Aside, Folded, Partition, taken_back
from state.sealing.keyring import Keyring
from state.store import keys
from state.store.keys import POSITION
from state.store.store import Batch, MemoryStore, Store

FLUSH_EVERY = 100_000  # events folded between two flushes: many, so that a graph has some; a kill costs them
FLUSH_BYTES = 64 << 20  # the same, where events are large: bounds memory
_LOOKED_BACK = 100  # records
_CLAIM = Claim.__name__.encode()
Observe = Callable[[Folded], None]


async def refold(log: LogReader, partition: int, end: int, store: Store, observe: Observe | None = None) -> Partition:
    """Fold `partition` of `log` into `store`, from the store's watermark up to before offset `end`.

    A store that was filled in part goes on where it stopped.  `observe` is shown every record as it was folded, which
    takes longer: they are folded one by one.

    Raises LogRewrittenError when the log no longer holds what the store needs next, or another record than the store
    folded last, and what `Partition.fold` raises, with the offset at which it did.
    """
    state = Partition(store, rebuilding=True, graph_keys=keys_of(log))
    await _check_continues(log, partition, state.position)
    async for chunk in _chunks(log, partition, state.position.watermark + 1, end):
        state = await _fold_chunk(log, partition, state, chunk, observe)
        state.flush()
    return state


async def _fold_chunk(
    log: LogReader, partition: int, state: Partition, chunk: list[Record], observe: Observe | None
) -> Partition:
    """Fold a chunk, with the replacements of skipped records; return its state."""
    if observe is not None:
        for record in chunk:
            observe(await _fold_one(log, partition, state, record))
        return state
    try:
        state.fold_all((record.offset, record.value) for record in chunk)
    except (UnreadableEventError, LogRewrittenError):
        state = Partition(state.store, rebuilding=True, graph_keys=keys_of(log))
        for record in chunk:  # one by one: to find the one that is refused, or skipped
            await _fold_one(log, partition, state, record)
    return state


async def _fold_one(log: LogReader, partition: int, state: Partition, record: Record) -> Folded:
    try:
        try:
            return state.fold(record.offset, record.value)
        except UnreadableEventError:
            skipping = await decision_on(log, partition, record)
            if skipping is None:
                raise
            return state.fold(record.offset, skipping.value)
    except (UnreadableEventError, LogRewrittenError) as why:
        raise type(why)(f"{await _locate(log, partition, record.offset, state.position)}: {why}") from why


async def _chunks(log: LogReader, partition: int, start: int, end: int) -> AsyncIterator[list[Record]]:
    """Yield the records of `LogReader.read`, as many at once as are folded between two flushes."""
    chunk, size = list[Record](), 0
    async for batch in log.read(partition, start, end):
        chunk.extend(batch)
        size += sum(len(record.value) for record in batch)
        if len(chunk) >= FLUSH_EVERY or size >= FLUSH_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


async def _check_continues(log: LogReader, partition: int, head: LogPosition) -> None:
    """Raise LogRewrittenError when `log` does not go on where `head` stands."""
    await end_behind(log, partition, head.watermark + 1)
    if not await folded_from(log, partition, head):
        raise LogRewrittenError(
            f"partition {partition} holds another record at offset {head.watermark} than the store was folded from: "
            "the store is of another log. Remove it, so that it is rebuilt, or restore the log."
        )


async def folded_from(log: LogReader, partition: int, head: LogPosition) -> bool:
    """Return whether `log` still holds, where a fold stands, the record that was folded there; so does an empty one.

    Shortly before it, too, it must have no other claim than the one that was folded last: where a broker lost what was
    folded and another worker claimed the partition there, an owner who had not noticed may have gone on behind it.
    """
    at = head.watermark
    start, _ = await log.bounds(partition)
    if at < start:
        return True  # nothing folded yet, or retention took it: the caller looks at what begins there
    first, last, claims = max(start, at + 1 - _LOOKED_BACK), "", list[tuple[int, str]]()
    async for record in read_records(log, partition, first, at + 1):
        last = fingerprint(record.value) if record.offset == at else ""
        if _is_claim(record):
            claims.append((record.offset, fingerprint(record.value)))
    folded = [(head.epoch, head.claim)] if head.epoch >= first else []
    return last == head.last and claims[-1:] == folded


async def leads_to(log: LogReader, partition: int, seen: LogPosition, head: LogPosition) -> bool:
    """Return whether the records of `log` behind `seen` lead to `head`; so does a log that no longer has them all.

    Only positions are folded, no graphs.
    """
    start, end = await log.bounds(partition)
    if start > seen.watermark + 1 or end <= head.watermark:
        return end > head.watermark
    position = seen
    try:
        async for record in read_records(log, partition, seen.watermark + 1, head.watermark + 1):
            readable, event = await decoded(log, partition, record)
            position, _ = position.after(record.offset, event, readable.value)
    except LogRewrittenError:
        return False
    return (position.epoch, position.claim, position.chain) == (head.epoch, head.claim, head.chain)


def _is_claim(record: Record) -> bool:
    try:
        return _CLAIM in record.value and isinstance(decode(record.value), Claim)
    except UnreadableEventError:
        return False


async def _locate(log: LogReader, partition: int, place: int, head: LogPosition) -> str:
    """Describe where a fold that stands at `head` stopped, for people."""
    refused = await refused_from(log, partition, place)
    more = f"; nothing from offset {refused} on was accepted" if refused is not None else ""
    return f"partition {partition}, offset {place} (the record before it lies at {head.watermark}{more})"


async def _accepts_last(log: LogReader, partition: int, end: int, head: LogPosition) -> bool:
    """Return whether the last data event before `end` is the one that a fold which stands at `head` accepted last."""
    records = [record async for record in read_records(log, partition, end - _LOOKED_BACK, end)]
    last = [(await decoded(log, partition, record))[1] for record in records]
    seqs = [event.seq for event in last if not isinstance(event, (Claim, RecordSkipped))]
    return not seqs or seqs[-1] == head.seq


async def refused_from(log: LogReader, partition: int, end: int) -> int | None:
    """Find from which offset on no data event was accepted up to before `end`, None if the last one was.

    That is a writer which lost the partition, or whose appends failed; or a damaged record, which hides what follows.
    Raises as `LogPosition.after` and `decode`.
    """
    start, _ = await log.bounds(partition)
    head, first = LogPosition(), None
    async for read in read_records(log, partition, start, end):
        record, event = await decoded(log, partition, read)
        head, acceptance = head.after(record.offset, event, record.value)
        if isinstance(event, RecordSkipped):
            continue
        if acceptance is not Acceptance.ACCEPTED:
            first = record.offset if first is None else first
        elif not isinstance(event, Claim):
            first = None
    return first


class ObservedLog:
    """A log whose readers tell how far they are: `told(offset after the last record read)`."""

    def __init__(self, log: LogReader, on_progress: Callable[[int], None]) -> None:
        self.partitions = log.partitions
        self.bounds = log.bounds
        self.graph_keys = keys_of(log)
        self._log = log
        self._on_progress = on_progress

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        """Yield as the log does; a batch counts as read once the next one is asked for."""
        self._on_progress(start)
        async for batch in self._log.read(partition, start, end):
            yield batch
            self._on_progress(batch[-1].offset + 1)


class Rebuilt(NamedTuple):
    """One partition, folded again.

    graphs        name → digest, empty where all of the partition is in `digest`
    refused_from  the offset from which on no data event was accepted, None if the last one was (see below)
    unavailable   graphs that cannot be read, and why: `digest` is of all the others
    """

    digest: str
    graphs: Mapping[str, str]
    refused_from: int | None = None
    unavailable: Mapping[str, str] = {}


async def rebuild(log: LogReader, partition: int, plan: Plan, store: Store) -> Rebuilt:
    """Fold `partition` into `store` as `plan` says, or go on with it.  Raises as `refold`."""
    end = plan.ends[partition]
    if plan.graph is None and plan.at is None:
        state = await refold(log, partition, end, store)
        taken_back(state, {})  # what a rebuild before this one could not read
        refused = (
            None
            if await _accepts_last(log, partition, end, state.position)
            else await refused_from(log, partition, end)
        )
        if state.unavailable:
            return Rebuilt(digest_of(_digests(state)), {}, refused, state.unavailable)
        return Rebuilt(state.digest(), {}, refused)
    if plan.graph is not None and partition_of(plan.graph, len(plan.ends)) != partition:
        return Rebuilt(digest_of({}), {})
    locked_before = {key: None for key, _ in store.scan(keys.ASIDE, keys.ASIDE)}
    if store.get(POSITION) is None or locked_before:  # their keys may be back
        locked: dict[str, str] = {}
        histories_of = await _histories(log, partition, plan.graph, end, locked)
        rows = _rows(histories_of, plan.at, end, keys_of(log))
        store.write({**locked_before, **rows, **_locked_rows(locked)})
    state = Partition(store, graph_keys=keys_of(log))
    digests = _digests(state)
    return Rebuilt(digest_of(digests), digests, None, state.unavailable)


def _digests(state: Partition) -> dict[str, str]:
    """Hash every graph that can be read."""
    graphs = (state.graph(name) for name in state.graph_ids() if name not in state.unavailable)
    return {graph.graph_id: graph.digest() for graph in graphs if graph is not None}


async def graph_from(store: Store, log: LogReader, partition: int, name: str, end: int) -> Graph | None:
    """Rebuild a graph as of offset `end` from a store of `partition` and what came after; None without events.

    The store is only read.  Raises as `refold`.
    """
    state = Partition(store, graph_keys=keys_of(log))
    await _check_continues(log, partition, state.position)
    accepted = AcceptedEvents(state.position).read(log, partition, end, of=name)
    later = [record.value async for event, record in accepted if event.graph == name]
    graph = state.graph_with(name, later)
    return graph if graph.events else None


def digest_of(graphs: Mapping[str, str]) -> str:
    """Hash the digests of graphs, whatever else their partition holds."""
    lines = (f"{name} {digest}\n" for name, digest in sorted(graphs.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


async def _histories(
    log: LogReader, partition: int, graph: str | None, end: int, locked: dict[str, str]
) -> list[History]:
    if graph is None:
        return list((await histories(log, partition, end, locked)).values())
    one = await history(log, partition, graph, end)
    return [one] if one.read else []


def _rows(histories: Sequence[History], at: int | None, end: int, graph_keys: Keyring) -> Batch:
    """Make the rows of graphs as of `at` (ms; None: after all their events), read to before offset `end`."""
    graphs = [rows for history in histories if (rows := _graph_rows(history, at, graph_keys))]
    batch = {key: value for rows in graphs for key, value in rows}
    return {**batch, POSITION: LogPosition(watermark=end - 1, graphs=len(graphs)).to_bytes()}


def _locked_rows(locked: Mapping[str, str]) -> Batch:
    """Make the rows that say which graphs could not be read."""
    asides = {name: Aside(events=0, turns=None, is_locked=True, why=why) for name, why in locked.items()}
    return {keys.aside_key(name): msgspec.json.encode(aside) for name, aside in asides.items()}


def _graph_rows(history: History, at: int | None, graph_keys: Keyring) -> list[tuple[bytes, bytes]]:
    """Make the rows of one graph; none if nothing had been said in it by then."""
    if at is None:
        graph: Graph | None = history.folded()
    else:
        as_of = AsOf(history, at)
        graph = as_of.finished()
    if graph is None:
        return []
    pages = GraphPages(MemoryStore(), graph_keys)
    pages.flush(graph)  # first: it puts the passages into their final places
    ordinals = {passage: graph.passages.event[passage] for passage in graph.passages.numbers.values()}
    if at is None:
        texts = [(ordinal, history.logged(ordinal)) for ordinal in ordinals.values()]
    else:
        texts = [(ordinal, history.logged(as_of.place_of(ordinal))) for ordinal in ordinals.values()]
    rows = [(keys.event_key(graph.graph_id, ordinal), value) for ordinal, value in texts]
    kept = ((key, value) for key, value in pages.batch.items() if value is not None)
    return [*rows, *kept, (keys.count_key(graph.graph_id), keys.counts(graph.events, graph.turns))]
