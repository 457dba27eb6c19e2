"""A partition is claimed for the topic `turns` that is there: made anew, it is read anew; what expired is told."""

from __future__ import annotations

import pytest

from state.events.events import Claim, TurnsLost, decode
from state.partition import Partition
from state.store.store import MemoryStore
from streams.errors import SourceChangedError
from streams.ingest import source
from streams.ingest.partition_writer import PartitionWriter
from tests.support.builders import turn_recorded
from tests.support.fakes import MemoryLog
from tests.support.logged import capture_logs

PARTITIONS = 4


class Claiming:
    """A partition that accounted for three turns of the topic `first`."""

    def __init__(self) -> None:
        self.log, self.turns, self.state = MemoryLog(PARTITIONS), MemoryLog(PARTITIONS), Partition(MemoryStore())
        for _ in range(3):
            self.turns.put(b"a turn")

    async def claim(self, topic_id: str | None) -> None:
        self.writer = PartitionWriter(0, self.state, self.log, partitions=PARTITIONS, worker="me", timeout=60.0)
        await source.claim(self.writer, self.turns, topic_id)

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
