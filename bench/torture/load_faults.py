"""Faults of load: more than there is room for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from bench.torture.kinds import kind
from bench.torture.scene import Scene


@kind("flood of questions")
async def flood_of_questions(scene: Scene) -> AsyncIterator[None]:
    """Ask 2,000 at once, from one client: each is answered, or told that there are too many."""
    graph = scene.random.choice(scene.graphs)

    async def ask() -> None:
        with scene.findings.questions.asking(f"{graph}, in a flood", scene.partition_of(graph)):
            await scene.memory.query(graph, "the kettle", timeout=10.0)

    await asyncio.gather(*(ask() for _ in range(2000)))
    yield


@kind("flood of turns")
async def flood_of_turns(scene: Scene) -> AsyncIterator[None]:
    """Publish 1,500 turns into one graph at once."""
    graph = scene.graphs[scene.a_partition()]
    mark, start = scene.random.randrange(1 << 30), scene.random.randrange(1000)
    turns = [scene.turn(f"{graph}-flood", f"flood-{mark}-{n}", start) for n in range(1500)]
    async for _ in scene.memory.publish_many(turns, outcomes=False, timeout=20.0):
        pass
    yield


@kind("questions about what is to come")
async def questions_ahead(scene: Scene) -> AsyncIterator[None]:
    """Ask 600 questions that are to wait for a turn far beyond the end."""
    graph = scene.random.choice(scene.graphs)
    ahead = [
        asyncio.create_task(scene.memory.query(graph, "the kettle", after=10**9, timeout=60.0)) for _ in range(600)
    ]
    await asyncio.sleep(1.0)
    yield
    for task in ahead:
        task.cancel()
    await asyncio.gather(*ahead, return_exceptions=True)
