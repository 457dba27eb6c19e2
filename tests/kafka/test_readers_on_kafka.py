"""Readers on a real Apache Kafka: the contract of the pipeline, and processes: a writer, readers that come and go."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from emgas import MemoryClient, Turn
from emgas.errors import EmgasError
from emgas.messages.queries import Reply
from emgas.messages.requests import Outcome
from state.events.events import Claim, ConceptsRecalled, decode, source_of
from streams.cli.operate.worker import NICER
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.kafka.reader import KafkaReader
from tests.contracts.pipeline_contract import DOOMED, WORKER, PipelineContract
from tests.support.pipeline import Pipeline, settings_for
from tests.support.transports import kafka_transport
from tests.support.workers import PARTITIONS, PATIENCE, Worker, lives, mismatches, topics, until, verify, worker

pytestmark = [pytest.mark.kafka, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

GRAPHS = [f"graph-{number}" for number in range(12)]
TURNS = [
    Turn(id=f"t{n}", graph=graph, speaker="Ada", text=f"Kettle number {n} of {graph} whistles in the {place}.")
    for n, place in enumerate(("kitchen", "garden", "harbour", "attic"))
    for graph in GRAPHS
]


@asynccontextmanager
async def with_reader(address: str, directory: Path, **changes: Any) -> AsyncIterator[Pipeline]:
    prefix = f"test-{uuid.uuid4().hex[:12]}"
    settings = settings_for(
        directory / "writer", prefix, f"kafka://{address}", role="writer", readers_per_partition=2, **WORKER, **changes
    )
    reader = {"role": "reader", "data": directory / "reader"}
    await select.create(settings)
    async with kafka_transport(address) as transport, Pipeline(settings, transport, reader) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pipeline(kafka_address: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    async with with_reader(kafka_address, tmp_path_factory.mktemp("readers")) as pipeline:
        yield pipeline


@pytest_asyncio.fixture(loop_scope="module")
async def doomed(kafka_address: str, tmp_path: Path) -> AsyncIterator[Pipeline]:
    async with with_reader(kafka_address, tmp_path, **DOOMED) as pipeline:
        yield pipeline


class TestPipelineWithReaderOnKafka(PipelineContract):
    """Runs every test of the contract."""


async def test_everybody_sees_at_readers_what_they_wrote_and_the_log_shows_no_claim_of_theirs(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with topics(kafka_address, prefix, tmp_path, readers_per_partition=2) as (settings, memory):
        with (
            worker(settings, tmp_path / "1", role="writer") as writer,
            worker(settings, tmp_path / "2", role="reader") as first,
            worker(settings, tmp_path / "3", role="reader") as second,
        ):
            await until(lambda: len(writer.owns) == PARTITIONS)
            await until(lambda: first.follows == second.follows == list(range(PARTITIONS)))
            assert niceness(writer) == niceness(first) + NICER, "who answers comes first where they share cores"
            for turn in TURNS:
                there = await memory.publish(turn)
                reply = await memory.query(turn.graph, turn.text, after=there, top_passages=100)
                assert turn.id in {passage.id for passage in reply.passages}
            members = await select.members(settings)
            assert members == (0, 1, 2)
            events = [event for _, event in await logged(settings)]
            claims = [event.writer for event in events if isinstance(event, Claim)]
            assert len(claims) == PARTITIONS
            assert {name.rpartition("/")[2] for name in claims} == {str(writer.process.pid)}
            assert not mismatches(await verify(settings, memory)), "a reader holds the fold of the log"


async def test_what_a_question_wakes_at_a_reader_is_recorded_by_the_writer(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with topics(kafka_address, prefix, tmp_path) as (settings, memory):
        with worker(settings, tmp_path / "1", role="writer"), worker(settings, tmp_path / "2", role="reader") as reader:
            # what is asked before somebody follows may have been answered by an owner before, and reinforces nothing
            await until(lambda: reader.follows == list(range(PARTITIONS)))
            there = await memory.record(TURNS[0])
            reply = await memory.query(
                TURNS[0].graph, "the kettle", after=there.position.source, reinforce=True, timeout=60.0
            )
            assert reply.passages
            offset = there.position.source + 1  # where the reader's command lies in `turns`
            after = await memory.query(TURNS[0].graph, "the kettle", after=await has_turn(settings, there, offset))
            assert after.position.source >= offset
            recalled = [event for _, event in await logged(settings) if isinstance(event, ConceptsRecalled)]
            assert [(event.graph, source_of(event)) for event in recalled] == [(TURNS[0].graph, offset)]
            assert set(recalled[0].concepts) >= {seed.id for seed in reply.seeds}


def niceness(of: Worker) -> int:
    return os.getpriority(os.PRIO_PROCESS, of.process.pid)


async def has_turn(settings: WorkerSettings, there: Outcome, offset: int) -> int:
    """Return `offset` once `turns` has a record there."""
    log = KafkaReader(settings.bootstrap, settings.topics.turns)
    async with asyncio.timeout(PATIENCE):
        while (await log.bounds(there.position.partition))[1] <= offset:  # noqa: ASYNC110  (a log that is asked)
            await asyncio.sleep(0.05)
    return offset


async def test_readers_are_killed_and_come_back_while_everybody_asks(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with topics(kafka_address, prefix, tmp_path, readers_per_partition=2) as (settings, memory):
        with (
            worker(settings, tmp_path / "1", role="writer") as writer,
            worker(settings, tmp_path / "2", role="reader") as first,
            worker(settings, tmp_path / "3", role="reader") as second,
        ):
            await until(lambda: len(writer.owns) == PARTITIONS)
            await until(lambda: first.follows == second.follows == list(range(PARTITIONS)))
            for number, turn in enumerate(TURNS):
                if number == 5:
                    await asyncio.to_thread(first.kill)
                if number == 15:
                    first.start()
                if number == 25:
                    await asyncio.to_thread(second.kill)
                there = await memory.publish(turn)
                reply = await query_until_answered(memory, turn, there.offset)
                assert turn.id in {passage.id for passage in reply.passages}
            second.start()
            await until(lambda: first.follows == second.follows == list(range(PARTITIONS)))
            await lives(memory)
            assert not mismatches(await verify(settings, memory)), (first.log_lines, second.log_lines)
            assert await asyncio.to_thread(first.stop) == 0, first.log_lines
            assert writer.process.poll() is None


async def query_until_answered(memory: MemoryClient, turn: Turn, offset: int) -> Reply:
    """Ask, and ask again, as whoever asks a reader that was killed has to."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with suppress(EmgasError):
                return await memory.query(turn.graph, turn.text, after=offset, top_passages=100, timeout=2.0)


async def test_a_reader_gives_the_answers_of_a_worker_that_does_all(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with topics(kafka_address, prefix, tmp_path) as (settings, memory):
        with worker(settings, tmp_path / "1") as alone:
            async for _, outcome in memory.publish_many(TURNS):
                assert isinstance(outcome, Outcome)
            before = [await answered(memory, graph) for graph in GRAPHS]
            assert await asyncio.to_thread(alone.stop) == 0
        with worker(settings, tmp_path / "1", role="writer"), worker(settings, tmp_path / "2", role="reader"):
            assert [await answered(memory, graph) for graph in GRAPHS] == before


async def answered(memory: MemoryClient, graph: str) -> dict[str, Any]:
    reply = await memory.query(graph, "Which kettle whistles in the harbour?", explain=True)
    assert reply.passages
    return reply.model_dump(exclude={"position", "timing"})


async def test_more_readers_of_a_partition_can_be_allowed_later(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with topics(kafka_address, prefix, tmp_path) as (settings, memory):
        with worker(settings, tmp_path / "1", role="writer"), worker(settings, tmp_path / "2", role="reader") as first:
            await memory.record(TURNS[0])
            more = settings.model_copy(update={"readers_per_partition": 3})
            await select.create(more)
            described = {topic.name: topic.partitions for topic in await select.describe(more)}
            assert described[settings.topics.queries] == 3 * PARTITIONS
            with worker(settings, tmp_path / "3", role="reader") as second:
                await until(lambda: first.follows == second.follows == list(range(PARTITIONS)))
                async with MemoryClient(settings.broker, prefix=prefix) as newer:  # an older one knows the old count
                    for _ in range(12):
                        assert (await newer.query(TURNS[0].graph, "the kettle")).passages
                assert (await memory.query(TURNS[0].graph, "the kettle")).passages


async def logged(settings: WorkerSettings) -> list[tuple[int, Any]]:
    """Return offset and event of all that the log holds."""
    log, records = KafkaReader(settings.bootstrap, settings.topics.events), []
    for partition in range(PARTITIONS):
        start, end = await log.bounds(partition)
        async for batch in log.read(partition, start, end):
            records += [(record.offset, decode(record.value)) for record in batch]
    return records
