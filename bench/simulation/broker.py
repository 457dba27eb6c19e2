"""The simulated broker: topics as lists, and links to it over which everything may go wrong.

    Broker   topics, each with an id, of partitions that know who wrote each record
    Link     what one process has to it: it delays, hangs, loses acknowledgements and records, sends late and twice
    Reader   a LogReader (replay/log.py) over a link         Producer   what MemoryApp sends by

A record keeps its offset, also once it has expired (`start` moves), so that oracles can look at all of it; so
does a topic that was deleted (`gone`).  The lost tail of a partition alone is really gone.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from emgas.errors import TransportError
from emgas.wire import Headers, ProducerRecord, Receipt, Record, partition_of
from state.sealing.keyring import NO_KEYS, Keyring
from streams.transport.topic_plan import TopicPlan

BATCH = 50  # records that a reader gets at once
LATENCY = 0.004  # seconds, at most, of one way through the network
MISSING_SECONDS = 60.0  # for which a producer waits for a topic that is not there


class StoredRecord(NamedTuple):
    """A record, and the name of who wrote it: of the process, not of the worker, who may live several times."""

    record: Record
    writer: str


class Log:
    """One partition of a topic.  `shown`: a new leader tells an older end for a while.  `leader`: which one it is."""

    def __init__(self) -> None:
        self.leader = 0
        self.stored: list[StoredRecord] = []
        self.start = 0
        self.shown: int | None = None

    @property
    def end(self) -> int:
        return len(self.stored)

    @property
    def bounds(self) -> tuple[int, int]:
        return self.start, self.end if self.shown is None else min(self.end, self.shown)

    def records(self, start: int, end: int) -> list[Record]:
        first, last = self.bounds
        return [each.record for each in self.stored[max(first, start) : min(last, end)]]


class Topic:
    """Partitions under one name, until it is deleted."""

    def __init__(self, plan: TopicPlan, id: str) -> None:
        self.plan = plan
        self.id = id
        self.logs = [Log() for _ in range(plan.partitions)]


class Broker:
    """`now` tells the broker's time, ms; `steps` counts what was done."""

    def __init__(self, plans: Sequence[TopicPlan], now: Callable[[], int]) -> None:
        self.now = now
        self.steps: Counter[str] = Counter()  # what was done, by kind
        self.gone: list[Topic] = []
        self.listening: list[asyncio.Event] = []  # set whenever there may be something to read
        self._made = 0
        self.topics: dict[str, Topic] = {}
        for plan in plans:
            self.create(plan)

    def create(self, plan: TopicPlan) -> None:
        """Make a topic, under an id that no other ever had."""
        self._made += 1
        self.topics[plan.name] = Topic(plan, f"topic-{self._made}")
        self.tell()

    def delete(self, name: str) -> TopicPlan:
        """Delete a topic with all that is in it."""
        topic = self.topics.pop(name)
        self.gone.append(topic)
        return topic.plan

    def topic(self, name: str) -> Topic:
        """Find a topic.  Raises TransportError."""
        if name not in self.topics:
            raise TransportError(f"topic {name} is not there")
        return self.topics[name]

    def log(self, name: str, partition: int) -> Log:
        return self.topic(name).logs[partition]

    def append(self, record: ProducerRecord, writer: str) -> Receipt:
        """Append a record that names its partition.  Raises TransportError when the topic is gone."""
        topic = self.topic(record.topic)
        assert record.partition is not None
        log, by_broker = topic.logs[record.partition], topic.plan.broker_time
        stamp = self.now() if by_broker or record.timestamp is None else record.timestamp
        kept = Record(log.end, stamp, record.key, record.value or b"", record.headers, by_broker)
        log.stored.append(StoredRecord(kept, writer))
        self.steps["record"] += 1
        self.tell()
        return Receipt(record.partition, kept.offset, stamp)

    def tell(self) -> None:
        for event in self.listening:
            event.set()


class _Sending(NamedTuple):
    record: ProducerRecord
    acknowledged: asyncio.Future[Receipt]


class Link:
    """The way of one process to the broker.

    next_sends  what becomes of the next records that go to the log: "lost ack", "lost send", "late", "twice"
    """

    def __init__(self, broker: Broker, name: str, chance: Random) -> None:
        self.broker = broker
        self.name = name
        self.chance = chance
        self.open = asyncio.Event()
        self.open.set()
        self.is_dead = False
        self.slowness = 1.0
        self.failing = 0.0  # part of reads that fail
        self.next_sends: deque[str] = deque()

    async def hop(self) -> None:
        """Go one way.  Once the process is dead, nothing of it goes any way."""
        self._check_alive()
        self.broker.steps["hop"] += 1
        await asyncio.sleep(self.chance.random() * LATENCY * self.slowness)
        await self.open.wait()
        self._check_alive()

    def _check_alive(self) -> None:
        if self.is_dead:
            raise asyncio.CancelledError

    async def ask(self) -> None:
        """Go there and back.  Raises TransportError where reads fail."""
        await self.hop()
        if self.failing and self.chance.random() < self.failing:
            raise TransportError("the connection broke")

    async def topic_id(self, name: str) -> str | None:
        """Return the id of a topic, None if there is no such topic."""
        await self.ask()
        topic = self.broker.topics.get(name)
        return None if topic is None else topic.id


class Reader:
    """Reads a topic over a link, with the keys that its process has.  Raises TransportError."""

    def __init__(self, link: Link, name: str, keys: Keyring = NO_KEYS) -> None:
        self._link = link
        self._name = name
        self.graph_keys = keys

    async def partitions(self) -> int:
        await self._link.ask()
        return len(self._link.broker.topic(self._name).logs)

    async def bounds(self, partition: int) -> tuple[int, int]:
        await self._link.ask()
        return self._link.broker.log(self._name, partition).bounds

    async def read(self, partition: int, start: int, end: int) -> AsyncIterator[Sequence[Record]]:
        at = start
        while at < end:
            await self._link.ask()
            batch = self._link.broker.log(self._name, partition).records(at, min(end, at + BATCH))
            batch = batch or self._link.broker.log(self._name, partition).records(at, end)[:BATCH]
            if not batch:
                return
            yield batch
            at = batch[-1].offset + 1


class FollowedPartition(Reader):
    """A FollowedLog (replay/log.py) over a link."""

    async def follow(self, partition: int, start: int) -> AsyncIterator[Sequence[Record]]:
        """Yield records from `start` on, permanently.  Raises TransportError where the log lost what was to be read."""
        at, news = start, asyncio.Event()
        self._link.broker.listening.append(news)
        try:
            while True:
                await self._link.ask()
                log = self._log(partition)
                first, end = log.bounds
                if not first <= at <= end:
                    raise TransportError(f"{self._name}[{partition}] has no offset {at}")
                if batch := log.records(at, end)[:BATCH]:
                    yield batch
                    at = batch[-1].offset + 1
                else:
                    news.clear()
                    await news.wait()
        finally:
            self._link.broker.listening.remove(news)

    def _log(self, partition: int) -> Log:
        return self._link.broker.log(self._name, partition)


class Producer:
    """Sends over a link: in order within a partition, what waits in one go.  `faulty`: the topic whose records fail.

    It knows that a partition has another leader once it has sent to that one.
    """

    def __init__(self, link: Link, faulty: str) -> None:
        self._link = link
        self._faulty = faulty
        self._lanes: dict[tuple[str, int], asyncio.Queue[_Sending]] = {}
        self._leaders: dict[tuple[str, int], int] = {}
        self._sent = 0

    async def send(  # noqa: PLR0917 - as Faust's
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        partition: int | None,
        timestamp: float | None,
        headers: list[tuple[str, bytes]],
    ) -> asyncio.Future[Receipt]:
        """Take a record; the future resolves once it is acknowledged.  Raises TransportError at once: it never can."""
        plan = (await self._topic(topic)).plan
        size = len(key or b"") + len(value or b"") + sum(len(name) + len(text) for name, text in headers)
        if size > plan.max_record_bytes:
            raise TransportError(f"a record of {size} bytes is over the {plan.max_record_bytes} that {topic} takes")
        self._sent += 1
        place = self._sent if key is None else partition_of(key, plan.partitions)
        at = place % plan.partitions if partition is None else partition
        kept: Headers = tuple((name, bytes(text)) for name, text in headers)
        record = ProducerRecord(topic, key, value, kept, at, self._link.broker.now())
        acknowledged: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        acknowledged.add_done_callback(_retrieve)
        self._lane(topic, at).put_nowait(_Sending(record, acknowledged))
        return acknowledged

    async def send_all(self, tp: Any, records: Sequence[tuple[bytes | None, bytes]]) -> list[int]:
        """Take records of one partition, in order; return their offsets once all are acknowledged."""
        sent = [await self.send(tp.topic, key, value, tp.partition, None, []) for key, value in records]
        return [there.offset for there in await asyncio.gather(*sent)]

    async def send_together(self, tp: Any, records: Sequence[ProducerRecord]) -> asyncio.Future[Any]:
        """Take records of one partition, in order; the future resolves once all are acknowledged."""
        return asyncio.gather(
            *[await self.send(tp.topic, r.key, r.value, tp.partition, None, list(r.headers)) for r in records]
        )

    def route(self, tp: Any) -> object:
        """Return the leader of a partition, None if it is not known."""
        return self._leaders.get((tp.topic, tp.partition))

    async def _topic(self, topic: str) -> Any:
        batch = self._link.broker.topics.get(topic)
        if batch is None:
            await asyncio.sleep(MISSING_SECONDS)
        return batch or self._link.broker.topic(topic)

    def _lane(self, topic: str, partition: int) -> asyncio.Queue[_Sending]:
        lane = self._lanes.get((topic, partition))
        if lane is None:
            lane = self._lanes[topic, partition] = asyncio.Queue()
            self._work = asyncio.create_task(self._serve(lane))
        return lane

    async def _serve(self, lane: asyncio.Queue[_Sending]) -> None:
        while True:
            batch = [await lane.get()]
            while not lane.empty():
                batch.append(lane.get_nowait())
            await self._link.hop()
            settled = [(sending, self._written(sending)) for sending in batch]
            await self._link.hop()
            for sending, outcome in settled:
                _settle(sending.acknowledged, outcome)

    def _written(self, sending: _Sending) -> Receipt | TransportError | None:
        """Write a record, as its fate is; None: nothing is ever heard of it."""
        link, record = self._link, sending.record
        fates = link.next_sends if record.topic == self._faulty else deque[str]()
        fate = fates.popleft() if fates else ""
        if fate == "lost send":
            return TransportError("not enough replicas")
        if fate == "late":
            self._later(record)
            return TransportError("the request timed out")
        try:
            receipt = link.broker.append(record, link.name)
        except TransportError as error:
            return error
        self._leaders[record.topic, receipt.partition] = link.broker.log(record.topic, receipt.partition).leader
        if fate == "twice":
            self._later(record)
        return None if fate == "lost ack" else receipt

    def _later(self, record: ProducerRecord) -> None:
        """Deliver a record late, even if its sender is dead by then."""
        link, seconds = self._link, self._link.chance.uniform(0.01, 20.0)
        asyncio.get_running_loop().call_later(seconds, _arrive, link.broker, record, link.name)


def _arrive(broker: Broker, record: ProducerRecord, writer: str) -> None:
    if record.topic in broker.topics:
        broker.append(record, writer)


def _settle(acknowledged: asyncio.Future[Receipt], outcome: Receipt | TransportError | None) -> None:
    if outcome is None or acknowledged.done():
        return
    if isinstance(outcome, TransportError):
        acknowledged.set_exception(outcome)
    else:
        acknowledged.set_result(outcome)


def _retrieve(done: asyncio.Future[Receipt]) -> None:
    if not done.cancelled():
        done.exception()
