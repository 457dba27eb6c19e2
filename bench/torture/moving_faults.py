"""Graphs that move while another fault is done: alone, to and fro, or with all others of their memory.

Turns are sent to a graph all the time, wherever it is.  A command that fails is run again, as an operator does; some
die at one of their steps first.  In the end, scene.py compares both homes of each graph (moved.py).
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing
from signal import SIGKILL
from typing import Any

from bench.torture.kinds import KINDS, kind
from bench.torture.moved import Home, MovedGraph
from bench.torture.scene import PARTITIONS, NeighbourMemory, Scene
from emgas.wire import partition_of
from streams.transport.failpoints import VARIABLE, MoveStep

PATIENCE = 150.0  # seconds until a move must have ended, whatever else happens
AGAIN_SECONDS = 0.5
PAUSE_SECONDS = 0.3  # between two turns to a graph that moves
TURNS = 12  # of a graph beforehand
GRAPHS = 6  # that are born before a repartition
TALKERS = 2  # of those that are written to during one
HAS_LEFT = "lives there: move it back"  # what cancelling says then
DIES = 0.4  # share of commands that die at a step first
NARROW, WIDE = ("narrow", 3), ("wide", 5)
HAZARDS = (
    "worker killed", "worker killed and away", "all workers killed", "worker killed at a failpoint", "worker frozen",
    "worker stopped", "rebalance storm", "broker killed", "broker restarted", "broker frozen", "network cut",
    "network cut for all", "acknowledgements lost", "connections reset", "claimed by another",
)  # fmt: skip


@kind("graph moved to another partition")
async def moved_to_partition(scene: Scene) -> AsyncIterator[None]:
    """Move a graph to another partition, under another name, and back."""
    async with aclosing(_to_and_fro(scene, *_in_two_partitions(scene))) as moving:
        async for _ in moving:
            yield


@kind("move cancelled")
async def move_cancelled(scene: Scene) -> AsyncIterator[None]:
    """Kill a move to another partition at a step, and cancel it; then move the graph after all."""
    graph = _born(scene, *_in_two_partitions(scene))
    for _ in range(TURNS):
        await graph.speak(PATIENCE)
    for work in (_cancelled(scene, graph, _step(scene)), _move(scene, graph, 1, _death(scene))):
        async with aclosing(_during_a_fault(scene, [graph], work)) as moving:
            async for _ in moving:
                yield
        await graph.speak(PATIENCE)
    graph.arrived(1)


@kind("graph moved to another memory")
async def moved_to_memory(scene: Scene) -> AsyncIterator[None]:
    """Move a graph to a memory with another count of partitions, and back; the worker there may die on the way."""
    neighbour, name = await scene.neighbour(*NARROW), f"moved-{secrets.token_hex(4)}"
    async with aclosing(_to_and_fro(scene, scene.home(name), neighbour.home(name), neighbour)) as moving:
        async for _ in moving:
            yield


@kind("memory repartitioned")
async def repartitioned(scene: Scene) -> AsyncIterator[None]:
    """Move all graphs of one neighbour to another one with more partitions, or back."""
    sides = (await scene.neighbour(*NARROW), await scene.neighbour(*WIDE))
    graphs = [each for each in scene.findings.moved if each.homes[0].settings.prefix == NARROW[0]]
    source = graphs[0].at if graphs else 0
    names = [f"born-{secrets.token_hex(4)}" for _ in range(GRAPHS)]
    born = [_born(scene, sides[0].home(name), sides[1].home(name), at=source) for name in names]
    await asyncio.gather(*(graph.speak(PATIENCE) for graph in born for _ in range(TURNS // GRAPHS)))
    to, partitions = (NARROW, WIDE)[1 - source]
    options = ("topics", "repartition", "--to", to, "--partitions", str(partitions))
    _some_die(scene, *sides)
    work = _insisted(scene, *options, prefix=(NARROW, WIDE)[source][0], dies_at=_death(scene))
    async with aclosing(_during_a_fault(scene, born[:TALKERS], work)) as moving:
        async for _ in moving:
            yield
    for graph in [*graphs, *born]:
        graph.arrived(1 - source)
        await graph.speak(PATIENCE)


def _in_two_partitions(scene: Scene) -> tuple[Home, Home]:
    """Return two homes for a graph, in two partitions of the memory."""
    name = f"moved-{secrets.token_hex(4)}"
    names = (f"{name}-{number}" for number in range(100 * PARTITIONS))
    other = next(each for each in names if partition_of(each, PARTITIONS) != partition_of(name, PARTITIONS))
    return scene.home(name), scene.home(other)


def _born(scene: Scene, here: Home, there: Home, at: int = 0) -> MovedGraph:
    graph = MovedGraph((here, there), at)
    scene.findings.moved.append(graph)
    return graph


async def _to_and_fro(
    scene: Scene, here: Home, there: Home, neighbour: NeighbourMemory | None = None
) -> AsyncIterator[None]:
    """Move a new graph from one home to the other one and back, each time during a fault."""
    graph = _born(scene, here, there)
    for _ in range(TURNS):
        await graph.speak(PATIENCE)
    for at in (1, 0):
        _some_die(scene, *([neighbour] if neighbour else []))
        async with aclosing(_during_a_fault(scene, [graph], _move(scene, graph, at, _death(scene)))) as moving:
            async for _ in moving:
                yield
        graph.arrived(at)
        await graph.speak(PATIENCE)


async def _move(scene: Scene, graph: MovedGraph, at: int, dies_at: str) -> None:
    prefix = graph.homes[1 - at].settings.prefix
    await _insisted(scene, *_options(graph, at), prefix=prefix, dies_at=dies_at)


async def _cancelled(scene: Scene, graph: MovedGraph, dies_at: str) -> None:
    """Let a move from the first home die at a step, and cancel it, unless the graph has left.  Raises TimeoutError."""
    await scene.emgas("admin", *_options(graph, 1), codes=None, **{VARIABLE: dies_at})
    await _insisted(scene, *_options(graph, 1), "--cancel", prefix=graph.homes[0].settings.prefix)


def _options(graph: MovedGraph, at: int) -> tuple[str, ...]:
    source, target = graph.homes[1 - at], graph.homes[at]
    return ("graph", "move", source.graph, "--to", target.settings.prefix, "--as", target.graph)


async def _insisted(scene: Scene, *options: str, prefix: str, dies_at: str = "") -> dict[str, Any]:
    """Run a command until it succeeds, or is too late; the first time, it may die at a step.  Raises TimeoutError."""
    give_up, more = time.monotonic() + PATIENCE, {VARIABLE: dies_at}
    while True:
        code, printed = await scene.emgas("admin", *options, "--json", codes=None, prefix=prefix, **more)
        if not code:
            report: dict[str, Any] = json.loads(printed)
            return report
        if HAS_LEFT in " ".join(printed.split()):  # lines are wrapped
            return {}
        if time.monotonic() > give_up:
            raise TimeoutError(f"emgas admin {' '.join(options)} exits with {code}: {printed}")
        more = {}
        await asyncio.sleep(AGAIN_SECONDS)


async def _during_a_fault(
    scene: Scene, graphs: list[MovedGraph], work: Coroutine[Any, Any, object]
) -> AsyncIterator[None]:
    """Do another fault while graphs are moved and written to; yield where that fault does, and see the move end."""
    name, ended = scene.random.choice(HAZARDS), asyncio.Event()
    talking = [asyncio.create_task(_talk(graph, ended)) for graph in graphs]
    moving = asyncio.create_task(work)  # type: ignore[var-annotated]
    try:
        with scene.in_force(name):
            async with aclosing(KINDS[name](scene)) as fault:
                async for _ in fault:
                    yield
        await moving
        ended.set()
        await asyncio.gather(*talking)
    finally:
        for task in (moving, *talking):
            task.cancel()
        await asyncio.gather(moving, *talking, return_exceptions=True)


async def _talk(graph: MovedGraph, ended: asyncio.Event) -> None:
    while not ended.is_set():
        await graph.speak(PATIENCE)
        await asyncio.sleep(PAUSE_SECONDS)


def _death(scene: Scene) -> str:
    """Choose where a command dies; "" for nowhere."""
    where = _step(scene)
    return where if scene.random.random() < DIES else ""


def _step(scene: Scene) -> str:
    return f"{scene.random.choice(list(MoveStep))}:{scene.random.randint(1, 2)}"


def _some_die(scene: Scene, *neighbours: NeighbourMemory) -> None:
    """Kill the workers of some neighbours: their supervisors start them again."""
    for neighbour in neighbours:
        if scene.random.random() < DIES:
            neighbour.worker.signal(SIGKILL)
