"""Workers with names of their own (EMGAS_INSTANCE): a restart moves no partition, and no two share a name."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.workers import PARTITIONS, Worker, lives, topics, until, worker

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


def rebalances(each: Worker) -> int:
    """Count how often a worker was assigned partitions since it was started."""
    return sum(line["event"] == "owns" for line in each.log_lines)


async def test_a_named_worker_that_restarts_moves_no_partition(kafka_address: str, prefix: str, tmp_path: Path) -> None:
    async with topics(kafka_address, prefix, tmp_path, session_timeout=30.0) as (settings, memory):
        with (
            worker(settings, tmp_path / "1", instance="one") as first,
            worker(settings, tmp_path / "2", instance="two") as second,
        ):
            await until(lambda: len(first.owns) == len(second.owns) == PARTITIONS // 2)
            owned, seen = set(first.owns), rebalances(second)
            for ends in (first.stop, first.kill):
                await asyncio.to_thread(ends)
                first.start()
                await until(lambda: set(first.owns) == owned)
                await lives(memory, owned)
            assert rebalances(second) == seen, "the other one noticed nothing"
            assert rebalances(first) == 1


async def test_of_two_workers_with_one_name_the_older_one_stops_and_says_why(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with topics(kafka_address, prefix, tmp_path) as (settings, memory):
        with worker(settings, tmp_path / "1", instance="one") as first:
            await until(lambda: len(first.owns) == PARTITIONS)
            with worker(settings, tmp_path / "2", instance="one") as twin:
                await until(lambda: first.process.poll() is not None)
                assert first.process.returncode != 0
                assert any(
                    "another worker has taken the name EMGAS_INSTANCE=one" in str(line) for line in first.log_lines
                )
                await until(lambda: len(twin.owns) == PARTITIONS)
                await lives(memory)
