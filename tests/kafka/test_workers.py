"""Real `emgas worker` processes on eight partitions: killed, restarted, told to stop; nothing lost, nothing twice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from emgas import Turn
from emgas.errors import EmgasError, QueryFailedError
from emgas.messages.operator import Inspect
from emgas.messages.requests import Outcome
from emgas.wire import ProducerRecord, partition_of
from state.events.events import WindowEvent, decode
from state.events.upcasting import VERSION
from streams.settings import WorkerSettings
from streams.transport.kafka.reader import KafkaReader
from tests.support.cli import emgas
from tests.support.transports import kafka_transport
from tests.support.weeks import KINDS, kinds, talk
from tests.support.workers import (
    PARTITIONS,
    Worker,
    answering,
    lives,
    mismatches,
    topics,
    until,
    verify,
    worker,
)

pytestmark = pytest.mark.kafka

GRAPHS = [f"graph-{number}" for number in range(12)]
TURNS = [
    Turn(id=f"t{n}", graph=graph, speaker="Ada", text=f"Kettle number {n} of {graph} whistles in the kitchen.")
    for n in range(30)
    for graph in GRAPHS
]
LIVING = GRAPHS[:3]
LIVES = talk(LIVING)
KILL_AFTER, START_AFTER = len(TURNS) // 4, len(TURNS) // 2  # outcomes


async def test_nothing_is_lost_or_doubled_when_a_worker_is_killed_and_comes_back(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with topics(kafka_address, prefix, tmp_path) as (settings, memory):
        with worker(settings, tmp_path / "1") as first, worker(settings, tmp_path / "2") as second:
            await until(lambda: len(first.owns) == len(second.owns) == PARTITIONS // 2)
            outcomes: list[tuple[Turn, Any]] = []
            # what a dead worker had in hand gets no answer: sent again after a while, it must not count twice
            async for turn, outcome in memory.publish_many(TURNS, window=60, timeout=15.0):
                outcomes.append((turn, outcome))
                if len(outcomes) == KILL_AFTER:
                    await asyncio.to_thread(first.kill)
                if len(outcomes) == START_AFTER:
                    first.start()
            assert [turn for turn, _ in outcomes] == TURNS
            assert {outcome.status for _, outcome in outcomes if isinstance(outcome, Outcome)} == {"accepted"}
            await until(lambda: len(first.owns) == len(second.owns) == PARTITIONS // 2)
            verified = await verify(settings, memory)
            assert not mismatches(verified), (first.log_lines, second.log_lines)
            assert not left_out(first), "a hole in a standby"
            assert not left_out(second), "a hole in a standby"
            assert all(each.audit.each_once for each in verified)
            folded = set().union(*(each.audit.turns for each in verified))
            assert folded == {(turn.graph, turn.id) for turn in TURNS}
            assert sum(each.turns for each in verified) == len(TURNS)
            result = await asyncio.to_thread(
                emgas, tmp_path, "replay", "verify", "--json", broker=settings.broker, prefix=prefix
            )
            assert result.json["match"] is True
            assert [each["partition"] for each in result.json["partitions"]] == list(range(PARTITIONS))
            assert sum(each["turns"] for each in result.json["partitions"]) == len(TURNS)
            await lives(memory)


@pytest.mark.slow
async def test_many_windows_of_each_kind_close_once_though_workers_are_killed_inside_them(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with topics(kafka_address, prefix, tmp_path) as (settings, memory):
        with worker(settings, tmp_path / "1") as first, worker(settings, tmp_path / "2") as second:
            await until(lambda: len(first.owns) == len(second.owns) == PARTITIONS // 2)
            for graph in LIVING:
                assert (await memory.configure(graph, "forgetful", least_turns=2, timeout=15.0)).status == "accepted"
            statuses: list[str] = []
            at = {len(LIVES) * part // 5: part for part in range(1, 5)}  # of the way: always within a week's talk
            async for _, outcome in memory.publish_many(LIVES, window=60, timeout=15.0):
                assert isinstance(outcome, Outcome)
                statuses.append(outcome.status)
                if (part := at.get(len(statuses))) is not None:
                    victim = first if part < 3 else second
                    await asyncio.to_thread(victim.kill) if part % 2 else victim.start()
            assert len(statuses) == len(LIVES)
            assert "rejected" not in statuses
            await until(lambda: len(first.owns) == len(second.owns) == PARTITIONS // 2)
            verified = await verify(settings, memory)
            assert not mismatches(verified), (first.log_lines, second.log_lines)
            assert all(each.audit.each_once for each in verified)
            assert set().union(*(each.audit.turns for each in verified)) == {(turn.graph, turn.id) for turn in LIVES}
            closed, configured = await windows(settings), await changes(settings)
            assert set(closed) == set(LIVING)
            assert all(each.count(kind) >= 10 for each in closed.values() for kind in KINDS)
            assert len({tuple(kinds) for kinds in closed.values()}) == 1, "all graphs lived the same life"
            logged = await window_ids(settings)
            assert set(configured) == logged, "each was told: perhaps twice, but then under one id"
            await lives(memory)


async def closings(settings: WorkerSettings) -> list[tuple[str, WindowEvent]]:
    """Return partition-offset and event of everything that windows did."""
    log = KafkaReader(settings.bootstrap, settings.topics.events)
    result = []
    for partition in range(PARTITIONS):
        start, end = await log.bounds(partition)
        async for batch in log.read(partition, start, end):
            events = [(f"{partition}-{record.offset}", decode(record.value)) for record in batch]
            result += [(id, event) for id, event in events if isinstance(event, WindowEvent)]
    return result


async def windows(settings: WorkerSettings) -> dict[str, list[str]]:
    """Return the kinds of the windows that closed, by graph."""
    return kinds(event for _, event in await closings(settings))


async def window_ids(settings: WorkerSettings) -> set[str]:
    return {id for id, _ in await closings(settings)}


async def changes(settings: WorkerSettings) -> list[str]:
    """Return the ids of all that was told to other programs."""
    log = KafkaReader(settings.bootstrap, settings.topics.changes)
    ids = []
    for partition in range(PARTITIONS):
        start, end = await log.bounds(partition)
        async for batch in log.read(partition, start, end):
            ids += [dict(record.headers)["ce_id"].decode() for record in batch]
    return ids


def left_out(worker: Worker) -> list[dict[str, Any]]:
    return [line for line in worker.log_lines if line["event"] == "recovery left records out"]


async def test_a_worker_that_is_told_to_stop_does_so_in_order_and_its_standby_takes_over(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with topics(kafka_address, prefix, tmp_path) as (settings, memory):
        with worker(settings, tmp_path / "1") as first, worker(settings, tmp_path / "2") as second:
            await until(lambda: len(first.owns) == len(second.owns) == PARTITIONS // 2)
            for turn in TURNS[:24]:
                await memory.record(turn)
            before = [(await memory.send(Inspect(), partition=partition)).turns for partition in range(PARTITIONS)]
            stopping = asyncio.to_thread(first.stop)
            published = asyncio.gather(*(memory.publish(turn) for turn in TURNS[24:72]))  # under load
            assert await stopping == 0, first.log_lines
            assert "worker stopped" in [line["event"] for line in first.log_lines]
            await published
            await until(lambda: second.owns == list(range(PARTITIONS)))
            await answering(memory)
            after = [(await memory.send(Inspect(), partition=partition)).turns for partition in range(PARTITIONS)]
            assert all(now >= then for then, now in zip(before, after, strict=True))
            for turn in TURNS[:72]:
                assert (await memory.record(turn)).status == "duplicate"
            await lives(memory)
            assert not mismatches(await verify(settings, memory))
            assert await asyncio.to_thread(second.stop) == 0, second.log_lines


def test_a_worker_without_topics_says_what_to_do(kafka_address: str, prefix: str, tmp_path: Path) -> None:
    result = emgas(tmp_path, "worker", code=1, broker=f"kafka://{kafka_address}", prefix=prefix)
    assert f"no topic {prefix}." in result.err
    assert "emgas admin topics create" in result.err


async def test_two_workers_on_one_data_directory_do_not_meet(kafka_address: str, prefix: str, tmp_path: Path) -> None:
    async with topics(kafka_address, prefix, tmp_path) as (settings, memory):
        with worker(settings, tmp_path / "1") as first:
            await until(lambda: len(first.owns) == PARTITIONS)
            with worker(settings, tmp_path / "1") as second:
                await until(lambda: len(first.owns) == PARTITIONS // 2)  # the other half in a directory of its own
                await lives(memory)
                assert not mismatches(await verify(settings, memory))
                assert second.process.poll() is None
            assert first.process.poll() is None


async def test_a_client_without_a_worker_is_told(kafka_address: str, prefix: str, tmp_path: Path) -> None:
    async with topics(kafka_address, prefix, tmp_path) as (_, memory):
        with pytest.raises(EmgasError, match="do the broker and a worker run"):
            await memory.query("ada", "who?", timeout=0.1)
        assert (await memory.publish(TURNS[0])).offset == 0, "publishing needs no worker"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            b'{"v":%d,"kind":"TurnRecorded"}' % (VERSION + 1),
            f"has schema version {VERSION + 1}, this EMGAS reads up to {VERSION}.",
        ),
        (b'{"v":%d,"kind":"GraphErased"}' % VERSION, "cannot read an event of the log (Invalid value 'GraphErased'"),
    ],
    ids=["newer version", "unknown kind"],
)
async def test_an_event_that_cannot_be_read_halts_its_partition_alone_with_instructions_each_time(
    value: bytes, message: str, kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    async with (
        topics(kafka_address, prefix, tmp_path) as (settings, memory),
        kafka_transport(kafka_address) as transport,
    ):
        events = settings.topics.events
        await transport.append([ProducerRecord(events, b"ada", value, (), 3, 1_750_000_000_000)])
        for _ in range(2):
            with worker(settings, tmp_path / "1") as halted:
                await until(lambda: halted.owns == [number for number in range(PARTITIONS) if number != 3])
                with pytest.raises(QueryFailedError, match="partition 3 has halted") as refused:
                    await memory.send(Inspect(), partition=3)
                for text in (str(refused.value), (tmp_path / "1.log").read_text()):
                    assert message in text
                    assert "Run the version that wrote it; do not skip it." in text
                await lives(memory, [number for number in range(PARTITIONS) if number != 3])
                assert halted.stop() == 0
        _, end = await KafkaReader(kafka_address, events).bounds(3)
        assert end == 1, "nothing was written behind it"


async def test_without_a_worker_turns_go_into_the_log_and_whoever_asks_is_told(
    kafka_address: str, prefix: str, tmp_path: Path
) -> None:
    settings = {"broker": f"kafka://{kafka_address}", "prefix": prefix}
    file = tmp_path / "turns.jsonl"
    file.write_text(TURNS[0].model_dump_json())
    emgas(tmp_path, "topics", "create", "--partitions", "2", **settings)
    result = emgas(tmp_path, "publish", str(file), **settings)
    assert "no worker is running: the turns are stored" in result.err
    assert "1 turn " in result.out
    assert "stored, not waited for" in result.out
    failed = emgas(tmp_path, "query", TURNS[0].graph, "kettle", code=1, **settings)
    assert "no worker is running" in failed.err
    for command, *options in (["recap"], ["themes"], ["pin", "--turn", "t1"]):
        failed = emgas(tmp_path, command, TURNS[0].graph, *options, code=1, **settings)
        assert "no worker is running" in failed.err
    counts = await KafkaReader(kafka_address, f"{prefix}.turns").bounds(partition_of(TURNS[0].graph, 2))
    assert counts == (0, 1)
