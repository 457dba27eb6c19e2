"""A record that nobody can read halts every reader, until the log itself says that it is to be skipped."""

from __future__ import annotations

import pytest

from emgas.wire import Record
from replay.accepted_events import AcceptedEvents, fold_record
from replay.rebuild.rebuild import refold, refused_from
from replay.skipped_records import decision, decision_on
from state.errors import UnreadableEventError
from state.partition import Partition
from state.store.store import MemoryStore
from tests.support.fakes import MemoryLog
from tests.support.logs import LogWriter

GARBAGE = [b"\xff\xfe garbage", b"", b"[]", b'{"v":1,"kind":"Unheard"}', b'{"v":1,"kind":"TurnRecorded","epoch":-5}']


def a_log(garbage: bytes, *, skipped: bool) -> tuple[MemoryLog, LogWriter]:
    """Write a log of three turns with garbage behind the first, and with the decision to skip it before the last."""
    writer, log = LogWriter(), MemoryLog(4)
    writer.turn(id="t0")
    bad = writer.append(garbage)
    writer.turn(id="t1")
    if skipped:
        writer.append(decision(Record(bad, 0, None, garbage, ()), "a typo of ours"))
    writer.turn(id="t2")
    for _, value in writer.records:
        log.put(value)
    return log, writer


async def one_by_one(log: MemoryLog) -> Partition:
    state = Partition(MemoryStore())
    for offset, value in log.values():
        await fold_record(state, log, 0, Record(offset, 0, None, value, ()))
    return state


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
async def test_every_reader_comes_to_the_same_state_without_a_skipped_record(garbage: bytes) -> None:
    log, _ = a_log(garbage, skipped=True)
    _, end = await log.bounds(0)
    state = await one_by_one(log)
    assert list(state.graph("ada").passages.ids) == ["t0", "t1", "t2"]  # type: ignore[union-attr]
    assert (await refold(log, 0, end, MemoryStore())).digest() == state.digest()
    assert (await refold(log, 0, end, MemoryStore(), lambda folded: None)).digest() == state.digest()
    accepted = AcceptedEvents()
    assert [event.id async for event, _ in accepted.read(log, 0) if hasattr(event, "id")] == ["t0", "t1", "t2"]
    assert accepted.position.chain == state.position.chain
    assert await refused_from(log, 0, end) is None


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
async def test_without_a_decision_no_reader_goes_on(garbage: bytes) -> None:
    log, _ = a_log(garbage, skipped=False)
    _, end = await log.bounds(0)
    with pytest.raises(UnreadableEventError, match="partition 0, offset 2"):
        await one_by_one(log)
    with pytest.raises(UnreadableEventError, match="partition 0, offset 2"):
        await refold(log, 0, end, MemoryStore())
    with pytest.raises(UnreadableEventError):
        async for _ in AcceptedEvents().read(log, 0):
            pass


async def test_a_decision_is_on_these_bytes_at_this_place_only() -> None:
    log, _ = a_log(b"garbage", skipped=True)
    assert await decision_on(log, 0, Record(2, 0, None, b"garbage", ())) is not None
    assert await decision_on(log, 0, Record(2, 0, None, b"other bytes", ())) is None
    assert await decision_on(log, 0, Record(1, 0, None, b"garbage", ())) is None


async def test_a_rebuild_that_ends_before_the_decision_knows_it_too() -> None:
    log, _ = a_log(b"garbage", skipped=True)
    state = await refold(log, 0, 4, MemoryStore())
    assert state.position.watermark == 3
    assert list(state.graph("ada").passages.ids) == ["t0", "t1"]  # type: ignore[union-attr]
