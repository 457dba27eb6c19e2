"""The pipeline on a real Apache Kafka: the same contract, by the same application."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from streams.transport import select
from tests.contracts.pipeline_contract import DOOMED, WORKER, PipelineContract
from tests.support.clocks import eventually
from tests.support.pipeline import Pipeline, a_turn, as_json, settings_for
from tests.support.transports import kafka_transport

pytestmark = [pytest.mark.kafka, pytest.mark.asyncio(loop_scope="module")]


@asynccontextmanager
async def on_kafka(address: str, directory: Path, **changes: Any) -> AsyncIterator[Pipeline]:
    settings = settings_for(directory, f"test-{uuid.uuid4().hex[:12]}", f"kafka://{address}", **{**WORKER, **changes})
    await select.create(settings)
    async with kafka_transport(address) as transport, Pipeline(settings, transport) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pipeline(kafka_address: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    async with on_kafka(kafka_address, tmp_path_factory.mktemp("pipeline")) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(loop_scope="module")
async def doomed(kafka_address: str, tmp_path: Path) -> AsyncIterator[Pipeline]:
    async with on_kafka(kafka_address, tmp_path, **DOOMED) as pipeline:
        yield pipeline


class TestKafkaPipeline(PipelineContract):
    """Runs every test of the contract."""


async def test_turns_made_anew_under_a_live_worker_are_read_from_their_beginning(
    kafka_address: str, tmp_path: Path
) -> None:
    """Whether the new topic ends before what was to be read next, or beyond it."""
    async with on_kafka(kafka_address, tmp_path, tick_seconds=0.2) as pipeline:
        before: list[str] = []
        partition, read = pipeline.place("ada"), 0
        for life, count in enumerate((6, 2, 9)):
            if life:
                await pipeline.transport.recreate(pipeline.topics.turns)
            ids = [f"t{life}-{number}" for number in range(count)]
            for name in ids:
                await pipeline.produce(pipeline.topics.turns, b"ada", as_json(a_turn("ada", name)), partition)
            # until it is noticed, some of those that lie where the topic before was read to may be read first
            ways = [[*before, *ids[read:end], *ids[:read], *ids[end:]] for end in range(read, max(read, count) + 1)]
            await eventually(lambda: partition in pipeline.app.ownership.writers and pipeline.ids("ada") in ways)  # noqa: B023 - it is awaited here
            before, read = pipeline.ids("ada"), count
        assert pipeline.app.halted is None
        await pipeline.lives()
        assert all(each.match for each in await pipeline.verified())
