"""A partition is claimed for the topic `turns` that is there: made anew, it is read anew; what expired is told."""

from __future__ import annotations

import pytest

from replay.backup.unfinished import marked
from state.events.events import Claim, TurnsLost, decode
from state.partition import Partition
from state.store.store import MemoryStore
from streams.errors import RestoreUnfinishedError, SourceChangedError
from streams.ingest import source
from streams.ingest.partition_writer import PartitionWriter
from tests.support.builders import turn_recorded
from tests.support.fakes import MemoryLog
from tests.support.logged import capture_logs

PARTITIONS = 4


def ids_in_turn(*ids: str | None) -> source.TopicId:
    """Make what gives one id after the other, and the last one for ever."""
    left = list(ids)

    async def ask() -> str | None:
        return left.pop(0) if len(left) > 1 else left[0]

    return ask


class Claiming:
    """A partition that accounted for three turns of the topic `first`."""

    def __init__(self) -> None:
        self.log, self.turns, self.state = MemoryLog(PARTITIONS), MemoryLog(PARTITIONS), Partition(MemoryStore())
        for _ in range(3):
            self.turns.put(b"a turn")

    async def claim(self, *topic_ids: str | None) -> None:
        self.writer = PartitionWriter(0, self.state, self.log, partitions=PARTITIONS, worker="me", timeout=60.0)
        await source.claim(self.writer, self.turns, ids_in_turn(*topic_ids))

    async def began(self, topic_id: str | None = "first") -> None:
        await self.claim(topic_id)
        await self.writer.append([turn_recorded(id=f"t{n}", src=n) for n in range(3)])

    @property
    def last_claim(self) -> Claim:
        return [event for _, value in self.log.values() if isinstance(event := decode(value), Claim)][-1]


@pytest.mark.parametrize(("now", "expected"), [("first", 2), ("second", -1)])
async def test_only_a_topic_that_was_made_anew_is_read_anew(now: str, expected: int) -> None:
    it = Claiming()
    await it.began()
    with capture_logs() as logs:
        await it.claim(now)
    assert (it.state.position.source, it.last_claim.anew) == (expected, expected < 0)
    assert [each["log_level"] for each in logs] == (["error"] if expected < 0 else [])
    assert it.state.position.source_topic == now


async def test_a_topic_that_ends_before_what_was_read_was_made_anew_whatever_its_id() -> None:
    it = Claiming()
    await it.began(None)
    del it.turns.records[0][1:]
    await it.claim(None)
    assert it.state.position.source == -1


async def test_a_store_from_before_ids_goes_on_where_it_was() -> None:
    it = Claiming()
    await it.began(None)
    await it.claim("first")
    assert (it.state.position.source, it.state.position.source_topic) == (2, "first")


async def test_a_topic_that_is_just_being_made_anew_is_not_claimed() -> None:
    it = Claiming()
    await it.began()
    claims = len(it.log.values())
    with pytest.raises(SourceChangedError):
        await it.claim(None)
    assert len(it.log.values()) == claims


async def test_turns_that_expired_unread_are_lost_and_told() -> None:
    it = Claiming()
    await it.began()
    for _ in range(4):
        it.turns.put(b"a turn")
    del it.turns.records[0][:5]
    with capture_logs() as logs:
        await it.claim("first")
    lost = decode(it.log.values()[-1][1])
    assert isinstance(lost, TurnsLost)
    assert (lost.first, lost.last, it.state.position.source) == (3, 4, 4)
    assert [(each["event"], each["log_level"], each["count"]) for each in logs] == [("turns lost", "error", 2)]


@pytest.mark.parametrize("expired", [0, 5])
async def test_bounds_that_may_be_of_a_topic_made_anew_meanwhile_tell_nothing(expired: int) -> None:
    """`turns` is deleted and made anew between the look at its id and the look at its bounds."""
    it = Claiming()
    await it.began()
    written = len(it.log.values())
    it.turns.records[0].clear()
    for _ in range(7 if expired else 0):
        it.turns.put(b"a turn")
    del it.turns.records[0][:expired]
    with pytest.raises(SourceChangedError):
        await it.claim("first", "second")
    assert len(it.log.values()) == written, "neither a claim nor lost turns in the name of the first"
    await it.claim("second")
    assert (it.last_claim.anew, it.last_claim.source_topic) == (True, "second")
    assert it.state.position.source == expired - 1


@pytest.mark.parametrize(("until", "is_whole"), [(5, False), (4, True)])
async def test_a_log_that_is_restored_in_part_is_not_claimed(until: int, is_whole: bool) -> None:
    it = Claiming()
    await it.began("before")
    it.turns.records[0].clear()
    restored = it.log.records[0]
    restored[:] = [marked(record, until) for record in restored]
    assert len(restored) == 4
    if is_whole:
        await it.claim("now")
        assert it.last_claim.anew
        return
    with pytest.raises(RestoreUnfinishedError, match="4 events of a backup are there, 1 are not"):
        await it.claim("now")
    assert len(restored) == 4
