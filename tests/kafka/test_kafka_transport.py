"""The Kafka transport keeps the transport contract on a real broker, and is the safer kind of Faust driver."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from faust.types import TP

from bench.torture.proxy import Proxy
from emgas.wire import ProducerRecord, TopicNames
from streams.transport.kafka import transport as driver
from streams.transport.routes import Routes
from streams.transport.runs import run_in
from streams.transport.topic_plan import LARGEST_RECORD_BYTES, MIB
from tests.contracts.transport_contract import PARTITIONS, TransportContract
from tests.support.clocks import PATIENCE
from tests.support.tiny_app import TinyApp
from tests.support.transports import KafkaTransport, kafka_transport

pytestmark = pytest.mark.kafka


class TestKafkaTransport(TransportContract):
    @pytest.fixture
    async def transport(self, kafka_address: str) -> AsyncIterator[KafkaTransport]:
        async with kafka_transport(kafka_address) as transport:
            yield transport

    async def test_what_no_batch_takes_is_not_sent_together(
        self, transport: KafkaTransport, topics: TopicNames, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        record = ProducerRecord(topics.replies, None, bytes(driver.BATCH_BYTES // 2), (), 0)
        async with app.running():
            with pytest.raises(ValueError, match="3 records are more than one batch"):
                await cast(Routes, app.producer).send_together(TP(topics.replies, 0), [record] * 3)

    async def test_the_producer_waits_for_all_replicas_and_does_not_write_twice(
        self, transport: KafkaTransport, topics: TopicNames, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        async with app.running():
            # what aiokafka was told cannot be asked in public, and on one broker makes no difference that shows
            sender = app.producer._producer._sender  # type: ignore[attr-defined]  # noqa: SLF001
            assert (sender._acks, sender._txn_manager is not None) == (-1, True)  # noqa: SLF001

    async def test_an_empty_fetch_waits_as_long_as_it_is_told(
        self, transport: KafkaTransport, topics: TopicNames, tmp_path: Path
    ) -> None:
        app = TinyApp(partial(driver.KafkaTransport, transport.address, fetch_wait_ms=77), topics.prefix, tmp_path)
        async with app.running():
            # a test of how long a fetch waited would measure time
            fetcher = app.consumer._thread._consumer._fetcher  # type: ignore[attr-defined]  # noqa: SLF001
            assert fetcher._fetch_max_wait_ms == 77  # noqa: SLF001

    async def test_a_dead_letter_of_the_largest_size_can_be_sent_and_read(
        self, transport: KafkaTransport, topics: TopicNames, tmp_path: Path
    ) -> None:
        value = b"x" * (LARGEST_RECORD_BYTES - MIB // 2)
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        async with app.running():
            sent = await app.producer.send_and_wait(topics.dead_letters, b"k", value, 0, None, {"why": b"large"})
        reader = transport.reader(topics.dead_letters)
        read = [record async for batch in reader.read(0, sent.offset, sent.offset + 1) for record in batch]
        assert [(len(record.value), record.headers) for record in read] == [(len(value), (("why", b"large"),))]

    async def test_what_is_sent_behind_a_connection_that_broke_goes_by_another_route(
        self, transport: KafkaTransport, topics: TopicNames, tmp_path: Path
    ) -> None:
        async with Proxy([transport.address]) as proxy:
            app = TinyApp(partial(driver.KafkaTransport, proxy.address), topics.prefix, tmp_path)
            async with app.running():
                sender, place = cast(Routes, app.producer), TP(topics.events, 1)
                await app.send(topics.events, b"before", partition=1)
                before = sender.route(place)
                await app.send(topics.events, b"before", partition=1)
                assert sender.route(place) == before
                proxy.reset()
                await app.send(topics.events, b"behind", partition=1)
                assert sender.route(place) != before

    async def test_no_turn_is_skipped_when_a_second_worker_comes_and_goes(
        self, transport: KafkaTransport, topics: TopicNames, tmp_path: Path
    ) -> None:
        positions: dict[int, int] = {}  # shared: stands for states that both workers fold from one log
        first = WatchfulApp(transport.driver, topics.prefix, tmp_path / "1", positions)
        second = WatchfulApp(transport.driver, topics.prefix, tmp_path / "2", positions)
        async with first.running():
            sending = asyncio.ensure_future(send_to_all(first, 300))
            async with second.running():
                await until(lambda: bool(owned(first)) and bool(owned(second)))
                await sending
                await until(lambda: positions == dict.fromkeys(range(PARTITIONS), 300))
                assert owned(second)
                more = asyncio.ensure_future(send_to_all(first, 100))
            await more
            await until(lambda: positions == dict.fromkeys(range(PARTITIONS), 400))
        assert first.jumps + second.jumps == []


class WatchfulApp(TinyApp):
    """Notes every turn that comes before its turn: one that is not the next of its partition, nor an old one."""

    def __init__(self, *args: Any) -> None:
        self.jumps: list[tuple[int, int, int]] = []
        super().__init__(*args)

    async def _take(self, stream: Any) -> None:
        assert self.positions is not None
        async for event in stream.events():
            partition = event.message.partition
            for offset in [each.offset for each in run_in(event.message) or [event.message]]:
                expected = self.positions.get(partition, 0)
                if offset > expected:
                    self.jumps.append((partition, expected, offset))
                self.positions[partition] = max(expected, offset + 1)


def owned(app: TinyApp) -> set[int]:
    if not app.tables.recovery.completed.is_set() or app.rebalancing:
        return set()
    return {tp.partition for tp in app.assignor.assigned_actives() if tp.topic == app.names.turns}


async def send_to_all(app: TinyApp, count: int) -> None:
    for n in range(count):
        for partition in range(PARTITIONS):
            await app.producer.send_and_wait(app.names.turns, b"key", b"%d" % n, partition, None, None)


async def until(condition: Any) -> None:
    async with asyncio.timeout(2 * PATIENCE):
        while not condition():  # noqa: ASYNC110  (Faust tells nobody)
            await asyncio.sleep(0.02)
