"""The client: what it sends, which answer it hands to which call, and what it raises when none comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from itertools import count
from typing import Any

import orjson
import pytest

from emgas import MemoryClient, Query, Spreading, Turn
from emgas.client import client, request_reply
from emgas.errors import InvalidMessageError, NoAnswerError, QueryFailedError, TransportError
from emgas.messages.operator import Inspect, Inspection
from emgas.messages.requests import Failure
from emgas.wire import CORRELATION_ID, Receipt, partition_of
from tests.emgas.connections import AT_ONCE, POSITION, MemoryConnection, Sent, accept, outcome, reply, sent_records

TURN = Turn(id="1", graph="ada", speaker="Ada", text="The kettle broke again.")


async def test_publishing_returns_where_the_log_put_the_turn() -> None:
    connection = MemoryConnection()
    async with MemoryClient(connection) as memory:
        first, second = await memory.publish(TURN), await memory.publish(TURN)
    assert first == Receipt(partition_of("ada", 4), 0, 0)
    assert second.offset == 1
    sent = connection.log[0]
    assert (sent.topic, sent.key, Turn.model_validate_json(sent.value)) == ("emgas.turns", b"ada", TURN)
    assert sent.headers["ce_type"] == b"io.emgas.turn.v1"


async def test_a_published_turn_asks_for_no_answer() -> None:
    connection = MemoryConnection()
    async with MemoryClient(connection) as memory:
        await memory.publish(TURN)
    assert not {"correlation-id", "reply-to", "reply-partition", "deadline"} & connection.log[0].headers.keys()


async def test_recording_asks_at_the_own_reply_partition_and_returns_the_outcome() -> None:
    connection = MemoryConnection(accept)
    before = time.time() * 1000
    async with MemoryClient(connection) as memory:
        result = await memory.record(TURN, timeout=60)
    headers = connection.log[0].headers
    assert (result.status, result.turn, result.position) == ("accepted", "1", POSITION)
    assert (headers["reply-to"], headers["reply-partition"]) == (b"emgas.replies", b"3")
    assert before + 59_999 <= int(headers["deadline"]) <= time.time() * 1000 + 60_000


def on_its_way(times: int) -> Callable[[Sent], bytes]:
    """Answer so many times that the graph is on its way, then accept."""
    left = count()
    reason: dict[str, Any] = {"status": "rejected", "reason": "graph 'ada' is being moved", "again": True}
    return lambda sent: outcome("1", **reason) if next(left) < times else outcome("1")


async def test_a_turn_that_comes_while_its_graph_is_on_its_way_is_sent_again_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "AGAIN_SECONDS", (0.0, 0.0))
    connection = MemoryConnection(on_its_way(2))
    async with MemoryClient(connection) as memory:
        assert (await memory.record(TURN)).status == "accepted"
    assert [(sent.key, sent.value) for sent in connection.log] == [(b"ada", connection.log[0].value)] * 3


async def test_a_graph_that_stays_on_its_way_has_its_turn_rejected_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "AGAIN_SECONDS", (0.0, 0.0))
    connection = MemoryConnection(on_its_way(9))
    async with MemoryClient(connection) as memory:
        result = await memory.record(TURN)
    assert (result.status, result.again, len(connection.log)) == ("rejected", True, 3)


async def test_what_is_rejected_for_good_is_not_sent_again() -> None:
    connection = MemoryConnection(lambda sent: outcome("1", "rejected", reason="no key"))
    async with MemoryClient(connection) as memory:
        assert (await memory.record(TURN)).status == "rejected"
    assert len(connection.log) == 1


async def test_a_mapping_is_as_good_as_a_turn() -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory:
        await memory.record({"id": "1", "graph": "ada", "speaker": "Ada", "text": "Hello"})
    assert orjson.loads(connection.log[0].value)["text"] == "Hello"


async def test_each_call_gets_its_own_answer_in_whatever_order_they_come() -> None:
    connection = MemoryConnection()
    async with MemoryClient(connection) as memory:
        calls = [asyncio.create_task(memory.query(graph, "what?")) for graph in ("a", "b", "c")]
        for sent in reversed(await sent_records(connection, 3)):
            connection.reply(sent.headers[CORRELATION_ID], reply(orjson.loads(sent.value)["graph"]))
        assert [(await call).graph for call in calls] == ["a", "b", "c"]


async def test_answers_to_other_clients_pass_by_unread() -> None:
    connection = MemoryConnection()
    async with MemoryClient(connection) as memory:
        call = asyncio.create_task(memory.query("a", "what?"))
        (sent,) = await sent_records(connection, 1)
        connection.reply(b"somebody else's", b"not even JSON")
        connection.reply(b"", b"")
        connection.reply(sent.headers[CORRELATION_ID], reply("a"))
        assert (await call).graph == "a"


async def test_a_second_answer_to_the_same_question_changes_nothing() -> None:
    connection = MemoryConnection(lambda sent: reply("a"))
    async with MemoryClient(connection) as memory:
        await memory.query("a", "what?")
        connection.reply(connection.log[0].headers[CORRELATION_ID], reply("a"))
        assert (await memory.query("a", "what?")).graph == "a"


async def test_every_option_of_a_query_reaches_the_wire() -> None:
    connection = MemoryConnection(lambda sent: reply("a"))
    async with MemoryClient(connection) as memory:
        await memory.query(
            "a", "what?", after=5, spreading={"delta": 0.1}, mode="literal", top_concepts=3, budget=0, reinforce=True
        )
    assert Query.model_validate_json(connection.log[0].value) == Query(
        graph="a",
        text="what?",
        after=5,
        spreading=Spreading(delta=0.1),
        mode="literal",
        top_concepts=3,
        budget=0,
        reinforce=True,
    )


@pytest.mark.parametrize("as_of", [1_683_554_400_000, "2023-05-08T14:00", datetime(2023, 5, 8, 14)])  # noqa: DTZ001 - read as UTC
async def test_the_past_is_asked_about_in_any_form_of_time(as_of: int | str | datetime) -> None:
    connection = MemoryConnection(lambda sent: reply("a"))
    async with MemoryClient(connection) as memory:
        await memory.query("a", "what?", as_of=as_of)
        await memory.query("a", "what?")
    past, present = (orjson.loads(sent.value) for sent in connection.log)
    assert past["as_of"] == 1_683_554_400_000
    assert "as_of" not in present, "a worker of before knows no such field"


async def test_after_takes_what_publish_returned() -> None:
    connection = MemoryConnection(lambda sent: reply("ada"))
    async with MemoryClient(connection) as memory:
        await memory.publish(TURN)
        await memory.query("ada", "what broke?", after=await memory.publish(TURN))
    assert orjson.loads(connection.log[-1].value)["after"] == 1


async def test_after_another_partitions_turn_is_refused_because_it_would_wait_for_nothing() -> None:
    connection = MemoryConnection()
    elsewhere = (partition_of("ada", 4) + 1) % 4
    async with MemoryClient(connection) as memory:
        with pytest.raises(InvalidMessageError, match="after: is a receipt from another partition"):
            await memory.query("ada", "what?", after=Receipt(elsewhere, 0, 0))
    assert connection.log == []


async def test_a_failure_is_raised_with_its_code() -> None:
    failure = Failure(code="overloaded", message="ask again later")
    connection = MemoryConnection(lambda sent: failure.model_dump_json().encode())
    async with MemoryClient(connection) as memory:
        with pytest.raises(QueryFailedError, match="overloaded: ask again later") as caught:
            await memory.query("a", "what?")
    assert (caught.value.code, caught.value.message) == (failure.code, failure.message)


async def test_inspecting_goes_to_a_partition_and_has_no_key() -> None:
    current = Inspection(position=POSITION, digest="ab", graphs=1, turns=2, concepts=3, pairs=4, topics=5, forgotten=6)
    connection = MemoryConnection(lambda sent: current.model_dump_json().encode())
    async with MemoryClient(connection) as memory:
        assert await memory.send(Inspect(digest=False), partition=2) == current
    sent = connection.log[0]
    assert (sent.topic, sent.key, sent.partition) == ("emgas.queries", None, 2)
    assert orjson.loads(sent.value) == {"kind": "inspect", "digest": False, "graphs_after": None}


async def test_partitions_are_the_connections() -> None:
    async with MemoryClient(MemoryConnection()) as memory:
        assert await memory.partitions() == 4


async def test_no_answer_before_the_deadline_is_told_and_the_late_one_is_ignored() -> None:
    connection = MemoryConnection()
    async with MemoryClient(connection) as memory:
        with pytest.raises(NoAnswerError, match="no answer came"):
            await memory.query("a", "what?", timeout=AT_ONCE)
        connection.reply(connection.log[0].headers[CORRELATION_ID], reply("late"))
        connection.answer = lambda sent: reply("in time")
        assert (await memory.query("a", "what?")).graph == "in time"


async def test_a_log_that_does_not_acknowledge_is_told() -> None:
    connection = MemoryConnection(hold=asyncio.Event())
    async with MemoryClient(connection) as memory:
        with pytest.raises(NoAnswerError, match="did not acknowledge"):
            await memory.publish(TURN, timeout=AT_ONCE)


async def test_what_the_carrier_refuses_reaches_the_caller() -> None:
    connection = MemoryConnection(refusal=TransportError("no such topic"))
    async with MemoryClient(connection) as memory:
        with pytest.raises(TransportError, match="no such topic"):
            await memory.publish(TURN)
        with pytest.raises(TransportError, match="no such topic"):
            await memory.record(TURN)


async def test_when_reading_fails_every_waiting_call_and_every_later_question_fails() -> None:
    connection = MemoryConnection()
    async with MemoryClient(connection) as memory:
        calls = [asyncio.create_task(memory.query(graph, "what?")) for graph in ("a", "b")]
        await sent_records(connection, 2)
        connection.fail(TransportError("the broker is gone"))
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert [str(result) for result in results] == ["the broker is gone"] * 2
        with pytest.raises(TransportError, match="the broker is gone"):
            await memory.query("a", "what?")
        assert (await memory.publish(TURN)).offset == 0


async def test_an_answer_in_an_unknown_form_fails_its_call_only() -> None:
    connection = MemoryConnection(lambda sent: b'{"kind":"reply","from":"the future"}')
    async with MemoryClient(connection) as memory:
        with pytest.raises(TransportError, match="unknown here"):
            await memory.query("a", "what?")
        connection.answer = accept
        assert (await memory.record(TURN)).status == "accepted"


async def test_an_answer_of_another_kind_is_not_taken_for_a_reply() -> None:
    connection = MemoryConnection(lambda sent: outcome("1"))
    async with MemoryClient(connection) as memory:
        with pytest.raises(TransportError, match="another kind, outcome"):
            await memory.query("a", "what?")


async def test_closing_fails_what_still_waits_and_closes_the_connection() -> None:
    connection = MemoryConnection()
    async with MemoryClient(connection) as memory:
        call = asyncio.create_task(memory.query("a", "what?"))
        await sent_records(connection, 1)
    with pytest.raises(TransportError, match="closed while this call waited"):
        await call
    assert not connection.is_open
    with pytest.raises(TransportError, match="not open"):
        await memory.publish(TURN)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"graph": "../etc", "text": "x"}, "graph: must be 1 to 128 printable"),
        ({"graph": "g", "text": "x" * 32_769}, "text: is 32769 bytes of UTF-8, the limit is 32768"),
        ({"graph": "g", "text": "x", "top_passages": 101}, "top_passages: must be at most 100"),
        ({"graph": "g", "text": "x", "after": -1}, "after: must be at least 0"),
        ({"graph": "g", "text": "x", "as_of": "soon"}, "'soon' is no time: write it as 2023-05-08T14:00"),
        ({"graph": "g", "text": "x", "as_of": 0, "reinforce": True}, "the past cannot be reinforced"),
        ({"graph": "g", "text": "x", "spreading": {"decay": 1}}, "decay: is not a known field"),
        ({"graph": "g", "text": "x", "only": {"speaker": "Ada"}}, "speaker: is not a known field"),
        ({"graph": "g", "text": "x", "only": {"speakers": "Ada"}}, "speakers: must be a list"),
        ({"graph": "g", "text": "x", "only": {"since": "soon"}}, "'soon' is no time"),
        ({"graph": "g", "text": "x", "only": {"since": 1, "until": 1}}, "`until` must be later than `since`"),
        ({"graph": "g", "text": "x", "only": {"exclude": ["t"] * 1001}}, "exclude: .*at most 1000 items"),
        (
            {"graph": "g", "text": "x", "memory": "working", "mode": "literal"},
            "kinds of memory need the default mode",
        ),
        ({"graph": "g", "text": "x", "mode": "sideways"}, "mode: must be 'default', 'inject', 'literal', 'ppr'"),
        ({"graph": "g", "text": "x", "guidance": {"depth": 2}}, "guidance.depth: must be at most 1"),
    ],
)
async def test_an_invalid_query_is_refused_and_nothing_is_sent(fields: dict[str, Any], problem: str) -> None:
    connection = MemoryConnection()
    async with MemoryClient(connection) as memory:
        with pytest.raises(InvalidMessageError, match=problem):
            await memory.query(**fields)
    assert connection.log == []


async def test_a_record_over_the_limit_is_refused_and_nothing_is_sent() -> None:
    connection = MemoryConnection()
    large = TURN.model_copy(update={"metadata": {f"{n}": "\x01" * 1024 for n in range(32)}, "text": "\x01" * 32_768})
    async with MemoryClient(connection) as memory:
        with pytest.raises(InvalidMessageError, match=r"record: is .* bytes of JSON, the limit is 262144"):
            await memory.publish(large)
    assert connection.log == []


async def test_a_question_beyond_what_workers_would_take_up_is_told_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_reply, "QUESTIONS_AT_ONCE", 3)
    connection = MemoryConnection()
    async with MemoryClient(connection, timeout=60.0) as memory:
        waiting = [asyncio.create_task(memory.query("ada", "kettle")) for _ in range(3)]
        await sent_records(connection, 3)
        with pytest.raises(QueryFailedError, match="ask again later") as detail:
            await memory.query("ada", "kettle")
        assert detail.value.code == "overloaded"
        assert (await memory.publish(TURN)).offset == 0
        connection.reply(connection.log[0].headers[CORRELATION_ID], reply("ada"))
        await waiting[0]
        another = asyncio.create_task(memory.query("ada", "kettle"))
        await sent_records(connection, 5)
        for task in (*waiting, another):
            task.cancel()
