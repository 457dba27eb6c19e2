"""Faults of processes: workers and brokers that die, freeze, stop, come and go."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator

from bench.torture.kinds import kind
from bench.torture.scene import SESSION_SECONDS, Scene
from emgas.errors import EmgasError
from emgas.messages.operator import Checkpoint
from streams.transport.failpoints import VARIABLE, Step

REACHED_WITHIN = 20.0  # seconds; a step that is not passed meanwhile is let go


@kind("worker killed")
async def worker_killed(scene: Scene) -> AsyncIterator[None]:
    """Kill one; its supervisor starts it again."""
    scene.a_worker().signal(signal.SIGKILL)
    yield


@kind("worker killed and away")
async def worker_away(scene: Scene) -> AsyncIterator[None]:
    """Kill one and leave it so: the other has everything until it comes back."""
    worker = scene.a_worker()
    await worker.down()
    yield
    await worker.up()
    yield


@kind("all workers killed")
async def workers_killed(scene: Scene) -> AsyncIterator[None]:
    """Kill all at once, as a machine does that all of them lie on."""
    for worker in scene.workers:
        worker.signal(signal.SIGKILL)
    yield


@kind("worker killed at a failpoint")
async def worker_killed_at(scene: Scene) -> AsyncIterator[None]:
    """Kill a worker at the n-th time that it passes a step."""
    worker, step = scene.a_worker(), scene.random.choice(list(Step))
    await worker.down()
    await worker.up(**{VARIABLE: f"{step}:{scene.random.randint(1, 4)}"})
    try:
        async with asyncio.timeout(REACHED_WITHIN):
            while worker.runs:
                if step is Step.SNAPSHOT:
                    await _checkpoints(scene)
                await asyncio.sleep(0.2)
    except TimeoutError:
        worker.signal(signal.SIGKILL)
    yield


async def _checkpoints(scene: Scene) -> None:
    for partition in range(len(scene.graphs)):
        try:
            await scene.memory.send(Checkpoint(), partition=partition, timeout=2.0)
        except EmgasError:  # its owner is just dying of it
            continue


@kind("worker frozen")
async def worker_frozen(scene: Scene) -> AsyncIterator[None]:
    """Freeze one until the group misses it; then it wakes up as a zombie."""
    worker = scene.a_worker()
    worker.signal(signal.SIGSTOP)
    await asyncio.sleep(scene.random.uniform(0.5, 1.5) * SESSION_SECONDS)
    yield
    worker.signal(signal.SIGCONT)
    yield


@kind("worker stopped")
async def worker_stopped(scene: Scene) -> AsyncIterator[None]:
    """Stop a worker: it must exit with 0, in time."""
    worker = scene.a_worker()
    _promised(scene, await worker.stop())
    yield
    await worker.up()
    yield


@kind("worker stopped in a rebalance")
async def worker_stopped_in_rebalance(scene: Scene) -> AsyncIterator[None]:
    """Stop a worker while another one joins."""
    worker = scene.a_worker()
    await scene.spare.up()
    await asyncio.sleep(scene.random.uniform(2.0, 6.0))
    _promised(scene, await worker.stop())
    await worker.up()
    await asyncio.sleep(scene.random.uniform(2.0, 6.0))
    _promised(scene, await scene.spare.stop())
    yield


@kind("rebalance storm")
async def rebalance_storm(scene: Scene) -> AsyncIterator[None]:
    """Start and stop the spare worker several times, with SIGTERM or SIGKILL."""
    for _ in range(4):
        await scene.spare.up()
        await asyncio.sleep(scene.random.uniform(1.5, 4.0))
        await scene.spare.down(scene.random.choice([signal.SIGTERM, signal.SIGKILL]))
    yield


@kind("broker killed")
async def broker_killed(scene: Scene) -> AsyncIterator[None]:
    """Kill one and start it again with its data."""
    os.kill(scene.random.choice(await scene.brokers.pids()), signal.SIGKILL)
    await scene.brokers.start()
    yield


@kind("broker restarted")
async def broker_restarted(scene: Scene) -> AsyncIterator[None]:
    """Stop one and start it again."""
    pid = scene.random.choice(await scene.brokers.pids())
    os.kill(pid, signal.SIGTERM)
    while pid in await scene.brokers.pids():  # noqa: ASYNC110  (a process that is not ours to wait for)
        await asyncio.sleep(0.2)
    await scene.brokers.start()
    yield


@kind("broker frozen")
async def broker_frozen(scene: Scene) -> AsyncIterator[None]:
    """Freeze one for a while."""
    pid = scene.random.choice(await scene.brokers.pids())
    os.kill(pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(scene.random.uniform(5.0, 15.0))
    finally:
        os.kill(pid, signal.SIGCONT)
    yield


@kind("worker stopped while the broker is frozen")
async def worker_stopped_without_broker(scene: Scene) -> AsyncIterator[None]:
    """Stop a worker while no broker runs that could reassign its partitions."""
    worker, pids = scene.a_worker(), await scene.brokers.pids()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(scene.random.uniform(0.0, 4.0))
        _promised(scene, await worker.stop())
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    yield
    await worker.up()
    yield


@kind("clock of a worker jumps")
async def clock_jumps(scene: Scene) -> AsyncIterator[None]:
    """Set its wall clock off by seconds, a day, a month; and right again."""
    worker = scene.a_worker()
    for ahead in scene.random.sample([15.0, -15.0, 86_400.0, -86_400.0, 30 * 86_400.0], 2):
        worker.set_clock(ahead)
        await asyncio.sleep(1.0)
        yield
    worker.set_clock(0.0)
    yield


def _promised(scene: Scene, complaint: str) -> None:
    if complaint:
        scene.findings.broken.append(complaint)
