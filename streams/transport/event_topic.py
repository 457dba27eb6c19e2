"""The topic `events` for backups: read beside a live worker, or written where none lives.

    reading(settings)               a LogReader; embedded, the file is only read, and its owner is not disturbed
    writing(settings, partitions)   a WritableLog (replay/backup/restore.py); refused while a worker lives
    appending(settings)             the same, where it is; on Kafka also beside live workers

With an embedded log, the directory's lock shows that a worker lives, and missing topics are created with `partitions`.
On Kafka the current members of the consumer group show it.  A restore fails if a record gets another offset than it
must, because another process wrote meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

from emgas.client.kafka import end_writing, in_time, kafka_errors
from emgas.errors import TransportError
from emgas.wire import COMPRESSION, ProducerRecord, Record, TopicNames
from replay.backup.restore import WritableLog
from replay.log import LogReader
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.reader import EmbeddedReader
from streams.transport.kafka.reader import KafkaReader
from streams.transport.topic_plan import RECORD_BYTES

SECONDS = 60.0  # until brokers must have taken what is appended together


@asynccontextmanager
async def reading(settings: WorkerSettings) -> AsyncIterator[LogReader]:
    """Return the topic `events` to read.  Raises TransportError when there is none."""
    async with select.readable(settings) as topics:
        yield topics.reader(settings.topics.events)


@asynccontextmanager
async def writing(settings: WorkerSettings, partitions: int) -> AsyncIterator[WritableLog]:
    """Return the topic `events` to write.  Raises TransportError, DataDirectoryInUseError."""
    if settings.is_embedded:
        with select.opened(settings.model_copy(update={"partitions": partitions})) as log:
            yield _EmbeddedTopic(log, settings.topics)
        return
    async with select.connect(settings):  # its topics are checked
        await _refuse_members(settings)
        async with _producing(settings) as topic:
            yield topic


@asynccontextmanager
async def appending(settings: WorkerSettings) -> AsyncIterator[WritableLog]:
    """Return the topic `events` to append to.  Raises TransportError, NoMemoryError, DataDirectoryInUseError."""
    select.check_there(settings)
    if settings.is_embedded:
        with select.opened(settings) as log:
            yield _EmbeddedTopic(log, settings.topics)
    else:
        async with select.connect(settings), _producing(settings) as topic:
            yield topic


@asynccontextmanager
async def _producing(settings: WorkerSettings) -> AsyncIterator[WritableLog]:
    producer = AIOKafkaProducer(
        bootstrap_servers=settings.bootstrap,
        acks="all",
        enable_idempotence=True,
        compression_type=COMPRESSION,
        max_request_size=RECORD_BYTES,
        **settings.security,
    )
    with kafka_errors(settings.bootstrap):
        try:
            with in_time(settings.bootstrap, SECONDS):
                async with asyncio.timeout(SECONDS):
                    await producer.start()
            yield _KafkaTopic(settings, producer)
        finally:
            await end_writing(settings.bootstrap, producer, SECONDS)


class _EmbeddedTopic(EmbeddedReader):
    def __init__(self, log: EmbeddedLog, topics: TopicNames) -> None:
        super().__init__(log, topics.events)
        self._writable = log
        self._turns = EmbeddedReader(log, topics.turns)

    async def sources(self, partition: int) -> int:
        """Return the offset after the last record of `turns`."""
        return (await self._turns.bounds(partition))[1]

    async def append(self, partition: int, records: Sequence[Record]) -> list[int]:
        """Append in one transaction."""
        return self._writable.append(
            [ProducerRecord(self._topic, r.key, r.value, r.headers, partition, r.timestamp) for r in records]
        )


class _KafkaTopic(KafkaReader):
    def __init__(self, settings: WorkerSettings, producer: Any) -> None:
        super().__init__(settings.bootstrap, settings.topics.events, **settings.security)
        self._producer = producer
        self._turns = KafkaReader(settings.bootstrap, settings.topics.turns, **settings.security)

    async def sources(self, partition: int) -> int:
        """Return the offset after the last record of `turns`."""
        return (await self._turns.bounds(partition))[1]

    async def append(self, partition: int, records: Sequence[Record]) -> list[int]:
        """Append in order; return once all in-sync replicas have all."""
        with in_time(self._bootstrap, SECONDS):
            async with asyncio.timeout(SECONDS):
                sent = [
                    await self._producer.send(self._topic, r.value, r.key, partition, r.timestamp, list(r.headers))
                    for r in records
                ]
                return [metadata.offset for metadata in await asyncio.gather(*sent)]


async def _refuse_members(settings: WorkerSettings) -> None:
    """Raise TransportError while workers, of whatever role, are in their consumer groups."""
    if members := await select.workers(settings):
        raise TransportError(
            f"{members} worker(s) of {settings.prefix} are running: stop them before a log is restored, and start them "
            "again afterwards"
        )
