"""What every log must do that carries EMGAS: the embedded one, and Kafka with our topic settings."""

from __future__ import annotations

from typing import Any

import pytest

from emgas.errors import TransportError
from emgas.wire import Headers, ProducerRecord, Record
from streams.transport.topic_plan import FOR_EVER, TopicPlan
from tests.support.transports import Transport

PARTITIONS = 3
LIMIT = 20_000
NOW = 1_700_000_000_123


class LogContract:
    """Inherit, and give a `transport` fixture; `prefix` makes the topics one test's own."""

    @pytest.fixture
    def transport(self) -> Any:
        raise NotImplementedError

    @pytest.fixture
    async def topic(self, transport: Transport, prefix: str) -> str:
        name = f"{prefix}.events"
        await transport.create(TopicPlan(name, PARTITIONS, FOR_EVER, LIMIT, broker_time=False))
        return name

    async def test_a_new_topic_is_empty(self, transport: Transport, topic: str) -> None:
        reader = transport.reader(topic)
        assert await reader.partitions() == PARTITIONS
        assert [await reader.bounds(p) for p in range(PARTITIONS)] == [(0, 0)] * PARTITIONS

    async def test_offsets_are_dense_and_start_at_zero(self, transport: Transport, topic: str) -> None:
        offsets = [await transport.append([a_record(topic, 1, b"%d" % n) for n in range(size)]) for size in (3, 1, 4)]
        assert offsets == [[0, 1, 2], [3], [4, 5, 6, 7]]
        assert await transport.reader(topic).bounds(1) == (0, 8)

    async def test_partitions_count_for_themselves(self, transport: Transport, topic: str) -> None:
        batch = [a_record(topic, partition) for partition in (0, 2, 0, 2, 2)]
        assert await transport.append(batch) == [0, 0, 1, 1, 2]
        assert [await transport.reader(topic).bounds(p) for p in range(PARTITIONS)] == [(0, 2), (0, 0), (0, 3)]

    async def test_records_are_read_back_to_the_byte_and_in_order(self, transport: Transport, topic: str) -> None:
        headers: Headers = (("b", b"\x00\xff"), ("a", b""), ("b", b"again"), ("größe", "μ".encode()))
        appended = [
            ProducerRecord(topic, b"key", b"value", headers, 0, NOW),
            ProducerRecord(topic, None, bytes(range(256)), (), 0, NOW + 1),
            ProducerRecord(topic, b"", b"", (), 0, NOW + 2),
            ProducerRecord(topic, b"tombstone", None, (), 0, NOW + 3),
        ]
        await transport.append(appended)
        expected = [Record(n, r.timestamp, r.key, r.value or b"", r.headers) for n, r in enumerate(appended)]
        assert await all_of(transport, topic, 0) == expected

    async def test_a_record_over_the_limit_is_refused_and_leaves_no_gap(self, transport: Transport, topic: str) -> None:
        assert await transport.append([a_record(topic, 0, b"x" * (LIMIT - 1000))]) == [0]
        with pytest.raises(TransportError):
            await transport.append([a_record(topic, 0, b"x" * (LIMIT + 1))])
        assert await transport.append([a_record(topic, 0)]) == [1]

    async def test_creating_a_topic_again_changes_nothing(self, transport: Transport, topic: str) -> None:
        await transport.append([a_record(topic, 0)])
        await transport.create(TopicPlan(topic, PARTITIONS, FOR_EVER, LIMIT))
        assert await transport.reader(topic).bounds(0) == (0, 1)

    async def test_another_partition_count_is_refused_with_both_counts(self, transport: Transport, topic: str) -> None:
        with pytest.raises(TransportError, match=f"has {PARTITIONS} partitions, not the 7 asked for"):
            await transport.create(TopicPlan(topic, 7, FOR_EVER, LIMIT))

    async def test_a_group_finds_its_position_again(self, transport: Transport, topic: str, prefix: str) -> None:
        await transport.append([a_record(topic, 0)] * 5)
        await transport.commit(prefix, {(topic, 0): 2})
        await transport.commit(prefix, {(topic, 0): 4})
        assert await transport.committed(prefix, topic, 0) == 4

    async def test_groups_and_partitions_have_positions_of_their_own(
        self, transport: Transport, topic: str, prefix: str
    ) -> None:
        await transport.commit(prefix, {(topic, 0): 2})
        assert await transport.committed(prefix, topic, 1) is None
        assert await transport.committed(f"{prefix}-other", topic, 0) is None


def a_record(topic: str, partition: int, value: bytes = b"value") -> ProducerRecord:
    return ProducerRecord(topic, b"key", value, (), partition, NOW)


async def all_of(transport: Transport, topic: str, partition: int) -> list[Record]:
    reader = transport.reader(topic)
    start, end = await reader.bounds(partition)
    return [record async for batch in reader.read(partition, start, end) for record in batch]
