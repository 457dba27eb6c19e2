"""Faults during erasure, rights, undo, snapshots, readers and branches.

Each works on a graph of its own, with a few turns.  That live states stay folds of their log is looked at in the
end, of all who may have lagged behind (scene.py); what is looked at here are the promises that clients were given.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from bench.torture.kinds import kind
from bench.torture.processes import WorkerProcess
from bench.torture.scene import Scene
from emgas import MemoryClient
from emgas.errors import EmgasError
from emgas.messages.operator import Checkpoint
from emgas.messages.requests import Outcome
from emgas.messages.rights import Grant, Revoke
from emgas.messages.turns import Erase, Undo
from streams.transport.failpoints import VARIABLE, Step

PATIENCE = 90.0  # seconds until a request must have had an outcome
TURNS = 6
MANY_TURNS = 130  # more than one message may name
GUEST = "guest"
MOST_EVENTS = 14  # of such a graph: where it has fewer, undoing the others is refused


async def _insist(call: Callable[[], Awaitable[Outcome]]) -> Outcome:
    """Make a request as often as it takes until it has an outcome.  Raises TimeoutError."""
    give_up = time.monotonic() + PATIENCE
    failure: EmgasError | None = None
    while time.monotonic() < give_up:
        try:
            return await call()
        except EmgasError as error:
            failure = error
            await asyncio.sleep(0.2)
    raise TimeoutError(f"no outcome after {PATIENCE:.0f} s: {failure}")


async def _publish(scene: Scene, turns: int = TURNS) -> str:
    """Record some turns in a new graph; return its name."""
    graph = f"kept-{secrets.token_hex(4)}"
    for number in range(turns):
        await scene.acknowledged(scene.turn(graph, f"k{number}", number), PATIENCE)
    return graph


async def _erased(scene: Scene, graph: str, turn: str) -> None:
    """Erase a turn; when its outcome was lost, it is erased already and the second request is refused."""
    outcome = await _insist(lambda: scene.memory.send(Erase(graph=graph, turn=turn)))
    scene.findings.erased.add((graph, turn))
    messages = ("holds no such turn", "erased already")
    if outcome.status == "rejected" and not any(each in (outcome.reason or "") for each in messages):
        scene.findings.broken.append(f"turn {turn} of {graph} was not erased: {outcome.reason}")


@kind("turn erased while a reader is away")
async def erased_behind_a_reader(scene: Scene) -> AsyncIterator[None]:
    """Stop a reader that has folded a turn, or not, erase the turn, and let the reader follow again."""
    await scene.reader.up()
    await scene.followed()
    graph = await _publish(scene)
    await scene.reader.down()
    for number in range(TURNS, 2 * TURNS):  # what the reader has not seen when it is erased
        await scene.acknowledged(scene.turn(graph, f"k{number}", number), PATIENCE)
    await _erased(scene, graph, "k3")
    await _erased(scene, graph, f"k{TURNS + 1}")
    yield
    await scene.reader.up()
    await scene.followed()
    yield
    await scene.reader.down()


@kind("turn erased while a worker is away")
async def erased_behind_a_standby(scene: Scene) -> AsyncIterator[None]:
    """Kill a worker, tell and erase turns that it never folded, and let it come back."""
    graph, worker = await _publish(scene), scene.a_worker()
    await worker.down()
    for number in range(TURNS, 2 * TURNS):
        await scene.acknowledged(scene.turn(graph, f"k{number}", number), PATIENCE)
    await _erased(scene, graph, "k1")
    await _erased(scene, graph, f"k{TURNS + 2}")
    yield
    await worker.up()
    yield


@kind("worker killed while it erases")
async def killed_in_an_erasure(scene: Scene) -> AsyncIterator[None]:
    """Kill a worker before keys are destroyed, before all is scrubbed, or before the erasure is recorded."""
    worker = scene.a_worker()
    await worker.down()
    await worker.up(**{VARIABLE: f"{Step.ERASE}:{scene.random.randint(1, 4)}"})
    for number in range(3):
        graph = await _publish(scene, 3)
        await _erased(scene, graph, f"k{number}")
    yield


@kind("store lost and erased since its snapshot")
async def lost_behind_a_snapshot(scene: Scene) -> AsyncIterator[None]:
    """Take snapshots, erase a turn that they hold, and give a worker a new disk: it starts from them."""
    graph = await _publish(scene)
    for partition in range(len(scene.graphs)):
        with suppress(EmgasError):  # its owner may be away for a moment: then an older snapshot is used, or none
            await scene.memory.send(Checkpoint(), partition=partition, timeout=10.0)
    await _erased(scene, graph, "k2")
    worker: WorkerProcess = scene.a_worker()
    await worker.down()
    shutil.rmtree(worker.home / "kafka", ignore_errors=True)
    yield
    await worker.up()
    yield


@kind("events undone")
async def events_undone(scene: Scene) -> AsyncIterator[None]:
    """Take back the newest events of a graph, then that, while a worker is killed; forget many turns at once."""
    graph = await _publish(scene)
    scene.a_worker().signal(9)
    for _ in range(2):
        await scene.emgas("replay", "undo", graph, "--last", "2", "--yes", "--timeout", f"{PATIENCE:.0f}", codes=(0, 1))
    many = await _publish(scene, MANY_TURNS)
    await _insist(lambda: scene.memory.forget(many, everything=True))
    yield


@kind("rights tried by a guest")
async def rights(scene: Scene) -> AsyncIterator[None]:
    """Send requests of a guest who tries to gain a missing right; kill a worker meanwhile."""
    graph = await _publish(scene)
    await _insist(lambda: scene.memory.send(Grant(graph=graph, subject=GUEST, rights=["read", "write", "forget"])))
    await _insist(lambda: scene.memory.send(Revoke(graph=graph, subject=GUEST, rights=["write"])))
    scene.a_worker().signal(9)
    async with scene.client(GUEST) as guest:
        for first in range(MOST_EVENTS, TURNS, -1):  # the grant, its revocation, and undoing those again
            await _insist(lambda: guest.send(Undo(graph=graph, first=first, last=first)))  # noqa: B023 - called at once
        await _refused(scene, "grants itself", lambda: guest.send(Grant(graph=graph, subject=GUEST, rights=["write"])))
        await _refused(scene, "configures", lambda: guest.configure(graph, "forgetful"))
        await _refused(scene, "erases", lambda: guest.send(Erase(graph=graph, whole=True)))
        await _refused(scene, "writes", lambda: _written(scene, guest, graph))
    yield


async def _written(scene: Scene, guest: MemoryClient, graph: str) -> Outcome:
    return await guest.record(scene.turn(graph, "guest", 99))


async def _refused(scene: Scene, what: str, call: Callable[[], Awaitable[Outcome]]) -> None:
    outcome = await _insist(call)
    if outcome.status != "rejected":
        scene.findings.broken.append(f"a guest that may read and forget {what}: {outcome.status}")


@kind("branched")
async def branched(scene: Scene) -> AsyncIterator[None]:
    """Branch the graphs of this module's faults, in which turns were erased, undone and forgotten."""
    graph = await _publish(scene, 12)
    await _erased(scene, graph, "k1")
    await _insist(lambda: scene.memory.forget(graph, turns=["k2"]))
    into = scene.directory / f"branch-{secrets.token_hex(4)}"
    _, listed = await scene.emgas("graphs", "--json")
    others = [each for each in _names(listed) if not each.startswith("kept-")]
    without = [option for each in others for option in ("--without", each)]
    code, printed = await scene.emgas("replay", "branch", "--into", str(into), "--json", *without, codes=(0, 1))
    if code or json.loads(printed)["rejected"]:
        scene.findings.broken.append(f"a branch exits with {code}: {printed}")
    shutil.rmtree(into, ignore_errors=True)
    yield


def _names(listed: str) -> list[str]:
    names: list[str] = json.loads(listed)["graphs"]
    return names
