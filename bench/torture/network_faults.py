"""Faults of the network between a worker and the brokers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from bench.torture.kinds import kind
from bench.torture.proxy import DOWN, UP
from bench.torture.scene import SESSION_SECONDS, Scene


@kind("network cut")
async def cut(scene: Scene) -> AsyncIterator[None]:
    """Cut one worker off from all brokers; the other reaches them."""
    worker = scene.a_worker()
    worker.proxy.cut()
    await asyncio.sleep(scene.random.uniform(0.2, 1.5) * SESSION_SECONDS)
    yield
    worker.proxy.heal()
    yield


@kind("network cut for all")
async def cut_for_all(scene: Scene) -> AsyncIterator[None]:
    """Cut all workers off from the brokers."""
    for worker in scene.workers:
        worker.proxy.cut()
    await asyncio.sleep(scene.random.uniform(1.0, 15.0))
    for worker in scene.workers:
        worker.proxy.heal()
    yield


@kind("acknowledgements lost")
async def acknowledgements_lost(scene: Scene) -> AsyncIterator[None]:
    """Deliver what a worker sends, but drop the replies; then end the connections."""
    worker = scene.a_worker()
    worker.proxy.hang(DOWN)
    await asyncio.sleep(scene.random.uniform(0.2, 2.0) * SESSION_SECONDS)
    worker.proxy.cut()
    worker.proxy.heal()
    yield


@kind("network half open")
async def half_open(scene: Scene) -> AsyncIterator[None]:
    """Hold back traffic in both directions without ending connections; deliver all of it later."""
    worker = scene.a_worker()
    worker.proxy.hang(UP, DOWN)
    await asyncio.sleep(scene.random.uniform(0.5, 2.0) * SESSION_SECONDS)
    yield
    worker.proxy.heal()
    yield


@kind("network slow")
async def slow(scene: Scene) -> AsyncIterator[None]:
    """Delay what all workers send and get, by a tenth of a second to a half, each way."""
    for worker in scene.workers:
        worker.proxy.delay(scene.random.uniform(0.1, 0.5))
    await asyncio.sleep(8.0)
    yield
    for worker in scene.workers:
        worker.proxy.heal()
    yield


@kind("connections reset")
async def resets(scene: Scene) -> AsyncIterator[None]:
    """Reset every connection, again and again."""
    for _ in range(15):
        for worker in scene.workers:
            worker.proxy.reset()
        await asyncio.sleep(scene.random.uniform(0.1, 0.6))
    yield
