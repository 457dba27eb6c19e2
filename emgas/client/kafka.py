"""KafkaConnection: the client's records over Apache Kafka, by aiokafka.

    send      idempotent producer, acks=all, no lingering; wire.py names the partition, not the library's partitioner
    answers   one partition of `replies`, assigned (no consumer group), from its end at the moment of `open`

While a broker is away, both keep trying: a record that was handed over stays in memory until it is acknowledged or the
connection is closed.  How long a caller waits is the caller's matter (asyncio.timeout, as MemoryClient does).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from random import SystemRandom
from ssl import SSLContext, SSLError
from typing import Any, TypedDict, Unpack

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition  # type: ignore[import-untyped]
from aiokafka import client as aiokafka_client
from aiokafka import errors as aiokafka_errors
from aiokafka.abc import AbstractTokenProvider  # type: ignore[import-untyped]

from emgas import limits
from emgas.client import lenient_records
from emgas.errors import TransportError
from emgas.wire import COMPRESSION, ProducerRecord, Receipt, Record, TopicNames, partition_of

# A producer that goes on after a failed batch: it gets a new identity.
#
# An idempotent producer numbers what it sends to each partition, and the broker takes only what has the next number.
# aiokafka 0.14 gives a batch its numbers before it is sent, and leaves a gap where the batch then fails: the broker
# refuses a record (too large, no right), or the partition had no leader for as long as the batch may wait, as while a
# single broker restarts.  Every later record of that partition would be refused with OutOfOrderSequenceNumber for as
# long
# as the producer lives (aiokafka#1017).  Java's producer asks for another id then, and numbers from 0 (KIP-360).
#
# So, for every record:  delivery = mending(producer, await producer.send(…)); await asyncio.shield(delivery)
#
# Shielded: a caller that gives up would cancel the delivery, and its failure would go unnoticed.

Delivery = asyncio.Future[Any]


def mending(producer: Any, delivery: Delivery) -> Delivery:
    """Make `producer` (aiokafka's, idempotent) take a new identity if `delivery`, of one of its records, fails."""
    delivery.add_done_callback(partial(_mend, producer))
    return delivery


def _mend(producer: Any, delivery: Delivery) -> None:
    if not delivery.cancelled() and delivery.exception() is not None:
        _reset_identity(producer._txn_manager)  # noqa: SLF001 - nothing public does it


def _reset_identity(identity: Any) -> None:
    """Reset the producer's id and sequence numbers: the sender requests a new id before the next batch.

    A batch in flight keeps its old id and number, and precedes the next records of its partition.
    """
    if identity.has_pid():
        identity._sequence_numbers.clear()  # noqa: SLF001 - as above
        identity._pid_and_epoch = identity._pid_and_epoch._replace(pid=-1)  # noqa: SLF001 - as above
        identity._pid_waiter = asyncio.get_running_loop().create_future()  # noqa: SLF001 - as above


log = logging.getLogger(__name__)
lenient_records.install()

BATCH_BYTES = 128 * 1024  # one request per broker is in flight, so bulk speed is batch size by round trip
TOPIC_SECONDS = 2.0  # how long a topic that was just created may take to be seen
ENVELOPE_BYTES = 64 * 1024  # room for key, headers and the batch header beside the largest value
FAILURES = (
    aiokafka_errors.KafkaError,
    aiokafka_errors.ConsumerStoppedError,  # these two derive from Exception, not from KafkaError
    aiokafka_errors.IllegalOperation,
    OSError,  # TimeoutError too
)

REFUSALS = (
    aiokafka_errors.AuthenticationFailedError,
    aiokafka_errors.SaslAuthenticationFailed,
    aiokafka_errors.UnsupportedSaslMechanismError,
)
USUAL_ADVICE = "is the broker running, and are the address and the security settings those of its listener?"
NOT_LET_IN: tuple[tuple[Any, str], ...] = (
    (
        REFUSALS,
        "refused the user name, the password or the token: check the security settings EMGAS_SASL_*",
    ),
    (
        SSLError,
        "made no secure connection: check the security settings EMGAS_CA_FILE, EMGAS_CERT_FILE, EMGAS_KEY_FILE",
    ),
    (aiokafka_errors.KafkaConnectionError, f"cannot be reached: {USUAL_ADVICE}"),
)
ADVICE: tuple[tuple[Any, str], ...] = (
    (aiokafka_errors.MessageSizeTooLargeError, "raise the topic's max.message.bytes, or send a shorter record"),
    (
        (aiokafka_errors.TopicAuthorizationFailedError, aiokafka_errors.ClusterAuthorizationFailedError),
        "this account lacks an ACL; a client writes `turns` and `queries` and reads `replies`",
    ),
    (aiokafka_errors.UnknownTopicOrPartitionError, "run `emgas admin topics create`"),
    (
        (aiokafka_errors.OutOfOrderSequenceNumber, aiokafka_errors.ProducerFenced),
        "the broker lost this producer's state; publish again",
    ),
)
_refused: ContextVar[list[Exception] | None] = ContextVar("refused", default=None)  # why brokers let us not in


def _noting_refusals(connect: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Make aiokafka's function note why a broker refused, which aiokafka only logs."""

    async def create_conn(*arguments: Any, **options: Any) -> Any:
        try:
            return await connect(*arguments, **options)
        except (*REFUSALS, SSLError) as error:
            if (refused := _refused.get()) is not None:
                refused.append(error)
            raise

    return create_conn


aiokafka_client.create_conn = _noting_refusals(aiokafka_client.create_conn)


class Security(TypedDict, total=False):
    """The security settings of aiokafka except PLAINTEXT; `ssl.create_default_context(cafile=…)` checks host names."""

    security_protocol: str
    ssl_context: SSLContext
    sasl_mechanism: str
    sasl_plain_username: str
    sasl_plain_password: str
    sasl_kerberos_service_name: str
    sasl_kerberos_domain_name: str
    sasl_oauth_token_provider: object


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc]
    """Calls `read` for the token at every connection, so renewing the token needs no restart."""

    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read

    async def token(self) -> str:
        return self._read()


class KafkaConnection:
    """A `Connection` (emgas/client/connection.py) to the Kafka cluster behind `brokers`, "host:port[,host:port]"."""

    def __init__(
        self, brokers: str, topics: TopicNames | None = None, *, timeout: float = 10.0, **security: Unpack[Security]
    ) -> None:
        self.topics = topics or TopicNames()
        self._brokers = brokers
        self._timeout = timeout
        self._security = security
        self._counts: dict[str, int] = {}
        self._order: defaultdict[tuple[str, int | None], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._reply_partition = -1
        self._random = SystemRandom()
        self._producer: Any = None
        self._consumer: Any = None

    async def open(self) -> None:
        """Connect within the timeout.  Raises TransportError; nothing stays open then."""
        try:
            with kafka_errors(self._brokers), in_time(self._brokers, self._timeout):
                async with asyncio.timeout(self._timeout):
                    await self._connect()
        except BaseException:
            await self.close()
            raise

    async def _connect(self) -> None:
        common = {
            "bootstrap_servers": self._brokers,
            "client_id": "emgas",
            "request_timeout_ms": int(self._timeout * 1000),
            **self._security,
        }
        self._producer, self._consumer = self._clients(common)
        await self._producer.start()
        await self._consumer.start()
        self._counts = await self._count_partitions()
        await self._read_replies_from_their_end()

    def _clients(self, common: dict[str, Any]) -> tuple[Any, Any]:
        try:
            producer = AIOKafkaProducer(
                **common,
                acks="all",
                enable_idempotence=True,
                linger_ms=0,
                compression_type=COMPRESSION,
                max_batch_size=BATCH_BYTES,
                max_request_size=limits.TRANSPORT_BYTES + ENVELOPE_BYTES,
            )
            # Of replies that were lost to retention nothing is known; from the earliest on, nothing more is skipped.
            return producer, AIOKafkaConsumer(**common, fetch_min_bytes=1, auto_offset_reset="earliest")
        except (ValueError, AssertionError) as error:
            raise TransportError(f"the security settings do not fit together: {error}") from error

    async def _count_partitions(self) -> dict[str, int]:
        topics = self.topics
        needed = {topics.turns, topics.queries, topics.replies}
        present = await self._topics_present(needed)
        self._refuse_missing(needed - present)
        existing = {topics.turns, topics.events, topics.queries, topics.replies, topics.dead_letters} & present
        counts = {topic: len(await self._producer.partitions_for(topic)) for topic in existing}
        if counts[topics.queries] % counts[topics.turns]:
            raise TransportError(
                f"{topics.turns} has {counts[topics.turns]} partitions and {topics.queries} has "
                f"{counts[topics.queries]}, which is no multiple: run `emgas admin topics create` with a new prefix"
            )
        return counts

    async def _topics_present(self, needed: set[str]) -> set[str]:
        """Return all topics as soon as `needed` are among them, at the latest after a moment."""
        # A broker learns of a topic a little after the controller has said that it exists: `emgas admin topics create`
        # and then this must not fail.  All topics are listed, none is asked for by name: a broker with
        # auto.create.topics.enable would create it, with a partition count that is then permanent.
        give_up = time.monotonic() + min(TOPIC_SECONDS, self._timeout / 2)
        present: set[str] = await self._consumer.topics()
        while not needed <= present and time.monotonic() < give_up:
            await asyncio.sleep(0.1)
            present = await self._consumer.topics()
        return present

    def _refuse_missing(self, missing: set[str]) -> None:
        if missing:
            names = ", ".join(sorted(missing))
            raise TransportError(f"Kafka at {self._brokers} has no topic {names}: run `emgas admin topics create`")

    async def _read_replies_from_their_end(self) -> None:
        # The position is fixed here, before any question is sent: "latest" would be looked up with the first fetch,
        # and an answer that came in between would be skipped.
        self._reply_partition = self._random.randrange(self._counts[self.topics.replies])
        partition = TopicPartition(self.topics.replies, self._reply_partition)
        self._consumer.assign([partition])
        ends = await self._consumer.end_offsets([partition])
        self._consumer.seek(partition, ends[partition])

    async def close(self) -> None:
        """Send what is pending, as far as the broker accepts it within the timeout, and disconnect."""
        producer, self._producer = self._producer, None
        consumer, self._consumer = self._consumer, None
        ending = (
            end_reading(self._brokers, consumer, self._timeout),
            end_writing(self._brokers, producer, self._timeout),
        )
        await asyncio.gather(*ending)  # at once: one timeout for both

    @property
    def reply_partition(self) -> int:
        """The partition of `replies` that this client reads."""
        return self._reply_partition

    async def partitions(self) -> int:
        """Count the partitions that all keyed topics have."""
        self._opened(self._producer)
        return self._counts[self.topics.turns]

    async def send(self, record: ProducerRecord) -> Receipt:
        """Append one record; return once all in-sync replicas have it.  Raises TransportError."""
        producer = self._opened(self._producer)
        place = self._place(record)
        now = int(time.time() * 1000) if record.timestamp is None else record.timestamp
        with kafka_errors(self._brokers):
            # Handing over may wait for room in a batch, and a later call could slip in: the lock is first come, first
            # served.  The acknowledgement is awaited outside, so records still travel together.
            async with self._order[record.topic, place]:
                sent = await producer.send(record.topic, record.value, record.key, place, now, list(record.headers))
            there = await asyncio.shield(mending(producer, sent))
        # aiokafka gives every record of a batch the first one's time unless the broker set it (timestamp_type 1).
        return Receipt(there.partition, there.offset, there.timestamp if there.timestamp_type == 1 else now)

    def _place(self, record: ProducerRecord) -> int | None:
        """Return the partition of a record.  Raises TransportError if there is no such topic or partition."""
        topic, partition = record.topic, record.partition
        if topic not in self._counts:
            self._refuse_missing({topic})
        count = self._counts[topic]
        if partition is not None and not 0 <= partition < count:
            raise TransportError(f"{topic} has no partition {partition}: its partitions are 0 to {count - 1}")
        if partition is None and record.key is not None:
            return self._spread(record.key, count) if topic == self.topics.queries else partition_of(record.key, count)
        return partition

    def _spread(self, key: bytes, count: int) -> int:
        """Choose a partition for a question: with R readers per partition, any of its R question partitions."""
        partitions = self._counts[self.topics.turns]
        return partition_of(key, partitions) + partitions * self._random.randrange(count // partitions)

    async def answers(self) -> AsyncIterator[Record]:
        """Yield the records of the reply partition, without end.  Raises TransportError."""
        consumer = self._opened(self._consumer)
        while True:
            with kafka_errors(self._brokers):
                fetched = await consumer.getone()
            yield record_of(fetched)

    def _opened(self, side: Any) -> Any:
        if side is None:
            raise TransportError("this connection is not open: use it inside `async with MemoryClient(...)`")
        return side


async def end_reading(brokers: str, consumer: Any, seconds: float) -> None:
    """Stop a consumer, if there is one, within `seconds`."""
    if consumer is not None and not await _ended(brokers, consumer.stop(), seconds):
        await _ended(brokers, consumer._client.close(), seconds)  # noqa: SLF001 - a stop() that hangs leaves it open


async def end_writing(brokers: str, producer: Any, seconds: float) -> None:
    """Send what is pending, as far as the broker accepts it within `seconds`, and stop a producer, if there is one."""
    if producer is not None and not await _ended(brokers, producer.stop(), seconds):
        # An idempotent aiokafka producer never gives a batch up, so its stop() waits for the broker without end.
        log.warning("closed with records that Kafka at %s has not acknowledged", brokers)
        if (task := producer._sender.sender_task) is not None:  # noqa: SLF001 - nothing public ends it
            task.cancel()
        await _ended(brokers, producer.client.close(), seconds)


async def _ended(brokers: str, stopping: Coroutine[Any, Any, None], seconds: float) -> bool:
    """Await `stopping` for at most `seconds`; return whether it finished."""
    # In a task of its own: with the broker away, aiokafka's stop() lets the CancelledError of a task that it
    # cancelled itself escape, which must not look as if the caller had been cancelled.  And it suppresses the
    # CancelledError of its caller while it waits for such a task, so what cancelled the caller would wait without end.
    task = asyncio.ensure_future(stopping)
    await asyncio.wait([task], timeout=seconds)
    if not task.done():
        task.cancel()
        return False
    error = "cancelled" if task.cancelled() else task.exception()
    if error is not None:
        log.warning("Kafka at %s: the connection did not close cleanly: %r", brokers, error)
    return error is None


def record_of(fetched: Any) -> Record:
    """Convert a record of aiokafka; Kafka allows null values and headers."""
    headers = tuple((name, text or b"") for name, text in fetched.headers) if fetched.headers else ()
    return Record(fetched.offset, fetched.timestamp, fetched.key, fetched.value or b"", headers)


@contextmanager
def in_time(brokers: str, seconds: float) -> Iterator[None]:
    """Turn a timeout into a TransportError that names its length."""
    try:
        yield
    except TimeoutError:
        raise TransportError(
            f"Kafka at {brokers} did not answer within {seconds:g} s: is the broker running, not stopped or "
            "overloaded, and are the address and the security settings those of its listener?"
        ) from None


@contextmanager
def kafka_errors(brokers: str) -> Iterator[None]:
    """Turn every error of aiokafka into a TransportError that says what to do."""
    refused: list[Exception] = []
    before = _refused.get()
    _refused.set(refused)
    try:
        yield
    except FAILURES as error:
        raise TransportError(_advice(refused[-1] if refused else error, brokers)) from error
    finally:
        _refused.set(before)  # no reset: an abandoned generator ends in another context


def _advice(error: Exception, brokers: str) -> str:
    """Write what happened and what an operator can do."""
    for kinds, refusal in NOT_LET_IN:
        if isinstance(error, kinds):
            return f"Kafka at {brokers} {refusal}"
    what = f"Kafka at {brokers}: {str(error) or type(error).__name__}"
    advice = next((advice for kinds, advice in ADVICE if isinstance(error, kinds)), USUAL_ADVICE)
    return f"{what}: {advice}"
