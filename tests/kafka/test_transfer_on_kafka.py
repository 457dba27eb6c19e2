"""A graph moves to other topics of a cluster, with another count of partitions, while its user goes on talking."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from emgas.client.client import MemoryClient
from emgas.errors import QueryFailedError
from tests.support.cli import emgas
from tests.support.pipeline import two_memories

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
TURNS = 40
AGAIN_SECONDS = 0.02  # between two tries to send a turn while the last events are copied


async def talk(
    source: MemoryClient, target: MemoryClient, prefix: str, begun: asyncio.Event, moved: asyncio.Event
) -> str:
    """Say one thing after another, until some was said where the graph went; return where the last was said."""
    memory, where, number = source, "source", 0
    while number < TURNS or not moved.is_set():
        turn = {"id": f"t{number}", "graph": "ada", "speaker": "Ada", "text": f"The kettle number {number} is red."}
        outcome = await memory.record(turn, timeout=30.0)
        if outcome.status != "rejected":
            number += 1
        elif outcome.moved_to is not None:
            assert f"prefix {prefix}" in outcome.moved_to
            memory, where = target, "target"
        else:
            assert "is being moved" in str(outcome.reason)
            await asyncio.sleep(AGAIN_SECONDS)
        if number == TURNS // 4:
            begun.set()
    return where


async def test_nothing_is_lost_or_twice_when_a_graph_moves_while_it_is_written_to(
    kafka_address: str, tmp_path: Path
) -> None:
    async with two_memories(kafka_address, tmp_path, 2, 5) as (here, there):
        source, target = here.settings, there.settings
        begun, moved = asyncio.Event(), asyncio.Event()
        talking = asyncio.create_task(talk(here.memory, there.memory, target.prefix, begun, moved))
        await begun.wait()
        where = {"broker": str(source.broker), "prefix": source.prefix}
        arguments = ("graph", "move", "ada", "--to", target.prefix, "--json")
        report = (await asyncio.to_thread(emgas, tmp_path, *arguments, **where)).json
        assert report["digest"] == report["digest_before"]
        moved.set()
        await talking
        assert (
            await there.memory.record({"id": "last", "graph": "ada", "speaker": "Ada", "text": "The end."})
        ).position
        ids = there.ids("ada")
        assert len(ids) == len(set(ids))
        assert set(ids) >= {f"t{number}" for number in range(TURNS)} | {"last"}
        with pytest.raises(QueryFailedError, match="was moved to") as refused:
            await here.memory.query("ada", "which kettle?")
        assert refused.value.code == "moved"
        assert target.prefix in str(refused.value.moved_to)
        graph = here.graph("ada")
        assert graph is not None
        assert graph.digest() == report["digest"], "nothing was accepted after the move"
