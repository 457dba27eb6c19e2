"""Faults of graphs that move, and restarts that the group does not notice.

`moving_planned` draws them beside the others (faults.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Protocol

from bench.simulation import faults
from bench.simulation.clock import VirtualLoop
from bench.simulation.travelling import Traveller
from bench.simulation.worker import Process

MOST = 3  # of one run
RESTART_PATIENCE = 20.0  # seconds until the next worker is stopped, even if the one before is not back


class MovingRun(faults.FaultyRun, Protocol):
    """The parts of a run that such a fault may use (world.py)."""

    loop: VirtualLoop
    moving: Random
    traveller: Traveller


def moving_planned(chance: Random) -> list[tuple[float, str]]:
    """Draw such faults of a run: (second, name)."""
    count = chance.randint(1, MOST)
    return [(chance.uniform(faults.FIRST, faults.LAST), chance.choice(sorted(MOVING))) for _ in range(count)]


async def rolling_restart(run: MovingRun) -> None:
    """Stop one worker after the other, each once the one before is back; the group keeps their places."""
    for machine in run.machines:
        process = machine.process
        if process is None or process.ended.is_set():
            continue
        run.note(f"{process.name} is stopped, to be started again")
        await process.stop()
        until = run.loop.time() + RESTART_PATIENCE
        while run.loop.time() < until and not (machine.process is not process and _works(machine.process)):  # noqa: ASYNC110 - a machine that is asked
            await asyncio.sleep(0.2)


def _works(process: Process | None) -> bool:
    return process is not None and hasattr(process, "app") and process.app.ownership.ready.is_set()


async def _move_all(run: MovingRun, longest: float) -> None:
    """Say something in each graph, and begin to move it."""
    for route in run.traveller.routes:
        for _ in range(run.moving.randint(0, 6)):
            run.traveller.speak(route)
        run.traveller.begin(route)
    await asyncio.sleep(run.moving.uniform(0.0, longest))


async def many_moves(run: MovingRun) -> None:
    """Move all graphs, to and fro, while turns come."""
    for _ in range(4):
        await _move_all(run, 3.0)


async def mover_killed(run: MovingRun) -> None:
    """Kill movers; of some graphs the next one begins, of some the move is cancelled."""
    for _ in range(run.moving.randint(1, 4)):
        await _move_all(run, 4.0)
        for route in run.traveller.routes:
            run.traveller.kill(route)
            if run.moving.random() < 0.4:
                run.traveller.cancel(route)


async def mover_stalled(run: MovingRun) -> None:
    """Let movers stand still, while some moves are cancelled and others begin; some graphs move on, and back."""
    await _move_all(run, 4.0)
    for route in run.traveller.routes:
        run.traveller.stall(route)
    try:
        await asyncio.sleep(run.moving.uniform(0.0, 1.0))
        for route in run.traveller.routes:
            if run.moving.random() < 0.6:
                run.traveller.cancel(route)
        for _ in range(run.moving.choice([1, 1, 3])):
            await asyncio.sleep(run.moving.uniform(0.5, 3.0))
            await _move_all(run, 3.0)
    finally:
        run.traveller.go_on()


MOVING: dict[str, Callable[[MovingRun], Awaitable[None]]] = {
    "rolling restart": rolling_restart,
    "many moves": many_moves,
    "mover killed": mover_killed,
    "mover stalled": mover_stalled,
}
