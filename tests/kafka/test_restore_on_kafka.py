"""A backup between Kafka and Kafka, and between Kafka and the embedded log: the same memory, whichever carries it."""

from __future__ import annotations

import io
import uuid
from pathlib import Path

import pytest

from emgas.errors import TransportError
from replay.backup.backup import records, write
from replay.backup.lines import Header
from replay.backup.restore import Restored, restore
from replay.errors import NotRestorableError
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.event_topic import reading, writing
from tests.support.clocks import now
from tests.support.pipeline import Pipeline, a_turn, settings_for
from tests.support.transports import kafka_transport, sqlite_transport

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

GRAPHS = ("ada", "bob", "cyd", "dan")
NOW = now()


def fresh(directory: Path, address: str | None, **changes: int) -> WorkerSettings:
    """Return settings with a prefix that nobody has used."""
    broker = f"kafka://{address}" if address else None
    return settings_for(directory, f"test-{uuid.uuid4().hex[:12]}", broker, **changes)


async def speak(pipeline: Pipeline) -> None:
    for number in range(10):
        for graph in GRAPHS:
            await pipeline.record(graph, id=f"t{number}", text=f"The kettle number {number} stands beside the teapot.")


async def backup(settings: WorkerSettings) -> bytes:
    async with reading(settings) as log:
        bounds = tuple([await log.bounds(partition) for partition in range(await log.partitions())])
        file = io.BytesIO()
        await write(log, file, Header(settings.prefix, None, bounds, "0.1.0", NOW))
    return file.getvalue()


async def restored(raw: bytes, settings: WorkerSettings) -> Restored:
    async with writing(settings, 2) as log:
        return await restore(io.BytesIO(raw), log, NOW, lambda: uuid.uuid4().hex)


async def lives_on(pipeline: Pipeline, digests: dict[str, str]) -> None:
    """Check that a restored memory is the same, knows its turns, and takes new ones."""
    assert pipeline.digests() == digests
    assert (
        await pipeline.memory.record(a_turn("ada", "t3", "The kettle number 3 stands beside the teapot."))
    ).status == ("duplicate")
    assert pipeline.digests() == digests
    await pipeline.record("ada", id="new", text="The vet prescribed ear drops for Biscuit.")
    reply = await pipeline.memory.query("ada", "What did the vet prescribe?")
    assert reply.passages[0].id == "new"
    assert all(each.match for each in await pipeline.verified())


async def test_a_backup_of_kafka_becomes_the_same_memory_on_kafka_and_embedded(
    kafka_address: str, tmp_path: Path
) -> None:
    source = fresh(tmp_path / "source", kafka_address)
    await select.create(source)
    async with kafka_transport(kafka_address) as transport:
        async with Pipeline(source, transport) as pipeline:
            await speak(pipeline)
            digests, raw = pipeline.digests(), await backup(source)
        target = fresh(tmp_path / "target", kafka_address)
        await select.create(target)
        size = len(list(records(io.BytesIO(raw))))
        assert await restored(raw, target) == Restored(size, 0)
        assert await restored(raw, target) == Restored(0, size)
        async with Pipeline(target, transport) as pipeline:
            await lives_on(pipeline, digests)
        assert (await restored(raw, target)).appended == 0
    embedded = fresh(tmp_path / "embedded", None)
    assert await restored(raw, embedded) == Restored(size, 0)
    async with sqlite_transport(embedded.home) as log, Pipeline(embedded, log) as pipeline:
        await lives_on(pipeline, digests)


async def test_an_embedded_memory_moves_to_kafka_and_a_restore_that_was_cut_off_is_completed(
    kafka_address: str, tmp_path: Path
) -> None:
    source = fresh(tmp_path / "source", None)
    await select.create(source)
    async with sqlite_transport(source.home) as log, Pipeline(source, log) as pipeline:
        await speak(pipeline)
        digests, raw = pipeline.digests(), await backup(source)
    stored = list(records(io.BytesIO(raw)))
    target = fresh(tmp_path / "target", kafka_address)
    await select.create(target)
    async with writing(target, 2) as log:
        await log.append(0, [each.record for each in stored if each.partition == 0][:7])
    assert await restored(raw, target) == Restored(len(stored) - 7, 7)
    async with kafka_transport(kafka_address) as transport, Pipeline(target, transport) as pipeline:
        await lives_on(pipeline, digests)


async def test_a_restore_is_refused_while_a_worker_lives_and_into_another_memory(
    kafka_address: str, tmp_path: Path
) -> None:
    source = fresh(tmp_path, kafka_address)
    await select.create(source)
    async with kafka_transport(kafka_address) as transport:
        async with Pipeline(source, transport) as pipeline:
            await pipeline.record("ada")
            raw = await backup(source)
            with pytest.raises(TransportError, match=r"1 worker\(s\) of .* are running: stop them"):
                await restored(raw, source)
        other = fresh(tmp_path / "other", kafka_address)
        await select.create(other)
        async with Pipeline(other, transport) as pipeline:
            await pipeline.record("ada", text="Another memory.")
    with pytest.raises(NotRestorableError, match="it is another memory"):
        await restored(raw, other)
    three = fresh(tmp_path / "three", kafka_address, partitions=3)
    await select.create(three)
    with pytest.raises(NotRestorableError, match="2 partitions and the topic has 3"):
        await restored(raw, three)
    with pytest.raises(TransportError, match="run `emgas admin topics create`"):
        await restored(raw, fresh(tmp_path / "none", kafka_address))
