"""The pipeline, turns in: what is accepted, what is refused and how that is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from emgas.limits import RECORD_BYTES, TEXT_BYTES
from emgas.messages.requests import Outcome
from emgas.times import DAY_MS
from state.events.events import (
    TurnDuplicated,
    TurnRecorded,
    TurnRejected,
)
from streams.ingest.command_handler import SEARCHED_BYTES
from tests.support.clocks import eventually, now
from tests.support.pipeline import Pipeline, a_turn, as_json, only
from tests.support.pipeline_steps import PipelineSteps

# what a foreign program writes to `turns` under the right key: value, and what the reason must say
BAD_TURNS: dict[str, tuple[Any, str]] = {
    "not JSON": (b'{"id": ', "not valid JSON"),
    "not UTF-8": (b'{"id": "\xff"}', "not valid JSON"),
    "a tombstone": (b"", "not valid JSON"),
    "not an object": (b"[1, 2]", "must be a JSON object"),
    "a wrong type": ({"id": 42}, "id: must be text"),
    "a missing field": ({"speaker": None}, "speaker: "),
    "an unknown field": ({"mood": "good"}, "mood: is not a known field"),
    "NaN": ({"metadata": {"score": float("nan")}}, "metadata"),
    "infinity": ({"metadata": {"score": float("inf")}}, "metadata"),
    "a number beyond all": (b'{"id":"t","graph":"%s","speaker":"A","text":"x","metadata":{"n":1e999}}', "metadata"),
    "a lone surrogate": (rb'{"id":"t","graph":"%s","speaker":"A","text":"\ud800"}', "not valid JSON"),
    "NUL": ({"text": "a\x00b"}, "U+0000"),
    "text over the limit": ({"text": "x" * (TEXT_BYTES + 1)}, f"the limit is {TEXT_BYTES}"),
    "text over the limit in UTF-8 only": ({"text": "é" * (TEXT_BYTES // 2 + 1)}, f"the limit is {TEXT_BYTES}"),
    "a record over the limit": (b" " * (RECORD_BYTES + 1), f"the limit is {RECORD_BYTES}"),
    "5 MB of text": ({"text": "x" * 5_000_000}, f"the limit is {RECORD_BYTES}"),
    "a time beyond all calendars": ({"at": 10**15}, "at: "),
    "a time that is none": ({"at": "soon"}, "at: "),
    "a time in seconds": ({"at": 1_683_554_160}, "looks like seconds"),
}
BAD_GRAPHS = ("", "../../etc/passwd", "a//b", " a", "a" * 129, "a\n", "a\u200b")
GOOD_GRAPHS = ("auth0|5f7c", "张伟", "Zoë", "team a/room 7", "🐈" * 128, "-a", "%2F?#&=")


class Turns(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

    # turns

    @pytest.mark.source("E16")
    async def test_a_new_turn_is_accepted_and_the_same_one_again_is_a_duplicate(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        first = await pipeline.memory.record(a_turn(graph))
        again = await pipeline.memory.record(a_turn(graph))
        assert (first.status, first.turn, first.reason) == ("accepted", "t1", None)
        assert (again.status, again.turn, again.reason) == ("duplicate", "t1", None)
        recorded, duplicated = await pipeline.events(first.position.partition, first.position.watermark)
        assert isinstance(recorded, TurnRecorded)
        assert isinstance(duplicated, TurnDuplicated)
        assert pipeline.ids(graph) == ["t1"]

    async def test_a_known_id_with_another_text_is_rejected_visibly(self, pipeline: Pipeline, graph: str) -> None:
        await pipeline.record(graph)
        digest = pipeline.digests()[graph]
        value = as_json(a_turn(graph, text="Another text."))
        outcome = await self.rejected(pipeline, graph, value)
        assert outcome.turn == "t1"
        assert "with another text: use a new id" in (outcome.reason or "")
        assert pipeline.digests()[graph] == digest

    @pytest.mark.parametrize("name", GOOD_GRAPHS)
    async def test_a_graph_may_be_called_anything_that_can_be_printed(self, pipeline: Pipeline, name: str) -> None:
        there = await pipeline.memory.record(a_turn(name))
        assert there.status == "accepted"
        reply = await pipeline.memory.query(name, a_turn(name)["text"], after=there.position.source)
        assert (reply.graph, reply.found, len(reply.passages)) == (name, True, 1)
        assert (await pipeline.memory.describe(name)).turns == 1

    async def test_however_a_name_is_typed_it_is_one_graph(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.memory.record(a_turn(f"{graph} Zoe\u0308"))
        reply = await pipeline.memory.query(f"{graph} Zo\u00eb", "what?", after=there.position.source)
        assert (reply.found, reply.graph) == (True, f"{graph} Zo\u00eb")

    async def test_a_time_may_be_written_in_words(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.memory.record({**a_turn(graph), "at": "1970-02-01T09:30"})
        reply = await pipeline.memory.query(graph, a_turn(graph)["text"], after=there.position.source)
        assert [passage.at for passage in reply.passages] == [2_712_600_000]

    async def test_a_day_is_that_of_who_says_and_of_who_asks(self, pipeline: Pipeline, graph: str) -> None:
        text = {**a_turn(graph), "text": "The kettle broke yesterday.", "at": "2023-05-08T22:30"}
        there = await pipeline.memory.record({**text, "metadata": {"timezone": "Asia/Shanghai"}})
        request = await pipeline.memory.query(graph, "kettle?", after=there.position.source, timezone="Asia/Shanghai")
        assert "[2023-05-09 06:30]" in request.context
        assert "[yesterday = 2023-05-08]" in request.context

    async def test_a_day_is_that_of_where_the_graphs_people_are_unless_somebody_says(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        memory, late = pipeline.memory, "2023-05-08T22:30"  # in Shanghai, half past six of the next day
        text = {"graph": graph, "speaker": "Ada", "text": "The kettle broke yesterday."}
        berlin = {"metadata": {"timezone": "Europe/Berlin"}}
        configured, *outcomes = await asyncio.gather(  # at once: what follows it in a batch knows it, too
            memory.configure(graph, timezone="Asia/Shanghai"),
            memory.record({**text, "id": "t1", "at": late}),
            memory.record({**text, "id": "t2", "at": "2023-05-08T21:30", **berlin}),
        )
        assert {configured.status, *(outcome.status for outcome in outcomes)} == {"accepted"}
        last = max(each.position.source for each in (configured, *outcomes))
        request = await memory.query(graph, "kettle?", after=last)
        assert request.timezone == "Asia/Shanghai"
        assert "[2023-05-09 06:30]" in request.context
        spans = {turn.id: turn.times[0].since for turn in (await memory.turns(graph)).turns}
        assert spans["t1"] - spans["t2"] == DAY_MS
        assert "[2023-05-09 00:30]" in (await memory.query(graph, "kettle?", timezone="Europe/Berlin")).context
        assert "[2023-05-08 22:30]" in (await memory.query(graph, "kettle?", timezone="UTC")).context
        there = (await memory.configure(graph, "forgetful")).position.source
        assert (await memory.describe(graph, after=there)).timezone == "Asia/Shanghai", "what is not given stays"
        there = (await memory.configure(graph, timezone="UTC")).position.source
        assert "[2023-05-08 22:30]" in (await memory.query(graph, "kettle?", after=there)).context

    async def test_the_same_id_in_another_graph_is_another_turn(self, pipeline: Pipeline, graph: str) -> None:
        await pipeline.record(graph)
        await pipeline.record(f"{graph}-other", text="Another text.")

    async def test_many_turns_at_once_are_all_accepted_in_the_order_of_their_graphs(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        graphs = [f"{graph}-{n}" for n in range(4)]
        turns = [a_turn(name, f"t{n}", f"Sentence {n} about tea.") for n in range(25) for name in graphs]
        twice = [turn for turn in turns for _ in range(2)]  # every turn is published twice, side by side
        outcomes = await asyncio.gather(*(pipeline.memory.record(turn) for turn in twice))
        statuses = [outcome.status for outcome in outcomes]
        assert (statuses.count("accepted"), statuses.count("duplicate")) == (100, 100)
        for name in graphs:
            assert pipeline.ids(name) == [f"t{n}" for n in range(25)]

    async def test_text_at_the_limit_is_accepted(self, pipeline: Pipeline, graph: str) -> None:
        await pipeline.record(graph, id="ascii", text="word " * (TEXT_BYTES // 5) + "xxx")
        await pipeline.record(graph, id="two bytes each", text="é" * (TEXT_BYTES // 2))

    async def test_a_record_at_the_limit_is_accepted(self, pipeline: Pipeline, graph: str) -> None:
        turn = as_json(a_turn(graph))
        padded = turn + b" " * (RECORD_BYTES - len(turn))
        outcome = await self.outcome_of(pipeline, graph, padded)
        assert outcome.status == "accepted"

    async def test_a_time_in_the_far_future_is_clamped_and_marked(self, pipeline: Pipeline, graph: str) -> None:
        year_9999 = 253_370_764_800_000
        before = now()
        there = await pipeline.record(graph, at=year_9999)
        event = only(await self.event_of(pipeline, there))
        assert event.clamped
        assert before <= event.at - pipeline.settings.skew_ms <= now()

    async def test_a_turn_of_the_past_keeps_its_time(self, pipeline: Pipeline, graph: str) -> None:
        event = only(await self.event_of(pipeline, await pipeline.record(graph, at=-1)))
        assert (event.at, event.clamped) == (-1, False)

    async def test_a_turn_without_a_time_has_that_of_the_log(self, pipeline: Pipeline, graph: str) -> None:
        for number in range(5):  # several: a time that is cut off is wrong only for some
            there = await pipeline.record(graph, id=f"t{number}")
            turn = (await pipeline.records(pipeline.topics.turns, there.position.partition, there.position.source))[0]
            event = only(await self.event_of(pipeline, there))
            assert (event.at, event.clamped) == (turn.timestamp, False)

    # bad turns

    @pytest.mark.parametrize("bad", BAD_TURNS)
    async def test_a_bad_turn_becomes_a_dead_letter_and_its_neighbours_are_folded(
        self, pipeline: Pipeline, graph: str, bad: str
    ) -> None:
        value, reason = BAD_TURNS[bad]
        if isinstance(value, dict):
            value = as_json({**a_turn(graph), **value})
        await pipeline.record(graph, id="before")
        outcome = await self.rejected(pipeline, graph, value.replace(b"%s", graph.encode()))
        assert reason in (outcome.reason or "")
        await pipeline.record(graph, id="after")
        assert pipeline.ids(graph) == ["before", "after"]

    @pytest.mark.parametrize("name", BAD_GRAPHS)
    async def test_a_bad_graph_id_becomes_a_dead_letter_and_no_path(
        self, pipeline: Pipeline, graph: str, name: str
    ) -> None:
        value = as_json(a_turn(name))
        outcome = await self.rejected(pipeline, graph, value, key=name.encode())
        assert "graph: must be 1 to 128 printable" in (outcome.reason or "")

    async def test_a_turn_without_a_key_becomes_a_dead_letter(self, pipeline: Pipeline, graph: str) -> None:
        outcome = await self.rejected(pipeline, graph, as_json(a_turn(graph)), key=None)
        assert "has no key: it must be the graph id" in (outcome.reason or "")
        assert pipeline.graph(graph) is None

    async def test_a_key_that_is_not_the_graph_becomes_a_dead_letter(self, pipeline: Pipeline, graph: str) -> None:
        outcome = await self.rejected(pipeline, graph, as_json(a_turn(graph)), key=b"../\x00\xff")
        assert "is not the turn's graph" in (outcome.reason or "")
        assert pipeline.graph(graph) is None

    async def test_a_turn_in_a_wrong_partition_becomes_a_dead_letter_that_names_the_fix(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        right = pipeline.place(graph)
        wrong = (right + 1) % pipeline.partitions
        outcome = await self.rejected(pipeline, graph, as_json(a_turn(graph)), partition=wrong)
        assert f"belongs to partition {right}" in (outcome.reason or "")
        assert "partitioner=murmur2_random" in (outcome.reason or "")
        assert all(owner.state.graph(graph) is None for owner in pipeline.app.ownership.writers.values())

    async def test_a_bad_turn_that_asks_for_no_answer_gets_none(self, pipeline: Pipeline, graph: str) -> None:
        partition = pipeline.place(graph)
        offset = await pipeline.produce(pipeline.topics.turns, graph.encode(), b"{", partition)
        answers = await pipeline.correlations()
        await eventually(lambda: pipeline.app.ownership.writers[partition].state.position.source == offset)
        assert len(await pipeline.letters(pipeline.topics.turns, partition, offset)) == 1
        assert await pipeline.correlations() == answers

    async def test_a_flood_of_bad_turns_is_all_accounted_for(self, pipeline: Pipeline, graph: str) -> None:
        partition, key = pipeline.place(graph), graph.encode()
        records = [as_json(a_turn(graph, f"t{n}")) if n % 3 == 0 else b"{bad" for n in range(60)]
        offsets = [await pipeline.produce(pipeline.topics.turns, key, value, partition) for value in records]
        await eventually(lambda: pipeline.app.ownership.writers[partition].state.position.source == offsets[-1])
        assert pipeline.ids(graph) == [f"t{n}" for n in range(0, 60, 3)]

    async def rejected(
        self, pipeline: Pipeline, graph: str, value: bytes, *, key: bytes | None = b"graph", partition: int = -1
    ) -> Outcome:
        """Append `value` to `turns`, and check all that becomes of a rejected turn; return its outcome."""
        partition = pipeline.place(graph) if partition < 0 else partition
        key = graph.encode() if key == b"graph" else key
        events = await pipeline.end(pipeline.topics.events, partition)
        outcome = await pipeline.ask(pipeline.topics.turns, key, value, partition, (("own", b"header"),))
        assert isinstance(outcome, Outcome)
        assert outcome.status == "rejected"
        letter = only(await pipeline.letters(pipeline.topics.turns, partition, outcome.position.source))
        kept = value if len(value) <= 2 * RECORD_BYTES else value[:SEARCHED_BYTES]  # docs/operations.md
        assert (letter.key, letter.value) == (key, kept), "a dead letter holds the untouched bytes"
        assert letter.reason == outcome.reason
        event = only(await pipeline.events(partition, events))
        assert isinstance(event, TurnRejected)
        assert (event.src, event.reason) == (outcome.position.source, letter.reason)
        return outcome

    async def outcome_of(self, pipeline: Pipeline, graph: str, value: bytes) -> Outcome:
        """Return what becomes of `value` in `turns` under the right key."""
        answer = await pipeline.ask(pipeline.topics.turns, graph.encode(), value, pipeline.place(graph))
        assert isinstance(answer, Outcome)
        return answer
