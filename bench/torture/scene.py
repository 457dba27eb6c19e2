"""What is tortured, and by what it is told whether it is well.

Two workers share the partitions, each behind a proxy of its own; a client that goes to the brokers directly publishes
turns to one graph of each partition all the time, days apart, so that windows close, and asks.  What the owner called
accepted is acknowledged: none of it may ever be lost, or count twice.

    await scene.lives()      the liveness oracle: each partition accounts for a new turn and answers a question about it
    await scene.examined()   the safety oracles, once, in the end
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Self

from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient

from bench.torture.processes import ROOT, Brokers, Worker
from bench.torture.proxy import Proxy
from emgas import MemoryClient, Turn
from emgas.errors import EmgasError, NoAnswerError, QueryFailedError
from emgas.messages.turns import Outcome
from emgas.times import DAY_MS
from emgas.wire import TopicNames, partition_of
from replay.accepted_events import AcceptedEvents
from state.events.events import TurnRecorded
from streams.settings import Settings
from streams.transport import select
from streams.transport.kafka.reader import KafkaReader

PARTITIONS = 4
WORKERS = 2
SESSION_SECONDS = 6  # the least that a broker grants
TICK_SECONDS = 2
FIRST_DAY = 19_000  # since 1970: what is told lies in the past, and stays there
APART_MS = DAY_MS // 4
TRY_SECONDS = 4.0  # that a client waits for an outcome before it sends the same turn again
SETTLES_WITHIN = 15.0  # the group; a fault that comes earlier meets a rebalance
LONGEST_TRY_SECONDS = 16.0  # a client that is told nothing becomes more patient
WORDS = ["kettle", "garden", "museum", "violin", "harbour", "lantern", "orchard", "compass", "blanket", "meadow"]


class WedgedError(Exception):
    """A partition did not account for a turn, or did not answer, for as long as anybody would wait."""


@dataclass
class Findings:
    """What a run saw beside the times that recovery took."""

    acknowledged: set[tuple[str, str]] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)  # promises
    questions: Counter[str] = field(default_factory=Counter)


class Scene:
    """The cluster, the workers, and who talks to them."""

    def __init__(self, directory: Path, *, seed: int, brokers: int, patience: float) -> None:
        self.directory = directory
        self.random = random.Random(seed)
        self.findings = Findings()
        self.brokers = Brokers(f"torture-{seed}", brokers)
        self.replication = brokers
        self.topics = TopicNames("torture")
        self.graphs = [_graph_in(partition) for partition in range(PARTITIONS)]
        self.workers: list[Worker] = []
        self.spare: Worker  # joins when others have to make room
        self.memory: MemoryClient
        self.producer: AIOKafkaProducer  # a foreign program's
        self._patience = patience
        self._probes = 0
        self._pause = asyncio.Event()  # set: traffic flows
        self._running = AsyncExitStack()

    # its life

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as starting:
            await self.brokers.start()
            starting.push_async_callback(self.brokers.wipe)
            await select.create(self.settings)
            self.memory = await starting.enter_async_context(self.client())
            self.producer = AIOKafkaProducer(bootstrap_servers=self.bootstrap, acks="all", max_request_size=16 << 20)
            await self.producer.start()
            starting.push_async_callback(self.producer.stop)
            *self.workers, self.spare = [await self._worker(n, starting) for n in range(WORKERS + 1)]
            for worker in self.workers:
                await worker.up()
            await self.lives()
            self._pause.set()
            for graph in self.graphs:
                for work in (self._speak(graph), self._ask(graph)):
                    starting.callback(asyncio.create_task(work).cancel)
            self._running = starting.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._running.aclose()

    async def _worker(self, number: int, starting: AsyncExitStack) -> Worker:
        proxy = await starting.enter_async_context(Proxy(self.brokers.addresses))
        worker = Worker(f"worker {number}", self.directory / f"worker-{number}", proxy, self._environment())
        starting.push_async_callback(worker.end)
        return worker

    def _environment(self) -> dict[str, str]:
        return {
            "EMGAS_PREFIX": self.settings.prefix,
            "EMGAS_SESSION_TIMEOUT": str(SESSION_SECONDS),
            "EMGAS_TICK_SECONDS": str(TICK_SECONDS),
            "EMGAS_PRESET": "forgetful",
            "EMGAS_SNAPSHOTS": str(self.directory / "snapshots"),
            "EMGAS_BATCH_TURNS": "8",
        }

    @property
    def bootstrap(self) -> str:
        """The brokers' own address, without a proxy."""
        return ",".join(self.brokers.addresses)

    @property
    def settings(self) -> Settings:
        """What a command is told."""
        return Settings(
            broker=f"kafka://{self.bootstrap}", data=self.directory / "operator", prefix="torture",
            partitions=PARTITIONS, replication=self.replication,
        )  # fmt: skip

    def client(self) -> MemoryClient:
        """Make a client that is not open yet."""
        return MemoryClient(f"kafka://{self.bootstrap}", prefix="torture", timeout=TRY_SECONDS)

    @asynccontextmanager
    async def admin(self) -> AsyncIterator[Any]:
        """Give Kafka's own admin client."""
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
        await admin.start()
        try:
            yield admin
        finally:
            await admin.close()

    async def emgas(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> tuple[int, str]:
        """Run a command of an operator; give its exit code and stdout."""
        environment = {"PATH": "/usr/bin:/bin", "EMGAS_DATA": str(self.settings.data)}
        environment |= {"EMGAS_BROKER": self.settings.broker or "", "EMGAS_PREFIX": "torture"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "streams.cli.main", *arguments), cwd=ROOT, env=environment,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, error = await process.communicate()
        code = process.returncode
        assert code in codes, f"emgas {' '.join(arguments)} exited with {code}: {error.decode()}"
        return code or 0, out.decode()

    # chance

    def a_worker(self) -> Worker:
        """Pick a worker, of those that own something if any does: of another, little could be lost."""
        return self.random.choice([each for each in self.workers if each.owns] or self.workers)

    def others(self, worker: Worker) -> list[Worker]:
        """Give all other workers."""
        return [each for each in self.workers if each is not worker]

    def a_partition(self) -> int:
        """Pick a partition."""
        return self.random.randrange(PARTITIONS)

    async def settled(self) -> None:
        """Wait until the workers have shared out the partitions among them, and no longer than that may take."""
        wanted = [worker for worker in [*self.workers, self.spare] if worker.is_wanted]
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLES_WITHIN):
                while not _shared_out([each.owns for each in wanted]):  # noqa: ASYNC110 - other processes have no event here
                    await asyncio.sleep(0.1)

    # traffic

    async def _speak(self, graph: str) -> None:
        chance, number = random.Random(graph), 0
        while True:
            await self._pause.wait()
            number += 1
            await self.acknowledged(self.turn(graph, f"t{number}", number), patience=float("inf"))
            if chance.random() < 0.1:  # a client that forgot that it had sent it
                await self.acknowledged(self.turn(graph, f"t{number}", number), patience=float("inf"))
            await asyncio.sleep(chance.uniform(0.1, 0.5))

    async def _ask(self, graph: str) -> None:
        chance = random.Random(f"{graph}?")
        while True:
            await self._pause.wait()
            try:
                await self.memory.query(graph, f"the {chance.choice(WORDS)}", reinforce=chance.random() < 0.3)
                self.findings.questions["answered"] += 1
            except QueryFailedError as failure:
                self.findings.questions[failure.code] += 1
            except NoAnswerError:
                self.findings.questions["no answer"] += 1
            except EmgasError:
                self.findings.questions["no broker"] += 1
            await asyncio.sleep(chance.uniform(0.2, 1.0))

    def turn(self, graph: str, turn_id: str, number: int) -> Turn:
        """Make the turn of a graph that is its `number`-th."""
        text = f"The {WORDS[number % 10]} stood beside the {WORDS[number // 10 % 10]} of {turn_id}."
        return Turn(
            id=turn_id, graph=graph, speaker="Ada", text=text, at=FIRST_DAY * DAY_MS + number * APART_MS,
            session=str(number // 12),
        )  # fmt: skip

    async def acknowledged(self, turn: Turn, patience: float) -> Outcome:
        """Have a turn accepted, sending it as often as that takes, as every client may.  Raises TimeoutError."""
        give_up, failure, seconds = time.monotonic() + patience, "", TRY_SECONDS
        while time.monotonic() < give_up:
            try:
                outcome = await self.memory.record(turn, timeout=seconds)
            except EmgasError as error:
                failure, seconds = str(error), min(2 * seconds, LONGEST_TRY_SECONDS)
                await asyncio.sleep(0.1)
                continue
            if outcome.status == "rejected":
                self.findings.broken.append(f"turn {turn.id} of {turn.graph} was rejected: {outcome.reason}")
            else:
                self.findings.acknowledged.add((turn.graph, turn.id))
            return outcome
        raise TimeoutError(failure)

    # the oracles

    async def lives(self) -> float:
        """See each partition account for a new turn and answer a question about it; give how long it took, s.

        Raises WedgedError.
        """
        started = time.monotonic()
        self._probes += 1
        await asyncio.gather(*(self._alive(graph, f"probe-{self._probes}") for graph in self.graphs))
        return time.monotonic() - started

    async def _alive(self, graph: str, turn_id: str) -> None:
        give_up, failure = time.monotonic() + self._patience, "no answer"
        probe = f"{graph}-probe" if partition_of(f"{graph}-probe", PARTITIONS) == _place(graph) else graph
        try:
            outcome = await self.acknowledged(self.turn(probe, turn_id, self._probes), self._patience)
        except TimeoutError as error:
            self._wedged(graph, f"no turn is accounted for: {error}")
        while time.monotonic() < give_up:
            try:
                after = outcome.position.source if outcome.status == "accepted" else None
                if (await self.memory.query(probe, turn_id, after=after, timeout=TRY_SECONDS)).passages:
                    return
                failure = "an answer without passages"
            except EmgasError as error:
                failure = str(error)
            await asyncio.sleep(0.1)
        self._wedged(graph, f"no question is answered: {failure}")

    def _wedged(self, graph: str, why: str) -> NoReturn:
        raise WedgedError(f"partition {_place(graph)}, after {self._patience:.0f} s: {why}")

    async def examined(self) -> dict[str, Any]:
        """Compare what was acknowledged with what the log holds, and what lives with the fold of the log."""
        self._pause.clear()
        await self.lives()
        found: list[tuple[str, str]] = []
        events = KafkaReader(self.bootstrap, self.topics.events)
        for partition in range(PARTITIONS):
            accepted = AcceptedEvents().read(events, partition)
            found += [(event.graph, event.id) async for event, _ in accepted if isinstance(event, TurnRecorded)]
        code, told = await self.emgas("replay", "verify", "--json", codes=(0, 3, 4))
        partitions = json.loads(told)["partitions"] if told else []
        return {
            "acknowledged": len(self.findings.acknowledged),
            "lost": len(self.findings.acknowledged - set(found)),
            "doubled": len(found) - len(set(found)),
            "match": code == 0,
            "mismatches": [each for each in partitions if each["match"] is not True],
        }


def _place(graph: str) -> int:
    return partition_of(graph, PARTITIONS)


def _shared_out(owned: list[list[int]]) -> bool:
    return all(owned) and sorted(number for each in owned for number in each) == list(range(PARTITIONS))


def _graph_in(partition: int) -> str:
    """Name a graph of the partition."""
    return next(name for name in (f"graph-{number}" for number in range(1000)) if _place(name) == partition)
