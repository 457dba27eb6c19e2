"""A rebuild of a log whose old segments are in remote storage alone: Kafka's own LocalTieredStorage (KIP-405)."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from emgas.wire import partition_of
from streams.transport import select
from tests.support.cli import ROOT, emgas
from tests.support.clocks import PATIENCE
from tests.support.pipeline import Pipeline, settings_for
from tests.support.transports import kafka_transport

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
PARTITIONS = 2
GRAPHS = ("ada", "bob", "cleo", "dan")
AWAY = 40  # events of each partition that must be in remote storage alone
LOCAL_DAYS = 1e-8  # a millisecond
AGAIN_SECONDS = 0.1  # between two turns: a segment ends with the first record after its time


class TieredKafka(NamedTuple):
    """A broker that moves old segments of tiered topics into a folder."""

    address: str
    folder: Path

    def local(self, topic: str, partition: int) -> list[int]:
        """Return the first offsets of the segments on the broker's own disk."""
        return _first_offsets(self.folder / "node-1" / "data" / f"{topic}-{partition}")

    def remote(self, topic: str, partition: int) -> list[int]:
        """Return the first offsets of the segments in remote storage."""
        (folder,) = (self.folder / "remote").glob(f"*/{topic}-{partition}-*")
        return _first_offsets(folder)


def _first_offsets(folder: Path) -> list[int]:
    return sorted(int(file.name.partition("-")[0].removesuffix(".log")) for file in folder.glob("*.log"))


@contextmanager
def tiered_kafka() -> Iterator[TieredKafka]:
    """Start a broker of our own; stop it when the block ends."""
    name = f"test-{os.getpid()}"  # scripts/test ends what is left of a process that is gone
    program = ROOT / "scripts" / "kafka"
    try:
        run = subprocess.run(
            [program, "start", "--tiered", "--name", name], capture_output=True, text=True, timeout=300
        )
        assert run.returncode == 0, run.stderr
        yield TieredKafka(run.stdout.splitlines()[-1], ROOT / ".cache" / "kafka" / "clusters" / name)
    finally:
        subprocess.run([program, "stop", "--wipe", "--name", name], capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def kafka() -> Iterator[TieredKafka]:
    if not all(shutil.which(program) for program in ("java", "mvn")):
        pytest.skip("needs java and mvn")
    with tiered_kafka() as broker:
        yield broker


async def test_a_memory_is_rebuilt_from_segments_in_remote_storage(kafka: TieredKafka, tmp_path: Path) -> None:
    assert {partition_of(graph, PARTITIONS) for graph in GRAPHS} == set(range(PARTITIONS))
    settings = settings_for(
        tmp_path / "memory", "tiered", f"kafka://{kafka.address}", tiered=True, local_days=LOCAL_DAYS
    )
    await select.create(settings)
    topic = settings.topics.events
    async with kafka_transport(kafka.address) as transport, Pipeline(settings, transport) as pipeline:

        def local_starts() -> list[int]:
            return [min(kafka.local(topic, partition), default=0) for partition in range(PARTITIONS)]

        number = 0
        async with asyncio.timeout(PATIENCE):
            while min(local_starts()) <= AWAY:
                turns = (pipeline.record(graph, id=f"t{number}", text=f"Kettle {number} is red.") for graph in GRAPHS)
                await asyncio.gather(*turns)
                number += 1
                await asyncio.sleep(AGAIN_SECONDS)
        await pipeline.memory.forget(GRAPHS[0], turns=["t1"])
        digests = pipeline.digests()
        ends = [await pipeline.end(topic, partition) for partition in range(PARTITIONS)]
        assert sorted(digests) == sorted(GRAPHS)
        await pipeline.stop()
        for partition in range(PARTITIONS):
            assert (await transport.reader(topic).bounds(partition))[0] == 0, "all of the log can still be read"
            assert len(kafka.remote(topic, partition)) > 1
            assert min(kafka.remote(topic, partition)) == 0, "the oldest segment is there, and not with the broker"
        elsewhere = settings.model_copy(update={"data": tmp_path / "another"})
        async with Pipeline(elsewhere, transport) as rebuilt:
            assert rebuilt.digests() == digests
            for partition in range(PARTITIONS):
                positions = rebuilt.app.ownership.writers[partition].state.position
                assert positions.watermark >= ends[partition] - 1
            assert len(rebuilt.ids("bob")) == number
            assert min(local_starts()) > AWAY, "what was folded came from remote storage"
        offline = await asyncio.to_thread(_folded, tmp_path / "third", settings.broker or "", settings.prefix)
        assert offline == digests


def _folded(data: Path, broker: str, prefix: str) -> Any:
    """Fold the log from its beginning, as an operator does without a worker; return the digests."""
    return emgas(data, "replay", "digest", "--offline", "--json", broker=broker, prefix=prefix).json["graphs"]
