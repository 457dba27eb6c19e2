"""The pipeline through a gateway: the same contract, by a client that speaks HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from streams.transport import select
from tests.contracts.pipeline_contract import DOOMED, WORKER, PipelineContract
from tests.support.pipeline import Pipeline, settings_for
from tests.support.served import ServedPipeline
from tests.support.transports import sqlite_transport

pytestmark = pytest.mark.asyncio(loop_scope="module")


@asynccontextmanager
async def over_http(directory: Path, **changes: Any) -> AsyncIterator[Pipeline]:
    settings = settings_for(directory, "test", None, **WORKER, **changes)
    await select.create(settings)
    async with sqlite_transport(settings.home) as transport, ServedPipeline(settings, transport) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pipeline(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    async with over_http(tmp_path_factory.mktemp("pipeline")) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(loop_scope="module")
async def doomed(tmp_path: Path) -> AsyncIterator[Pipeline]:
    async with over_http(tmp_path, **DOOMED) as pipeline:
        yield pipeline


class TestPipelineOverHttp(PipelineContract):
    """Runs every test of the contract."""
