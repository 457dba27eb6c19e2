"""How a real worker ends when it is told to, whatever its group or broker does; and what it makes of a grown topic."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions

from bench.torture.proxy import DOWN, Proxy
from emgas.wire import ProducerRecord
from streams.settings import WorkerSettings
from tests.support.clocks import now
from tests.support.transports import kafka_transport
from tests.support.workers import PARTITIONS, PATIENCE, lives, mismatches, topics, until, verify, worker

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


async def group_state(settings: WorkerSettings) -> str:
    """Tell what the workers' group is doing: Stable, PreparingRebalance, or CompletingRebalance."""
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.bootstrap)
    await admin.start()
    try:
        (response,) = await admin.describe_consumer_groups([settings.prefix])
    finally:
        await admin.close()
    return str(response.groups[0][2])


async def test_a_worker_that_is_told_to_stop_in_a_rebalance_exits_with_0(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with topics(kafka_address, prefix, tmp_path) as (settings, memory):
        with worker(settings, tmp_path / "1") as first, worker(settings, tmp_path / "2") as second:
            await until(lambda: len(first.owns) == len(second.owns) == PARTITIONS // 2)
            with worker(settings, tmp_path / "3") as third:
                async with asyncio.timeout(PATIENCE):
                    while (await group_state(settings)) == "Stable":  # noqa: ASYNC110 - it begins when the third one joins
                        await asyncio.sleep(0)
                third.process.send_signal(signal.SIGSTOP)  # which keeps it from its end
                assert await asyncio.to_thread(first.stop) == 0, first.log_lines
            await until(lambda: second.owns == list(range(PARTITIONS)))
            await lives(memory)
            assert not mismatches(await verify(settings, memory))


async def test_a_worker_that_is_told_to_stop_while_the_broker_is_silent_exits_with_0_in_time(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with topics(kafka_address, prefix, tmp_path) as (settings, memory), Proxy(kafka_address.split(",")) as proxy:
        behind = settings.model_copy(update={"broker": f"kafka://{proxy.address}"})
        with worker(behind, tmp_path / "1", stop_timeout="2") as first:
            await until(lambda: len(first.owns) == PARTITIONS)
            await lives(memory)
            proxy.hang(DOWN)  # what comes is read once more, and its events are never acknowledged
            turns = [memory.publish({"id": f"t{n}", "graph": "ada", "speaker": "Ada", "text": "?"}) for n in range(3)]
            await asyncio.gather(*turns)
            assert await asyncio.to_thread(first.stop) == 0, first.log_lines
            proxy.cut()
            proxy.heal()
            first.start()
            await until(lambda: len(first.owns) == PARTITIONS)
            await lives(memory)
            assert (await memory.describe("ada", after=2)).turns == 3
            assert not mismatches(await verify(behind, memory))


async def test_a_worker_that_opens_its_partitions_for_longer_than_a_session_is_not_taken_for_dead(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with (
        topics(kafka_address, prefix, tmp_path, session_timeout=8.0) as (settings, memory),
        Proxy(kafka_address.split(",")) as proxy,
    ):
        behind = settings.model_copy(update={"broker": f"kafka://{proxy.address}"})
        proxy.delay(settings.session_timeout / 15)  # each way; to open one takes a dozen of both
        with worker(behind, tmp_path / "1") as first:
            await until(lambda: len(first.owns) == PARTITIONS)
            assert "not recognized" not in " ".join(line["event"] for line in first.log_lines)
            proxy.heal()
            await lives(memory)


async def test_turns_that_were_given_more_partitions_are_told_and_the_others_go_on_through_every_rebalance(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with (
        topics(kafka_address, prefix, tmp_path) as (settings, memory),
        kafka_transport(kafka_address) as transport,
    ):
        with worker(settings, tmp_path / "1", tick_seconds="0.5") as first, worker(settings, tmp_path / "2") as second:
            await until(lambda: len(first.owns) == len(second.owns) == PARTITIONS // 2)
            admin = AIOKafkaAdminClient(bootstrap_servers=settings.bootstrap)
            await admin.start()
            await admin.create_partitions({settings.topics.turns: NewPartitions(total_count=PARTITIONS + 3)})
            await admin.close()
            await until(lambda: "turns are being rejected" in [line["event"] for line in first.log_lines])
            await lives(memory)
            await asyncio.to_thread(second.kill)
            await until(lambda: first.owns == list(range(PARTITIONS)))
            second.start()
            await until(lambda: len(first.owns) == len(second.owns) == PARTITIONS // 2)
            await lives(memory)
            stray = ProducerRecord(settings.topics.turns, b"ada", b"{}", (), PARTITIONS + 1, now())
            await transport.append([stray])
            await lives(memory)
            assert not mismatches(await verify(settings, memory))
