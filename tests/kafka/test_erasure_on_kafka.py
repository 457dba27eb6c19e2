"""Erasure on Kafka: the contract, with keys in a topic of their own that a key of the operator's wraps."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from emgas import MemoryClient
from emgas.messages.operator import Inspect
from emgas.wire import ProducerRecord
from replay.accepted_events import read_records
from streams.cli.operate.doctor import Findings, examine_keys
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.kafka.admin import KafkaTopics
from streams.transport.kafka.reader import KafkaReader
from streams.transport.keys.kafka_keys import KafkaKeys
from streams.transport.keys.key_store import KeyStore
from streams.transport.keys.wrapping import Wrapping, wrapping_by
from streams.transport.topic_plan import keys_plan
from tests.contracts.key_store_contract import KeyStoreContract, Open
from tests.contracts.pipeline_contract import WORKER
from tests.contracts.pipeline_erasure import Erases, converse, erased, refolded
from tests.support.cli import CommandResult, emgas
from tests.support.pipeline import Pipeline, a_turn, settings_for
from tests.support.transports import kafka_transport
from tests.support.workers import until, worker

pytestmark = [pytest.mark.kafka, pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


PATIENCE = 120.0  # seconds; a broker looks for what is to be compacted every 15


def fresh(directory: Path, address: str) -> WorkerSettings:
    kek = directory / "kek"
    kek.write_text("ab" * 32)
    prefix = f"test-{uuid.uuid4().hex[:12]}"
    return settings_for(directory, prefix, f"kafka://{address}", encryption=True, kek_file=kek, **WORKER)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def encrypted(tmp_path_factory: pytest.TempPathFactory, kafka_address: str) -> AsyncIterator[Pipeline]:
    settings = fresh(tmp_path_factory.mktemp("erasure"), kafka_address)
    await select.create(settings)
    async with kafka_transport(kafka_address) as transport, Pipeline(settings, transport) as pipeline:
        yield pipeline


class TestErasureOnKafka(Erases):
    async def test_keys_lie_in_a_compacted_topic_and_none_of_them_in_clear(self, encrypted: Pipeline) -> None:
        await converse(encrypted, "kept")
        topic = encrypted.settings.topics.keys
        (described,) = await KafkaTopics(encrypted.settings.bootstrap).describe([topic])
        assert described.config["cleanup.policy"] == "compact"
        records = [record for record in await encrypted.records(topic, 0) if (record.key or b"").startswith(b"kept/")]
        (key,) = encrypted.keys.of("kept").values()
        assert records
        for record in records:
            assert key.working.hex().encode() not in record.value
            assert b"nodes" not in record.value

    @pytest.mark.parametrize(("days", "late"), [(30, []), (7, ["dead-letters"]), (1, ["turns", "dead-letters"])])
    async def test_doctor_tells_which_topics_keep_texts_for_longer_than_is_promised(
        self, encrypted: Pipeline, days: int, late: list[str]
    ) -> None:
        findings = Findings("kafka")
        await examine_keys(encrypted.settings.model_copy(update={"erased_within_days": days}), findings)
        on, kept, compacted = findings.checks
        assert compacted.ok
        assert on.ok
        assert encrypted.settings.topics.keys in on.detail
        assert kept.ok == (not late)
        assert [name for name in ("turns", "queries", "replies", "dead-letters") if f".{name}" in kept.detail] == late

    async def test_another_worker_that_starts_without_a_store_comes_to_the_same(
        self, encrypted: Pipeline, tmp_path: Path
    ) -> None:
        await converse(encrypted, "moved")
        await erased(encrypted, "moved", speaker="Ada")
        digests = encrypted.digests()
        await encrypted.stop()
        before, encrypted.settings = encrypted.settings, encrypted.settings.model_copy(update={"data": tmp_path})
        try:
            await encrypted.start()
            assert encrypted.digests() == digests
            await encrypted.record("moved", id="later", text="The tulips bloom.")
            assert await refolded(encrypted, "moved") | encrypted.digests() == encrypted.digests()
        finally:
            await encrypted.stop()
            encrypted.settings = before
            await encrypted.start()


class TestKeysInATopic(KeyStoreContract):
    @pytest_asyncio.fixture(loop_scope="module")
    async def open_keys(self, kafka_address: str) -> AsyncIterator[Open]:
        topics = WorkerSettings(prefix=f"test-{uuid.uuid4().hex[:12]}").topics
        await KafkaTopics(kafka_address).create([keys_plan(topics)])
        async with kafka_transport(kafka_address) as transport:

            async def send(record: ProducerRecord) -> object:
                await transport.append([record])

                async def acknowledged() -> None:
                    return None

                return acknowledged()

            async def opened() -> KeyStore:
                keys = KafkaKeys(topics.keys, KafkaReader(kafka_address, topics.keys), Wrapping(b"k" * 32), send)  # type: ignore[arg-type]
                await keys.refresh()
                return keys

            yield opened


async def test_a_key_that_was_destroyed_leaves_the_brokers_files_in_the_time_that_is_set(
    kafka_address: str, tmp_path: Path
) -> None:
    settings = fresh(tmp_path, kafka_address).model_copy(update={"keys_compacted_seconds": 1.0, "tick_seconds": 0.5})
    await select.create(settings)
    reader = KafkaReader(settings.bootstrap, settings.topics.keys)

    async def files_with_key() -> list[bytes]:
        return [record.value async for record in read_records(reader, 0, 0, (await reader.bounds(0))[1])]

    async with kafka_transport(kafka_address) as transport, Pipeline(settings, transport) as pipeline:
        await converse(pipeline, "gone")
        before = await files_with_key()
        await erased(pipeline, "gone", whole=True)
        give_up = time.monotonic() + PATIENCE
        while set(before) & set(await files_with_key()):
            assert time.monotonic() < give_up
            await asyncio.sleep(0.5)


async def test_a_memory_whose_topic_of_keys_is_missing_says_what_to_run(kafka_address: str, tmp_path: Path) -> None:
    settings = fresh(tmp_path, kafka_address)
    await select.create(settings.model_copy(update={"kek_file": None}))
    with pytest.raises(Exception, match="emgas admin topics create"):
        async with select.readable(settings):
            pass
    assert wrapping_by(settings.kek_file).wrap(b"a", b"b") != b"a"


@pytest.mark.parametrize("role", ["reader", "all"])
@pytest.mark.parametrize("subject", [("--turn", "t3"), ()], ids=["a turn", "the graph"])
async def test_who_was_stopped_while_something_was_erased_holds_the_fold_of_the_log_again(
    kafka_address: str, tmp_path: Path, role: str, subject: tuple[str, ...]
) -> None:
    """A reader, or one of two workers: it has all turns, stops, and comes back once keys are destroyed."""
    settings = fresh(tmp_path, kafka_address).model_copy(update={"partitions": 1, "readers_per_partition": 2})
    await select.create(settings)
    shared = {"encryption": "on", "kek_file": str(settings.kek_file)}

    def called(*arguments: str) -> CommandResult:
        reach = {"broker": settings.broker or "", "prefix": settings.prefix, "partitions": "1", **shared}
        return emgas(tmp_path / "client", *arguments, **reach)

    async with MemoryClient(settings.broker, prefix=settings.prefix, timeout=PATIENCE) as memory:
        with worker(settings, tmp_path / "other", **shared) as other:
            await until(lambda: other.owns)
            for number in range(6):
                turn = a_turn("ada", f"t{number}", f"The kettle number {number} whistles.")
                assert (await memory.record(turn)).status == "accepted"
            assert other.stop() == 0
            with worker(settings, tmp_path / "stopped", role=role, **shared) as stopped:
                await until(lambda: stopped.follows or stopped.owns)
                assert (await memory.send(Inspect(), partition=0)).turns == 6
                assert stopped.stop() == 0
                other.start()
                await until(lambda: other.owns)
                called("erase", "ada", *subject, "--yes")
                assert other.stop() == 0
                stopped.start()
                await until(lambda: stopped.follows or stopped.owns)
                assert called("replay", "verify", "--json").json["match"] is True
                assert (await memory.send(Inspect(), partition=0)).turns == (6 if subject else 0)
