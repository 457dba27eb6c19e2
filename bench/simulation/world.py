"""One run: machines, a broker, clients and faults, all by one seed; then calm, and the oracles.

    chaos    CHAOS_SECONDS in which clients write and ask, and faults come; each ends alone, or when all is healed
    calm     what is broken is mended, but for garbage in the log: every partition without it must live
    skipped  an operator skips the garbage: every partition must live
    oracles  what holds of every run (oracles.py)

To live is to account for a new turn and to answer a question, within LIVE_SECONDS.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from bench.simulation import faults, keeping_faults, moving_faults, moving_oracle
from bench.simulation.broker import Broker
from bench.simulation.clients import Client, Keeper, Sent, WordExtractor
from bench.simulation.clock import VirtualLoop
from bench.simulation.disk import Disk
from bench.simulation.follower import Follower
from bench.simulation.group import Group
from bench.simulation.keys import newest_keys
from bench.simulation.oracles import Lagging, Oracle
from bench.simulation.travelling import Traveller
from bench.simulation.worker import Machine, Process, World
from emgas.wire import ProducerRecord
from replay.skipped_records import decision
from state.errors import GraphUnavailableError, StoreCorruptError, UnreadableEventError
from state.events.events import decode
from state.partition import Partition
from state.sealing.keyring import NO_KEYS
from streams.ingest.partition_writer import halts_alone
from streams.settings import WorkerSettings
from streams.transport.topic_plan import keys_plan, plan

EPOCH_MS = 1_750_000_000_000
CHAOS_SECONDS = 24.0
LIVE_SECONDS = 150.0  # the longest that is by design: an ack's timeout, a restart, the pause before a try, a minute
RESTART_SECONDS = 1.0
SKEW_MS = 300_000
DONE_SECONDS = 20.0  # for what is under way to come to its end
CALM_SECONDS = 5.0  # likewise, in a world that keeps: then what is under way is waited for
ROOMY = 0.8  # of those worlds have room for all graphs in memory: to load them each time is half of a run's CPU time
MOST_AGAIN = 3  # times that a turn is sent again, while workers die over it


@dataclass
class RunResult:
    """The result of one run.  `complaints`: none, if all invariants held."""

    seed: int
    complaints: list[str]
    trace: list[str]
    steps: int
    faults: list[str]
    turns: int
    questions: int
    halts: int
    live_after: float  # virtual seconds from the end of the last fault until all partitions lived


@lru_cache
def _settings() -> WorkerSettings:
    """Return the settings that all runs share; environment variables are ignored."""
    return WorkerSettings.model_construct(
        data=Path("/simulated"),  # nothing is ever written there
        broker="kafka://simulated:9092",
        partitions=2,
        tick_seconds=5.0,
        append_timeout=10.0,
        skew_ms=SKEW_MS,
        queries_at_once=16,
    )


@dataclass
class SimulatedRun:
    """The world of one run, as faults and oracles see it.

    keeps  whether it is one in which graphs are shared, encrypted, taken back, erased, and followed by a reader, too
    moves  whether graphs move between partitions, and workers are restarted in turn and keep their places in the group.
           No log loses its end there: of a graph that moved since, the rest is in another one
    """

    seed: int
    loop: VirtualLoop
    keeps: bool = False
    moves: bool = False
    trace: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    halts: int = 0
    ahead_ms: int = 0  # the most that any worker's clock was ahead
    tail_lost: bool = False
    live_after: float = 0.0

    def __post_init__(self) -> None:
        self.chance, self.keeping = Random(f"run {self.seed}"), Random(f"keeping {self.seed}")
        self.settings = _settings().model_copy(
            update={
                "preset": self.chance.choice(["default", "forgetful", "mofox"]),
                "queued_turns": self.chance.choice([4, 64]),
                "batch_turns": self.chance.choice([1, 8, 64]),
                "memory": self.chance.choice([1, 1 << 28]),
                "encryption": self.keeps,
            }
        )
        if self.moves or (self.keeps and self.keeping.random() < ROOMY):
            self.settings = self.settings.model_copy(update={"memory": 1 << 28})
        topics = self.settings.topics
        plans = [*plan(topics, self.settings.partitions, 1), *[keys_plan(topics)][: self.keeps]]
        self.broker = Broker(plans, self.now)
        self.group = Group(self.broker, self.settings.partitions, self.chance, is_static=self.moves)
        self.client = Client(self.broker, self.settings, Random(f"client {self.seed}"))
        self.world = World(
            loop=self.loop,
            broker=self.broker,
            group=self.group,
            settings=self.settings,
            extractor=WordExtractor(),
            note=self.note,
            halted=self._halted,
        )
        self.machines = [
            Machine(name, Disk(self.broker.steps), Random(f"{name} {self.seed}")) for name in ("ash", "birch")
        ]
        self.keeper = Keeper(self.broker, self.settings, Random(f"keeper {self.seed}"), self.client.ledger)
        self.moving = Random(f"moving {self.seed}")
        travelling, ledger = Random(f"traveller {self.seed}"), self.client.ledger
        self.traveller = Traveller(self.broker, self.settings, travelling, ledger, self.note)
        self.reed = Machine("reed", Disk(self.broker.steps), Random(f"reed {self.seed}"))
        self._background: list[asyncio.Task[Any]] = []

    def now(self) -> int:
        return EPOCH_MS + round(self.loop.time() * 1000)

    def note(self, what: str) -> None:
        """Write a line of the trace."""
        self.trace.append(f"{self.loop.time():9.3f}  {what}")

    def _halted(self, process: Process, error: BaseException) -> None:
        self.halts += 1
        self.note(f"{process.name} halts: {type(error).__name__}: {error}")
        if halts_alone(error):
            self.complaints.append(f"alone: {process.name} halts for what concerns one partition: {error}")

    @property
    def alive(self) -> list[Process]:
        return [each.process for each in self.machines if each.process and not each.process.ended.is_set()]

    def owner(self, partition: int) -> Process | None:
        """Find the process that works on a partition, the one with the newest claim."""
        owners = [it for it in self.alive if hasattr(it, "app") and partition in it.app.ownership.writers]
        epoch = lambda it: it.app.ownership.writers[partition].state.position.epoch  # noqa: E731
        return max((it for it in owners if not it.app.ownership.writers[partition].is_fenced), key=epoch, default=None)

    # the run

    async def go(self) -> None:
        self._background = [asyncio.create_task(self.group.run())]
        self._background += [asyncio.create_task(self._keep(machine, Process)) for machine in self.machines]
        if self.keeps:
            self._background.append(asyncio.create_task(self._keep(self.reed, Follower)))
        try:
            await self._chaos()
            await self._calm()
        finally:
            for process in [*self.alive, *filter(None, [self.reed.process])]:
                process.kill()
            for task in self._background:
                task.cancel()
            await asyncio.gather(*self._background, return_exceptions=True)

    async def _keep(self, machine: Machine, kind: type[Process]) -> None:
        """Start the worker again whenever it has died."""
        while True:
            machine.process = kind(self.world, machine)
            self.note(f"{machine.process.name} starts")
            await machine.process.live()
            chance = self.keeping if machine is self.reed else self.chance
            await asyncio.sleep(RESTART_SECONDS + chance.random())

    async def _chaos(self) -> None:
        clients = [asyncio.create_task(self._work())]
        planned, kinds = faults.planned(self.chance), dict[str, Callable[..., Awaitable[None]]](faults.KINDS)
        if self.keeps:
            clients.append(asyncio.create_task(self._keep_on()))
            planned = sorted([*planned, *keeping_faults.keeping_planned(self.keeping)])
            kinds |= keeping_faults.KEEPING
        if self.moves:
            clients.append(asyncio.create_task(self._travel()))
            planned = [each for each in planned if each[1] != "events tail lost"]
            planned = sorted([*planned, *moving_faults.moving_planned(self.moving)])
            kinds |= moving_faults.MOVING
        ends = []
        for at, name in planned:
            await asyncio.sleep(max(0.0, at - self.loop.time()))
            self.operations.append(name)
            self.note(f"fault: {name}")
            self.broker.steps["fault"] += 1
            ends.append(asyncio.create_task(kinds[name](self)))
        await asyncio.sleep(max(0.0, CHAOS_SECONDS - self.loop.time()))
        for end in [*clients, *ends]:
            end.cancel()
        for outcome in await asyncio.gather(*ends, return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome
        self._heal()

    async def _work(self) -> None:
        """Write and ask, in bursts."""
        client, chance = self.client, self.chance
        actions: list[tuple[int, Callable[[], object]]] = [
            (50, client.say),
            (6, client.say_again),
            (4, client.say_badly),
            (2, client.say_poison),
            (3, client.say_in_future),
            (3, client.request),
            (6, client.ask_something),
        ]
        weights, doing = [weight for weight, _ in actions], [action for _, action in actions]
        while True:
            await asyncio.sleep(chance.expovariate(1.0))
            for action in chance.choices(doing, weights, k=chance.choice([1, 1, 2, 6])):
                self.broker.steps["action"] += 1
                action()

    async def _keep_on(self) -> None:
        """Record, share, undo and erase, in bursts."""
        while True:
            await asyncio.sleep(self.keeping.expovariate(1.0))
            for _ in range(self.keeping.choice([1, 1, 2, 6])):
                self.broker.steps["action"] += 1
                self.keeper.do_something()

    async def _travel(self) -> None:
        """Write to graphs that move, ask and move them, in bursts."""
        while True:
            await asyncio.sleep(self.moving.expovariate(1.0))
            for _ in range(self.moving.choice([1, 1, 2, 6])):
                self.broker.steps["action"] += 1
                self.traveller.do_something()

    def _heal(self) -> None:
        """Mend everything that the world, not EMGAS, has to mend."""
        self.note("all is healed")
        for machine in [*self.machines, self.reed]:
            machine.disk.is_full = False
            if machine.process is not None:
                machine.process.is_deaf, machine.process.fatal_step, machine.process.freezes_at = False, None, None
                link = machine.process.link
                link.open.set()
                link.slowness, link.failing = 1.0, 0.0
                link.next_sends.clear()
        for topic_plan in plan(self.settings.topics, self.settings.partitions, 1):
            if topic_plan.name not in self.broker.topics:
                self.broker.create(topic_plan)
        for topic in self.broker.topics.values():
            for log in topic.logs:
                log.shown = None
        self.broker.tell()

    # calm

    async def _calm(self) -> None:
        started = self.loop.time()
        garbage = {partition for partition in range(self.settings.partitions) if self.garbage(partition)}
        whole = [partition for partition in range(self.settings.partitions) if partition not in garbage]
        await asyncio.gather(*(self._must_live(partition) for partition in whole))
        if garbage:
            self.complaints += self._passed_over(garbage)
            self.skip_garbage()
            await asyncio.gather(*(self._must_live(partition) for partition in garbage))
        if self.moves:
            await self._arrived()
        self.live_after = self.loop.time() - started
        await self._settled()
        await self._look()

    async def _arrived(self) -> None:
        """Complain unless moves end, turns are taken, and each name answers or tells the other one."""
        traveller, until = self.traveller, self.loop.time() + LIVE_SECONDS
        for route in traveller.routes:  # a mover that was killed may have left it fenced
            traveller.begin(route)
        while traveller.under_way and self.loop.time() < until:  # noqa: ASYNC110 - a set that is asked
            await asyncio.sleep(0.5)
        if traveller.under_way:
            self.complaints.append(f"live: {len(traveller.under_way)} moves or turns do not end")
        for task in list(traveller.under_way):
            task.cancel()
        asked = [(route, name, traveller.ask(name)) for route in traveller.routes for name in route.known]
        await self._done([correlation for _, _, correlation in asked])
        for route, name, correlation in asked:
            told = traveller.answer(correlation) or {}
            if told.get("kind") != "reply" and told.get("moved_to") != route.home:
                self.complaints.append(f"told: of {name}, which is at {route.home}, a question gets {told}")

    def _passed_over(self, partitions: set[int]) -> list[str]:
        """Complain of anyone who folded over what no one can read, and no one has skipped."""
        return [
            f"garbage: {process.name} folded over events[{partition}] at {self.garbage(partition)[0]}, unasked"
            for partition in sorted(partitions)
            for process in self.alive
            if hasattr(process, "app") and (state := process.app.folds.open.get(partition)) is not None
            if state.position.watermark >= self.garbage(partition)[0]
        ]

    def garbage(self, partition: int) -> list[int]:
        """Find the offsets of `events` that no one can read and no one has skipped."""
        garbage_at, skipped = [], set()
        for stored in self.broker.log(self.settings.topics.events, partition).stored:
            try:
                event: Any = decode(stored.record.value)
            except UnreadableEventError:
                garbage_at.append(stored.record.offset)
                continue
            if type(event).__name__ == "RecordSkipped":
                skipped.add(event.offset)
        return [offset for offset in garbage_at if offset not in skipped]

    def skip_garbage(self) -> None:
        """Skip unreadable records as `emgas admin events skip` does."""
        events = self.settings.topics.events
        for partition in range(self.settings.partitions):
            for offset in self.garbage(partition):
                record = self.broker.log(events, partition).stored[offset].record
                self.note(f"operator: events skip {partition}:{offset}")
                self.broker.append(ProducerRecord(events, None, decision(record, "garbage"), (), partition), "operator")

    async def _must_live(self, partition: int) -> None:
        """Complain unless a partition accounts for a new turn and answers a question, in time."""
        graph = self.client.graphs[2 * partition]
        deadline, sent, outcome, queries = self.loop.time() + LIVE_SECONDS, None, None, list[bytes]()
        sent = self.client.say(graph)
        while self.loop.time() < deadline:
            queries.append(self.client.ask(graph))
            for _ in range(10):
                await asyncio.sleep(0.3)
                outcome = outcome or self._accounted(partition, sent)
                replies = [self.client.answer(each) for each in queries]
                if outcome and any(reply and reply["kind"] == "reply" for reply in replies):
                    return
        what = "answers no question" if outcome else "accounts for no turn"
        self.complaints.append(f"live: partition {partition} {what} within {LIVE_SECONDS:.0f} s of the last fault")

    def _accounted(self, partition: int, sent: Sent) -> bool:
        """Return whether a turn's sender was notified that it is accepted, or the owner's state holds it.

        Who reads `turns` again after another took it, and told no one, tells its sender that it is a duplicate.
        """
        outcome = self.client.answer(sent.correlation)
        if outcome is not None and outcome["kind"] == "outcome" and outcome["status"] == "accepted":
            return True
        owner = self.owner(partition)
        graph = owner.app.ownership.writers[partition].state.graph(sent.graph) if owner else None
        return graph is not None and graph.passages.knows(sent.id) is not None

    async def _settled(self) -> None:
        """Wait until every turn that was taken is accounted for, and nothing is under way."""
        until = self.loop.time() + LIVE_SECONDS
        while self.loop.time() < until and not all(map(self._is_folded, range(self.settings.partitions))):  # noqa: ASYNC110 - a log that is asked
            await asyncio.sleep(1.0)
        workers, rejected = self.alive, self._say_badly()
        requests = [self.client.ask(graph) for graph in self.client.graphs]
        await self._done([*requests, *(sent.correlation for sent in rejected)])
        for _ in range(MOST_AGAIN):
            if workers == self.alive:
                break
            workers, rejected = self.alive, self._say_badly()
            await self._done([sent.correlation for sent in rejected])
        silent = [correlation.decode() for correlation in requests if self.client.answer(correlation) is None]
        if silent:
            self.complaints.append(f"told: questions {silent}, asked in all calm, got no answer of any kind")
        for sent in rejected:
            replies = self.client.told(sent.correlation)  # a turn that is read twice may get more than one reply
            if not any(outcome.get("status") == "rejected" for outcome in replies):
                self.complaints.append(f"told: a turn of {sent.graph} that is rejected in all calm got {replies}")

    async def _done(self, requests: list[bytes]) -> None:
        """Wait until what is under way has come to its end: its answers among it."""
        await asyncio.sleep(CALM_SECONDS if self.keeps else DONE_SECONDS)
        until = self.loop.time() + LIVE_SECONDS
        while self.keeps and self.loop.time() < until and not all(map(self.client.answer, requests)):  # noqa: ASYNC110 - a topic that is asked
            await asyncio.sleep(1.0)

    def _say_badly(self) -> list[Sent]:
        """Send to every partition what must be rejected, and be told.

        Where a worker died over it, it is sent again, as clients do: who appends an outcome tells it, and who dies in
        between has told no one, nor knows the next owner whom he told.  A partition that halts alone is no excuse.
        """
        return [self.client.say_badly(graph) for graph in self.client.graphs[::2]]

    def _is_folded(self, partition: int) -> bool:
        owner = self.owner(partition)
        end = self.broker.log(self.settings.topics.turns, partition).end
        return owner is not None and owner.app.ownership.writers[partition].state.position.source == end - 1

    async def _look(self) -> None:
        await self._assigned()
        if self.keeps:
            await self._followed()
        latest, topics, lagging = self.now() + self.ahead_ms + SKEW_MS, self.settings.topics, list(self._lagging())
        keys = newest_keys(self.broker, topics.keys) if self.keeps else NO_KEYS
        replying = {each.name for each in self.alive} if "no replies" not in self.operations else set[str]()
        oracle = Oracle(
            self.broker,
            topics,
            self.client,
            keys=keys,
            latest_ms=latest,
            tail_lost=self.tail_lost,
            replying=replying,
        )
        self.complaints += oracle.unread() if "turns made anew" not in self.operations else []
        self.complaints += oracle.silence() if "no replies" not in self.operations else []
        for partition in range(self.settings.partitions):
            owner = self.owner(partition)
            if owner is None:
                self.complaints.append(f"live: no worker owns partition {partition} in the end")
                continue
            live: Partition = owner.app.ownership.writers[partition].state
            self.complaints += await oracle.complaints(
                partition, live, [it for it in lagging if it.partition == partition]
            )
            if self.keeps:
                self.complaints += await oracle.branched(partition, live, self.world.extractor)
        if self.moves:
            self.complaints += await moving_oracle.complaints(self.traveller)

    async def _assigned(self) -> None:
        """Wait until each worker knows its partitions: a fold from before is checked against the log only then."""
        until = self.loop.time() + LIVE_SECONDS
        while waiting := [each.name for each in self.alive if not _knows_its_partitions(each)]:
            if self.loop.time() > until:
                self.complaints.append(f"live: {waiting} do not know their partitions within {LIVE_SECONDS:.0f} s")
                return
            await asyncio.sleep(0.5)

    async def _followed(self) -> None:
        """Wait until the reader has folded what is in the log by now."""
        log, until = self.settings.topics.events, self.loop.time() + LIVE_SECONDS
        ends = {partition: self.broker.log(log, partition).end for partition in range(self.settings.partitions)}
        while behind := [partition for partition, end in ends.items() if self._followed_to(partition) < end - 1]:
            if self.loop.time() > until:
                self.complaints.append(
                    f"live: the reader has not folded partitions {behind} within {LIVE_SECONDS:.0f} s"
                )
                return
            await asyncio.sleep(0.5)

    def _followed_to(self, partition: int) -> int:
        folds = self.reed.process.folds_at_hand if self.reed.process else None
        state = folds.open.get(partition) if folds else None
        return -1 if state is None else int(state.position.watermark)

    def _lagging(self) -> Iterator[Lagging]:
        """Yield the position and digest of each state that standbys and the reader have folded."""
        for process in [*self.alive, *filter(None, [self.reed.process])]:
            folds = process.folds_at_hand
            for partition, state in sorted(folds.open.items()) if folds else ():
                if self.owner(partition) is process:
                    continue
                try:
                    yield Lagging(process.name, partition, state.position.watermark, state.digest())
                except (StoreCorruptError, GraphUnavailableError) as error:  # the next owner repairs it first
                    self.note(f"{process.name} holds partition {partition}, but a graph is unavailable: {error}")

    @property
    def steps(self) -> int:
        return sum(self.broker.steps.values())


def _knows_its_partitions(process: Process) -> bool:
    return hasattr(process, "app") and process.app.ownership.ready.is_set()
