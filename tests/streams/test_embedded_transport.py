"""The embedded transport keeps the transport contract, and a few promises that only it can make."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from emgas.errors import TransportError
from emgas.wire import TopicNames
from streams.transport.topic_plan import RECORD_BYTES
from tests.contracts.transport_contract import TransportContract, starting
from tests.support.tiny_app import TinyApp
from tests.support.transports import SqliteTransport, sqlite_transport


class TestEmbeddedTransport(TransportContract):
    @pytest.fixture
    async def transport(self, tmp_path: Path) -> AsyncIterator[SqliteTransport]:
        async with sqlite_transport(tmp_path / "log") as transport:
            yield transport

    async def test_sends_of_one_loop_turn_share_a_transaction_and_keep_their_order(
        self, transport: SqliteTransport, topics: TopicNames, tmp_path: Path
    ) -> None:
        appends = []
        transport.log.on_append(lambda: appends.append(1))
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        async with app.running():
            offsets = await app.send(topics.turns, *(b"%d" % n for n in range(100)))
        assert offsets == list(range(100))
        assert len(appends) == 1

    async def test_a_record_that_is_too_large_does_not_spoil_its_neighbours(
        self, transport: SqliteTransport, topics: TopicNames, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        async with app.running():
            good = await app.producer.send(topics.turns, b"k", b"v", 0, None, None)
            with pytest.raises(TransportError, match="over the"):
                await app.producer.send(topics.turns, b"k", b"x" * (RECORD_BYTES + 1), 0, None, None)
            assert (await good).offset == 0

    async def test_a_full_disk_fails_every_send_of_the_batch_and_the_next_one_may_succeed(
        self, transport: SqliteTransport, topics: TopicNames, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        async with app.running():
            fill(transport)
            sent = [await app.producer.send(topics.turns, None, b"x" * 100_000, 0, None, None) for _ in range(3)]
            outcomes = await asyncio.gather(*sent, return_exceptions=True)
            assert [type(outcome) for outcome in outcomes] == [TransportError] * 3
            fill(transport, room=10_000)
            assert await app.send(topics.turns, b"again") == [0]

    async def test_a_missing_topic_stops_the_worker_and_says_what_to_do(
        self, transport: SqliteTransport, prefix: str, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, prefix, tmp_path)
        async with starting(app):
            failure = await app.failed()
        assert isinstance(failure, TransportError)
        assert "create it first" in str(failure)

    async def test_two_apps_in_two_directories_do_not_meet(
        self, transport: SqliteTransport, topics: TopicNames, tmp_path: Path
    ) -> None:
        async with sqlite_transport(tmp_path / "other") as other:
            for name in transport.log.topics():
                other.log.create_topic(transport.log._plans[name])
            one = TinyApp(transport.driver, topics.prefix, tmp_path / "1")
            two = TinyApp(other.driver, topics.prefix, tmp_path / "2")
            async with one.running(), two.running():
                await one.send(topics.turns, b"for one")
                await two.send(topics.turns, b"for two")
                await one.seen(1)
                await two.seen(1)
                assert (one.received.qsize(), two.received.qsize()) == (0, 0)


def fill(transport: SqliteTransport, room: int = 0) -> None:
    """Let the file have no more than `room` pages beyond those it has."""
    (pages,) = transport.log._db.execute("pragma page_count").fetchone()
    transport.log._db.execute(f"pragma max_page_count={pages + room}")
