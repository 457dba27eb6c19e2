"""Check that a moving graph stays complete, wherever its move is killed: a real Kafka, real workers, SIGKILLs by seed.

    python -m bench.service.transfers                  20 deaths at each step of a move, on a broker of its own
    python -m bench.service.transfers --kills 2 --seed 7 --broker 127.0.0.1:9092 --json

Each graph lives a random history (turns, pins, feedback, grants, undone, forgotten and, where it is encrypted, erased),
half of them encrypted.  Then it moves to another count of partitions: the command dies once at each step (MoveStep of
streams/transport/failpoints.py), before or behind a message, more happens to the graph after each death, and a worker
of one side dies on the way of the run that finishes.  The encrypted ones live on there and move back, with a death
at a random step; what is in clear does not come back from where it was encrypted.

    killed    commands that died, by step       back    moves back that died, by step    workers  that died
    refused   requests during a move            runs    that it took to finish the moves, beside those that died
    lost, doubled   of the acknowledged turns   differing, unfinished, broken   what must not be: why
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sys
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from bench.torture.processes import ROOT, SupervisedWorker, one_broker
from emgas.client.client import MemoryClient
from emgas.messages.requests import Outcome
from emgas.messages.rights import Grant
from emgas.messages.turns import Erase, Feedback, Pin, Turn, Undo
from emgas.times import HOUR_MS
from emgas.wire import partition_of
from replay.accepted_events import AcceptedEvents
from replay.transfer import folded, restamped, survey
from state.events.events import TurnRecorded
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.failpoints import VARIABLE, MoveStep, Step

PATIENCE = 90.0  # seconds; only a memory that is wedged ever takes as long
RUNS = 5  # that a move may take to finish
FIRST = 1_700_000_000_000
ORDINALS = dict.fromkeys(MoveStep, (1, 2)) | {MoveStep.FENCE: (1, 2, 3, 4)}
FINISHES = 3  # the first passage of FENCE that says where the graph is
THINGS = ("kettle", "lantern", "violin", "harbour", "orchard", "letter")


@dataclass
class MoveFindings:
    """See the module's docstring."""

    graphs: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    back: Counter[str] = field(default_factory=Counter)
    workers: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    differing: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


class Place:
    """A memory on the broker, with one worker."""

    def __init__(self, broker: str, prefix: str, partitions: int, directory: Path, kek: Path) -> None:
        self.settings = WorkerSettings(
            broker=f"kafka://{broker}", prefix=prefix, partitions=partitions, replication=1, encryption=True,
            kek_file=kek, data=directory / f"{prefix}-operator",
        )  # fmt: skip
        self.environment = {
            "EMGAS_BROKER": f"kafka://{broker}", "EMGAS_PREFIX": prefix, "EMGAS_ENCRYPTION": "on",
            "EMGAS_KEK_FILE": str(kek), "EMGAS_INSTANCE": prefix, "EMGAS_SESSION_TIMEOUT": "30",
        }  # fmt: skip
        self.worker = SupervisedWorker(prefix, directory / prefix, broker, self.environment)
        self.memory = MemoryClient(f"kafka://{broker}", prefix=prefix, timeout=PATIENCE)

    async def emgas(self, *arguments: str, dies_at: str = "") -> tuple[int, str]:
        """Run a command; return its exit code, and what it printed."""
        environment = {"PATH": "/usr/bin:/bin", "EMGAS_DATA": str(self.settings.data), VARIABLE: dies_at}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "streams.cli.main", *arguments), cwd=ROOT, env=environment | self.environment,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, error = await process.communicate()
        return process.returncode or 0, out.decode() or error.decode()

    async def digest(self, graph: str) -> str:
        """Fold what the log holds of a graph; return its digest."""
        async with select.readable(self.settings) as topics:
            log = topics.reader(self.settings.topics.events)
            exported = await survey(log, partition_of(graph, self.settings.partitions), graph)
            return await folded(restamped(log, exported), graph) if exported else "nothing"

    async def recorded(self, graph: str) -> Counter[str]:
        """Count how often the log records each turn of a graph; what was erased cannot be read."""
        async with select.readable(self.settings) as topics:
            log = topics.reader(self.settings.topics.events)
            events = AcceptedEvents().read(log, partition_of(graph, self.settings.partitions), of=graph)
            turns = [event async for event, _ in events if isinstance(event, TurnRecorded)]
            return Counter(turn.id for turn in turns if turn.graph == graph)


class RandomLife:
    """Random actions on one graph, by seed."""

    def __init__(self, graph: str, seed: int, findings: MoveFindings) -> None:
        self.graph = graph
        self.chance = random.Random(f"{seed} {graph}")
        self.acknowledged: set[str] = set()
        self.erased: set[str] = set()
        self._findings = findings
        self._turns = 0

    async def goes_on(self, memory: MemoryClient, count: int) -> None:
        """Do `count` random actions on the graph; during a move, they may be refused."""
        acts = [self._speak, self._speak, self._speak, self._pin, self._forget, self._undo, self._erase, self._rate,
                self._grant]  # fmt: skip
        for _ in range(count):
            act = self.chance.choice(acts) if self._turns > 2 else self._speak
            outcome = await act(memory)
            kind = act.__name__.strip("_")
            self._findings.happened[kind] += outcome.status == "accepted"
            self._findings.refused += "is being moved" in (outcome.reason or "") or outcome.moved_to is not None

    async def _speak(self, memory: MemoryClient) -> Outcome:
        number, self._turns = self._turns, self._turns + 1
        text = f"The {self.chance.choice(THINGS)} stood by the {self.chance.choice(THINGS)} of day {number}."
        turn = Turn(id=f"t{number}", graph=self.graph, speaker="Ada", text=text, at=FIRST + number * HOUR_MS)
        outcome = await memory.record(turn)
        if outcome.status != "rejected":
            self.acknowledged.add(turn.id)
        return outcome

    def _turn(self) -> str:
        return f"t{self.chance.randrange(self._turns)}"

    async def _pin(self, memory: MemoryClient) -> Outcome:
        return await memory.send(Pin(graph=self.graph, turns=[self._turn()]))

    async def _forget(self, memory: MemoryClient) -> Outcome:
        return await memory.forget(self.graph, turns=[self._turn()])

    async def _undo(self, memory: MemoryClient) -> Outcome:
        return await memory.send(Undo(graph=self.graph, first=self.chance.randrange(2, 2 * self._turns)))

    async def _erase(self, memory: MemoryClient) -> Outcome:
        turn = self._turn()
        outcome = await memory.send(Erase(graph=self.graph, turn=turn))
        if outcome.status == "accepted":
            self.erased.add(turn)
        return outcome

    async def _rate(self, memory: MemoryClient) -> Outcome:
        value = self.chance.choice([-1.0, 1.0])
        return await memory.send(Feedback(graph=self.graph, turns=[self._turn()], value=value, query="the kettle"))

    async def _grant(self, memory: MemoryClient) -> Outcome:
        subject = self.chance.choice(["planner", "coach"])
        return await memory.send(Grant(graph=self.graph, subject=subject, rights=["read"]))


class Moves:
    """Two memories, and graphs that move between them and die on the way."""

    def __init__(self, here: Place, there: Place, seed: int) -> None:
        self.here, self.there = here, there
        self.findings = MoveFindings()
        self._chance = random.Random(seed)
        self._seed = seed
        self._lives: dict[str, RandomLife] = {}
        self._homes: dict[str, Place] = {}

    async def run(self, count: int) -> MoveFindings:
        """Create and move `count` graphs, with actions on them meanwhile; return the findings."""
        await self.here.worker.up(EMGAS_ENCRYPTION="off")
        await self.there.worker.up()
        for number in range(count):
            if number == count // 2:  # from here on, graphs are born encrypted
                await self.here.worker.down(signal.SIGTERM)
                await self.here.worker.up()
            life = self._lives[f"graph-{number}"] = RandomLife(f"graph-{number}", self._seed, self.findings)
            await life.goes_on(self.here.memory, self._chance.randint(8, 30))
        for number, life in enumerate(self._lives.values()):
            await self._lived_and_moved(life, returns=number >= count // 2)
            _say(f"{life.graph}: {dict(self.findings.killed)}, back {dict(self.findings.back)}")
        await self._examine()
        return self.findings

    async def _lived_and_moved(self, life: RandomLife, *, returns: bool) -> None:
        self.findings.graphs += 1
        self._homes[life.graph] = self.there
        for where in self._deaths():
            await self._dies(life.graph, self.here, where, self.findings.killed)
            await life.goes_on(self.here.memory, self._chance.randint(0, 3))
        await self._finishes(life.graph, self.here)
        await self._is_there_alone(life)
        if returns:
            self._homes[life.graph] = self.here
            await life.goes_on(self.there.memory, self._chance.randint(0, 6))
            await self._dies(life.graph, self.there, self._chance.choice(self._deaths()), self.findings.back)
            await self._finishes(life.graph, self.there)
            await self._is_there_alone(life)

    def _deaths(self) -> list[str]:
        """Choose where a move dies, once at each step, in an order in which each is still to come."""
        chosen = {step: self._chance.choice(ordinals) for step, ordinals in ORDINALS.items()}
        finishes = chosen[MoveStep.FENCE] >= FINISHES
        order = sorted(MoveStep, key=lambda step: (step is MoveStep.OPEN, finishes and step is MoveStep.FENCE))
        return [f"{step}:{chosen[step]}" for step in order]

    def _other(self, place: Place) -> Place:
        return self.there if place is self.here else self.here

    async def _moving(self, graph: str, home: Place, dies_at: str = "") -> tuple[int, str]:
        to = self._other(home).settings.prefix
        return await home.emgas("admin", "graph", "move", graph, "--to", to, "--json", dies_at=dies_at)

    async def _dies(self, graph: str, home: Place, where: str, killed: Counter[str]) -> None:
        code, output = await self._moving(graph, home, where)
        if code == -signal.SIGKILL:
            killed[where.partition(":")[0]] += 1
        else:
            self.findings.unfinished.append(f"{graph} was to die at {where}, and exited with {code}: {output}")

    async def _finishes(self, graph: str, home: Place) -> None:
        """Move a graph, while a worker of one side dies."""
        place = self._chance.choice([self.here, self.there])
        step = self._chance.choice([Step.TURN, Step.APPEND, Step.ACK, Step.FOLD, Step.FLUSH])
        await place.worker.down(signal.SIGTERM)
        exits = place.worker.exits[-signal.SIGKILL]
        await place.worker.up(**{VARIABLE: f"{step}:{self._chance.randint(1, 3)}"})
        for _ in range(RUNS):
            self.findings.runs += 1
            code, output = await self._moving(graph, home)
            if not code:
                break
        self.findings.workers[step] += place.worker.exits[-signal.SIGKILL] - exits
        report = json.loads(output) if not code else {}
        if code or report["digest"] != report["digest_before"]:
            self.findings.unfinished.append(f"{graph}: exit code {code}, {output}")

    async def _is_there_alone(self, life: RandomLife) -> None:
        """See a graph take a turn where it went, and nowhere else."""
        home = self._homes[life.graph]
        left = self._other(home)
        refused = await life._speak(left.memory)  # noqa: SLF001 - it is ours
        if refused.moved_to is None or home.settings.prefix not in f"{refused.moved_to}, prefix emgas":
            self.findings.broken.append(f"{life.graph}, where it left: {refused.status} {refused.reason}")
        if await left.digest(life.graph) != await home.digest(life.graph):
            self.findings.differing.append(f"{life.graph}, as it came to {home.settings.prefix}")
        taken = await life._speak(home.memory)  # noqa: SLF001 - as above
        if taken.status != "accepted":
            self.findings.broken.append(f"{life.graph}, where it went: {taken.status} {taken.reason}")

    async def _examine(self) -> None:
        """Compare all that was acknowledged with what lies where each graph is, and what lives with the logs."""
        for life in self._lives.values():
            recorded = await self._homes[life.graph].recorded(life.graph)
            self.findings.acknowledged += len(life.acknowledged)
            self.findings.lost += len(life.acknowledged - life.erased - recorded.keys())
            self.findings.doubled += sum(count > 1 for count in recorded.values())
        for place in (self.here, self.there):
            code, output = await place.emgas("replay", "verify", "--json")
            if code:
                self.findings.differing.append(f"{place.settings.prefix}, live and folded: {output}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def tortured(broker: str, directory: Path, kills: int, seed: int) -> MoveFindings:
    """Move as many graphs as there are to be deaths at each step, on this broker."""
    kek = directory / "kek"
    kek.write_text("ab" * 32)
    names = f"from-{seed}-{directory.name[-8:].lower().replace('_', '-')}", 3
    here = Place(broker, *names, directory, kek)
    there = Place(broker, names[0].replace("from", "to"), 5, directory, kek)
    async with AsyncExitStack() as running:
        for place in (here, there):
            running.push_async_callback(place.worker.end)
            await select.create(place.settings)
            await running.enter_async_context(place.memory)
        return await Moves(here, there, seed).run(kills)


async def _tortured_on(broker: str | None, directory: Path, kills: int, seed: int) -> MoveFindings:
    async with one_broker("transfers", broker) as address:
        return await tortured(address, directory, kills, seed)


def main() -> int:
    """Run it; return 1 if anything was lost, doubled, differs or did not finish."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="deaths at each step, each of another graph")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--broker", help="host:port; by default, scripts/kafka starts one")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        findings = asyncio.run(_tortured_on(chosen.broker, Path(directory), chosen.kills, chosen.seed))
    report: dict[str, Any] = {each.name: getattr(findings, each.name) for each in fields(findings)}
    if chosen.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name:14} {dict(value) if isinstance(value, Counter) else value}")
    wrong = (findings.lost, findings.doubled, findings.differing, findings.unfinished, findings.broken)
    return int(any(wrong))


if __name__ == "__main__":
    sys.exit(main())
