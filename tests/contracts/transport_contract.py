"""What both Faust transports must do: agents see every record of a source, from the position in the state on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from faust.types import TP

from emgas.wire import ProducerRecord, TopicNames, partition_of
from state.errors import LogRewrittenError
from streams.transport.routes import Routes
from streams.transport.topic_plan import plan
from tests.support.clocks import PATIENCE, now
from tests.support.tiny_app import TinyApp
from tests.support.transports import Transport

PARTITIONS = 2
TRIES = 5
MANY = 5000  # records, of which a slow broker may hand out some before it has told where the other topic begins


class TransportContract:
    """Inherit, and give a `transport` fixture."""

    @pytest.fixture
    def transport(self) -> Any:
        raise NotImplementedError

    @pytest.fixture
    async def topics(self, transport: Transport, prefix: str) -> TopicNames:
        names = TopicNames(prefix)
        for each in plan(names, PARTITIONS, reply_partitions=1):
            await transport.create(each)
        return names

    @pytest.fixture(params=["with events to recover", "with nothing to recover"])
    async def turns(self, request: pytest.FixtureRequest, transport: Transport, topics: TopicNames) -> str:
        """Ten turns in partition 0, and a log that Faust has to recover from, or not."""
        if request.param == "with events to recover":
            await append(transport, topics.events, 50)
        await append(transport, topics.turns, 10)
        return topics.turns

    async def test_an_agent_sees_what_is_sent(self, transport: Transport, topics: TopicNames, tmp_path: Path) -> None:
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        async with app.running():
            offsets = await app.send(topics.turns, b"a", b"b", b"c", partition=1)
            assert offsets == [0, 1, 2]
            assert await app.seen(3) == [(topics.turns, 1, 0), (topics.turns, 1, 1), (topics.turns, 1, 2)]

    async def test_what_is_sent_together_lies_in_order_whatever_its_size(
        self, transport: Transport, topics: TopicNames, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        records = [(None if n % 3 else b"key", b"%d " % n + b"x" * (n % 7) * 20_000) for n in range(200)]
        async with app.running():
            sender, place = cast(Routes, app.producer), TP(topics.events, 1)
            assert await sender.send_all(place, records[:1]) == [0]
            assert await sender.send_all(place, records[1:]) == list(range(1, 200))
        results = [record async for batch in transport.reader(topics.events).read(1, 0, 200) for record in batch]
        assert [(record.offset, record.key, record.value) for record in results] == [
            (n, *record) for n, record in enumerate(records)
        ]

    async def test_what_is_handed_over_together_lies_in_order_behind_what_is_still_on_its_way(
        self, transport: Transport, topics: TopicNames, tmp_path: Path
    ) -> None:
        app, place = TinyApp(transport.driver, topics.prefix, tmp_path), TP(topics.replies, 0)
        records = [
            ProducerRecord(topics.replies, None, b"%d" % n, (("correlation-id", b"\xff%d" % n), ("ce_id", b"")), 0)
            for n in range(60)
        ]
        async with app.running():
            sender = cast(Routes, app.producer)
            under_way = [await sender.send_together(place, records[at : at + 20]) for at in range(0, 60, 20)]
            await asyncio.gather(*under_way)
        results = [record async for batch in transport.reader(topics.replies).read(0, 0, 60) for record in batch]
        assert [(each.value, each.headers) for each in results] == [(each.value, each.headers) for each in records]

    async def test_what_is_sent_goes_by_one_route_while_nothing_happens_to_it(
        self, transport: Transport, topics: TopicNames, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        async with app.running():
            routes = []
            for _ in range(4):
                await app.send(topics.events, b"an event", partition=1)
                routes.append(cast(Routes, app.producer).route(TP(topics.events, 1)))
            assert routes == routes[:1] * 4

    async def test_what_was_sent_while_nobody_ran_is_seen_at_start(
        self, transport: Transport, turns: str, prefix: str, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, prefix, tmp_path)
        async with app.running():
            assert await app.seen(10) == [(turns, 0, n) for n in range(10)]

    @pytest.mark.parametrize("committed", [None, 2, 6, 9], ids=["none", "behind", "level", "ahead"])
    async def test_a_source_is_read_from_the_state_whatever_was_committed(
        self, transport: Transport, turns: str, prefix: str, tmp_path: Path, committed: int | None
    ) -> None:
        if committed is not None:
            await transport.commit(prefix, {(turns, 0): committed})
        app = TinyApp(transport.driver, prefix, tmp_path, positions={0: 6})
        async with app.running():
            await app.send(turns, b"new")
            assert await app.seen(5) == [(turns, 0, n) for n in (6, 7, 8, 9, 10)]

    async def test_no_source_is_active_before_it_is_positioned_and_the_queues_are_emptied(
        self, transport: Transport, turns: str, prefix: str, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, prefix, tmp_path, positions={0: 6})
        active: list[tuple[str, set[str]]] = []
        app.consumer.seek_to_committed = noting(app, active, "seek", app.consumer.seek_to_committed)  # type: ignore[method-assign]
        app.flow_control.resume = noting(app, active, "empty", app.flow_control.resume)  # type: ignore[method-assign]
        async with app.running():
            await app.seen(4)
        assert {what for what, _ in active} == {"seek", "empty"}
        assert active[-1][0] == "empty"
        assert set.union(*(topics for _, topics in active)) <= {app.names.events}

    async def test_a_state_that_has_read_nothing_reads_from_the_start(
        self, transport: Transport, turns: str, prefix: str, tmp_path: Path
    ) -> None:
        await transport.commit(prefix, {(turns, 0): 7})
        app = TinyApp(transport.driver, prefix, tmp_path, positions={})
        async with app.running():
            assert await app.seen(10) == [(turns, 0, n) for n in range(10)]

    async def test_a_source_without_a_position_in_the_state_goes_on_where_it_was_committed(
        self, transport: Transport, turns: str, prefix: str, tmp_path: Path
    ) -> None:
        await transport.commit(prefix, {(turns, 0): 7})
        app = TinyApp(transport.driver, prefix, tmp_path)
        async with app.running():
            assert await app.seen(3) == [(turns, 0, n) for n in (7, 8, 9)]

    async def test_a_restart_goes_on_after_the_last_turn(
        self, transport: Transport, turns: str, prefix: str, tmp_path: Path
    ) -> None:
        positions: dict[int, int] = {}
        for expected in ([*range(10), 10], [11], [12]):
            app = TinyApp(transport.driver, prefix, tmp_path, positions)
            async with app.running():
                await app.send(turns, b"more")
                assert await app.seen(len(expected)) == [(turns, 0, n) for n in expected]

    async def test_what_agents_have_done_is_committed(
        self, transport: Transport, turns: str, prefix: str, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, prefix, tmp_path)
        async with app.running():
            await app.seen(10)
            await app.consumer.commit()
        assert await transport.committed(prefix, turns, 0) == 10

    async def test_the_table_is_recovered_before_a_turn_is_seen(
        self, transport: Transport, topics: TopicNames, tmp_path: Path
    ) -> None:
        await append(transport, topics.events, 300)
        await append(transport, topics.turns, 1)
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        async with app.running():
            await app.seen(1)
            assert app.table[b"key"] == b"299"

    async def test_a_position_that_the_log_does_not_have_stops_the_worker(
        self, transport: Transport, turns: str, prefix: str, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, prefix, tmp_path, positions={0: 1000})
        async with app.running():
            assert isinstance(await app.failed(), LogRewrittenError)
            assert app.received.empty()

    async def test_events_that_are_gone_stop_the_worker(
        self, transport: Transport, topics: TopicNames, tmp_path: Path
    ) -> None:
        await append(transport, topics.events, 10)
        await transport.truncate(topics.events, 0, 5)
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        async with starting(app):
            assert isinstance(await app.failed(), LogRewrittenError)

    @pytest.mark.source("P26")
    async def test_a_question_does_not_wait_behind_the_turns_that_lie_there(
        self, transport: Transport, topics: TopicNames, tmp_path: Path
    ) -> None:
        app = await self._overtaking(transport, topics, tmp_path, many=topics.turns, one=topics.queries)
        assert app.fetches_of_questions == 1, "what is folded gives way to it"

    async def test_questions_in_masses_do_not_hold_back_a_turn(
        self, transport: Transport, topics: TopicNames, tmp_path: Path
    ) -> None:
        await self._overtaking(transport, topics, tmp_path, many=topics.queries, one=topics.turns)

    async def _overtaking(
        self, transport: Transport, topics: TopicNames, home: Path, *, many: str, one: str
    ) -> TinyApp:
        """Return an app that saw the record of the topic `one` before half of MANY that were there first.

        A broker on a busy machine may hand out those before it has found where the other topic begins: then this tries
        again.  An app that keeps to the order never succeeds.
        """
        positions: dict[int, int] = {}
        for _ in range(TRIES):
            await append(transport, many, MANY)
            await append(transport, one, 1)
            app = TinyApp(transport.driver, topics.prefix, home, positions=positions)
            async with app.running():
                seen = [topic for topic, _, _ in await app.seen(MANY + 1)]
            if seen.index(one) < MANY / 2:
                return app
            positions = app.positions or {}
        raise AssertionError(f"in {TRIES} tries, the record came after more than half of the {MANY}")

    async def test_queries_that_expired_unread_are_passed_over(
        self, transport: Transport, topics: TopicNames, tmp_path: Path
    ) -> None:
        await append(transport, topics.queries, 10)
        await transport.commit(topics.prefix, {(topics.queries, 0): 2})
        await transport.truncate(topics.queries, 0, 5)
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        async with app.running():
            assert await app.seen(5) == [(topics.queries, 0, n) for n in range(5, 10)]

    async def test_headers_and_times_arrive(self, transport: Transport, topics: TopicNames, tmp_path: Path) -> None:
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        got: asyncio.Queue[Any] = asyncio.Queue()

        async def take(stream: Any) -> None:
            async for event in stream.events():
                got.put_nowait(event)

        app.agent(app.topic(topics.dead_letters, value_type=bytes, value_serializer="raw"), name="headers")(take)
        async with app.running():
            metadata = await app.producer.send_and_wait(
                topics.dead_letters, None, b"v", 1, None, [("a", b"\x00"), ("b", b"")]
            )
            async with asyncio.timeout(PATIENCE):
                event = await got.get()
        assert dict(event.headers) == {"a": b"\x00", "b": b""}
        assert (event.message.partition, event.message.offset) == (metadata.partition, metadata.offset)
        assert round(event.message.timestamp * 1000) == metadata.timestamp

    async def test_records_go_where_the_java_client_puts_their_key(
        self, transport: Transport, topics: TopicNames, tmp_path: Path
    ) -> None:
        app = TinyApp(transport.driver, topics.prefix, tmp_path)
        async with app.running():
            for graph in ("alice", "bob", "carol", "room:42"):
                sent = await app.producer.send_and_wait(topics.turns, graph.encode(), b"v", None, None, None)
                assert sent.partition == partition_of(graph, PARTITIONS)


async def append(transport: Transport, topic: str, count: int) -> None:
    sent = now()  # not when this file was imported: questions are kept for an hour, and a run may take longer
    await transport.append([ProducerRecord(topic, b"key", b"%d" % n, (), 0, sent + n) for n in range(count)])


@asynccontextmanager
async def starting(app: TinyApp) -> AsyncIterator[None]:
    """Run an app whose start may never come to its end."""
    app.finalize()
    start = asyncio.ensure_future(app.start())
    try:
        yield
    finally:
        await app.stop()
        start.cancel()
        await asyncio.gather(start, return_exceptions=True)


def noting(app: TinyApp, notes: list[tuple[str, set[str]]], what: str, function: Any) -> Any:
    """Return `function`, which then also notes the topics that may be fetched at the time it is called."""

    def noted(*args: Any) -> Any:
        active = app.consumer._active_partitions  # type: ignore[attr-defined]  # noqa: SLF001 - Faust tells nobody
        notes.append((what, {tp.topic for tp in active}))
        return function(*args)

    return noted
