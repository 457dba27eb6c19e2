"""One shape for the logs under test, so that a contract is written once: SQLite and a real Kafka, as thinly as can be.

transport.driver                              what makes a Faust app's transport
await transport.create(plan)                  raises TransportError, as the thing itself
await transport.append([ProducerRecord, …])   offsets
transport.reader(topic)                       a LogReader
await transport.commit(group, {(topic, partition): offset}), await transport.committed(group, topic, partition)
await transport.truncate(topic, partition, before)
await transport.recreate(topic)               deletes it, and makes it anew with as many partitions
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.errors import KafkaError
from faust.types import AppT
from faust.types.transports import TransportT

from emgas.errors import TransportError
from emgas.times import DAY_MS
from emgas.wire import ProducerRecord
from replay.log import LogReader
from streams.transport.embedded import layout
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.reader import EmbeddedReader
from streams.transport.embedded.transport import EmbeddedTransport
from streams.transport.kafka import transport as driver
from streams.transport.kafka.admin import KafkaTopics
from streams.transport.kafka.reader import KafkaReader
from streams.transport.topic_plan import LARGEST_RECORD_BYTES, RECORD_BYTES, TopicPlan
from tests.support.clocks import PATIENCE


class Transport(Protocol):
    driver: Callable[[AppT], TransportT]

    async def create(self, plan: TopicPlan) -> None: ...
    async def append(self, records: Sequence[ProducerRecord]) -> list[int]: ...
    def reader(self, topic: str) -> LogReader: ...
    async def commit(self, group: str, positions: Mapping[tuple[str, int], int]) -> None: ...
    async def committed(self, group: str, topic: str, partition: int) -> int | None: ...
    async def truncate(self, topic: str, partition: int, before: int) -> None: ...
    async def recreate(self, topic: str) -> None: ...


def leave_room(log: EmbeddedLog, pages: int) -> None:
    """Let the log's file have no more than `pages` beyond those it has: a disk that is full, or nearly."""
    connection = log._db  # noqa: SLF001 - the limit holds for this connection only
    (count,) = connection.execute("pragma page_count").fetchone()
    connection.execute(f"pragma max_page_count={count + pages}")


def overwrite(home: Path, place: tuple[str, int], offset: int, value: bytes) -> None:
    """Change a record of the log in `home` behind its back, at `place`: (topic, partition)."""
    with closing(layout.connect(home / layout.FILE, read_only=False)) as db:
        row = layout.partitions_of(db)[place].row
        changed = db.execute(f"update records_{row:d} set value = ? where offset = ?", (value, offset))  # noqa: S608
        assert changed.rowcount == 1


class SqliteTransport:
    def __init__(self, log: EmbeddedLog) -> None:
        self.log = log
        self.driver: Callable[[AppT], TransportT] = partial(EmbeddedTransport, log)

    async def create(self, plan: TopicPlan) -> None:
        self.log.create_topic(plan)

    async def append(self, records: Sequence[ProducerRecord]) -> list[int]:
        return self.log.append(records)

    def reader(self, topic: str) -> LogReader:
        return EmbeddedReader(self.log, topic, batch=3)

    async def commit(self, group: str, positions: Mapping[tuple[str, int], int]) -> None:
        self.log.commit(group, positions)

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        return self.log.committed(group).get((topic, partition))

    async def truncate(self, topic: str, partition: int, before: int) -> None:
        partition_log = self.log._partition(topic, partition)  # noqa: SLF001 - only time removes records: `expire`
        self.log._db.execute(f"delete from records_{partition_log.row} where offset < ?", (before,))  # noqa: S608, SLF001
        partition_log.start = before

    async def recreate(self, topic: str) -> None:
        plan = self.log._plans.pop(topic)  # noqa: SLF001 - only from inside can this be told
        for partition in range(plan.partitions):
            self.log._db.execute(f"drop table records_{self.log._partitions.pop((topic, partition)).row}")  # noqa: SLF001 - only from inside can this be told
        for table, column in (("topic", "name"), ("partition", "topic"), ("position", "topic")):
            self.log._db.execute(f"delete from {table} where {column}=?", (topic,))  # noqa: S608, SLF001 - noqa: S608
        self.log.create_topic(plan)


class KafkaTransport:
    def __init__(self, address: str, producer: AIOKafkaProducer) -> None:
        self.address = address
        self.driver: Callable[[AppT], TransportT] = partial(driver.KafkaTransport, address)
        self._producer = producer

    async def create(self, plan: TopicPlan) -> None:
        await KafkaTopics(self.address).create([plan])

    async def append(self, records: Sequence[ProducerRecord]) -> list[int]:
        try:
            sent = [
                await self._producer.send(r.topic, r.value, r.key, r.partition, r.timestamp, list(r.headers))
                for r in records
            ]
            return [metadata.offset for metadata in await asyncio.gather(*sent)]
        except KafkaError as error:
            raise TransportError(str(error)) from error

    def reader(self, topic: str) -> LogReader:
        return KafkaReader(self.address, topic, batch=3)

    async def commit(self, group: str, positions: Mapping[tuple[str, int], int]) -> None:
        async with _started(self._member_of(group)) as consumer:
            partitions = {TopicPartition(*tp): offset for tp, offset in positions.items()}
            consumer.assign(list(partitions))
            await consumer.commit(partitions)

    async def committed(self, group: str, topic: str, partition: int) -> int | None:
        async with _started(self._member_of(group)) as consumer:
            offset: int | None = await consumer.committed(TopicPartition(topic, partition))
            return offset

    def _member_of(self, group: str) -> AIOKafkaConsumer:
        # by default a consumer also commits on its own when it stops, where it happens to be: over what it was told to
        return AIOKafkaConsumer(bootstrap_servers=self.address, group_id=group, enable_auto_commit=False)

    async def truncate(self, topic: str, partition: int, before: int) -> None:
        async with _started(AIOKafkaAdminClient(bootstrap_servers=self.address)) as admin:
            await admin.delete_records({TopicPartition(topic, partition): RecordsToDelete(before)})

    async def recreate(self, topic: str) -> None:
        topics = KafkaTopics(self.address)
        (described,) = await topics.describe([topic])
        async with _started(AIOKafkaAdminClient(bootstrap_servers=self.address)) as admin:
            await admin.delete_topics([topic])
        async with asyncio.timeout(PATIENCE):
            while await topics.topic_id(topic) is not None:  # noqa: ASYNC110  (the broker deletes in its own time)
                await asyncio.sleep(0.05)
        await topics.create([TopicPlan(topic, described.partitions, DAY_MS, RECORD_BYTES)])


@asynccontextmanager
async def sqlite_transport(directory: Path) -> AsyncIterator[SqliteTransport]:
    with closing(EmbeddedLog(directory)) as log:
        yield SqliteTransport(log)


@asynccontextmanager
async def kafka_transport(address: str) -> AsyncIterator[KafkaTransport]:
    producer = AIOKafkaProducer(bootstrap_servers=address, acks="all", max_request_size=2 * LARGEST_RECORD_BYTES)
    async with _started(producer):
        yield KafkaTransport(address, producer)


@asynccontextmanager
async def _started(client: Any) -> AsyncIterator[Any]:
    await client.start()
    try:
        yield client
    finally:
        await (client.close() if hasattr(client, "close") else client.stop())
