"""The two transports behind one interface: connect, create topics, describe them.  Other modules need not know which.

Faust and Kafka's client are imported where one of them is used: most commands need neither.

The embedded log has one owner: `opened` (and `connect`, which uses it), for as long as its block lasts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from emgas.errors import NoMemoryError, TransportError
from emgas.logs import logger
from replay.log import LogReader
from streams.settings import WorkerSettings
from streams.transport.embedded.admin import EmbeddedTopics
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.reader import EmbeddedReader, ReadOnlyLog
from streams.transport.embedded.scrubbing import scrub
from streams.transport.keys.file_keys import FileKeys
from streams.transport.keys.kafka_keys import KafkaKeys
from streams.transport.keys.key_store import KeyStore, UnnamedKeys
from streams.transport.keys.wrapping import wrapping_by
from streams.transport.topic_plan import TopicDescription, TopicPlan, differences, grown, keys_plan, plan, settings_of

if TYPE_CHECKING:
    from faust.types import AppT
    from faust.types.transports import TransportT

    from streams.transport.kafka.admin import KafkaTopics
    from streams.transport.kafka.reader import KafkaReader

log = logger("transport")
PATIENCE_SECONDS = 30.0  # of what has no option for it, with brokers
CLIENT = "emgas-"  # before its role: what a worker calls itself before a broker


async def _nothing(graph_id: str, source: int) -> None:
    """Scrub nothing: what Kafka keeps beside the log expires automatically, and cannot be removed earlier."""


@dataclass(frozen=True)
class Transport:
    """The transport of the topics: how Faust and a reader reach it, and its state.

    driver        Faust app → its transport               reader        topic → what reads it, and opens it by `keys`
    partitions    of the keyed topics                     destinations  allowed reply topics → partition count
    topic_id      topic → its UUID, which differs once it is created again; None: not supported, or no such topic
    scrub         graph, last offset of `turns` accounted for → removes unencrypted records beside the log, if it can
    """

    driver: Callable[[AppT], TransportT]
    partitions: int
    reader: Callable[[str], LogReader]
    destinations: Mapping[str, int]
    topic_id: Callable[[str], Awaitable[str | None]]
    keys: KeyStore = field(default_factory=UnnamedKeys)
    scrub: Callable[[str, int], Awaitable[None]] = _nothing


@asynccontextmanager
async def connect(settings: WorkerSettings) -> AsyncIterator[Transport]:
    """Connect to the transport that `settings` name, and check its topics.  The embedded log is created if need be.

    Raises TransportError, DataDirectoryInUseError.
    """
    if settings.is_embedded:
        with opened(settings) as log:
            yield embedded(settings, log)
    else:
        yield await _kafka(settings)


def embedded(settings: WorkerSettings, log: EmbeddedLog) -> Transport:
    """Make a transport of an open log, and create missing topics."""
    from streams.transport.embedded.transport import EmbeddedTransport

    _give_birth(settings, log)
    names = settings.topics
    destinations = {topic: log.partitions(topic) for topic in (names.replies, *settings.reply_topics)}
    driver = partial(EmbeddedTransport, log)
    reader = partial(EmbeddedReader, log)
    keys = _file_keys(settings)
    topic_id, scrub_log = EmbeddedTopics(log).topic_id, partial(scrub, log, names)
    opening = _opening(reader, keys)
    return Transport(driver, log.partitions(names.turns), opening, destinations, topic_id, keys, scrub_log)


@dataclass(frozen=True)
class Readable:
    """The topics as replay sees them.  `partitions` of the keyed topics; `reader`: topic → what reads it.

    keys  open what is encrypted; the readers bring them
    """

    partitions: int
    reader: Callable[[str], LogReader]
    keys: KeyStore


@asynccontextmanager
async def readable(settings: WorkerSettings, timeout: float = PATIENCE_SECONDS) -> AsyncIterator[Readable]:
    """Open the topics that `settings` name for reading only: beside a live worker, without joining its group.

    timeout  seconds until brokers must have answered each request

    The embedded log is read beside whatever process owns it; none is made where there is none.
    Raises TransportError; NoMemoryError, where there is no embedded log.
    """
    if not settings.is_embedded:
        await check_finished(settings, timeout)
        keys = await _kafka_keys(settings, timeout)
        reader = _opening(_kafka_reader(settings, timeout), keys)
        yield Readable(await reader(settings.topics.events).partitions(), reader, keys)
        return
    with closing(ReadOnlyLog(settings.home)) as log:
        keys = _file_keys(settings)
        reader = _opening(lambda topic: EmbeddedReader(log, topic), keys)
        yield Readable(log.partitions(settings.topics.events), reader, keys)


def check_there(settings: WorkerSettings) -> None:
    """Raise NoMemoryError where the log is embedded and the data directory has no memory yet."""
    if settings.is_embedded:
        with closing(ReadOnlyLog(settings.home)) as log:
            log.partitions(settings.topics.events)


def is_born(settings: WorkerSettings) -> bool:
    """Return whether there are topics to write to: on Kafka always, for there an operator makes them."""
    try:
        check_there(settings)
    except NoMemoryError:
        return False
    return True


def _opening(reader: Callable[[str], EmbeddedReader | KafkaReader], keys: KeyStore) -> Callable[[str], LogReader]:
    """Add the keys that open what they read to readers (replay/log.py)."""

    def opening(topic: str) -> LogReader:
        opened_reader = reader(topic)
        opened_reader.graph_keys = keys
        return opened_reader

    return opening


def _file_keys(settings: WorkerSettings) -> KeyStore:
    directory = settings.keys_directory
    wrapping = wrapping_by(settings.kek_file)
    return UnnamedKeys() if directory is None else FileKeys(directory, wrapping)


async def _kafka_keys(settings: WorkerSettings, timeout: float = PATIENCE_SECONDS) -> KeyStore:
    """Take up the keys of a memory on Kafka.  Raises TransportError, KeysError."""
    if not settings.keys_in_topic:
        return _file_keys(settings)
    topic = settings.topics.keys
    reader = _kafka_reader(settings, timeout)(topic)
    await reader.partitions()  # or say that the topic is missing
    compacted_ms = round(settings.keys_compacted_seconds * 1000)
    keys = KafkaKeys(topic, reader, wrapping_by(settings.kek_file), compacted_ms=compacted_ms)
    await keys.refresh()
    return keys


def planned(settings: WorkerSettings) -> tuple[TopicPlan, ...]:
    """Plan the topics of `settings`: that of the keys among them, if that is where they are."""
    readers = 1 if settings.is_embedded else settings.readers_per_partition
    topics = plan(settings.topics, settings.partitions, readers=readers, local_ms=settings.local_ms)
    if not settings.keys_in_topic:
        return topics
    return (*topics, keys_plan(settings.topics, round(settings.keys_compacted_seconds * 1000)))


def topic_settings(settings: WorkerSettings) -> set[str]:
    """Return the settings of topics."""
    return {name for each in planned(settings) for name in settings_of(each, 1)}


def _kafka_reader(settings: WorkerSettings, timeout: float = PATIENCE_SECONDS) -> Callable[[str], KafkaReader]:
    from streams.transport.kafka.reader import KafkaReader

    isolation, rack, security = settings.isolation, settings.rack, settings.security
    return lambda topic: KafkaReader(
        settings.bootstrap, topic, timeout=timeout, isolation=isolation, rack=rack, **security
    )


def _kafka_topics(settings: WorkerSettings, timeout: float = PATIENCE_SECONDS) -> KafkaTopics:
    from streams.transport.kafka.admin import KafkaTopics

    return KafkaTopics(settings.bootstrap, timeout, **settings.security)


async def check_finished(settings: WorkerSettings, timeout: float = PATIENCE_SECONDS) -> None:
    """Raise TransportError where topics on Kafka are an unfinished branch; an embedded log checks when it is opened."""
    from streams.transport.kafka import unfinished

    if not settings.is_embedded:
        await unfinished.check_finished(_kafka_topics(settings, timeout), settings.topics)


@asynccontextmanager
async def filling(settings: WorkerSettings, source: str) -> AsyncIterator[None]:
    """Make the topics of a branch of `source`, and mark it as unfinished until the block ends without an error."""
    from streams.transport.embedded import unfinished as embedded_mark
    from streams.transport.kafka import unfinished as kafka_mark

    if settings.is_embedded:
        with embedded_mark.filling(settings.home, source):
            await create(settings)
            yield
        return
    async with kafka_mark.filling(_kafka_topics(settings), settings.topics, settings.replication):
        await create(settings)
        yield


async def _kafka(settings: WorkerSettings) -> Transport:
    from streams.transport.kafka.transport import KafkaTransport

    if settings.role != "writer":  # a writer answers no queries
        await check_finished(settings)
    reader = _kafka_reader(settings)
    names = settings.topics
    counts = {topic: await reader(topic).partitions() for topic in (names.turns, names.events, names.queries)}
    if min(counts.values()) < counts[names.events]:
        raise TransportError(
            f"{counts}: these topics must have equally many partitions (queries, a multiple); create them again"
        )
    destinations = {topic: await reader(topic).partitions() for topic in (names.replies, *settings.reply_topics)}
    driver = partial(
        KafkaTransport,
        settings.bootstrap,
        fetch_wait_ms=settings.fetch_wait_ms,
        isolation=settings.isolation,
        rack=settings.rack,
    )
    topics, keys = _kafka_topics(settings), await _kafka_keys(settings)
    reading = _opening(reader, keys)
    # of `events`: the others may have been given more since (`growth`)
    return Transport(driver, counts[names.events], reading, destinations, topics.topic_id, keys)


@contextmanager
def opened(settings: WorkerSettings) -> Iterator[EmbeddedLog]:
    """Own the embedded log; create its topics the first time, with the settings of that time.

    Raises TransportError, DataDirectoryInUseError.
    """
    with closing(EmbeddedLog(settings.home)) as log:
        _give_birth(settings, log)
        yield log


def _give_birth(settings: WorkerSettings, log: EmbeddedLog) -> None:
    turns = settings.topics.turns
    if turns not in log.topics():
        for topic in sorted(plan(settings.topics, settings.partitions), key=lambda each: each.name == turns):
            log.create_topic(topic)  # `turns` last: if it exists, all exist, even after a crash


async def create(settings: WorkerSettings, *, without: Collection[str] = ()) -> None:
    """Create the topics that are missing, `without` what the brokers refuse of their settings.

    Raises TransportError when one has another partition count.
    """
    topics = planned(settings)
    if settings.is_embedded:
        with opened(settings) as log:
            await EmbeddedTopics(log).create(topics)
        return
    await _kafka_topics(settings).create(topics, settings.replication, without=without)


async def describe(settings: WorkerSettings) -> list[TopicDescription]:
    """Describe the topics; an embedded log beside its owner, too.

    Raises TransportError when one is missing, NoMemoryError as `check_there`.
    """
    names = [topic.name for topic in planned(settings)]
    if settings.is_embedded:
        with closing(ReadOnlyLog(settings.home)) as log:
            log.partitions(settings.topics.events)  # or report that there is no memory
            described = log.describe(names)
    else:
        described = await _kafka_topics(settings).describe(names)
    if missing := set(names) - {topic.name for topic in described}:
        raise TransportError(f"missing topics: {', '.join(sorted(missing))}. Run `emgas admin topics create`.")
    return described


class Members(NamedTuple):
    """The number of workers in the consumer groups, by role."""

    all: int
    writer: int
    reader: int

    @property
    def folding(self) -> int:
        """Those that turn turns into events."""
        return self.all + self.writer

    @property
    def answering(self) -> int:
        """Those that answer questions."""
        return self.all + self.reader


async def members(settings: WorkerSettings, timeout: float = PATIENCE_SECONDS) -> Members | None:
    """Count the workers that are in the consumer groups; None on the embedded log.  Raises TransportError."""
    if settings.is_embedded:
        return None
    topics = _kafka_topics(settings, timeout)
    folding, reading = await topics.members(settings.prefix), await topics.members(settings.readers_group)
    writers = sum(client == f"{CLIENT}writer" for client in folding)
    return Members(len(folding) - writers, writers, len(reading))


async def workers(settings: WorkerSettings) -> int | None:
    """Count the workers of every role; None on the embedded log.  Raises TransportError."""
    counts = await members(settings)
    return None if counts is None else sum(counts)


async def growth(settings: WorkerSettings, expected: int) -> str | None:
    """Return a warning if `turns` has not the `expected` count of partitions, or `queries` no multiple of it.

    Raises TransportError.
    """
    if settings.is_embedded:
        return None
    names = (settings.topics.turns, settings.topics.queries)
    counts = {name: await _kafka_reader(settings)(name).partitions() for name in names}
    turns, queries = counts.values()
    if turns != expected:
        return grown(names[0], turns, expected)
    return None if queries % expected == 0 else grown(names[1], queries, expected)


async def risks(settings: WorkerSettings) -> list[str]:
    """List which settings of the topic `events` are not as planned, and may lose events."""
    if settings.is_embedded:
        return []
    topics = plan(settings.topics, settings.partitions)
    (planned_events,) = (each for each in topics if each.name == settings.topics.events)
    try:
        described = await _kafka_topics(settings).describe([planned_events.name])
    except TransportError as error:  # a worker needs no right to ask
        log.info("cannot see whether the log may lose events", error=str(error))
        return []
    losing = [each for description in described for each in differences(description, planned_events)]
    return [each for each in losing if not each.startswith(f"{planned_events.name}: compression.type")]
