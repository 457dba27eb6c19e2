"""Faults of what is kept, for whom, and what no longer: erasure, rights, undo, snapshots, and who lags behind.

`keeping_planned` draws them beside the others (faults.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Protocol

from bench.simulation import faults
from bench.simulation.clients import Keeper
from bench.simulation.worker import Machine
from emgas.errors import HaltedError
from streams.transport.failpoints import Step

MOST = 4  # of one run
MANY = 130  # turns: more than one message may name


class KeepingRun(faults.FaultyRun, Protocol):
    """The parts of a run that such a fault may use (world.py)."""

    keeping: Random
    keeper: Keeper
    reed: Machine  # the reader's


def keeping_planned(chance: Random) -> list[tuple[float, str]]:
    """Draw such faults of a run: (second, name)."""
    count = chance.randint(1, MOST)
    return [(chance.uniform(faults.FIRST, faults.LAST), chance.choice(sorted(KEEPING))) for _ in range(count)]


def _graph(run: KeepingRun) -> str:
    return run.keeping.choice(run.keeper.graphs)


async def _while(run: KeepingRun, shortest: float, longest: float) -> None:
    await asyncio.sleep(run.keeping.uniform(shortest, longest))


async def _erase_behind(run: KeepingRun) -> None:
    """Record some turns in a graph and erase some of them, at once and later."""
    graph = _graph(run)
    run.keeper.say_many(graph, run.keeping.randint(2, 8))
    for _ in range(run.keeping.randint(1, 3)):
        await _while(run, 0.0, 2.0)
        run.keeper.erase_turn(graph)


async def erased_behind_a_reader(run: KeepingRun) -> None:
    """Cut a reader off, or end it, and erase what it has not seen, or has."""
    reader = run.reed.process
    if reader is None:
        return
    await _while(run, 0.0, 2.0)
    is_killed = run.keeping.random() < 0.5
    reader.link.open.clear()
    try:
        await _erase_behind(run)
        await _while(run, 1.0, 6.0)
    finally:
        reader.link.open.set()
        if is_killed:
            reader.kill()


async def erased_behind_a_standby(run: KeepingRun) -> None:
    """Freeze a worker, and erase meanwhile."""
    process = run.keeping.choice(run.alive) if run.alive else None
    if process is None:
        return
    process.freeze()
    try:
        await _while(run, 0.0, 4.0)
        await _erase_behind(run)
        await _while(run, 1.0, 6.0)
    finally:
        process.thaw()


async def frozen_while_erasing(run: KeepingRun) -> None:
    """Freeze a worker that is about to destroy keys; the next owner destroys more of the same graph meanwhile."""
    graph, erasing = _graph(run), [*run.alive]
    run.keeper.say_many(graph, 8)
    await _while(run, 0.5, 3.0)
    for process in erasing:
        process.freezes_at = Step.ERASE
    try:
        for _ in range(run.keeping.randint(2, 4)):
            run.keeper.erase_turn(graph)
            await _while(run, 0.5, 6.0)
    finally:
        for process in erasing:
            process.thaw()


async def killed_while_erasing(run: KeepingRun) -> None:
    """Kill a worker at a step of an erasure."""
    for process in run.alive:
        process.fatal_step, process.passages_left = Step.ERASE, run.keeping.randint(1, 6)
    await _erase_behind(run)


async def reader_killed(run: KeepingRun) -> None:
    """Kill a reader; power may be lost with it."""
    await _while(run, 0.0, 1.0)
    if run.reed.process is not None:
        run.reed.process.kill()
        if run.keeping.random() < 0.5:
            run.reed.disk.cut_power(run.keeping.randint(1, 6))


async def reader_stopped(run: KeepingRun) -> None:
    """Stop a reader in order."""
    if run.reed.process is not None:
        await run.reed.process.stop()


async def snapshot(run: KeepingRun) -> None:
    """Copy the stores of a machine as they are."""
    for machine in (*run.machines, run.reed):
        process = machine.process
        folds = None if process is None or process.ended.is_set() else process.folds_at_hand
        for partition in sorted(folds.open) if folds else ():
            try:
                folds.checkpoint(partition, Path(str(partition)))  # type: ignore[union-attr]  # there is one
            except (HaltedError, OSError) as error:
                run.note(f"no snapshot of partition {partition} of {machine.name}: {error}")


async def disk_lost(run: KeepingRun) -> None:
    """Take snapshots, erase something, and give a machine a new disk, with a snapshot of any machine."""
    machines = [*run.machines, run.reed]
    if run.keeping.random() < 0.7:
        await snapshot(run)
        await _erase_behind(run)
        await _while(run, 0.0, 5.0)
    lost, other = run.keeping.choice(machines), run.keeping.choice(machines)
    run.note(f"{lost.name} loses its disk, and gets the snapshots {sorted(other.disk.snapshots)} of {other.name}")
    if lost.process is not None:
        lost.process.kill()
    lost.disk.lose(other.disk.snapshots)


async def undone(run: KeepingRun) -> None:
    """Take much back, and that as well."""
    for _ in range(run.keeping.randint(2, 8)):
        run.keeper.undo(_graph(run))
        await _while(run, 0.0, 0.5)


async def fought_over(run: KeepingRun) -> None:
    """Send requests of a subject that tries to regain its revoked rights."""
    graph = _graph(run)
    for _ in range(2):
        run.keeper.fight(graph)
        await _while(run, 0.0, 2.0)


async def forgotten_at_once(run: KeepingRun) -> None:
    """Forget more turns at once than one message names."""
    graph = _graph(run)
    run.keeper.say_many(graph, MANY)
    await _while(run, 0.5, 3.0)
    run.keeper.forget(graph, everything=True)
    await _while(run, 0.0, 2.0)
    run.keeper.say_many(graph, 3)


KEEPING: dict[str, Callable[[KeepingRun], Awaitable[None]]] = {
    "erased behind a reader": erased_behind_a_reader,
    "erased behind a standby": erased_behind_a_standby,
    "frozen while erasing": frozen_while_erasing,
    "killed while erasing": killed_while_erasing,
    "reader killed": reader_killed,
    "reader stopped": reader_stopped,
    "snapshot": snapshot,
    "disk lost": disk_lost,
    "undone": undone,
    "rights fought over": fought_over,
    "much forgotten at once": forgotten_at_once,
}
