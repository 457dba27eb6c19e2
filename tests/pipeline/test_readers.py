"""A writer and a reader instead of one worker that does all: the contract of the pipeline, on the embedded log.

Readers are for Kafka (tests/kafka/test_readers_on_kafka.py); here both are in one process, on one log, so that every
question of the contract is answered by a fold that only followed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from faust.transport.consumer import Consumer

from emgas.errors import QueryFailedError
from streams.transport import select
from streams.transport.keys.file_keys import FileKeys
from tests.contracts.pipeline_contract import DOOMED, WORKER, PipelineContract
from tests.contracts.pipeline_erasure import Erases
from tests.support.clocks import eventually
from tests.support.keys import OutOfReach
from tests.support.pipeline import Pipeline, settings_for
from tests.support.transports import sqlite_transport

pytestmark = pytest.mark.asyncio(loop_scope="module")


@asynccontextmanager
async def with_reader(directory: Path, **changes: Any) -> AsyncIterator[Pipeline]:
    settings = settings_for(directory / "writer", "test", None, role="writer", **{**WORKER, **changes})
    reader = {"role": "reader", "data": directory / "reader"}
    await select.create(settings)
    async with sqlite_transport(settings.home) as transport, Pipeline(settings, transport, reader) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pipeline(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    async with with_reader(tmp_path_factory.mktemp("readers")) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(loop_scope="module")
async def doomed(tmp_path: Path) -> AsyncIterator[Pipeline]:
    async with with_reader(tmp_path, **DOOMED) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def encrypted(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    async with with_reader(
        tmp_path_factory.mktemp("erasure"), encryption=True, graph_keys=tmp_path_factory.mktemp("keys")
    ) as pipeline:
        yield pipeline


async def test_a_writer_does_not_warn_of_questions_that_it_leaves_to_readers(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched: list[str] = []
    monkeypatch.setattr(Consumer, "verify_event_path", lambda self, now, tp: watched.append(tp.topic))
    assert {tp.topic for tp in pipeline.app.consumer.assignment()} >= {pipeline.topics.turns, pipeline.topics.queries}
    await pipeline.app.consumer.verify_all_partitions_active()
    assert pipeline.topics.turns in watched, "if turns are not read, it does"
    assert pipeline.topics.queries not in watched


async def test_a_reader_that_cannot_read_keys_again_lets_only_the_graph_wait_that_needs_one(tmp_path: Path) -> None:
    options = {"encryption": True, "graph_keys": tmp_path / "keys", "partitions": 1, "tick_seconds": 0.05}
    async with with_reader(tmp_path, **options) as pipeline:
        await pipeline.record("bob")
        keys = pipeline.reader._keys  # noqa: SLF001 - nothing outside a reader asks for its keys
        assert isinstance(keys, FileKeys)
        assert not keys.of("ada"), "it looks before the key is there"
        keys.__class__, OutOfReach.tries = OutOfReach, 0
        outcome = await pipeline.record("ada")
        await eventually(lambda: OutOfReach.tries > 2)
        with pytest.raises(QueryFailedError, match="graph 'ada' is unavailable"):
            await pipeline.memory.query("ada", "the kettle", after=outcome.position.source)
        assert (await pipeline.memory.query("bob", "the kettle")).found
        assert not pipeline.reader.ownership.halted_partitions
        keys.__class__ = FileKeys
        await eventually(lambda: not pipeline.reader.folds.open[0].unavailable)
        assert (await pipeline.memory.query("ada", "the kettle")).found


class TestPipelineWithReader(PipelineContract):
    pass


class TestErasureWithReader(Erases):
    pass
