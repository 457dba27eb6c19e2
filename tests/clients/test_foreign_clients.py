"""The clients in TypeScript and Go with a real server and a real Kafka: clients/contract.json, and their own tests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from streams.transport import select
from tests.gateway.test_serve import serve
from tests.support.pipeline import Pipeline, settings_for
from tests.support.transports import kafka_transport

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ["typescript", "go"]
NOT_HERE = (
    "THE CLIENTS OF OTHER LANGUAGES WERE NOT TESTED: set EMGAS_TEST_CLIENTS=1; what they need comes from the npm "
    "registry and the Go module proxy (scripts/clients)"
)
pytestmark = pytest.mark.skipif(os.environ.get("EMGAS_TEST_CLIENTS") != "1", reason=NOT_HERE)


async def tried(language: str, **settings: str) -> None:
    """Run a language's tests; fail with all that they said."""
    script = await asyncio.create_subprocess_exec(
        str(ROOT / "scripts/clients"),
        language,
        env={**os.environ, **settings},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    text, _ = await script.communicate()
    assert script.returncode == 0, text.decode()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_over_http_a_client_keeps_the_contract(language: str, tmp_path: Path) -> None:
    with serve(tmp_path) as (address, _):
        await tried(language, EMGAS_TEST_URLS=address)


@pytest.fixture
async def pipeline(kafka_address: str, prefix: str, tmp_path: Path) -> AsyncIterator[Pipeline]:
    settings = settings_for(tmp_path, prefix, f"kafka://{kafka_address}", partitions=8)
    await select.create(settings)
    async with kafka_transport(kafka_address) as transport, Pipeline(settings, transport) as pipeline:
        yield pipeline


@pytest.mark.kafka
@pytest.mark.parametrize("language", LANGUAGES)
async def test_over_kafka_a_client_keeps_the_contract(language: str, kafka_address: str, pipeline: Pipeline) -> None:
    await tried(language, EMGAS_TEST_URLS=f"kafka://{kafka_address}", EMGAS_TEST_PREFIX=pipeline.settings.prefix)
    assert pipeline.app.halted is None
