"""Snapshots on a real Apache Kafka: live workers write them, a new worker and a single graph start from them."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from pathlib import Path
from typing import Any

import pytest

from replay.backup.snapshots import Snapshots
from streams.transport import select
from tests.support.cli import emgas
from tests.support.pipeline import Pipeline, settings_for
from tests.support.transports import kafka_transport

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


async def test_live_workers_write_snapshots_and_a_new_worker_starts_from_them(
    kafka_address: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = str(tmp_path / "kept")
    settings = settings_for(tmp_path / "1", f"test-{uuid.uuid4().hex[:12]}", f"kafka://{kafka_address}", snapshots=kept)
    common = {"broker": settings.broker or "", "prefix": settings.prefix, "snapshots": kept}

    async def command(*words: str) -> Any:
        return (await asyncio.to_thread(emgas, tmp_path / "client", *words, "--json", **common)).json

    await select.create(settings)
    async with kafka_transport(kafka_address) as transport:
        async with Pipeline(settings, transport) as first:
            for number in range(6):
                await first.record(f"graph-{number}")
            created = (await command("snapshot", "create"))["snapshots"]
            for number in range(6):
                await first.record(f"graph-{number}", id="later")
            live = first.digests()
            assert (await command("replay", "digest"))["graphs"] == live
            assert (await command("replay", "digest", "--offline"))["graphs"] == live
            rebuilt = await command("replay", "rebuild", "--graph", "graph-0", "--snapshots", kept)
            assert rebuilt["digest"] == live["graph-0"]
            assert (await command("replay", "verify"))["match"] is True
        caplog.clear()
        caplog.set_level(logging.INFO, "emgas")
        async with Pipeline(settings.model_copy(update={"data": tmp_path / "2"}), transport) as second:
            assert second.digests() == live
            await second.lives()
            assert all(each.match for each in await second.verified())
            await tamper(second, "graph-3")
            verified = await verify_failing(tmp_path, common)
    logged = caplog.text
    names = [name for partition in range(2) for name in Snapshots(kept, settings.prefix).names(partition)]
    assert {each["snapshot"] for each in created} <= set(names)
    assert all(each["snapshot"] in logged for each in created), "the new worker started from the snapshots"
    (diverged,) = [each for partition in verified["partitions"] for each in partition["divergences"]]
    assert diverged["graph"] == "graph-3"
    assert diverged["differences"][0]["column"] == "recalled"


async def tamper(pipeline: Pipeline, graph: str) -> None:
    """Change what a live worker holds behind the log's back, and have it written down."""
    owner = pipeline.app.ownership.writers[pipeline.place(graph)]
    contents = owner.state.graph(graph)
    assert contents is not None
    contents.recalled += 1
    for number in range(70):  # until the store holds a snapshot of the graph
        await pipeline.record(graph, id=f"more{number}")


async def verify_failing(tmp_path: Path, settings: dict[str, str]) -> Any:
    result = await asyncio.to_thread(emgas, tmp_path / "client", "replay", "verify", "--json", code=4, **settings)
    return json.loads(result.out.splitlines()[-1])
