"""The pipeline on a real Apache Kafka: the same contract, by the same application."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from streams.transport import select
from tests.contracts.pipeline_contract import WORKER, PipelineContract
from tests.support.pipeline import Pipeline, settings_for
from tests.support.transports import kafka_transport

pytestmark = [pytest.mark.kafka, pytest.mark.asyncio(loop_scope="module")]


@asynccontextmanager
async def on_kafka(address: str, directory: Path) -> AsyncIterator[Pipeline]:
    settings = settings_for(directory, f"test-{uuid.uuid4().hex[:12]}", f"kafka://{address}", **WORKER)
    await select.create(settings)
    async with kafka_transport(address) as transport, Pipeline(settings, transport) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pipeline(kafka_address: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    async with on_kafka(kafka_address, tmp_path_factory.mktemp("pipeline")) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(loop_scope="module")
async def doomed(kafka_address: str, tmp_path: Path) -> AsyncIterator[Pipeline]:
    async with on_kafka(kafka_address, tmp_path) as pipeline:
        yield pipeline


class TestKafkaPipeline(PipelineContract):
    """Runs every test of the contract."""
