"""The one writer of a partition: what it appends is chained, folded in log order, and refused to who is no writer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.wire import Record
from state import partition as partition_module
from state.errors import LogRewrittenError, UnreadableEventError, WrongLayoutError
from state.events.events import UNSTAMPED, AnyEvent, Claim, DataEvent, SubjectErased, decode, encode
from state.log_position import draft
from state.partition import Partition
from state.store.store import MemoryStore
from streams.ingest.partition_writer import AppendFailedError, FencedError, PartitionWriter
from streams.ingest.sealing import Sealer
from streams.transport.keys.key_store import MemoryKeys
from tests.support.builders import concepts_recalled, turn_duplicated, turn_recorded, turn_rejected
from tests.support.fakes import MemoryLog
from tests.support.logs import LogWriter, fold

PARTITIONS = 4


def writer_of(log: MemoryLog, state: Partition | None = None, timeout: float = 60.0) -> PartitionWriter:
    return PartitionWriter(
        0, state or Partition(MemoryStore()), log, partitions=PARTITIONS, worker="me", timeout=timeout
    )


async def claimed(log: MemoryLog, **options: Any) -> PartitionWriter:
    writer = writer_of(log, **options)
    await writer.claim()
    return writer


def turns(*sources: int) -> list[DataEvent]:
    """Make turns, one for each offset in `turns`."""
    return [turn_recorded(src=source, id=f"t{source}") for source in sources]


def another_claim() -> bytes:
    return encode(Claim(writer="another", partitions=PARTITIONS, nonce="its own"))


def zombie() -> bytes:
    """Return an event of a worker that owned the partition before anybody here did."""
    return encode(turn_recorded(epoch=999, src=0, id="zombie"))


def ids(state: Partition) -> list[str]:
    graph = state.graph("ada")
    return list(graph.passages.ids) if graph else []


async def test_a_claim_is_appended_and_its_offset_is_the_epoch() -> None:
    log = MemoryLog()
    writer = await claimed(log)
    claim = decode(log.records[0][0].value)
    assert isinstance(claim, Claim)
    assert (claim.writer, claim.partitions, writer.state.position.epoch) == ("me", PARTITIONS, 0)


async def test_a_claim_takes_over_what_was_written_before() -> None:
    log, predecessor = MemoryLog(), LogWriter(partitions=PARTITIONS)
    predecessor.turn()
    predecessor.turn()
    for _, value in predecessor.records:
        log.put(value)
    writer = await claimed(log)
    assert (ids(writer.state), writer.state.position.epoch, writer.state.position.source) == (["t0", "t1"], 3, 1)
    await writer.append(turns(2))
    assert ids(writer.state) == ["t0", "t1", "t2"]


async def test_a_log_that_does_not_show_yet_what_it_holds_is_not_taken_for_the_whole() -> None:
    class OfANewLeader(MemoryLog):
        async def bounds(self, partition: int) -> tuple[int, int]:
            return 0, 1

    log = OfANewLeader()
    for value in (another_claim(), another_claim()):
        log.put(value)
    with pytest.raises(AppendFailedError, match="shows 1 of 2 records"):
        await claimed(log)


async def test_an_owner_does_not_go_on_behind_what_others_wrote_where_the_log_lost_what_it_folded() -> None:
    """Found by the simulation (seed 51700): the claim of another lies where it had folded its own events."""
    log = MemoryLog()
    writer = await claimed(log)
    await writer.append(turns(0, 1))
    del log.records[0][1:]
    log.put(another_claim())
    await (other := writer_of(log)).claim()
    await other.append(turns(0, 1))
    with pytest.raises(LogRewrittenError, match="another record at offset 2 "):
        await writer.append(turns(2))


async def test_an_owner_sees_behind_another_leader_that_the_log_lost_what_it_folded_and_others_filled_it_up() -> None:
    """Found by the simulation (seed 100554): its next event fits right behind what a stranger wrote there."""
    log = MemoryLog()
    writer = await claimed(log)
    await writer.append(turns(0, 1))
    del log.records[0][1:]
    log.put(zombie())
    log.put(zombie())
    log.leader = "another"
    with pytest.raises(LogRewrittenError, match="another record at offset 2 "):
        await writer.append(turns(2))


async def test_an_owner_sees_that_the_log_lost_what_it_was_just_appending() -> None:
    class LosingOne(MemoryLog):
        async def append(self, partition: int, records: Sequence[tuple[bytes | None, bytes]]) -> list[int]:
            first = await super().append(partition, records[:1])
            if len(records) > 1:
                self.records[partition].pop()
                self.put(zombie())
                self.leader = "another"
            return first + await super().append(partition, records[1:])

    log = LosingOne()
    writer = await claimed(log)
    with pytest.raises(LogRewrittenError, match="another record at offset 1 than was appended"):
        await writer.append(turns(0, 1))


async def test_a_claim_sees_that_the_log_lost_what_was_folded() -> None:
    log = MemoryLog()
    await (await claimed(log)).append(turns(0))
    state = Partition(MemoryStore())
    for offset, value in log.values():
        state.fold(offset, value)
    log.records[0].pop()
    log.put(zombie())
    with pytest.raises(LogRewrittenError, match="another record at offset 1 "):
        await writer_of(log, state).claim()


async def test_a_new_leader_that_does_not_show_what_was_folded_is_not_believed() -> None:
    class Forgetful(MemoryLog):
        async def bounds(self, partition: int) -> tuple[int, int]:
            return 0, 1

        async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
            async for batch in super().read(partition, start, min(end, 1)):
                yield batch

    log = Forgetful()
    writer = await claimed(log)
    await writer.append(turns(0))
    log.leader = "another"
    with pytest.raises(AppendFailedError, match="shows 1 of 2 records"):
        await writer.append(turns(1))


async def test_nothing_is_read_back_where_the_route_is_the_same() -> None:
    class Counting(MemoryLog):
        reads = 0

        async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
            self.reads += 1
            async for batch in super().read(partition, start, end):
                yield batch

    log = Counting()
    writer = await claimed(log)
    await writer.append(turns(0))
    counts = []
    for source in (1, 2, 3, 4):
        log.leader = "another" if source > 2 else ""
        before = log.reads
        await writer.append(turns(source))
        counts.append(log.reads - before)
    assert counts == [0, 0, 1, 0]


async def test_what_retention_took_is_not_asked_for() -> None:
    log = MemoryLog()
    writer = await claimed(log)
    await writer.append(turns(0))
    log.before = log.records[0].clear
    log.leader = "another"
    log.put = lambda value, key=None, partition=0: _put_at(log, 2, key, value)  # type: ignore[method-assign]
    await writer.append(turns(1))
    assert ids(writer.state) == ["t0", "t1"]


def _put_at(log: MemoryLog, offset: int, key: bytes | None, value: bytes) -> int:
    log.records[0].append(Record(offset, 0, key, value))
    return offset


async def test_two_claims_are_never_the_same_bytes() -> None:
    log = MemoryLog()
    await claimed(log)
    await claimed(log)
    assert log.records[0][0].value != log.records[0][1].value


async def test_a_topic_of_another_width_is_not_claimed() -> None:
    log = MemoryLog()
    log.put(encode(Claim(writer="another", partitions=PARTITIONS * 2, nonce="")))
    with pytest.raises(WrongLayoutError):
        await claimed(log)


async def test_a_batch_is_chained_and_folded_as_an_offline_fold_would() -> None:
    log = MemoryLog()
    writer = await claimed(log)
    await writer.append(turns(0, 1, 2))
    await writer.append([*turns(3), turn_rejected(src=4), turn_duplicated(src=5)])
    await writer.append([concepts_recalled(concepts="coffee")])
    assert ids(writer.state) == ["t0", "t1", "t2", "t3"]
    assert writer.state.digest() == fold(log.values()).digest()
    assert writer.state.position.source == 5


async def test_what_a_writer_has_read_back_as_it_wrote_it_is_not_read_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log, read = MemoryLog(), list[bytes]()
    writer = await claimed(log)

    def reading(value: bytes) -> AnyEvent:
        read.append(value)
        return decode(value)

    monkeypatch.setattr(partition_module, "decode", reading)
    events = [*turns(0, 1, 2), turn_rejected(src=3)]
    await writer.append(events, [*map(draft, events[:2]), None, None])
    assert read == []
    log.before = lambda: log.put(zombie())
    await writer.append(turns(4))
    assert read == [zombie()]
    assert writer.state.digest() == fold(log.values()).digest()


async def test_events_of_a_graph_have_its_key_and_control_events_none() -> None:
    log = MemoryLog()
    writer = await claimed(log)
    await writer.append([*turns(0), turn_rejected(src=1), concepts_recalled(graph="bob")])
    assert [record.key for record in log.records[0]] == [None, b"ada", None, b"bob"]


async def test_what_is_appended_is_in_the_store_when_append_returns() -> None:
    log, store = MemoryLog(), MemoryStore()
    writer = await claimed(log, state=Partition(store))
    await writer.append(turns(0))
    assert ids(Partition(store)) == ["t0"]


async def test_what_others_append_in_between_is_folded_in_its_place() -> None:
    log = MemoryLog()
    writer = await claimed(log)
    log.before = lambda: log.put(zombie())
    log.between = [zombie(), zombie()]
    await writer.append(turns(0, 1, 2))
    await writer.append(turns(3))
    assert ids(writer.state) == ["t0", "t1", "t2", "t3"]
    assert writer.state.position.watermark == len(log.records[0]) - 1
    assert writer.state.digest() == fold(log.values()).digest()


async def test_what_recovery_folds_while_the_owner_reads_it_is_not_folded_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = MemoryLog()
    await (await claimed(log)).append(turns(0, 1))
    writer, read = writer_of(log), log.read

    async def meanwhile(number: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        async for batch in read(number, start, end):
            writer.state.fold(batch[0].offset, batch[0].value)
            yield batch

    monkeypatch.setattr(log, "read", meanwhile)
    await writer.claim()
    assert writer.state.digest() == fold(log.values()).digest()


async def test_something_unreadable_in_between_stops_the_owner() -> None:
    log = MemoryLog()
    writer = await claimed(log)
    log.before = lambda: log.put(b'{"v": 2, "kind": "GraphErased"}')
    with pytest.raises(UnreadableEventError):
        await writer.append(turns(0))
    assert ids(writer.state) == []


async def test_who_was_claimed_away_while_it_appended_is_fenced() -> None:
    log = MemoryLog()
    writer = await claimed(log)
    log.before = lambda: log.put(another_claim())
    with pytest.raises(FencedError, match="was not accepted"):
        await writer.append(turns(0))
    assert ids(writer.state) == []
    written = len(log.records[0])
    with pytest.raises(FencedError, match="was claimed by another worker at offset 1"):
        await writer.append(turns(0))
    assert len(log.records[0]) == written, "who knows that it is fenced writes no more"


async def test_of_two_owners_the_later_one_wins_and_nothing_counts_twice() -> None:
    log = MemoryLog()
    first, second = await claimed(log), await claimed(log)
    with pytest.raises(FencedError):
        await first.append(turns(0))
    await second.append(turns(0))
    assert ids(second.state) == ["t0"]
    assert fold(log.values()).digest() == second.state.digest()


async def test_an_append_that_fails_is_told_with_its_cause() -> None:
    log = MemoryLog()
    writer = await claimed(log)
    log.broken = ConnectionError("the broker is gone")
    with pytest.raises(AppendFailedError, match="the broker is gone"):
        await writer.append(turns(0))
    with pytest.raises(AppendFailedError):
        await writer_of(log).claim()


async def test_an_append_that_nobody_acknowledges_fails_in_the_end() -> None:
    log = MemoryLog()
    writer = await claimed(log, timeout=0.01)
    log.silent = True
    with pytest.raises(AppendFailedError, match="no ack for partition 0"):
        await writer.append(turns(0))


async def test_the_successor_of_an_owner_whose_acks_were_lost_counts_each_turn_once() -> None:
    log = MemoryLog()
    writer = await claimed(log, timeout=0.01)
    log.silent = True
    with pytest.raises(AppendFailedError):
        await writer.append(turns(0, 1))
    log.silent = False
    successor = await claimed(log)
    assert (ids(successor.state), successor.state.position.source) == (["t0", "t1"], 1)


async def test_records_that_a_broker_reordered_stop_the_owner() -> None:
    class Reordering(MemoryLog):
        async def append(self, partition: int, records: Sequence[tuple[bytes | None, bytes]]) -> list[int]:
            return list(reversed(await super().append(partition, list(reversed(records)))))

    log = Reordering()
    writer = await claimed(log)
    with pytest.raises(FencedError, match="gap"):
        await writer.append(turns(0, 1))


async def test_many_appends_at_once_wait_for_each_other() -> None:
    log = MemoryLog()
    writer = await claimed(log)
    await asyncio.gather(*(writer.append([concepts_recalled(concepts=f"c{n}")]) for n in range(20)))
    assert writer.state.position.seq == 20
    assert writer.state.digest() == fold(log.values()).digest()


async def test_who_waits_for_a_turn_is_woken_once_it_is_folded() -> None:
    log = MemoryLog()
    writer = await claimed(log)
    waiting = asyncio.create_task(writer.until_source(1))
    await writer.append(turns(0))
    await asyncio.sleep(0)
    assert not waiting.done()
    await writer.append(turns(1))
    await waiting
    await writer.until_source(0)


batches = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(0, 2)), max_size=8)


@given(batches)
def test_whatever_others_write_the_state_is_the_fold_of_the_log(plan: list[tuple[int, int, int]]) -> None:
    """Of each batch: how many turns, how many foreign records before it, how many within it."""

    def disturb(log: MemoryLog, before: int, within: int) -> None:
        events = [value for _, value in log.values() if not isinstance(decode(value), Claim)]
        copies = [*events[-1:], zombie()]
        log.before = lambda: [log.put(value) for value in (copies * before)[:before]]
        log.between = (copies * within)[:within]

    async def run() -> None:
        log = MemoryLog()
        writer = await claimed(log)
        source = 0
        for count, before, within in plan:
            disturb(log, before, within)
            await writer.append(turns(*range(source, source + count)))
            source += count
        assert ids(writer.state) == [f"t{n}" for n in range(source)]
        seen = log.values()[: writer.state.position.watermark + 1]
        assert writer.state.digest() == fold(seen).digest()
        assert ids(fold(log.values())) == ids(writer.state), "what came after our last event counts for nothing"

    asyncio.run(run())


async def test_a_graph_goes_on_where_the_log_lost_an_erasure_and_the_turn_that_it_named() -> None:
    """The next event has the ordinal of the turn, whose secret is destroyed."""

    async def owner() -> PartitionWriter:
        state, sealer = Partition(MemoryStore(), graph_keys=keys), Sealer(keys, is_on=True)
        writer = PartitionWriter(0, state, log, partitions=PARTITIONS, worker="me", timeout=60.0, sealer=sealer)
        await writer.claim()
        return writer

    log, keys = MemoryLog(), MemoryKeys()
    await (writer := await owner()).append(turns(0, 1))
    (name,) = keys.of("ada")
    some: dict[str, Any] = {"graph": "ada", "whole": False, "turns": ["t1"], "instead": [], **UNSTAMPED}
    await writer.append([SubjectErased(keys=[name], events=[(1, 1)], **some)])
    del log.records[0][2:]
    await (writer := await owner()).append(turns(1, 2))
    assert ids(writer.state) == ["t0", "t1", "t2"]
    again = Partition(MemoryStore(), graph_keys=keys)
    again.fold_all((record.offset, record.value) for record in log.records[0])
    assert again.digest() == writer.state.digest()
