"""Check that a worker that dies at any step comes back consistent: embedded log, real processes, real SIGKILLs.

    python -m bench.service.failpoints                      every step, ordinals 1 to 12
    python -m bench.service.failpoints --ordinals 1,4       quickly
    python -m bench.service.failpoints --json

One memory lives through all of it.  Each process that works on it first has to live: it recovers from the death before,
accepts a new turn and answers a question.  Then it publishes turns over weeks, so that windows close, and takes
snapshots, until it dies at its step (streams/transport/failpoints.py).  In the end: is each partition's live state the
fold of its log, does each turn that was acknowledged count exactly once, and is what was erased out of reach?
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from emgas.client import switches
from emgas.client.client import MemoryClient
from emgas.messages.operator import Checkpoint
from emgas.messages.requests import Outcome
from emgas.messages.rights import Grant
from emgas.messages.sessions import EndSession
from emgas.messages.turns import Erase, Feedback, Pin, Turn, Unpin
from emgas.times import DAY_MS
from replay.accepted_events import AcceptedEvents
from replay.rebuild.rebuild import refold
from state.events.events import GraphEvent, TurnRecorded
from state.store.store import MemoryStore
from streams.cli.shared.live_state import LiveStores
from streams.settings import WorkerSettings
from streams.transport import failpoints
from streams.transport.select import readable
from streams.worker.embedded_connection import EmbeddedConnection

GRAPHS = ("ada", "bob", "cleo")
ALL_ON = "eve"  # the graph in which everything is switched on
ERASED = "dora"  # in this graph, every life erases its own first turn
TURNS = 8  # of each graph, a day apart, in each life
FIRST_DAY = 20_000  # since 1970
EVENTFUL = (
    "I live in town{life} now.",
    "The kettle of New York {life}-{n} whistles in the kitchen. She told Mary on 3 May, and two weeks later Tom.",
    "Latte at the corner café before work.",
    "Remember that the code of the lock is {life}{n}.",
    "Had a latte, a large one.",
    "I promise to call grandmother on the {life}th.",
    "我搬到第{life}区了，第二天喝了拿铁。",
)
EVERYTHING = {
    "links_below": 0.6,
    "half_life": 3 * DAY_MS,
    "decay_every": DAY_MS,
    "long_windows": 2,
    "least_turns": 3,
    "habit_members": 3,
    "habit_days": 2,
    "archive_covered": 5 * DAY_MS,
    "active_turns": 60,
    "end_sessions": 1,
    "session_turns": 6,
    "topic_shift": 0.05,
    "duplicate_above": 0.6,
    "keep_information": 1,
    "novelty_above": 0.1,
    "worth_words": 1,
    "clauses": 1,
    "steady_growth": 0.1,
    "dream_every": 2 * DAY_MS,
    "frequent_linked": 2,
    "recall_spread": 0.5,
    "link_candidates": 3,
    "link_above": 0.5,
}
PATIENCE = 120.0  # seconds; only a memory that is wedged ever takes as long


@dataclass
class KillFindings:
    """The findings of a sweep.

    recovered_s  from the start of a process until it had taken a turn and answered
    legible      turns that were erased, and that a key opens
    happened     events of the graph in which everything is switched on, by kind; `links`: those that cut some
    """

    killed: dict[str, int] = field(default_factory=dict)
    not_reached: list[str] = field(default_factory=list)
    wedged: list[str] = field(default_factory=list)
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    legible: int = 0
    match: bool = False
    happened: dict[str, int] = field(default_factory=dict)
    recovered_s: list[float] = field(default_factory=list)


def settings(data: Path) -> WorkerSettings:
    """Make the settings of the memory that is killed."""
    return WorkerSettings(
        data=data,
        broker=None,
        partitions=2,
        batch_turns=4,
        snapshots=str(data / "snapshots"),
        preset="forgetful",
        encryption=True,
    )


async def live(data: Path, life: int, where: str) -> None:
    """Live a life: prove it, then work until death at `where`.  Each acknowledged turn is printed."""
    async with MemoryClient(EmbeddedConnection(settings(data)), timeout=PATIENCE) as memory:
        start = (FIRST_DAY + life * TURNS) * DAY_MS
        for graph in (*GRAPHS, ALL_ON):
            await memory.record(_turn(graph, f"alive-{life}", start))
            print("acked", graph, f"alive-{life}", flush=True)
            if not (await memory.query(graph, "Where is the kettle?")).passages:
                raise AssertionError(f"{graph} does not answer with what it was told")
        print("alive", flush=True)
        if not where.startswith(failpoints.Step.RECOVERY):
            failpoints.arm(where)
        steps = [_erase, _use_everything]
        for step in steps if life % 2 else reversed(steps):
            await step(memory, life, start)
        turns = [_turn(graph, f"t{life}-{n}", start + n * DAY_MS) for n in range(TURNS) for graph in GRAPHS]
        async for turn, outcome in memory.publish_many(turns):
            if isinstance(outcome, Outcome) and outcome.status != "rejected":
                print("acked", turn.graph, turn.id, flush=True)
        for partition in range(await memory.partitions()):
            await memory.send(Checkpoint(), partition=partition)


async def _use_everything(memory: MemoryClient, life: int, at: int) -> None:
    """Use every feature of a graph in one graph: fading links, habits, session ends, history, pins, feedback."""
    await memory.configure(ALL_ON, preset="forgetful", **EVERYTHING)
    for n in range(TURNS):
        await memory.record(_eventful(life, n, at + n * DAY_MS))
    await memory.send(Pin(graph=ALL_ON, turns=[f"e{life}-0"]))
    await memory.send(Unpin(graph=ALL_ON, turns=[f"e{life - 1}-0"]))
    await memory.send(Feedback(graph=ALL_ON, turns=[f"e{life}-1"], value=1.0, query="Where is the kettle?"))
    await memory.send(
        Feedback(graph=ALL_ON, turns=[f"e{life}-2", f"e{life - 1}-1"], value=-1.0, query="Where is the kettle?")
    )
    await memory.query(ALL_ON, "Where do I live, and where is the kettle?", reinforce=True)
    await memory.forget(ALL_ON, turns=[f"e{life}-4"])
    await memory.send(EndSession(graph=ALL_ON, session=f"s{life}"))
    await switches.pause(memory, ALL_ON)
    await memory.record(_turn(ALL_ON, f"unheard-{life}", at))
    await switches.resume(memory, ALL_ON)
    await memory.send(Grant(graph=ALL_ON, subject="planner", rights=["read"]))


def _eventful(life: int, n: int, at: int) -> Turn:
    text = EVENTFUL[n % len(EVENTFUL)].format(life=life, n=n)
    photo = [
        {"uri": f"photos/{life}-{n}.jpg", "mime": "image/jpeg", "kind": "image", "caption": "The kettle, shining."}
    ]
    more: dict[str, Any] = {"attachments": photo} if n == 2 else {"importance": 0.9} if n == 3 else {}
    return Turn(id=f"e{life}-{n}", graph=ALL_ON, session=f"s{life}", speaker="Eve", at=at, text=text, **more)


async def _erase(memory: MemoryClient, life: int, at: int) -> None:
    """Erase the turn of this life; report it once the turn is unreadable."""
    await memory.record(_turn(ERASED, f"secret-{life}", at))
    outcome = await memory.send(Erase(graph=ERASED, turn=f"secret-{life}"))
    if outcome.status == "accepted":
        print("erased", ERASED, f"secret-{life}", flush=True)


def _turn(graph: str, turn_id: str, at: int) -> Turn:
    return Turn(id=turn_id, graph=graph, speaker="Ada", at=at, text=f"The kettle of {turn_id} whistles in the kitchen.")


def sweep(data: Path, ordinals: list[int]) -> KillFindings:
    """Kill a memory at every step and ordinal, one death after the other; look at what it holds in the end."""
    findings, acked, erased = KillFindings(), set[tuple[str, str]](), set[tuple[str, str]]()
    places = [f"{step}:{n}" for n in ordinals for step in failpoints.Step]
    for life, where in enumerate([*places, ""]):
        code = _one_life(data, life, where, {"acked": acked, "erased": erased}, findings)
        if code == -signal.SIGKILL:
            step = where.partition(":")[0]
            findings.killed[step] = findings.killed.get(step, 0) + 1
        elif code == 0:
            findings.not_reached += [where] if where else []
        else:
            findings.wedged.append(f"{where}: exit code {code}")
    asyncio.run(_examine(data, acked, erased, findings))
    return findings


def _one_life(
    data: Path, life: int, where: str, reported: dict[str, set[tuple[str, str]]], findings: KillFindings
) -> int:
    at_start = where if where.startswith(failpoints.Step.RECOVERY) else ""
    command = [
        sys.executable,
        "-m",
        "bench.service.failpoints",
        "--live",
        str(data),
        "--life",
        str(life),
        "--at",
        where,
    ]
    started = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, failpoints.VARIABLE: at_start}
    ) as process:
        assert process.stdout
        for line in process.stdout:
            word, *rest = line.split()
            if word == "alive":
                findings.recovered_s.append(round(time.monotonic() - started, 2))
            elif word in reported:
                reported[word].add((rest[0], rest[1]))
        return process.wait(PATIENCE)


async def _examine(
    data: Path, acked: set[tuple[str, str]], erased: set[tuple[str, str]], findings: KillFindings
) -> None:
    here = settings(data)
    recorded: list[tuple[str, str]] = []
    findings.match = True
    async with readable(here) as topics:
        events = topics.reader(here.topics.events)
        for partition in range(here.partitions):
            _, end = await events.bounds(partition)
            folded = await refold(events, partition, end, MemoryStore())
            position = await LiveStores(here, topics.keys).position(partition)
            findings.match &= position.digest == folded.digest()
            async for event, _ in AcceptedEvents().read(events, partition):
                if isinstance(event, TurnRecorded):
                    recorded.append((event.graph, event.id))
                if isinstance(event, GraphEvent) and event.graph == ALL_ON:
                    names = [type(event).__name__, *(["links"] if getattr(event, "links", None) else [])]
                    findings.happened |= {name: findings.happened.get(name, 0) + 1 for name in names}
    findings.acknowledged = len(acked)
    findings.lost = len(acked - set(recorded))
    findings.legible = len(erased & set(recorded))
    findings.doubled = len(recorded) - len(set(recorded))


def main() -> None:
    """Run the sweep, or one life of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ordinals", default=",".join(map(str, range(1, 13))))
    parser.add_argument("--json", action="store_true")
    for hidden in ("--live", "--life", "--at"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.live:
        asyncio.run(live(Path(chosen.live), int(chosen.life), chosen.at))
        return
    with tempfile.TemporaryDirectory() as directory:
        findings = sweep(Path(directory), [int(n) for n in chosen.ordinals.split(",")])
    if chosen.json:
        print(json.dumps(asdict(findings)))
        return
    for name, value in asdict(findings).items():
        print(f"{name:14} {value}")


if __name__ == "__main__":
    main()
