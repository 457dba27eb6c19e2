"""On a real Kafka: no single record, and no topic that is gone, keeps a worker from the next turn and question."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions
from aiokafka.producer import message_accumulator, producer
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy as PythonBuilder

from emgas.wire import as_mapping
from replay.log import LogReader
from streams.transport import select
from tests.support.clocks import eventually
from tests.support.pipeline import Pipeline, a_turn, as_json, settings_for
from tests.support.transports import kafka_transport

pytestmark = pytest.mark.kafka
HUGE = 12 << 20


@pytest.fixture
async def pipeline(kafka_address: str, prefix: str, tmp_path: Path) -> AsyncIterator[Pipeline]:
    settings = settings_for(tmp_path, prefix, f"kafka://{kafka_address}", tick_seconds=0.2)
    await select.create(settings)
    async with kafka_transport(kafka_address) as transport, Pipeline(settings, transport) as pipeline:
        yield pipeline


async def lives(pipeline: Pipeline, graph: str) -> None:
    """See turns accounted for and questions answered, and the state still the fold of the log."""
    outcome = await pipeline.record(graph, id="after it")
    assert (await pipeline.memory.query(graph, "kettle", after=outcome.position.source)).found
    await pipeline.lives()
    assert all(each.match for each in await pipeline.verified())


class AnyName(str):
    """A header's name that is no UTF-8 in the log."""

    __slots__ = ()

    def encode(self, *_: object) -> bytes:
        return b"\xffname"


@pytest.mark.parametrize("topic", ["turns", "queries", "events", "replies"])
async def test_a_header_name_that_is_not_utf_8_stops_nobody(
    pipeline: Pipeline, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (message_accumulator, producer):
        monkeypatch.setattr(module, "DefaultRecordBatchBuilder", PythonBuilder)  # which asks the name
    await pipeline.record("ada")
    partition = pipeline.place("ada")
    value = b"{"
    if topic == "events":  # the same event once more: every fold passes over it
        value = (await pipeline.records(pipeline.topics.events, partition))[-1].value
    async with AIOKafkaProducer(bootstrap_servers=pipeline.settings.bootstrap) as foreign:
        place = pipeline.memory._open.connection.reply_partition if topic == "replies" else partition  # noqa: SLF001 - only from inside can this be told
        await foreign.send_and_wait(
            getattr(pipeline.topics, topic), value, b"ada", place, headers=[(AnyName("?"), b"1")]
        )
    await lives(pipeline, "ada")
    if topic in ("turns", "queries"):
        letters = [letter async for letter in records(pipeline.transport.reader(pipeline.topics.dead_letters))]
        assert "\\xffname" in {name for letter in letters for name, _ in letter.headers}


async def test_a_text_of_12_mb_that_packs_well_is_a_dead_letter_that_was_cut(pipeline: Pipeline) -> None:
    value = as_json(a_turn("ada", text="x" * HUGE))
    async with AIOKafkaProducer(
        bootstrap_servers=pipeline.settings.bootstrap, compression_type="zstd", max_request_size=2 * HUGE
    ) as foreign:
        await foreign.send_and_wait(pipeline.topics.turns, value, b"ada", pipeline.place("ada"))
    await lives(pipeline, "ada")
    (letter,) = [letter async for letter in records(pipeline.transport.reader(pipeline.topics.dead_letters))]
    headers = as_mapping(letter.headers)
    assert headers["emgas.errors.bytes"] == str(len(value)).encode()
    assert headers["emgas.errors.sha256"] == hashlib.sha256(value).hexdigest().encode()
    assert value.startswith(letter.value)


async def test_without_the_topic_for_answers_turns_are_folded_as_ever(pipeline: Pipeline) -> None:
    await pipeline.record("ada")
    admin = AIOKafkaAdminClient(bootstrap_servers=pipeline.settings.bootstrap)
    await admin.start()
    await admin.delete_topics([pipeline.topics.replies])
    await admin.close()
    for number in range(20):
        value = as_json(a_turn("ada", f"n{number}"))
        await pipeline.produce(
            pipeline.topics.turns, b"ada", value, pipeline.place("ada"), pipeline.address(b"%d" % number)
        )
    await eventually(lambda: len(pipeline.ids("ada")) == 21)
    assert pipeline.app.halted is None
    await select.create(pipeline.settings)  # else a producer would wait a minute for it, and the worker's end for that


async def test_what_an_aborted_transaction_wrote_was_never_said(pipeline: Pipeline) -> None:
    partition = pipeline.place("ada")
    async with AIOKafkaProducer(
        bootstrap_servers=pipeline.settings.bootstrap, transactional_id=pipeline.settings.prefix
    ) as foreign:
        await foreign.begin_transaction()
        await foreign.send_and_wait(pipeline.topics.turns, as_json(a_turn("ada", "aborted")), b"ada", partition)
        await foreign.abort_transaction()
        async with foreign.transaction():
            await foreign.send_and_wait(pipeline.topics.turns, as_json(a_turn("ada", "committed")), b"ada", partition)
    await lives(pipeline, "ada")
    assert pipeline.ids("ada") == ["committed", "after it"]


async def test_turns_with_more_partitions_than_they_were_born_with_are_noticed(pipeline: Pipeline) -> None:
    assert await select.growth(pipeline.settings, pipeline.partitions) is None
    admin = AIOKafkaAdminClient(bootstrap_servers=pipeline.settings.bootstrap)
    await admin.start()
    await admin.create_partitions({pipeline.topics.turns: NewPartitions(total_count=pipeline.partitions + 1)})
    await admin.close()
    growth = await select.growth(pipeline.settings, pipeline.partitions)
    assert growth is not None
    assert f"{pipeline.partitions + 1} partitions and was created with {pipeline.partitions}" in growth


async def records(reader: LogReader) -> AsyncIterator[Any]:
    for partition in range(await reader.partitions()):
        start, end = await reader.bounds(partition)
        async for batch in reader.read(partition, start, end):
            for record in batch:
                yield record
