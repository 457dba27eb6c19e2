"""A query handler asked to describe a graph, and about the past."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from emgas.messages.settings.memory_settings import AllSettings
from emgas.wire import partition_of
from state.events.memory_settings import PRESETS
from tests.support.clocks import NOW
from tests.support.query_handlers import HERE, PARTITIONS, Answering, a_query


def a_description(**changes: Any) -> bytes:
    return json.dumps({"kind": "describe", "graph": "ada", **changes}).encode()


async def test_a_graph_is_described_at_a_position_and_nothing_is_appended() -> None:
    worker = Answering()
    await worker.remember("t0", "t1")
    await worker.ask(a_description(after=1))
    (answer,) = await worker.answers()
    assert (answer["kind"], answer["found"], answer["preset"], answer["clock"]) == ("description", True, "default", NOW)
    assert (answer["turns"], answer["archived"], answer["concepts"], answer["themes"]) == (2, 0, 2, [])
    assert answer["settings"] == {name: getattr(PRESETS["default"], name) for name in AllSettings.model_fields}
    assert answer["position"] == {"partition": HERE, "watermark": 2, "source": 1}
    assert len(worker.log.records[HERE]) == 3


async def test_a_graph_that_nobody_wrote_to_is_described_as_not_found() -> None:
    worker = Answering()
    await worker.writer.claim()
    await worker.ask(a_description())
    (answer,) = await worker.answers()
    assert (answer["kind"], answer["found"], answer["turns"]) == ("description", False, 0)


async def test_a_description_of_another_partition_or_of_a_turn_yet_to_come_is_refused() -> None:
    worker = Answering()
    await worker.remember("t0")
    stray = next(name for name in ("bob", "eve", "joe", "kim") if partition_of(name, PARTITIONS) != HERE)
    await worker.ask(a_description(graph=stray))
    await worker.ask(a_description(after=9), deadline=b"%d" % (NOW + 20))
    assert [failure["code"] for failure in await worker.answers()] == ["wrong-partition", "not-yet"]


async def test_a_question_about_the_past_is_answered_from_what_had_been_said_by_then() -> None:
    worker = Answering()
    await worker.remember("t0", "t1")
    await worker.ask(a_query(as_of=NOW, top_passages=2))  # both say the same: an open number would list one of them
    await worker.ask(a_query(as_of=NOW - 1))
    await worker.ask(a_query(as_of=NOW, graph="ada", mode="literal", top_passages=2))
    now, before, literal = await worker.answers()
    assert {passage["id"] for passage in now["passages"]} == {passage["id"] for passage in literal["passages"]}
    assert (now["found"], {passage["id"] for passage in now["passages"]}) == (True, {"t0", "t1"})
    assert now["position"] == {"partition": HERE, "watermark": 2, "source": 1}
    assert (before["found"], before["passages"], before["position"]) == (False, [], now["position"])
    assert len(worker.log.records[HERE]) == 3, "asking about the past appends nothing"


async def test_the_past_of_a_graph_that_nobody_wrote_to_is_not_found_and_the_log_is_not_read() -> None:
    worker = Answering()
    await worker.remember("t0")
    worker.past_log.broken = True
    await worker.ask(a_query(as_of=NOW, graph=neighbour("ada")))
    (reply,) = await worker.answers()
    assert (reply["kind"], reply["found"]) == ("reply", False)


async def test_the_past_waits_for_the_turn_it_is_to_know_of() -> None:
    worker = Answering()
    await worker.remember("t0")
    await worker.ask(a_query(as_of=NOW, after=1, top_passages=2))
    await asyncio.sleep(0)
    assert worker.sent.all == []
    await worker.remember("t1")
    (reply,) = await worker.answers()
    assert {passage["id"] for passage in reply["passages"]} == {"t0", "t1"}


async def test_a_past_that_is_not_rebuilt_in_time_is_told_before_the_deadline() -> None:
    worker = Answering()
    await worker.remember("t0")
    worker.past_log.silent = True
    await worker.ask(a_query(as_of=NOW), deadline=b"%d" % (NOW + 20))
    (failure,) = await worker.answers()
    assert (failure["kind"], failure["code"]) == ("failure", "not-yet")
    assert failure["message"].endswith("the log is read up to offset -1 of 1: ask again")
    worker.past_log.silent = False
    await worker.ask(a_query(as_of=NOW))
    assert (await worker.answers())[-1]["found"]


async def test_a_past_that_was_asked_about_before_needs_no_log() -> None:
    worker = Answering()
    await worker.remember("t0", "t1")
    await worker.ask(a_query(as_of=NOW))
    first = (await worker.answers())[0]
    worker.past_log.broken = True
    await worker.ask(a_query(as_of=NOW))
    await worker.ask(a_query(as_of=NOW + 1))
    same, later = (await worker.answers())[1:]
    assert [passage["id"] for passage in same["passages"]] == [passage["id"] for passage in first["passages"]]
    assert later["found"], "all events were read for another time"


async def test_a_log_that_cannot_be_read_costs_the_answer_about_the_past_and_not_the_worker() -> None:
    worker = Answering()
    await worker.remember("t0")
    worker.past_log.broken = True
    await worker.ask(a_query(as_of=NOW))
    await worker.ask()
    failure, reply = await worker.answers()
    assert (failure["code"], failure["message"]) == ("internal", "the past cannot be read: the broker is gone")
    assert reply["found"]
    assert worker.halted == []


def neighbour(graph: str) -> str:
    """Return another graph of the same partition."""
    here = partition_of(graph, PARTITIONS)
    return next(name for name in map(str, range(100)) if partition_of(name, PARTITIONS) == here)
