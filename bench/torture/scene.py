"""The cluster under test, and the oracles that check it.

Two workers share the partitions, each behind a proxy of its own; a client that goes to the brokers directly publishes
turns to one graph of each partition all the time, days apart, so that windows close, and queries them.  A turn that the
owner reported as accepted is acknowledged: it may never be lost, or count twice.

    await scene.lives()      the liveness oracle: each partition accounts for a new turn and answers a question about it
    await scene.examined()   the safety oracles, once, in the end

Graphs that move (moved.py) do so within this memory, or between it and neighbours: memories on the same brokers, with a
worker of their own, which runs while it is needed.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Self

from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient

from bench.torture.explained import LINGERS, FaultInForce, Questions
from bench.torture.moved import MAIN, TRY_SECONDS, Home, MovedGraph, label
from bench.torture.processes import ROOT, Brokers, WorkerProcess
from bench.torture.proxy import Proxy
from emgas import MemoryClient, Turn
from emgas.errors import EmgasError, TransportError
from emgas.messages.requests import Outcome
from emgas.times import DAY_MS
from emgas.wire import TopicNames, partition_of
from replay.accepted_events import AcceptedEvents
from state.events.events import TurnRecorded
from streams.settings import WorkerSettings
from streams.transport import select

PARTITIONS = 4
WORKERS = 2
SESSION_SECONDS = 6  # the least that a broker grants
TICK_SECONDS = 2
FIRST_DAY = 19_000  # since 1970: all turns are in the past, and stay there
APART_MS = DAY_MS // 4
ASK_SECONDS = 10.0  # that a question of the traffic may take: a client's default
SETTLES_WITHIN = 15.0  # the group; a fault that comes earlier meets a rebalance
SECONDS_BETWEEN_TRIES = 0.1
LONGEST_TRY_SECONDS = 16.0  # a client without a reply waits longer at its next try
WORDS = ["kettle", "garden", "museum", "violin", "harbour", "lantern", "orchard", "compass", "blanket", "meadow"]


class WedgedError(Exception):
    """A partition did not account for a turn, or did not answer, for as long as anybody would wait."""


@dataclass
class SceneFindings:
    """The findings of a run, beside recovery times."""

    acknowledged: set[tuple[str, str]] = field(default_factory=set)
    erased: set[tuple[str, str]] = field(default_factory=set)  # of those; on purpose
    moved: list[MovedGraph] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)  # promises
    questions: Questions = field(default_factory=Questions)

    def compared(self, recorded: list[tuple[str, str]]) -> dict[str, Any]:
        """Compare with the turns that the logs hold, as graph and id; note as broken what came back."""
        for graph in self.moved:
            self.acknowledged |= {(graph.home.label, turn) for turn in graph.taken}
            self.broken += graph.broken
        lost = self.acknowledged - self.erased - set(recorded)
        came_back = self.erased & set(recorded)
        self.broken += [f"turn {id} of {graph} was erased, and can be read" for graph, id in sorted(came_back)]
        return {
            "acknowledged": len(self.acknowledged),
            "erased": len(self.erased),
            "lost": len(lost),
            "lost_turns": sorted(lost),
            "duplicated": len(recorded) - len(set(recorded)),
            "moved": sum(graph.moves for graph in self.moved),
        }


@dataclass
class NeighbourMemory:
    """Another memory on the same brokers, and its worker."""

    settings: WorkerSettings
    memory: MemoryClient
    worker: WorkerProcess

    def home(self, graph: str) -> Home:
        """Return the home of a graph here."""
        return Home(self.settings, self.memory, graph)


class Scene:
    """The cluster, the workers, and who talks to them."""

    def __init__(self, directory: Path, *, seed: int, brokers: int, patience: float) -> None:
        self.directory = directory
        self.random = random.Random(seed)
        self.findings = SceneFindings()
        self.brokers = Brokers(f"torture-{seed}", brokers)
        self.replication = brokers
        self.topics = TopicNames(MAIN)
        self.graphs = [_graph_in(partition) for partition in range(PARTITIONS)]
        self.workers: list[WorkerProcess] = []
        self.spare: WorkerProcess  # joins when others have to make room
        self.reader: WorkerProcess  # follows the log in some faults, and is asked alone in the end
        self.neighbours: dict[str, NeighbourMemory] = {}
        self.memory: MemoryClient
        self.producer: AIOKafkaProducer  # a foreign program's
        self.kek = directory / "kek"
        self.kek.write_text("ab" * 32)
        self._patience = patience
        self._probes = 0
        self._ending: set[asyncio.Task[None]] = set()  # what waits for the end of faults
        self._pause = asyncio.Event()  # set: traffic flows
        self._running = AsyncExitStack()

    # its life

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as starting:
            await self.brokers.start()
            starting.push_async_callback(self.brokers.wipe)
            await select.create(self.settings)
            self.memory = await self._open_client(starting)
            self.producer = AIOKafkaProducer(bootstrap_servers=self.bootstrap, acks="all", max_request_size=16 << 20)
            await self.producer.start()
            starting.push_async_callback(self.producer.stop)
            *self.workers, self.spare = [await self._worker(f"worker {n}", starting) for n in range(WORKERS + 1)]
            self.reader = await self._worker("reader", starting, EMGAS_ROLE="reader")
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

    async def _worker(self, name: str, starting: AsyncExitStack, **more: str) -> WorkerProcess:
        proxy = await starting.enter_async_context(Proxy(self.brokers.addresses))
        worker = WorkerProcess(name, self.directory / name.replace(" ", "-"), proxy, self._environment() | more)
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
            "EMGAS_ENCRYPTION": "on",
            "EMGAS_KEK_FILE": str(self.kek),
        }

    @property
    def bootstrap(self) -> str:
        """The brokers' own address, without a proxy."""
        return ",".join(self.brokers.addresses)

    @property
    def settings(self) -> WorkerSettings:
        """The settings of the `emgas` commands."""
        return self._settings(MAIN, PARTITIONS)

    def _settings(self, prefix: str, partitions: int) -> WorkerSettings:
        return WorkerSettings(
            broker=f"kafka://{self.bootstrap}", data=self.directory / "operator", prefix=prefix,
            partitions=partitions, replication=self.replication, encryption=True, kek_file=self.kek,
        )  # fmt: skip

    async def _open_client(self, starting: AsyncExitStack, prefix: str = MAIN) -> MemoryClient:
        """Return an open client: brokers that start on a busy machine take more than one try to answer."""
        async with asyncio.timeout(self._patience):
            while True:
                with suppress(TransportError):
                    return await starting.enter_async_context(self.client(prefix=prefix))
                await asyncio.sleep(SECONDS_BETWEEN_TRIES)

    def client(self, subject: str | None = None, prefix: str = MAIN) -> MemoryClient:
        """Make a client that is not open yet; on behalf of a subject, or of who runs the memory."""
        return MemoryClient(f"kafka://{self.bootstrap}", prefix=prefix, timeout=TRY_SECONDS, subject=subject)

    def home(self, graph: str) -> Home:
        """Return the home of a graph in this memory."""
        return Home(self.settings, self.memory, graph)

    async def neighbour(self, prefix: str, partitions: int) -> NeighbourMemory:
        """Return another memory, with its worker running; create it the first time."""
        if prefix not in self.neighbours:
            settings = self._settings(prefix, partitions)
            await select.create(settings)
            memory = await self._open_client(self._running, prefix)
            worker = await self._worker(prefix, self._running, EMGAS_PREFIX=prefix)
            self.neighbours[prefix] = NeighbourMemory(settings, memory, worker)
        neighbour = self.neighbours[prefix]
        await neighbour.worker.up()
        await self._owned(neighbour.worker, partitions)
        return neighbour

    @asynccontextmanager
    async def admin(self) -> AsyncIterator[Any]:
        """Yield Kafka's own admin client, started."""
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
        await admin.start()
        try:
            yield admin
        finally:
            await admin.close()

    async def emgas(
        self, *arguments: str, codes: tuple[int, ...] | None = (0,), prefix: str = MAIN, **more: str
    ) -> tuple[int, str]:
        """Run a command of an operator on a memory; return its exit code, any if `codes` is None, and stdout.

        more  is added to its environment
        """
        environment = {"PATH": "/usr/bin:/bin", "EMGAS_DATA": str(self.settings.data)}
        environment |= {"EMGAS_BROKER": self.settings.broker or "", "EMGAS_PREFIX": prefix}
        environment |= {"EMGAS_ENCRYPTION": "on", "EMGAS_KEK_FILE": str(self.kek), **more}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "streams.cli.main", *arguments), cwd=ROOT, env=environment,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            out, error = await process.communicate()
        finally:  # also if a fault is given up: nothing may go on behind it
            with suppress(ProcessLookupError):
                process.kill()
        code = process.returncode
        assert codes is None or code in codes, f"emgas {' '.join(arguments)} exited with {code}: {error.decode()}"
        return code or 0, out.decode() or error.decode()

    @property
    def everyone(self) -> list[WorkerProcess]:
        """All that may run: the workers, the spare one, the reader, and the neighbours' workers."""
        return [*self._members, *(each.worker for each in self.neighbours.values())]

    @property
    def _members(self) -> list[WorkerProcess]:
        return [*self.workers, self.spare, self.reader]

    # chance

    def a_worker(self) -> WorkerProcess:
        """Pick a worker, of those that own something if any does: of another, little could be lost."""
        self.harms(range(PARTITIONS))  # the group shares out all of them again
        return self.random.choice([each for each in self.workers if each.owns] or self.workers)

    def others(self, worker: WorkerProcess) -> list[WorkerProcess]:
        """Return all other workers."""
        return [each for each in self.workers if each is not worker]

    def a_partition(self) -> int:
        """Pick a partition; what is harmed in it holds up the others of its owner."""
        partition = self.random.randrange(PARTITIONS)
        self.harms({partition}.union(*(each.owns for each in self._members if partition in each.owns)))
        return partition

    def partition_of(self, graph: str) -> int:
        """Return the partition of a graph."""
        return _place(graph)

    def harms(self, partitions: Iterable[int]) -> None:
        """Note that the fault that is being done is in force in these partitions, too."""
        for fault in self.findings.questions.faults[-1:]:
            fault.partitions = (fault.partitions or set()).union(partitions)

    async def settled(self) -> None:
        """Wait until the workers have shared out the partitions among them, and no longer than that may take."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLES_WITHIN):
                await self._shared_out()

    async def _shared_out(self) -> None:
        while not _is_shared_out([each.owns for each in [*self.workers, self.spare] if each.is_intended]):  # noqa: ASYNC110 - other processes have no event here
            await asyncio.sleep(0.1)

    @contextmanager
    def in_force(self, name: str) -> Iterator[None]:
        """Record a fault as in force from now until all partitions are assigned again after this block."""
        fault = FaultInForce(name, time.monotonic())
        self.findings.questions.faults.append(fault)
        try:
            yield
        finally:
            ending = asyncio.create_task(self._ended(fault, time.monotonic() + LINGERS))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)

    async def _ended(self, fault: FaultInForce, earliest: float) -> None:
        await self._shared_out()
        fault.until = max(earliest, time.monotonic())

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
            with self.findings.questions.asking(graph, self.partition_of(graph)):
                words, reinforces = f"the {chance.choice(WORDS)}", chance.random() < 0.3
                await self.memory.query(graph, words, reinforce=reinforces, timeout=ASK_SECONDS)
            await asyncio.sleep(chance.uniform(0.2, 1.0))

    def turn(self, graph: str, turn_id: str, number: int) -> Turn:
        """Make the turn of a graph that is its `number`-th."""
        text = f"The {WORDS[number % 10]} stood beside the {WORDS[number // 10 % 10]} of {turn_id}."
        return Turn(
            id=turn_id, graph=graph, speaker="Ada", text=text, at=FIRST_DAY * DAY_MS + number * APART_MS,
            session=str(number // 12),
        )  # fmt: skip

    async def acknowledged(self, turn: Turn, patience: float) -> Outcome:
        """Send a turn again and again until it is accepted, as every client may.  Raises TimeoutError."""
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
        """See each partition account for a new turn and answer a question about it; return how long it took, s.

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
        """Compare what was acknowledged with what the log holds, and what lives with the fold of the log.

        What lives is asked of all workers, of each alone, which goes on from what it folded as a standby, and of a
        reader alone.
        """
        self._pause.clear()
        await self.lives()
        diverged = [f"all workers: {each}" for each in await self.diverged()]
        for worker in self.workers:
            for other in self.others(worker):
                await other.down()
            await self.lives()
            diverged += [f"{worker.name} alone: {each}" for each in await self.diverged()]
            for other in self.others(worker):
                await other.up()
        diverged += [f"the reader alone: {each}" for each in await self._diverged_of_reader()]
        diverged += await self._diverged_of_moved()
        recorded = await self._recorded()  # last: the liveness checks above recorded turns, too
        return {**self.findings.compared(recorded), "diverged": len(diverged), "divergences": diverged}

    async def _recorded(self) -> list[tuple[str, str]]:
        """Read from the logs which turns count, each as often as it was recorded; what was erased cannot be read."""
        recorded: list[tuple[str, str]] = []
        for settings in (self.settings, *(each.settings for each in self.neighbours.values())):
            async with select.readable(settings) as readable:
                events = readable.reader(settings.topics.events)
                for partition in range(settings.partitions):
                    accepted = AcceptedEvents().read(events, partition)
                    turns = [event async for event, _ in accepted if isinstance(event, TurnRecorded)]
                    recorded += [(label(settings, turn.graph), turn.id) for turn in turns]
        return recorded

    async def _diverged_of_moved(self) -> list[str]:
        diverged = [each for graph in self.findings.moved for each in await graph.complaints()]
        for prefix, neighbour in self.neighbours.items():
            await self.neighbour(prefix, neighbour.settings.partitions)
            diverged += [f"{prefix}: {each}" for each in await self.diverged(prefix)]
        return diverged

    async def _diverged_of_reader(self) -> list[str]:
        await self.reader.up()
        await self.followed()
        for worker in self.workers:
            await worker.down()
        return await self.diverged()

    async def followed(self) -> None:
        """Wait until the reader follows all partitions.  Raises WedgedError."""
        await self._owned(self.reader, PARTITIONS)

    async def _owned(self, process: WorkerProcess, partitions: int) -> None:
        """Wait until a process has all partitions.  Raises WedgedError."""
        try:
            async with asyncio.timeout(self._patience):
                while process.owns != list(range(partitions)):  # noqa: ASYNC110 - as above
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise WedgedError(f"{process.name} has {process.owns} after {self._patience:.0f} s") from None

    async def diverged(self, prefix: str = MAIN) -> list[str]:
        """List the partitions that cannot be queried, or whose live state or position is not the fold of their log."""
        give_up, unanswered = time.monotonic() + self._patience, True
        while unanswered:
            code, output = await self.emgas("replay", "verify", "--json", codes=(0, 1, 3, 4), prefix=prefix)
            unanswered = "no answer came within" in output and time.monotonic() < give_up
        partitions = json.loads(output)["partitions"] if output.startswith("{") else []
        differing = [str(each) for each in partitions if each["match"] is not True]
        return differing or ([f"verify exited with {code}: {output}"] if code else [])


def _place(graph: str) -> int:
    return partition_of(graph, PARTITIONS)


def _is_shared_out(owned: list[list[int]]) -> bool:
    return all(owned) and sorted(number for each in owned for number in each) == list(range(PARTITIONS))


def _graph_in(partition: int) -> str:
    """Return the name of a graph in the partition."""
    return next(name for name in (f"graph-{number}" for number in range(1000)) if _place(name) == partition)
