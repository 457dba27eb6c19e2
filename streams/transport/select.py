"""The two transports behind one face: find the topics, create them, describe them.  Nobody else asks which it is.

The embedded log has one owner: `opened` (and `found`, which uses it), for as long as its block lasts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from functools import partial

import structlog
from faust.types import AppT
from faust.types.transports import TransportT

from emgas.errors import TransportError
from replay.log import LogReader
from streams.settings import Settings
from streams.transport.embedded.admin import EmbeddedTopics
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.reader import EmbeddedReader, ReadOnlyLog
from streams.transport.embedded.transport import EmbeddedTransport
from streams.transport.kafka.admin import KafkaTopics
from streams.transport.kafka.reader import KafkaReader
from streams.transport.kafka.transport import KafkaTransport
from streams.transport.topic_plan import TopicDescription, differences, grown, plan

log = structlog.get_logger()


@dataclass(frozen=True)
class Transport:
    """What carries the topics: how Faust and a reader reach it, and what was found there.

    driver        Faust app → its transport               reader        topic → what reads it
    partitions    of the keyed topics                     destinations  allowed reply topics → partition count
    topic_id      topic → what tells it from one of that name that is made anew; None: not to be had, or not there
    """

    driver: Callable[[AppT], TransportT]
    partitions: int
    reader: Callable[[str], LogReader]
    destinations: Mapping[str, int]
    topic_id: Callable[[str], Awaitable[str | None]]


@asynccontextmanager
async def found(settings: Settings) -> AsyncIterator[Transport]:
    """Give the transport that `settings` name, its topics checked.  The embedded log is opened, and born if need be.

    Raises TransportError, DataDirectoryInUseError.
    """
    if settings.is_embedded:
        with opened(settings) as log:
            yield embedded(settings, log)
    else:
        yield await _kafka(settings)


def embedded(settings: Settings, log: EmbeddedLog) -> Transport:
    """Make a transport of an open log; its topics are born if need be."""
    _give_birth(settings, log)
    names = settings.topics
    destinations = {topic: log.partitions(topic) for topic in (names.replies, *settings.reply_topics)}
    driver = partial(EmbeddedTransport, log)
    reader = partial(EmbeddedReader, log)
    return Transport(driver, log.partitions(names.turns), reader, destinations, EmbeddedTopics(log).topic_id)


@dataclass(frozen=True)
class Readable:
    """The topics as replay sees them.  `partitions` of the keyed topics; `reader`: topic → what reads it."""

    partitions: int
    reader: Callable[[str], LogReader]


@asynccontextmanager
async def readable(settings: Settings) -> AsyncIterator[Readable]:
    """Give the topics that `settings` name, to be read only: beside a live worker, without joining its group.

    The embedded log is read beside whatever process owns it; none is made where there is none.
    Raises TransportError; NoMemoryError, where there is no embedded log.
    """
    if not settings.is_embedded:
        reader = _kafka_reader(settings)
        yield Readable(await reader(settings.topics.events).partitions(), reader)
        return
    with closing(ReadOnlyLog(settings.home)) as log:
        yield Readable(log.partitions(settings.topics.events), lambda topic: EmbeddedReader(log, topic))


def check_there(settings: Settings) -> None:
    """Raise NoMemoryError where the log is embedded and nobody ever wrote to the data directory."""
    if settings.is_embedded:
        with closing(ReadOnlyLog(settings.home)) as log:
            log.partitions(settings.topics.events)


def _kafka_reader(settings: Settings) -> Callable[[str], KafkaReader]:
    security = settings.security
    return lambda topic: KafkaReader(settings.bootstrap, topic, isolation=settings.isolation, **security)


async def _kafka(settings: Settings) -> Transport:
    reader = _kafka_reader(settings)
    names = settings.topics
    counts = {topic: await reader(topic).partitions() for topic in (names.turns, names.events, names.queries)}
    if min(counts.values()) < counts[names.events]:
        raise TransportError(f"{counts}: these topics must have equally many partitions; create them anew")
    destinations = {topic: await reader(topic).partitions() for topic in (names.replies, *settings.reply_topics)}
    driver = partial(
        KafkaTransport, settings.bootstrap, fetch_wait_ms=settings.fetch_wait_ms, isolation=settings.isolation
    )
    topics = KafkaTopics(settings.bootstrap, **settings.security)
    # of `events`: the others may have been given more since (`growth`)
    return Transport(driver, counts[names.events], reader, destinations, topics.topic_id)


@contextmanager
def opened(settings: Settings) -> Iterator[EmbeddedLog]:
    """Own the embedded log; give birth to its topics the first time, with the settings of that day.

    Raises TransportError, DataDirectoryInUseError.
    """
    with closing(EmbeddedLog(settings.home)) as log:
        _give_birth(settings, log)
        yield log


def _give_birth(settings: Settings, log: EmbeddedLog) -> None:
    if settings.topics.turns not in log.topics():
        for wanted in plan(settings.topics, settings.partitions):
            log.create_topic(wanted)


async def create(settings: Settings) -> None:
    """Create the topics that are missing.  Raises TransportError when one has another partition count."""
    wanted = plan(settings.topics, settings.partitions)
    if settings.is_embedded:
        with opened(settings) as log:
            await EmbeddedTopics(log).create(wanted)
        return
    await KafkaTopics(settings.bootstrap, **settings.security).create(wanted, settings.replication)


async def describe(settings: Settings) -> list[TopicDescription]:
    """Describe the topics.  Raises TransportError when one is missing, NoMemoryError as `check_there`."""
    check_there(settings)
    names = [wanted.name for wanted in plan(settings.topics, settings.partitions)]
    if settings.is_embedded:
        with opened(settings) as log:
            described = await EmbeddedTopics(log).describe(names)
    else:
        described = await KafkaTopics(settings.bootstrap, **settings.security).describe(names)
    if missing := set(names) - {topic.name for topic in described}:
        raise TransportError(f"missing topics: {', '.join(sorted(missing))}. Run `emgas topics create`.")
    return described


async def growth(settings: Settings, known: int) -> str | None:
    """Tell an operator that `turns` or `queries` has not the `known` count of partitions; None while both have.

    Raises TransportError.
    """
    if settings.is_embedded:
        return None
    names = (settings.topics.turns, settings.topics.queries)
    found = {name: await _kafka_reader(settings)(name).partitions() for name in names}
    return next((grown(name, count, known) for name, count in found.items() if count != known), None)


async def risks(settings: Settings) -> list[str]:
    """Tell an operator which settings of the topic `events` are not as planned, and may lose events."""
    if settings.is_embedded:
        return []
    (wanted,) = (each for each in plan(settings.topics, settings.partitions) if each.name == settings.topics.events)
    try:
        described = await KafkaTopics(settings.bootstrap, **settings.security).describe([wanted.name])
    except TransportError as error:  # a worker needs no right to ask
        log.info("cannot see whether the log may lose events", error=str(error))
        return []
    return [each for found in described for each in differences(found, wanted)]
