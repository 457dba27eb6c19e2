"""What every LogReader must do (replay/log.py): a list, the embedded log, Kafka."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from emgas.errors import TransportError
from emgas.wire import Record
from replay.log import LogReader
from tests.support.clocks import PATIENCE, eventually

NOW = 1_700_000_000_000


def a_log(size: int) -> list[Record]:
    return [Record(n, NOW + n, b"k%d" % (n % 2), b"value %d" % n, (("n", b"%d" % n),)) for n in range(size)]


class ReaderContract:
    """Inherit, and give `reader`, of three partitions: `a_log(10)`, an empty one, `a_log(1)`."""

    @pytest.fixture
    def reader(self) -> Any:
        raise NotImplementedError

    async def test_it_knows_the_partitions_and_their_bounds(self, reader: LogReader) -> None:
        assert await reader.partitions() == 3
        assert [await reader.bounds(p) for p in range(3)] == [(0, 10), (0, 0), (0, 1)]

    async def test_it_reads_everything_once_and_in_order(self, reader: LogReader) -> None:
        assert await read(reader, 0, 0, 10) == a_log(10)
        assert await read(reader, 2, 0, 1) == a_log(1)

    async def test_an_empty_partition_yields_nothing(self, reader: LogReader) -> None:
        assert await read(reader, 1, 0, 0) == []
        assert await read(reader, 1, 0, 100) == []

    @pytest.mark.parametrize(("start", "end"), [(0, 1), (3, 7), (9, 10), (5, 5), (7, 3), (10, 10)])
    async def test_a_read_keeps_to_its_bounds(self, reader: LogReader, start: int, end: int) -> None:
        assert await read(reader, 0, start, end) == a_log(10)[start:end]

    async def test_a_read_beyond_the_end_stops_at_the_end(self, reader: LogReader) -> None:
        assert await read(reader, 0, 8, 1_000_000) == a_log(10)[8:]
        assert await read(reader, 0, 50, 60) == []

    async def test_no_batch_is_empty(self, reader: LogReader) -> None:
        assert all([len(batch) > 0 async for batch in reader.read(0, 0, 10)])

    async def test_a_read_may_be_given_up(self, reader: LogReader) -> None:
        async for batch in reader.read(0, 0, 10):
            assert batch[0] == a_log(1)[0]
            break
        assert await read(reader, 0, 9, 10) == a_log(10)[9:]

    async def test_reads_at_the_same_time_do_not_disturb_each_other(self, reader: LogReader) -> None:
        result = await asyncio.gather(read(reader, 0, 0, 10), read(reader, 2, 0, 1), read(reader, 0, 5, 10))
        assert list(result) == [a_log(10), a_log(1), a_log(10)[5:]]


class FollowContract:
    """Inherit beside ReaderContract, of a reader that can follow; give `growing`: (reader, what appends a record).

    Partition 0 holds `a_log(10)`; what is appended gets the value of its number.
    """

    async def test_what_is_there_and_what_comes_is_followed_once_and_in_order(self, growing: Any) -> None:
        reader, append = growing
        followed: list[Record] = []

        async def follow() -> None:
            async for batch in reader.follow(0, 7):
                followed.extend(batch)

        following = asyncio.create_task(follow())
        await eventually(lambda: len(followed) == 3)
        for number in range(10, 15):
            await append(number)
            await eventually(lambda number=number: len(followed) == number - 6)  # type: ignore[misc]  # bound at once
        following.cancel()
        await asyncio.wait([following], timeout=PATIENCE)
        assert following.cancelled()
        assert [record.offset for record in followed] == list(range(7, 15))
        assert [record.value for record in followed] == [b"value %d" % n for n in range(7, 15)]

    async def test_an_offset_that_the_log_does_not_have_is_told(self, growing: Any) -> None:
        reader, _ = growing
        with pytest.raises(TransportError):
            await anext(reader.follow(0, 1000))


async def read(reader: LogReader, partition: int, start: int, end: int) -> list[Record]:
    return [record async for batch in reader.read(partition, start, end) for record in batch]


class KeptReaderContract(ReaderContract):
    """For readers of something that exists or not: also give `missing`, a reader of a topic that does not exist."""

    @pytest.fixture
    def missing(self) -> Any:
        raise NotImplementedError

    async def test_a_missing_topic_is_told_and_not_created(self, missing: LogReader) -> None:
        for _ in range(2):
            with pytest.raises(TransportError, match="create"):
                await missing.partitions()
