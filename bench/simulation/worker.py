"""One worker process: the real MemoryApp, and in Faust's place what hands it partitions and records.

What runs is what a user runs: app, ownership, turn processors, command handlers, writers, window timers, change feeds,
folds, query handler, sender.  What stands in for Faust and its drivers: the group's assignments, recovery of the event
table in portions (which may leave records out, as Faust's does), the order revoked → assigned → recovered → claimed →
positioned → sources, and consumers that read on wherever they stand.

A process dies in one of three ways: killed (nothing of it happens any more), halted (so does the real one: os._exit),
stopped (it gives up its partitions, flushes and leaves the group).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

from bench.simulation.broker import Broker, Link, Producer, Reader
from bench.simulation.clock import VirtualLoop
from bench.simulation.disk import Disk, Folders
from bench.simulation.group import Group
from bench.simulation.keys import keys_of_process
from emgas.errors import TransportError
from emgas.wire import Record
from processors.extraction.extractor import Extractor
from streams.ingest.sealing import nothing_to_scrub
from streams.settings import WorkerSettings
from streams.transport.embedded.transport import EmbeddedTransport
from streams.transport.failpoints import Step
from streams.transport.keys.key_store import KeyStore, MemoryKeys
from streams.transport.select import Transport
from streams.worker.answering_app import BY_BROKER, WorkerContext
from streams.worker.app import MemoryApp

PORTION = 40  # records that a fetch hands over at once
RECOVERED = 12  # and recovery
LOST_PORTIONS = 0.05  # part of them that recovery leaves out, as Faust's queue does when partitions come and go
COMMIT_SECONDS = 1.0  # Faust's broker_commit_interval, as streams/worker/app.py has it
READ_AGAIN = 0.3  # part of the assignments after which turns are read again that are accounted for
LEFT_OUT = 0.01  # share of the fetched turns that no stream receives
STOP_SECONDS = 20.0  # as streams/cli/operate/worker.py has it
PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)  # the process that this task belongs to


def task_of_process(loop: asyncio.AbstractEventLoop, coro: Any, context: Any = None) -> asyncio.Task[Any]:
    """Make a task that dies with its process: the loop's task factory."""
    task: asyncio.Task[Any] = asyncio.Task(coro, loop=loop, context=context)
    process = PROCESS.get() if context is None else context.get(PROCESS)
    if process is not None:
        process.tasks[task] = None
        task.add_done_callback(process.ended_task)
    return task


def passing(step: Step) -> None:
    """Report a passed step to the running process (streams/transport/failpoints.py)."""
    process = PROCESS.get()
    if process is not None:
        process.passes(step)


class TopicPartition(NamedTuple):
    """Equal to Faust's own, which only `streams` names."""

    topic: str
    partition: int


@dataclass
class World:
    """The objects that all processes share.

    halted  told of each process that halts or dies unasked, and why
    """

    loop: VirtualLoop
    broker: Broker
    group: Group
    settings: WorkerSettings
    extractor: Extractor
    note: Callable[[str], None]
    halted: Callable[[Process, BaseException], None]


@dataclass
class Machine:
    """The parts that outlive a process: a name, a disk, a clock (ms ahead of the broker's), and its next life."""

    name: str
    disk: Disk
    chance: Random
    ahead_ms: int = 0
    lives: int = 0
    process: Process | None = None


class Process:
    """One life of a worker."""

    def __init__(self, world: World, machine: Machine) -> None:
        machine.lives += 1
        self.name, self.instance = f"{machine.name}.{machine.lives}", machine.name
        self.machine = machine
        self.world = world
        self.tasks: dict[asyncio.Task[Any], None] = {}
        self.ended = asyncio.Event()
        self.is_deaf = False
        self.fatal_step: Step | None = None
        self.passages_left = 0
        self.freezes_at: Step | None = None  # the step at whose next passage it freezes, until `thaw`
        self.link = Link(world.broker, self.name, Random(f"{machine.chance.random()}"))
        self.folders: Folders = machine.disk.folders()
        self.events = world.settings.topics.events
        self._share: set[int] | None = None
        self._assigned = asyncio.Event()
        self._recovering: asyncio.Task[None] | None = None

    # its life

    async def live(self) -> None:
        """Work until the process ends, in whichever way."""
        token = PROCESS.set(self)
        try:
            self._main = asyncio.create_task(self._working())
        finally:
            PROCESS.reset(token)
        await self.ended.wait()

    def ended_task(self, task: asyncio.Task[Any]) -> None:
        self.tasks.pop(task, None)

    async def _working(self) -> None:
        try:
            await self._work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the process ends, and the trace says why
            self._halted(error)

    async def _work(self) -> None:
        settings, topics = self.world.settings, self.world.settings.topics
        keys: KeyStore = keys_of_process(self.link, topics.keys) if settings.encryption else MemoryKeys()
        self.reader = partial(Reader, self.link, keys=keys)
        destinations = {topics.replies: 1}
        transport = Transport(
            driver=partial(_Wires, self),
            partitions=settings.partitions,
            reader=self.reader,
            destinations=destinations,
            topic_id=self.link.topic_id,
            keys=keys,
            scrub=nothing_to_scrub,
        )
        context = WorkerContext(
            extractor=self.world.extractor,
            worker=self.machine.name,
            now=lambda: self.world.broker.now() + self.machine.ahead_ms,
            on_halt=self._halted,
            folders=self.folders,
            monotonic=self.world.loop.work,
        )
        self.app = MemoryApp(settings, transport, context)
        self.app._sealer._random = Random(self.name).randbytes  # noqa: SLF001 - a key is another one in each run else
        self.consumer = Consumer(self)
        self.table: Any = self.app.tables["memory"]
        self._agents = [
            asyncio.create_task(self._guarded(self.app._take_turns(self.consumer.turns))),  # noqa: SLF001 - Faust's agents call these
            asyncio.create_task(self._guarded(self.app._take_queries(self.consumer.queries))),  # noqa: SLF001
            asyncio.create_task(self._guarded(self.consumer.fetch())),
            asyncio.create_task(self._guarded(self.consumer.commit_now_and_then())),
            asyncio.create_task(self._guarded(self._watch_source())),
            asyncio.create_task(self._guarded(self._watch_standbys())),
            asyncio.create_task(self._guarded(self._watch_group())),
            asyncio.create_task(self._guarded(self._watch_keys())),
        ]
        self.world.group.join(self)
        while True:
            await self._assigned.wait()
            self._assigned.clear()
            if self._share is not None:
                self._recovering = asyncio.create_task(self._guarded(self._recover(self._share)))

    async def _guarded(self, work: Any) -> None:
        """Halt where Faust would: a service that fails takes the app along."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever it is, Faust's crash halts the worker
            self.app.halt(error)

    def _halted(self, error: BaseException) -> None:
        if not self.ended.is_set():
            self.world.halted(self, error)
            self.kill()

    def kill(self) -> None:
        """Die: from here on, nothing that this process does has any effect."""
        if self.ended.is_set():
            return
        self.link.is_dead = self.folders.is_dead = True
        self.ended.set()
        for task in list(self.tasks):
            task.cancel()
        asyncio.get_running_loop().call_later(1.0, self.world.group.leave, self)  # its connection breaks

    def see_end(self, partition: int) -> None:
        """Halt, as Kafka's driver does, where a partition that we follow ends before what we would read next."""
        if not hasattr(self, "app") or partition in self.app.ownership.writers:
            return
        state, end = self.app.folds.open.get(partition), self.world.broker.log(self.events, partition).end
        if state is not None and state.position.watermark >= end:
            self.world.note(f"{self.name} halts: events[{partition}] no longer has what must be read next")
            self.kill()

    def passes(self, step: Step) -> None:
        """Stop the process at the fatal step: nothing after it happens.

        In a window that is where it is written, before any client is notified.
        """
        if step is self.freezes_at:
            self.freeze()
        self.passages_left -= step is self.fatal_step
        if step is self.fatal_step is Step.WINDOW and self.passages_left == 0:
            self.fatal_step, self.passages_left = Step.FLUSH, 1
        elif step is self.fatal_step and self.passages_left == 0:
            self.world.note(f"{self.name} is killed at {step.value}")
            self.kill()
        if self.ended.is_set():
            raise asyncio.CancelledError

    def freeze(self) -> None:
        """Stand still: nothing of this process leaves it, and the group goes on without it."""
        self.world.note(f"{self.name} freezes")
        self.freezes_at, self.is_deaf = None, True
        self.link.open.clear()
        self.world.group.storm()

    def thaw(self) -> None:
        """Go on from where it froze."""
        self.freezes_at, self.is_deaf = None, False
        self.link.open.set()

    async def stop(self) -> None:
        """Stop as SIGTERM has it: in order, for as long as that may take."""
        token = PROCESS.set(self)
        try:
            stopping = asyncio.create_task(self._stop())
        finally:
            PROCESS.reset(token)
        asyncio.get_running_loop().call_later(STOP_SECONDS, self.kill)
        await asyncio.wait([stopping])
        self.kill()

    async def _stop(self) -> None:
        if hasattr(self, "app"):
            await self._stop_recovering()
            await self.app.ownership.release()
            await self.consumer.commit()
            self.app.folds.close()
        asyncio.get_running_loop().call_soon(self.kill)

    @property
    def folds_at_hand(self) -> Any:
        """The folds that it keeps, active and standby; None while it starts."""
        return self.app.folds if hasattr(self, "app") else None

    # its place in the group

    async def give_up(self) -> None:
        """Release partitions as Faust does when they are revoked."""
        if self.ended.is_set() or not hasattr(self, "app"):
            return
        await self._stop_recovering()
        self.consumer.hold()
        await self._as_process(self._guarded(self.app.on_partitions_revoked.send(set())))

    async def _as_process(self, work: Any) -> None:
        """Run a coroutine in a task of the process, which dies with it."""
        token = PROCESS.set(self)
        try:
            task = asyncio.ensure_future(work)
        finally:
            PROCESS.reset(token)
        await asyncio.wait([task])

    async def _stop_recovering(self) -> None:
        recovering, self._recovering = self._recovering, None
        if recovering is not None:
            recovering.cancel()
            await asyncio.wait([recovering])

    def assign(self, partitions: set[int]) -> None:
        self._share = partitions
        self._assigned.set()

    async def _watch_group(self) -> None:
        """Notice, now and then, that the group goes on without us; join it again."""
        while True:
            await asyncio.sleep(1.0)
            if not self.is_deaf and not self.world.group.has(self):
                await self._stop_recovering()
                self.consumer.hold()
                await self.app.on_partitions_revoked.send(set())
                self.world.group.join(self)
                await asyncio.sleep(5.0)

    async def _watch_source(self) -> None:
        while True:
            await asyncio.sleep(self.world.settings.tick_seconds)
            await self.app.look_at_source()

    async def _watch_keys(self) -> None:
        while self.world.settings.encryption:
            await asyncio.sleep(self.world.settings.tick_seconds)
            await self.app.look_after_keys()

    async def _watch_standbys(self) -> None:
        while True:
            await asyncio.sleep(self.world.settings.tick_seconds)
            await self.app.look_at_standbys()

    # recovery, as Faust's

    async def _recover(self, actives: set[int]) -> None:
        events = self.events
        standbys = set(range(self.world.settings.partitions)) - actives
        await self.app.on_partitions_assigned.send(set())
        everything = {TopicPartition(events, partition) for partition in sorted(actives | standbys)}
        await self.table.data.on_rebalance(everything, set(), everything)
        for partition in sorted(actives):
            await self._read_changelog(partition)
        active_tps = {TopicPartition(events, partition) for partition in actives}
        await self.table.on_recovery_completed(active_tps, everything - active_tps)
        await self.link.hop()
        self.consumer.position(actives)
        while standbys:
            await asyncio.sleep(2.0)
            for partition in sorted(standbys):
                await self._read_changelog(partition)

    async def _read_changelog(self, partition: int) -> None:
        """Hand over a changelog from where the table stands; now and then a portion of it is lost in a queue."""
        events = self.events
        offset = self.table.data.persisted_offset(TopicPartition(events, partition))
        if offset is None:
            return
        try:
            _, end = await self.reader(events).bounds(partition)
            async for records in self.reader(events).read(partition, max(offset, 0), end):
                for start in range(0, len(records), RECOVERED):
                    portion = records[start : start + RECOVERED]
                    if self.link.chance.random() >= LOST_PORTIONS:
                        batch = [_event_of(events, partition, record) for record in portion]
                        self.table.data.apply_changelog_batch(batch)
        except TransportError as error:  # aiokafka tries again
            self.world.note(f"{self.name} cannot read events[{partition}]: {error}")


class Stream:
    """The stream that an agent reads."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Any] = asyncio.Queue()

    def noack(self) -> Stream:
        return self

    async def events(self) -> AsyncIterator[Any]:
        while True:
            yield await self.queue.get()

    def clear(self) -> None:
        while not self.queue.empty():
            self.queue.get_nowait()


class Consumer:
    """Reads turns and questions of the partitions that are ours, each from where it stands."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._broker = process.world.broker
        self._topics = process.world.settings.topics
        self._at: dict[TopicPartition, int] = {}
        self._full: set[TopicPartition] = set()
        self._acked: dict[TopicPartition, set[int]] = {}  # and not committed yet
        self._news = asyncio.Event()
        self.turns, self.queries = Stream(), Stream()
        self._broker.listening.append(self._news)

    # what MemoryApp asks of it

    def hold_partition(self, tp: TopicPartition, is_full: bool) -> None:  # noqa: FBT001 - as PositionedConsumer.hold
        (self._full.add if is_full else self._full.discard)(TopicPartition(*tp))
        self._news.set()

    async def highwaters(self, *tps: TopicPartition) -> dict[TopicPartition, int]:
        await self._process.link.ask()
        return {tp: self._broker.log(*tp).bounds[1] for tp in tps}

    def assignment(self) -> set[TopicPartition]:
        return set(self._at)

    async def rejoin(self) -> None:
        self._process.world.group.storm()

    # what Faust does with it

    def hold(self) -> None:
        """Read nothing until we are told where from."""
        self._at, self._full, self._acked = {}, set(), {}

    def position(self, partitions: set[int]) -> None:
        """Read on where the state says, and questions where the group stands."""
        self.turns.clear()
        self.queries.clear()
        committed = self._process.world.group.committed
        for partition in sorted(partitions):
            tp, source = TopicPartition(self._topics.turns, partition), TopicPartition(self._topics.queries, partition)
            position = self._process.app.source_position(tp)  # type: ignore[arg-type]  # equal to Faust's
            at = committed.get(tp, 0) if position is None else position
            self._at[tp] = at - self._read_again(tp, at)
            self._at[source] = committed.get(source, 0)
        self._news.set()

    def _read_again(self, tp: TopicPartition, at: int) -> int:
        """Compute how many turns before `at` are read again."""
        chance = self._process.link.chance
        if tp.topic not in self._broker.topics or chance.random() >= READ_AGAIN:
            return 0
        return max(0, min(chance.randint(1, 5), at - self._broker.log(*tp).start))

    async def fetch(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            for tp in list(self._at):
                if tp in self._at and tp not in self._full:
                    await self._read(tp)

    async def _read(self, tp: TopicPartition) -> None:
        at = self._at[tp]
        if tp.topic not in self._broker.topics or self._broker.log(*tp).bounds == (at, at):
            return
        log = self._broker.log(*tp)
        if log.start <= at == log.bounds[1]:
            return
        await self._process.link.hop()
        if self._at.get(tp) != at or tp.topic not in self._broker.topics:
            return
        start, end = self._broker.log(*tp).bounds
        if not start <= at <= end:
            self._out_of_range(tp, at, start)
            return
        records = self._broker.log(*tp).records(at, end)[:PORTION]
        self._at[tp] = at + len(records)
        stream = self.turns if tp.topic == self._topics.turns else self.queries
        acked = self._acked.setdefault(tp, set())
        if stream is self.turns:
            stream.queue.put_nowait(self._run_of(tp, records, acked))
        else:
            for record in records:
                stream.queue.put_nowait(_event_of(tp.topic, tp.partition, record, partial(acked.add, record.offset)))
        self._news.set()

    def _run_of(self, tp: TopicPartition, records: Sequence[Record], acked: set[int]) -> Any:
        """Make one message of what was fetched together, as PositionedConsumer does; now and then some are left out."""
        chance = self._process.link.chance
        run = [each for each in records if each is records[-1] or chance.random() >= LEFT_OUT]
        event = _event_of(tp.topic, tp.partition, run[-1], partial(acked.update, [each.offset for each in records]))
        event.message.records = run
        return event

    def _out_of_range(self, tp: TopicPartition, at: int, start: int) -> None:
        """Go on at the first record kept, as PositionedConsumer.go_on_at_first does."""
        self._at[tp] = start
        self._news.set()
        if at > start and tp.topic == self._topics.turns:
            self._process.app.source_goes_back(tp)  # type: ignore[arg-type]  # equal to Faust's

    async def commit_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(COMMIT_SECONDS)
            await self.commit()

    async def commit(self) -> None:
        """Commit the acknowledged offsets to the group, which ignores processes that are no members."""
        await self._process.link.hop()
        group = self._process.world.group
        if not group.has(self._process):
            return
        for tp, acked in self._acked.items():
            at = group.committed.get(tp, 0)
            while at in acked:
                acked.discard(at)
                at += 1
            group.committed[tp] = at

    def take(self) -> Any:
        """Return the object that MemoryApp uses as its consumer."""
        return SimpleNamespace(
            hold=self.hold_partition, highwaters=self.highwaters, assignment=self.assignment, rejoin=self.rejoin
        )


def _event_of(topic: str, partition: int, record: Record, ack: Callable[[], None] = lambda: None) -> Any:
    """Make what Faust hands over."""
    message = SimpleNamespace(
        topic=topic,
        partition=partition,
        offset=record.offset,
        key=record.key,
        value=record.value,
        headers=list(record.headers),
        timestamp=record.timestamp / 1000,
        timestamp_type=BY_BROKER if record.by_broker else 0,
    )
    return SimpleNamespace(message=message, ack=ack)


class _Wires(EmbeddedTransport):
    """Faust's transport: gives the app our consumer and producer."""

    def __init__(self, process: Process, app: Any) -> None:
        super().__init__(SimpleNamespace(directory="/simulated"), app)  # type: ignore[arg-type]  # it names itself by it
        self._process = process

    def create_consumer(self, *_: Any, **__: Any) -> Any:
        return self._process.consumer.take()

    def create_producer(self, **_: Any) -> Any:
        return Producer(self._process.link, self._process.world.settings.topics.events)
