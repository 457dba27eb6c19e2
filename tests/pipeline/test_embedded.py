"""The pipeline on the embedded log: the contract, and what holds only where one process owns everything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, get_args

import pytest
import pytest_asyncio

from emgas.messages.sessions import EndSession
from emgas.messages.settings.modes import Mode
from emgas.messages.views import Recap
from state.store.rocksdb import RocksStore
from streams.errors import AppendFailedError
from streams.ingest.partition_writer import PartitionWriter
from streams.transport import select
from streams.worker.service import now_ms
from tests.contracts.pipeline_contract import DOOMED, WORKER, PipelineContract
from tests.support.clocks import PATIENCE, eventually
from tests.support.fakes import arrival
from tests.support.pipeline import Pipeline, a_turn, as_json, settings_for
from tests.support.transports import sqlite_transport

pytestmark = pytest.mark.asyncio(loop_scope="module")


@asynccontextmanager
async def embedded(directory: Path, **changes: Any) -> AsyncIterator[Pipeline]:
    settings = settings_for(directory, "test", None, **{**WORKER, **changes})
    await select.create(settings)
    async with sqlite_transport(settings.home) as transport, Pipeline(settings, transport) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pipeline(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    async with embedded(tmp_path_factory.mktemp("pipeline")) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(loop_scope="module")
async def doomed(tmp_path: Path) -> AsyncIterator[Pipeline]:
    async with embedded(tmp_path, **DOOMED) as pipeline:
        yield pipeline


async def test_a_memory_that_cannot_be_opened_leaves_nothing_running_and_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with embedded(tmp_path) as pipeline:
        await pipeline.stop()
        before = asyncio.all_tasks()

        async def refused(*_: object, **__: object) -> None:
            raise AppendFailedError("the disk is full")

        monkeypatch.setattr(PartitionWriter, "claim", refused)
        for _ in range(2):
            with pytest.raises(AppendFailedError):
                await pipeline.start()
        assert asyncio.all_tasks() == before
        for partition in range(pipeline.partitions):
            RocksStore(pipeline.settings.store_of(partition)).close()


async def test_a_rebalance_while_a_queue_is_full_loses_no_turn(tmp_path: Path) -> None:
    async with embedded(tmp_path, queued_turns=1, batch_turns=1) as pipeline:
        partition, consumer = pipeline.place("ada"), pipeline.app.consumer
        queue = pipeline.app.ownership.processors[partition]._queue  # noqa: SLF001 - how full it is, nobody else asks
        writer = pipeline.app.ownership.writers[partition]
        async with writer._turn_to_append:  # noqa: SLF001 - one turn is half done, one waits in the queue
            for number in range(5):
                turn = as_json(a_turn("ada", f"t{number}"))
                await pipeline.produce(pipeline.topics.turns, b"ada", turn, partition)
            await eventually(lambda: queue.qsize() and consumer._full)  # noqa: SLF001 - and no more are fetched
            pipeline.app.ready.clear()
            await consumer.subscribe({tp.topic for tp in consumer.assignment()})  # the embedded log's rebalance
        await asyncio.wait_for(pipeline.app.ready.wait(), PATIENCE)
        await eventually(lambda: pipeline.ids("ada") == [f"t{number}" for number in range(5)])
        assert all(each.match for each in await pipeline.verified())


async def test_a_question_that_comes_while_partitions_are_given_up_waits_for_nothing(tmp_path: Path) -> None:
    async with embedded(tmp_path) as pipeline:
        partition, app, consumer = pipeline.place("ada"), pipeline.app, pipeline.app.consumer
        working = app.ownership.processors[partition].working
        writer = app.ownership.writers[partition]
        async with writer._turn_to_append:  # noqa: SLF001 - one turn is half done, and has to be finished first
            await pipeline.produce(pipeline.topics.turns, b"ada", as_json(a_turn("ada", "t0")), partition)
            await eventually(working.locked)
            app.ready.clear()
            await consumer.subscribe({tp.topic for tp in consumer.assignment()})  # the embedded log's rebalance
            await eventually(lambda: app.ownership.writers == {})
            assert working.locked()
            question = b'{"kind": "query", "graph": "ada", "text": "the kettle", "after": 9}'
            handler = app._query_handler  # noqa: SLF001 - no agent reads while a rebalance lasts
            await handler.take(partition, arrival(question, timestamp=now_ms()))
            await eventually(lambda: not handler.answering)
        await asyncio.wait_for(app.ready.wait(), PATIENCE)
        await eventually(lambda: pipeline.ids("ada") == ["t0"])


async def test_a_recovery_that_ends_after_its_partitions_were_taken_away_claims_none(tmp_path: Path) -> None:
    async with embedded(tmp_path) as pipeline:
        app, events = pipeline.app, pipeline.topics.events
        await app.on_partitions_revoked.send(app.consumer.assignment())
        end = await pipeline.end(events, 0)
        await app.ownership.claim({0})
        assert (await pipeline.end(events, 0), app.ownership.writers) == (end, {})


async def test_another_worker_in_this_process_may_follow_at_once(tmp_path: Path) -> None:
    async with embedded(tmp_path) as pipeline:
        for number in range(3):
            await pipeline.record("ada", id=f"t{number}")
            await pipeline.restart()
        assert pipeline.ids("ada") == ["t0", "t1", "t2"]


class TestEmbeddedPipeline(PipelineContract):
    """Runs every test of the contract."""


@pytest.mark.source("S2")
async def test_a_memory_lives_and_answers_without_calling_any_other_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[object] = []

    def refuse(_: object, address: object) -> None:
        called.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.socket.connect_ex", refuse)
    async with embedded(tmp_path) as pipeline:
        memory = pipeline.memory
        await memory.configure("ada", "default", least_turns=2, end_sessions=1)
        for n, text in enumerate(
            ("The vet prescribed ear drops.", "兽医开了滴耳液。", "Remember that the code is 4711.")
        ):
            await pipeline.record("ada", id=f"t{n}", text=text, session="vet")
        for mode in get_args(Mode):
            assert (await memory.query("ada", "What did the vet prescribe?", mode=mode)).passages
        for kind in ("working", "episodic", "semantic"):
            assert (await memory.query("ada", "What did the vet prescribe?", memory=kind)).passages
        assert (await memory.send(EndSession(graph="ada", session="vet"))).status == "accepted"
        assert (await memory.send(Recap(graph="ada"))).sessions[0].ended
    assert called == []
