"""Faust's aiokafka driver, made safe.

    producer   acks=all and idempotent, which Faust turns on only for its own transactions (drivers/aiokafka.py:1323);
               goes on behind a record that failed (emgas/client/kafka.py); tells by which route it sends;
               takes a whole dead letter, where Faust's limit is 1,000,000 bytes
    consumer   sources stand where the state says before an agent sees a message (streams/transport/source_offsets.py);
               an empty fetch waits `fetch_wait_ms`, where Faust hard-codes 1500 (drivers/aiokafka.py:615);
               never jumps: see below

Faust seeks a changelog partition to its persisted offset, at least to the first kept minus one
(tables/recovery.py:717-740, 759-770), and leaves the rest to `auto_offset_reset`: of an offset that is gone, aiokafka's
fetcher goes on at the earliest or latest (fetcher.py:891) with one line at level info, and events are missing from the
fold.  So it is "none" here, whatever Faust is configured with, and every partition is positioned by hand: changelogs by
Faust's recovery, sources by `seek_to_committed`.  An offset that is gone then raises; for `events` that stops the
worker, for sources reading goes on at the first record kept, and the worker is notified if that lies before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast
from weakref import WeakSet

from aiokafka.client import ConnectionGroup  # type: ignore[import-untyped]
from aiokafka.errors import (  # type: ignore[import-untyped]
    IllegalStateError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    UnknownMemberIdError,
)
from aiokafka.protocol.group import HeartbeatRequest  # type: ignore[import-untyped]
from faust.transport.consumer import RecordMap, ensure_TP
from faust.transport.drivers import aiokafka as driver
from faust.types import TP, AppT, ConsumerMessage
from yarl import URL

from emgas.client.kafka import BATCH_BYTES, mending
from emgas.errors import HaltedError
from emgas.wire import ProducerRecord, Record, as_mapping
from state.errors import LogRewrittenError
from streams.transport.fetch_order import FetchOrder
from streams.transport.routes import KeyValue
from streams.transport.source_offsets import PositionedConsumer, outside
from streams.transport.topic_plan import LARGEST_RECORD_BYTES

FETCH_WAIT_MS = 150  # aiokafka asks again only once what came was taken, so hardly any partition is left out of a fetch
TWIN = (
    "another worker has taken the name EMGAS_INSTANCE={0}, or this one was silent for longer than "
    "EMGAS_SESSION_TIMEOUT: give each worker a name of its own"
)
BY_BROKER = 1  # Kafka's LogAppendTime


class KafkaProducer(driver.Producer):
    """A record is acknowledged when all in-sync replicas have it, and a retry does not write it twice."""

    def _settings_extra(self) -> Mapping[str, Any]:
        safe = {"acks": "all", "enable_idempotence": True}
        return {**safe, "max_request_size": LARGEST_RECORD_BYTES, "max_batch_size": BATCH_BYTES}

    async def send(self, *args: Any, **kwargs: Any) -> Any:
        """Hand a record over; return what to await for its acknowledgement.  One that fails costs no later one."""
        sent = await super().send(*args, **kwargs)
        return asyncio.shield(mending(self._ensure_producer(), cast(asyncio.Future[Any], sent)))

    async def send_all(self, tp: TP, records: Sequence[KeyValue]) -> list[int]:
        """Append in as few batches as there must be, in order; return the offsets once all are acknowledged."""
        producer, sent, counts = self._ensure_producer(), [], []
        for batch in _batches(producer, records):
            delivery = mending(producer, await producer.send_batch(batch, tp.topic, partition=tp.partition))
            sent.append(asyncio.shield(delivery))
            counts.append(batch.record_count())
        acknowledged = await asyncio.gather(*sent)
        return [there.offset + n for there, count in zip(acknowledged, counts, strict=True) for n in range(count)]

    async def send_together(self, tp: TP, records: Sequence[ProducerRecord]) -> Awaitable[object]:
        """Take records of one partition as one batch; where others wait to be sent there, with those, one by one.

        aiokafka takes no second batch before the first is on its way: records of others should not wait for that.
        Raises ValueError for more than one batch takes.
        """
        producer = self._ensure_producer()
        if producer._message_accumulator._batches.get(tp):  # noqa: SLF001 - nothing public tells it
            return asyncio.gather(
                *[await self.send(tp.topic, r.key, r.value, r.partition, None, list(r.headers)) for r in records]
            )
        batch = producer.create_batch()
        for record in records:
            taken = batch.append(key=record.key, value=record.value, timestamp=None, headers=list(record.headers))
            if taken is None:  # it would be lost in silence
                raise ValueError(f"{len(records)} records are more than one batch of {BATCH_BYTES} bytes takes")
        return asyncio.shield(mending(producer, await producer.send_batch(batch, tp.topic, partition=tp.partition)))

    def route(self, tp: TP) -> object:
        """Return the leader of `tp` and the connection to it, as far as they are known (routes.py)."""
        client = self._ensure_producer().client
        leader = client.cluster.leader_for_partition(tp)
        return leader, client._conns.get((leader, ConnectionGroup.DEFAULT))  # noqa: SLF001 - nothing public tells it


def _batches(producer: Any, records: Sequence[KeyValue]) -> Iterator[Any]:
    """Fill batches with records; each is closed, so that no other records join it."""
    batch = producer.create_batch()
    for key, value in records:
        if batch.append(key=key, value=value, timestamp=None) is None:
            yield batch
            batch = producer.create_batch()
            batch.append(key=key, value=value, timestamp=None)
    batch.close()
    yield batch


class KafkaConsumerThread(driver.AIOKafkaConsumerThread):
    """Faust's thread around an aiokafka consumer; only how the consumer is made and positioned differs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._watched: WeakSet[Any] = WeakSet()  # coordinators

    def _create_worker_consumer(self, transport: driver.Transport) -> Any:
        consumer = super()._create_worker_consumer(transport)
        consumer._fetch_max_wait_ms = cast(KafkaTransport, transport).fetch_wait_ms  # noqa: SLF001 - Faust makes it without
        consumer._auto_offset_reset = "none"  # noqa: SLF001 - as above
        consumer._isolation_level = cast(KafkaTransport, transport).isolation  # noqa: SLF001 - as above
        consumer._client_rack = cast(KafkaTransport, transport).rack  # noqa: SLF001 - as above
        return consumer

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Open what is assigned, and let the group hear of us meanwhile.

        aiokafka begins to send heartbeats only behind this (consumer/group_coordinator.py:735-738): a worker that needs
        longer to open its partitions than a session lasts would be taken for dead each time.
        """
        coordinator = self._ensure_consumer()._coordinator  # noqa: SLF001 - aiokafka has no public way
        self._watch_name(coordinator)
        coordinator._start_heartbeat_task()  # noqa: SLF001 - as above
        await super().on_partitions_assigned(assigned, generation_id)

    def _watch_name(self, coordinator: Any) -> None:
        """Halt this worker once the group knows another one by its name, or has given it up.

        aiokafka would join again under the name, and so would the other: each would take it from the other without end.
        """
        name, send = coordinator._group_instance_id, coordinator._send_req  # noqa: SLF001 - aiokafka has no public way
        if name is None or coordinator in self._watched:
            return
        self._watched.add(coordinator)

        async def watched(request: Any) -> Any:
            response = await send(request)
            if isinstance(request, HeartbeatRequest) and response.error_code == UnknownMemberIdError.errno:
                self.consumer.app._crash(HaltedError(TWIN.format(name)))  # noqa: SLF001 - it is ours
            return response

        coordinator._send_req = watched  # noqa: SLF001 - as above

    async def fetch(self, active: set[TP], seconds: float, order: FetchOrder) -> RecordMap:
        """Fetch of `active` by `order`, in one visit to the thread."""
        return cast(RecordMap, await self.call_thread(self._fetch_by, order, active, seconds))

    async def _fetch_by(self, order: FetchOrder, active: set[TP], seconds: float) -> RecordMap:
        consumer = self._ensure_consumer()
        return await order.fetch(partial(self._fetch_records, consumer), active, seconds, consumer._max_poll_records)  # noqa: SLF001 - as above

    async def rejoin(self) -> None:
        """Refresh the metadata of topics, and join the group again."""
        await self.call_thread(self._rejoin)

    async def _rejoin(self) -> None:
        consumer = self._ensure_consumer()
        await consumer._client.force_metadata_update()  # noqa: SLF001 - aiokafka has no public way
        consumer._coordinator.request_rejoin()  # noqa: SLF001 - aiokafka has no public way

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Seek sources to where the group committed, or to the first record kept; return those offsets.

        Replaces aiokafka's, which leaves a partition without a commit wherever it stands (consumer.py:901).
        """
        return cast(Mapping[TP, int], await self.call_thread(self._seek_to_committed))

    async def _seek_to_committed(self) -> Mapping[TP, int]:
        consumer = self._ensure_consumer()
        sources = [tp for tp in consumer.assignment() if tp.topic not in self.app.tables.changelog_topics]
        if not sources:
            return {}
        committed = await self._committed(consumer, sources)
        first = await consumer.beginning_offsets(sources)
        offsets = {tp: max(committed[tp] or 0, first[tp]) for tp in sources}
        for tp, offset in offsets.items():
            consumer.seek(tp, offset)
        return {ensure_TP(tp): offset for tp, offset in offsets.items()}

    async def _committed(self, consumer: Any, sources: list[Any]) -> dict[Any, int | None]:
        # aiokafka's `committed` never returns when the partition is taken away meanwhile, and so would one of the two
        # workers of this thread's queue
        taken_away = consumer._subscription.subscription.assignment.unassign_future  # noqa: SLF001 - nothing public tells it
        asking = asyncio.gather(*(consumer.committed(tp) for tp in sources))
        await asyncio.wait({asking, taken_away}, return_when=asyncio.FIRST_COMPLETED)
        if not asking.done():
            asking.cancel()
            raise IllegalStateError(
                "the partitions were reassigned"
            )  # table_manager.py:556 waits for the next assignment
        return dict(zip(sources, asking.result(), strict=True))


class KafkaConsumer(PositionedConsumer, driver.Consumer):
    """Faust's consumer, with the rules of the module's docstring."""

    fetch_waits = True

    def _new_consumer_thread(self) -> KafkaConsumerThread:
        return KafkaConsumerThread(self, loop=self.loop, beacon=self.beacon)

    async def _fetch(self, active: set[TP], seconds: float) -> RecordMap:
        try:
            return await cast(KafkaConsumerThread, self._thread).fetch(active, seconds, self._order)
        except NoOffsetForPartitionError:
            return {}  # assigned again while this fetch waited: it is positioned before anything is read from it
        except OffsetOutOfRangeError as error:
            for tp, offset in error.args[0].items():
                if tp in self._get_active_partitions():  # else the same: the committed offset is not used
                    if self._is_changelog_tp(ensure_TP(tp)):
                        raise LogRewrittenError(outside(ensure_TP(tp), offset)) from error
                    await self.go_on_at_first(ensure_TP(tp), offset)
            return {}

    async def rejoin(self) -> None:
        """Refresh the metadata of topics and join the group again: aiokafka misses that a topic is back."""
        await cast(KafkaConsumerThread, self._thread).rejoin()

    def _message_of(self, tp: TP, fetched: Any) -> ConsumerMessage:
        message = driver.Consumer._to_message(self, tp, fetched)  # noqa: SLF001 - ours gives a record, or a run of them, to this
        # Kafka allows a header without a value; ours are always bytes
        message.headers = [(name, value or b"") for name, value in fetched.headers]
        return message

    def _record_of(self, fetched: Any) -> Record:
        headers = tuple((name, value or b"") for name, value in as_mapping(fetched.headers).items())
        value, by_broker = fetched.value or b"", fetched.timestamp_type == BY_BROKER
        return Record(fetched.offset, fetched.timestamp, fetched.key, value, headers, by_broker)


class KafkaTransport(driver.Transport):
    """Consumers and producers of the cluster behind `bootstrap`: `host:port`, several with commas between.

    fetch_wait_ms  how long the broker may hold back an empty fetch: what an idle worker's next message waits at most
    isolation      "read_committed": what an aborted transaction wrote is not there
    rack           where this process runs: it fetches from a replica there, if the brokers choose one (KIP-392)
    """

    Consumer = KafkaConsumer
    Producer = KafkaProducer

    def __init__(
        self,
        bootstrap: str,
        app: AppT,
        *,
        fetch_wait_ms: int = FETCH_WAIT_MS,
        isolation: str = "read_committed",
        rack: str | None = None,
    ) -> None:
        hosts = [part.rpartition("://")[2].strip() for part in bootstrap.split(",")]
        super().__init__([URL(f"kafka://{host}") for host in hosts if host], app)
        self.fetch_wait_ms = fetch_wait_ms
        self.isolation = isolation
        self.rack = rack
