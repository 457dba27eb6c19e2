"""What the whole pipeline must do on either transport: turns in, answers out, bad input visible, nothing twice.

One worker serves the whole module (`pipeline`), so every test has a `graph` of its own; a test that leaves a log behind
with which no worker can live takes a pipeline of its own (`doomed`).
"""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from emgas.errors import Halted, InvalidMessage, NoAnswer, QueryFailed
from emgas.exchange import Answer
from emgas.limits import RECORD_BYTES, TEXT_BYTES
from emgas.messages import Failure, Outcome, Reply
from emgas.wire import DEADLINE
from state.errors import LogRewritten, UnreadableEvent
from state.events import (
    Claim,
    ConceptsRecalled,
    ConsolidationWindowClosed,
    DecayWindowClosed,
    Forgotten,
    GraphConfigured,
    Retracted,
    TurnDuplicated,
    TurnEmbedded,
    TurnRecorded,
    TurnRejected,
    decode,
    encode,
)
from streams.changes import EVENT_OFFSET
from streams.owner import Fenced
from tests.support.events import DAY, NOON
from tests.support.pipeline import PATIENCE, Pipeline, a_turn, as_json, eventually, now, only

# twelve weeks: the kettle recurs, all else is said once and fades in three weeks of `forgetful`
ONCE = (
    "anchor",
    "basil",
    "cactus",
    "dragon",
    "ember",
    "falcon",
    "glacier",
    "harbour",
    "igloo",
    "jacket",
    "kayak",
    "ladder",
)
WEEKS = [(f"t{n}", NOON + 7 * n * DAY, f"The kettle stands beside the {word}.") for n, word in enumerate(ONCE)]
AT_ONCE = 8  # of `queries_at_once`; the fixtures set it
WORKER = {"queries_at_once": AT_ONCE}

# what a foreign program writes to `turns` under the right key: value, and what the reason must say
BAD_TURNS: dict[str, tuple[Any, str]] = {
    "not JSON": (b'{"id": ', "not valid JSON"),
    "not UTF-8": (b'{"id": "\xff"}', "not valid JSON"),
    "a tombstone": (b"", "not valid JSON"),
    "not an object": (b"[1, 2]", "must be a JSON object"),
    "a wrong type": ({"id": 42}, "id: must be a valid string"),
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
    "a time that is text": ({"at": "2023-05-08"}, "at: "),
}
BAD_GRAPHS = ("", "../../etc/passwd", "a/b", "-a", "a" * 129, "späti", "a\n", "a b")
BAD_QUERIES: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"what broke?", "not valid JSON"),
    "no kind": (b'{"graph":"ada","text":"what?"}', "kind"),
    "an unknown field": (b'{"kind":"query","graph":"ada","text":"what?","depth":3}', "not a known field"),
    "text over the limit": (as_json({"kind": "query", "graph": "ada", "text": "x" * (TEXT_BYTES + 1)}), "the limit is"),
    "a record over the limit": (b'{"kind":"query","graph":"ada","text":"what?"}' + b" " * RECORD_BYTES, "the limit is"),
}


def failing(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("a bug")


class PipelineContract:
    """Inherit beside two fixtures: `pipeline`, started, one for the module, and `doomed`, one for the test."""

    @pytest.fixture
    def graph(self, pipeline: Pipeline) -> str:
        """Return the name of a graph that nobody wrote to."""
        used: set[str] = pipeline.__dict__.setdefault("used", set())
        used.add(name := f"graph-{len(used)}")
        return name

    # turns

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
        assert "graph: must be 1 to 128 letters, digits" in (outcome.reason or "")

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
        assert all(owner.state.graph(graph) is None for owner in pipeline.app.owners.values())

    async def test_a_bad_turn_that_asks_for_no_answer_gets_none(self, pipeline: Pipeline, graph: str) -> None:
        partition = pipeline.place(graph)
        offset = await pipeline.produce(pipeline.topics.turns, graph.encode(), b"{", partition)
        answers = await pipeline.correlations()
        await eventually(lambda: pipeline.app.owners[partition].state.head.source == offset)
        assert len(await pipeline.letters(pipeline.topics.turns, partition, offset)) == 1
        assert await pipeline.correlations() == answers

    async def test_a_flood_of_bad_turns_is_all_accounted_for(self, pipeline: Pipeline, graph: str) -> None:
        partition, key = pipeline.place(graph), graph.encode()
        records = [as_json(a_turn(graph, f"t{n}")) if n % 3 == 0 else b"{bad" for n in range(60)]
        offsets = [await pipeline.produce(pipeline.topics.turns, key, value, partition) for value in records]
        await eventually(lambda: pipeline.app.owners[partition].state.head.source == offsets[-1])
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
        assert (letter.key, letter.value) == (key, value), "a dead letter holds the untouched bytes"
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

    async def event_of(self, pipeline: Pipeline, there: Outcome) -> list[Any]:
        """Return the event that recorded a turn, given its outcome; a list of one."""
        events = await pipeline.events(there.position.partition)
        return [event for event in events if getattr(event, "src", None) == there.position.source]

    # questions

    async def test_a_question_is_answered_from_the_graph_and_says_where_it_stood(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        there = await pipeline.record(graph, text="The vet prescribed ear drops for Biscuit.")
        await pipeline.record(graph, id="t2", text="Tomorrow it will rain.")
        reply = await pipeline.memory.query(graph, "What did the vet prescribe?")
        assert (reply.found, reply.passages[0].id) == (True, "t1")
        assert "ear drops" in reply.context
        assert reply.position.watermark > there.position.watermark
        assert reply.position.partition == pipeline.place(graph)

    async def test_a_question_to_an_unknown_graph_gets_an_empty_reply_that_says_so(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        reply = await pipeline.memory.query(graph, "Who is there?")
        assert (reply.found, reply.graph) == (False, graph)
        assert (reply.seeds, reply.concepts, reply.passages, reply.context, reply.tokens) == ([], [], [], "", 0)
        assert graph not in pipeline.digests(), "asking must not make a graph"

    @pytest.mark.parametrize("bad", BAD_QUERIES)
    async def test_an_unreadable_question_gets_a_failure_and_becomes_a_dead_letter(
        self, pipeline: Pipeline, graph: str, bad: str
    ) -> None:
        value, reason = BAD_QUERIES[bad]
        partition = pipeline.place(graph)
        offset = await pipeline.end(pipeline.topics.queries, partition)
        failure = await pipeline.ask(pipeline.topics.queries, graph.encode(), value, partition)
        assert isinstance(failure, Failure)
        assert failure.code == "invalid"
        assert reason in failure.message
        letter = only(await pipeline.letters(pipeline.topics.queries, partition, offset))
        assert (letter.key, letter.value, letter.reason) == (graph.encode(), value, failure.message)

    async def test_a_question_in_a_wrong_partition_gets_a_failure_that_names_the_fix(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await pipeline.record(graph)
        wrong = (pipeline.place(graph) + 1) % pipeline.partitions
        value = as_json({"kind": "query", "graph": graph, "text": "what?"})
        failure = await pipeline.ask(pipeline.topics.queries, graph.encode(), value, wrong)
        assert isinstance(failure, Failure)
        assert failure.code == "wrong-partition"
        assert "partitioner=murmur2_random" in failure.message

    async def test_a_question_whose_deadline_has_passed_gets_no_answer(self, pipeline: Pipeline, graph: str) -> None:
        value = as_json({"kind": "query", "graph": graph, "text": "what?"})
        expired = (*pipeline.address(b"too late"), (DEADLINE, b"1"))
        await pipeline.produce(pipeline.topics.queries, graph.encode(), value, pipeline.place(graph), expired)
        await pipeline.memory.query(graph, "what?")  # of the same partition, so the other one was looked at before
        assert b"too late" not in await pipeline.correlations()

    async def test_a_question_waits_until_the_turn_it_names_is_folded(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.record(graph)
        to_come = there.position.source + 1
        waiting = asyncio.create_task(pipeline.memory.query(graph, "What about the teapot?", after=to_come))
        await asyncio.sleep(0)
        await pipeline.memory.query(graph, "what?")  # of the same partition, so the other one was looked at before
        assert not waiting.done()
        await pipeline.record(graph, id="t2", text="The teapot leaks.")
        reply = await waiting
        assert reply.position.source >= to_come
        assert "t2" in {passage.id for passage in reply.passages}

    async def test_everybody_reads_what_they_wrote(self, pipeline: Pipeline, graph: str) -> None:
        for number in range(20):
            there = await pipeline.memory.publish(a_turn(graph, f"t{number}", f"Teapot number {number} leaks."))
            reply = await pipeline.memory.query(graph, f"teapot number {number}", after=there, top_passages=100)
            assert f"t{number}" in {passage.id for passage in reply.passages}

    async def test_a_question_about_a_turn_that_does_not_come_is_told_so_before_its_asker_gives_up(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        there = await pipeline.record(graph)

        async def refusal() -> Answer:
            for seconds in (0.5, 2.0, 8.0, 32.0):  # a busy machine may need longer than the first
                try:
                    return await pipeline.memory.query(graph, "what?", after=there.position.source + 1, timeout=seconds)
                except NoAnswer:
                    continue
            raise AssertionError("no answer, though the deadline was far away")

        with pytest.raises(QueryFailed) as told:
            await refusal()
        assert told.value.failure.code == "not-yet"
        assert f"the state is at {there.position.source}" in told.value.failure.message

    async def test_more_questions_than_places_are_told_to_come_back(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.record(graph)
        asked = [
            asyncio.create_task(pipeline.memory.query(graph, "what?", after=there.position.source + 1))
            for _ in range(AT_ONCE)
        ]
        await asyncio.sleep(0)
        with pytest.raises(QueryFailed) as told:
            await pipeline.memory.query(graph, "what?")
        assert told.value.failure.code == "overloaded"
        await pipeline.record(graph, id="t2")
        assert all(reply.found for reply in await asyncio.gather(*asked))
        assert (await pipeline.memory.query(graph, "what?")).found

    @pytest.mark.parametrize("place", ["events", "turns", "unknown topic", "unknown partition", "no number"])
    async def test_an_answer_goes_nowhere_else_than_to_the_replies(
        self, pipeline: Pipeline, graph: str, place: str
    ) -> None:
        topics, partition = pipeline.topics, pipeline.place(graph)
        topic = {"events": topics.events, "turns": topics.turns, "unknown topic": "elsewhere"}.get(place)
        headers = pipeline.address(b"deputy", topic, 10_000 if place == "unknown partition" else partition)
        if place == "no number":
            headers += (("reply-partition", b"-1"),)
        before = [await pipeline.end(topic, partition) for topic in (topics.turns, topics.events, topics.replies)]
        turn, query = as_json(a_turn(graph)), as_json({"kind": "query", "graph": graph, "text": "what?"})
        await pipeline.produce(topics.turns, graph.encode(), turn, partition, headers)
        await pipeline.produce(topics.queries, graph.encode(), query, partition, headers)
        await pipeline.produce(topics.queries, graph.encode(), b"{", partition, headers)
        there = await pipeline.record(graph, id="t2")  # after all of them
        await pipeline.memory.query(graph, "what?", after=there.position.source)
        after = [await pipeline.end(topic, partition) for topic in (topics.turns, topics.events)]
        assert after == [before[0] + 2, before[1] + 3], "nothing but the two turns, the graph's birth and their events"
        replies = await pipeline.records(topics.replies, partition, before[2])
        assert b"deputy" not in {dict(reply.headers).get("correlation-id") for reply in replies}

    async def test_an_answer_that_cannot_be_written_stops_nothing(self, pipeline: Pipeline, graph: str) -> None:
        partition = pipeline.place(graph)
        headers = pipeline.address(b"x" * 6_000_000)  # comes back twice, and is then over what `replies` takes
        value = as_json({"kind": "query", "graph": graph, "text": "what?"})
        await pipeline.produce(pipeline.topics.queries, graph.encode(), value, partition, headers)
        await pipeline.produce(pipeline.topics.turns, graph.encode(), as_json(a_turn(graph)), partition, headers)
        await pipeline.record(graph, id="t2")
        assert (await pipeline.memory.query(graph, "what?")).found
        assert pipeline.app.halted is None

    # what questions do to the state

    async def test_a_plain_question_changes_nothing(self, pipeline: Pipeline, graph: str) -> None:
        await pipeline.record(graph)
        digests, ends = pipeline.digests(), await pipeline.end(pipeline.topics.events, pipeline.place(graph))
        for mode in ("default", "literal"):
            await pipeline.memory.query(graph, "the red kettle", mode=mode)
        assert pipeline.digests() == digests
        assert await pipeline.end(pipeline.topics.events, pipeline.place(graph)) == ends

    async def test_a_reinforcing_question_appends_one_event_that_boosts_what_it_woke(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        there = await pipeline.record(graph, text="The red kettle whistles in the kitchen.")
        held = pipeline.graph(graph)
        assert held is not None
        before = {name: held.concepts.strength[number] for name, number in held.concepts.numbers.items()}
        folded = held.events
        reply = await pipeline.memory.query(graph, "the red kettle", reinforce=True)
        assert reply.concepts
        await eventually(lambda: held.events > folded or pipeline.app.halted)
        recalled = only(await pipeline.events(there.position.partition, there.position.watermark + 1))
        assert isinstance(recalled, ConceptsRecalled)
        assert recalled.graph == graph
        assert recalled.concepts
        after = {name: held.concepts.strength[number] for name, number in held.concepts.numbers.items()}
        assert {name for name in after if after[name] > before[name]} == set(recalled.concepts)

    async def test_what_a_partition_tells_of_itself_is_what_it_holds(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.record(graph)
        told = await pipeline.memory.inspect(there.position.partition, digest=False)
        state = pipeline.app.owners[there.position.partition].state
        assert (told.digest, told.turns, told.graphs) == (None, state.head.turns, len(state.names()))
        assert told.position == there.position

    # a memory that lives

    async def test_a_new_graph_begins_with_how_it_lives(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.record(graph)
        events = await pipeline.events(there.position.partition)
        born, spoken = [event for event in events if getattr(event, "graph", None) == graph]
        assert isinstance(born, GraphConfigured)
        assert isinstance(spoken, TurnRecorded)
        described = await pipeline.memory.describe(graph, after=there.position.source)
        assert (born.preset, born.settings.model_dump()) == (described.preset, described.settings)
        assert (born.preset, described.found, described.turns) == (pipeline.settings.preset, True, 1)

    async def test_what_fades_over_months_is_forgotten_and_the_state_is_still_the_fold(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS)
        windows = [decode(value) for _, value in await self.windows(pipeline, graph)]
        decays = [event for event in windows if isinstance(event, DecayWindowClosed)]
        assert len(decays) >= 5
        assert any(isinstance(event, ConsolidationWindowClosed) for event in windows)
        assert [event.at for event in decays] == sorted({event.at for event in decays})
        held = pipeline.graph(graph)
        assert held is not None
        assert "anchor" in {name for event in decays for name in event.concepts}
        alive = {name for name, number in held.concepts.numbers.items() if held.concepts.alive[number]}
        assert {"kettle", ONCE[-1]} <= alive
        assert "anchor" not in alive
        assert not (await pipeline.memory.query(graph, "anchor")).seeds
        verified = (await pipeline.verified())[pipeline.place(graph)]
        assert verified.digest_live == verified.digest_replayed
        assert verified.audit.each_once

    async def test_other_programs_are_told_what_windows_did_once_each_under_a_stable_id(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS)
        partition = pipeline.place(graph)
        windows = await self.windows(pipeline, graph)
        assert windows
        expected = [(f"{partition}-{offset}".encode(), b"%d" % offset, value) for offset, value in windows]
        for number in range(2):
            records = await pipeline.records(pipeline.topics.changes, partition)
            told = [(dict(each.headers), each) for each in records if each.key == graph.encode()]
            assert [(its["ce_id"], its[EVENT_OFFSET], each.value) for its, each in told] == expected
            assert {its["ce_subject"] for its, _ in told} == {graph.encode()}
            await pipeline.restart()  # the next owner sends nothing again
            await pipeline.record(f"{graph}-a", id=f"t{number}")
            await pipeline.app.keepers[partition].catch_up()

    async def test_a_change_that_was_logged_but_not_sent_is_sent_by_the_next_owner(
        self, doomed: Pipeline, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        partition, there = doomed.place("ada"), len(WEEKS) // 2
        await self.live(doomed, "ada", WEEKS[:there])
        monkeypatch.setattr("streams.changes.Changes.tell", failing)
        turns = [as_json(a_turn("ada", id, text, at=at)) for id, at, text in WEEKS[there:]]
        for turn in turns:
            await doomed.produce(doomed.topics.turns, b"ada", turn, partition)
        await eventually(lambda: doomed.app.halted)
        assert isinstance(doomed.app.halted, ZeroDivisionError)
        monkeypatch.undo()
        assert len(await self.told(doomed, partition)) < len(await self.windows(doomed, "ada"))
        await doomed.restart()
        await eventually(lambda: doomed.ids("ada")[-1:] == [WEEKS[-1][0]])
        await eventually(lambda: doomed.app.keepers[partition]._changes._caught_up)
        assert await self.told(doomed, partition) == [offset for offset, _ in await self.windows(doomed, "ada")]
        assert all(each.match for each in await doomed.verified())

    async def test_a_worker_that_stops_between_windows_holds_what_one_that_ran_through_holds(
        self, pipeline: Pipeline, doomed: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS)
        await self.live(doomed, graph, [])
        for start in range(0, len(WEEKS), 5):
            await self.say(doomed, graph, WEEKS[start : start + 5])
            await doomed.restart()
        assert [self.facts(value) for _, value in await self.windows(doomed, graph)] == [
            self.facts(value) for _, value in await self.windows(pipeline, graph)
        ]
        there, here = doomed.graph(graph), pipeline.graph(graph)
        assert there is not None
        assert here is not None
        assert (there.clock, there.settings) == (here.clock, here.settings)
        assert doomed.digests()[graph] == pipeline.digests()[graph]

    async def test_a_user_lets_a_graph_forget_a_concept_a_turn_and_a_session(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        said = {"t1": "The kettle and the anchor.", "t2": "The kettle and the basil.", "t3": "The kettle whistles."}
        for id, text in said.items():
            await pipeline.record(graph, id=id, text=text, session="kept")
        await pipeline.record(graph, id="t4", text="The falcon and the kettle.", session="gone")
        await pipeline.record(graph, id="t5", text="The glacier and the kettle.", session="gone")
        before = await pipeline.memory.describe(graph)
        for wish, turns, words in (
            ({"concepts": ["Anchor"]}, set(), {"anchor"}),
            ({"turns": ["t2"]}, {"t2"}, {"basil"}),
            ({"sessions": ["gone"]}, {"t4", "t5"}, {"falcon", "glacier"}),
        ):
            outcome = await pipeline.memory.forget(graph, **wish)  # type: ignore[arg-type]
            assert outcome.status == "accepted", outcome.reason
            event = only(await self.event_of(pipeline, outcome))
            assert isinstance(event, Forgotten)
            assert (set(event.turns), words <= set(event.concepts)) == (turns, True)
            for word in words:
                reply = await pipeline.memory.query(graph, f"the {word}", after=outcome.position.source)
                assert word not in {concept.id for concept in (*reply.seeds, *reply.concepts)}
            reply = await pipeline.memory.query(graph, "the kettle", top_passages=100)
            assert not turns & {passage.id for passage in reply.passages}
        after = await pipeline.memory.describe(graph)
        assert (before.turns - after.turns, after.archived - before.archived) in {(3, 3), (0, 3)}
        assert after.concepts <= before.concepts - 4
        assert {passage.id for passage in reply.passages} == {"t1", "t3"}
        assert (await pipeline.memory.record(a_turn(graph, "t2", said["t2"]))).status == "duplicate"
        again = await pipeline.memory.forget(graph, turns=["t2"])
        assert (again.status, "nothing to forget" in (again.reason or "")) == ("rejected", True)
        assert all(each.match for each in await pipeline.verified())

    async def test_what_was_taken_back_was_never_there_until_that_is_taken_back(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await pipeline.record(graph, id="t1", text="The kettle and the anchor.")
        before = pipeline.digests()[graph]
        await pipeline.record(graph, id="wrong", text="The falcon on the glacier.")
        outcome = await pipeline.memory.forget(graph, turns=["t1"])
        assert outcome.status == "accepted", outcome.reason
        with_both, held = pipeline.digests()[graph], pipeline.graph(graph)
        assert held is not None
        undone_at = held.events
        undone = await pipeline.memory.undo(graph, 2)  # after its birth and its first turn
        assert undone.status == "accepted", undone.reason
        assert isinstance(only(await self.event_of(pipeline, undone)), Retracted)
        assert (pipeline.digests()[graph], pipeline.ids(graph)) == (before, ["t1"])
        reply = await pipeline.memory.query(graph, "the falcon and the kettle")
        assert {passage.id for passage in reply.passages} == {"t1"}
        refused = await pipeline.memory.undo(graph, 2, 3)
        assert (refused.status, "nothing left to undo" in (refused.reason or "")) == ("rejected", True)
        again = await pipeline.memory.undo(graph, undone_at, undone_at)
        assert (again.status, pipeline.digests()[graph]) == ("accepted", with_both)
        assert (await pipeline.memory.undo(graph, 2)).status == "accepted"
        assert (await pipeline.memory.record(a_turn(graph, "wrong", "Another text."))).status == "accepted"
        held_before = pipeline.digests()
        assert all(each.match for each in await pipeline.verified())
        await pipeline.restart()
        assert pipeline.digests() == held_before

    async def test_what_is_configured_is_described_and_an_unknown_graph_is_told_so(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        assert not (await pipeline.memory.describe(graph)).found
        assert graph not in pipeline.digests(), "asking must not make a graph"
        refused = await pipeline.memory.forget(graph, turns=["t1"])
        assert (refused.status, graph in (refused.reason or "")) == ("rejected", True)
        outcome = await pipeline.memory.configure(graph, "elephant", idle=60_000)
        described = await pipeline.memory.describe(graph, after=outcome.position.source)
        assert (described.found, described.preset, described.turns) == (True, "elephant", 0)
        assert (described.settings["idle"], described.settings["prune_below"]) == (60_000, 0.0)
        assert described.position.source >= outcome.position.source

    # filters, explanations

    async def test_a_question_brings_back_only_what_its_filter_lets_through(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        for n in range(6):
            facts: dict[str, Any] = {"session": f"s{n % 2}", "speaker": ("Ada", "Bob", "Cleo")[n % 3]}
            said: dict[str, Any] = {"at": NOON + n * DAY, "text": f"The kettle broke number {n}.", "metadata": {"n": n}}
            there = await pipeline.record(graph, id=f"t{n}", **facts, **said)
        filters: list[tuple[dict[str, Any], set[str]]] = [
            ({}, {"t0", "t1", "t2", "t3", "t4", "t5"}),
            ({"sessions": ["s1"]}, {"t1", "t3", "t5"}),
            ({"speakers": ["Ada", "Bob"], "since": "2023-05-09", "until": NOON + 4 * DAY}, {"t1", "t3"}),
            ({"concepts": ["kettle"], "exclude": ["t0"], "metadata": {"n": 4}}, {"t4"}),
            ({"sessions": ["s7"]}, set()),
        ]
        for only_these, expected in filters:
            options: dict[str, Any] = {"after": there.position.source, "only": only_these, "top_passages": 10}
            for as_of in (None, NOON + 5 * DAY):
                reply = await pipeline.memory.query(graph, "the kettle", as_of=as_of, **options)
                assert (reply.found, {passage.id for passage in reply.passages}) == (True, expected)
                assert len(reply.context.splitlines()) == len(expected)

    async def test_a_question_is_told_why_it_gets_what_it_gets_now_and_as_of_then(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS[:4])
        when = WEEKS[3][1]
        now = await pipeline.memory.query(graph, "the kettle beside the anchor", explain=True)
        then = await pipeline.memory.query(graph, "the kettle beside the anchor", explain=True, as_of=when)
        assert now.passages
        assert self.brought(now) == self.brought(then)
        for passage in now.passages:
            assert passage.why is not None
            assert sum(passage.why.terms.values()) == pytest.approx(passage.score)
            assert {mention.turn for mention in passage.why.mentions if mention.distance == 0} == {passage.id}
        plain = await pipeline.memory.query(graph, "the kettle beside the anchor")
        assert [passage.why for passage in plain.passages] == [None] * len(now.passages)

    async def test_how_much_comes_back_is_decided_by_the_question_if_nobody_says(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS)
        asked = {text: await pipeline.memory.query(graph, text) for text in ("kettle", "Hello there!")}
        assert [len(reply.passages) for reply in asked.values()] == [3, 0]
        assert len(asked["kettle"].context.splitlines()) > 3

    # the past

    @pytest.mark.parametrize("weeks", [1, 5, 9, len(WEEKS)])
    async def test_a_question_about_the_past_gets_the_answer_of_a_memory_that_heard_no_more(
        self, pipeline: Pipeline, graph: str, weeks: int
    ) -> None:
        await self.live(pipeline, graph, WEEKS)
        await self.live(pipeline, f"{graph}-then", WEEKS[:weeks])
        ends = await pipeline.end(pipeline.topics.events, pipeline.place(graph))
        question, when = "the kettle beside the anchor", WEEKS[weeks - 1][1]
        for mode in ("default", "literal"):
            options: dict[str, Any] = {"mode": mode, "top_passages": 100, "top_concepts": 100}
            then = await pipeline.memory.query(f"{graph}-then", question, **options)
            for _ in range(2):  # the second time from what is kept
                asked = await pipeline.memory.query(graph, question, as_of=when, **options)
                assert asked.found
                assert self.brought(asked) == self.brought(then)
        assert await pipeline.end(pipeline.topics.events, pipeline.place(graph)) == ends

    async def test_what_was_forgotten_is_there_in_the_past_and_what_came_later_is_not(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS)
        (first, at, text), (last, end, _) = WEEKS[0], WEEKS[-1]
        asked = {when: await pipeline.memory.query(graph, "anchor, kettle", as_of=when) for when in (at - 1, at)}
        assert [asked[when].found for when in asked] == [False, True]
        assert [(passage.id, passage.text) for passage in asked[at].passages] == [(first, text)]
        now = await pipeline.memory.query(graph, "anchor, kettle", top_passages=100)
        assert last in {passage.id for passage in now.passages}
        seeds = [{seed.id for seed in reply.seeds} for reply in (asked[at], now)]
        assert seeds == [{"anchor", "kettle"}, {"kettle"}]
        still = await pipeline.memory.query(graph, ONCE[-1], as_of=end)
        faded = await pipeline.memory.query(graph, ONCE[-1], as_of=end + 1000 * DAY)  # nobody closed those windows yet
        assert [(reply.found, len(reply.seeds)) for reply in (still, faded)] == [(True, 1), (True, 0)]

    async def test_a_turn_that_is_recorded_late_belongs_to_the_past_it_was_said_in(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS[:6])
        said, when = WEEKS[2][1], WEEKS[2][1] + DAY
        before = await pipeline.memory.query(graph, "the teapot", as_of=when)
        there = await pipeline.record(graph, id="late", at=said, text="The teapot leaks.")
        after = await pipeline.memory.query(graph, "the teapot", as_of=when, after=there.position.source)
        assert [passage.id for passage in (*before.passages, *after.passages[:1])] == ["late"]
        await pipeline.restart()
        again = await pipeline.memory.query(graph, "the teapot", as_of=when)
        assert self.brought(again) == self.brought(after)

    async def test_the_past_cannot_be_reinforced(self, pipeline: Pipeline, graph: str) -> None:
        await pipeline.record(graph)
        value = as_json({"kind": "query", "graph": graph, "text": "what?", "as_of": NOON, "reinforce": True})
        failure = await pipeline.ask(pipeline.topics.queries, graph.encode(), value, pipeline.place(graph))
        assert isinstance(failure, Failure)
        assert (failure.code, "cannot be reinforced" in failure.message) == ("invalid", True)
        with pytest.raises(InvalidMessage, match="cannot be reinforced"):
            await pipeline.memory.query(graph, "what?", as_of=NOON, reinforce=True)

    def brought(self, reply: Reply) -> dict[str, Any]:
        """Return what an answer brought back, without where and when it was given."""
        return reply.model_dump(exclude={"graph", "position", "timing"})

    async def live(self, pipeline: Pipeline, graph: str, said: list[tuple[str, int, str]]) -> None:
        """Let `graph` live forgetfully through what is said."""
        outcome = await pipeline.memory.configure(graph, "forgetful", least_turns=4)
        assert outcome.status == "accepted", outcome.reason
        await self.say(pipeline, graph, said)

    async def say(self, pipeline: Pipeline, graph: str, said: list[tuple[str, int, str]]) -> None:
        for id, at, text in said:
            await pipeline.record(graph, id=id, at=at, text=text)

    async def windows(self, pipeline: Pipeline, graph: str) -> list[tuple[int, bytes]]:
        """Return offset and value of every window event of `graph`."""
        records = await pipeline.records(pipeline.topics.events, pipeline.place(graph))
        closings = (DecayWindowClosed, ConsolidationWindowClosed)
        events = [(record.offset, record.value, decode(record.value)) for record in records]
        return [(at, value) for at, value, event in events if isinstance(event, closings) and event.graph == graph]

    async def told(self, pipeline: Pipeline, partition: int) -> list[int]:
        """Return the offsets of the events that were sent to `changes`."""
        records = await pipeline.records(pipeline.topics.changes, partition)
        return [int(dict(record.headers)[EVENT_OFFSET]) for record in records]

    def facts(self, value: bytes) -> dict[str, Any]:
        """Return what an event says, without its place in the log."""
        fields = msgspec.structs.asdict(decode(value))
        return {name: fact for name, fact in fields.items() if name not in {"epoch", "claim", "seq", "chain", "src"}}

    # the dense view

    async def test_a_question_that_shares_no_word_with_its_answer_is_found_by_recorded_vectors(
        self, doomed: Pipeline, tmp_path: Path
    ) -> None:
        model = tmp_path / "tiny.npz"
        words = {"kitten": (1, 0), "purrs": (1, 0), "feline": (1, 0), "budget": (0, 1), "approved": (0, 1)}
        np.savez(model, words=np.array(list(words)), vectors=np.array(list(words.values())))
        await self.embedding(doomed, model)
        graph, said = "ada", ["The budget was approved.", "The kitten purrs.", "Volcanoes erupt.", "A budget again."]
        await self.say(doomed, graph, [(f"t{n}", NOON + n, text) for n, text in enumerate(said)])
        events = await doomed.events(doomed.place(graph))
        vectors = [event for event in events if isinstance(event, TurnEmbedded)]
        assert [event.id for event in vectors] == ["t0", "t1", "t3"], "of unknown words there is nothing to record"
        assert {event.model.split()[0] for event in vectors} == {"tiny"}
        found = await doomed.memory.query(graph, "feline", explain=True)
        assert [passage.id for passage in found.passages] == ["t1"]
        assert found.passages[0].why is not None
        assert found.passages[0].score == pytest.approx(sum(found.passages[0].why.terms.values()))
        assert found.passages[0].why.terms["dense"] > 0
        for at, there in ((NOON, []), (NOON + 1, ["t1"])):
            past = await doomed.memory.query(graph, "feline", as_of=at)
            assert [passage.id for passage in past.passages] == there
        before = doomed.digests()
        assert all(each.match for each in await doomed.verified())

        model.unlink()  # whoever replays needs no model
        await doomed.stop()
        shutil.rmtree(doomed.settings.home / "partitions")
        doomed.settings = doomed.settings.model_copy(update={"embedder": None})
        await doomed.start()
        assert doomed.digests() == before
        assert all(each.match for each in await doomed.verified())
        assert not (await doomed.memory.query(graph, "feline")).passages

    async def test_a_worker_whose_model_is_not_there_says_so_before_it_starts(
        self, doomed: Pipeline, tmp_path: Path
    ) -> None:
        with pytest.raises(Halted, match=r"EMGAS_EMBEDDER: .*nowhere is no model: give a table of word vectors"):
            await self.embedding(doomed, tmp_path / "nowhere")

    async def embedding(self, pipeline: Pipeline, model: Path) -> None:
        """Let the worker go on with a model of text embeddings."""
        await pipeline.stop()
        pipeline.settings = pipeline.settings.model_copy(update={"embedder": model})
        await pipeline.start()

    # the fold

    async def test_the_state_is_the_fold_of_the_log(self, pipeline: Pipeline, graph: str) -> None:
        await self.fill(pipeline, graph)
        verified = await pipeline.verified()
        assert [each.digest_live for each in verified] == [each.digest_replayed for each in verified]
        assert all(each.audit.each_once for each in verified)

    async def test_a_restart_loses_nothing_and_folds_what_came_meanwhile(self, pipeline: Pipeline, graph: str) -> None:
        await self.fill(pipeline, graph)
        before, partition = pipeline.digests(), pipeline.place(graph)
        claims = await self.claims(pipeline, partition)
        await pipeline.restart()
        assert pipeline.digests() == before
        assert await self.claims(pipeline, partition) == claims + 1
        await pipeline.stop()
        for number in range(3):
            turn = as_json(a_turn(graph, f"meanwhile-{number}"))
            await pipeline.produce(pipeline.topics.turns, graph.encode(), turn, partition)
        await pipeline.start()
        await eventually(lambda: "meanwhile-2" in pipeline.ids(graph))
        assert pipeline.ids(graph)[-3:] == [f"meanwhile-{number}" for number in range(3)]
        assert all(each.match for each in await pipeline.verified())

    async def test_a_store_that_is_thrown_away_is_folded_again_to_the_same_graphs(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.fill(pipeline, graph)
        before = pipeline.digests()
        await pipeline.stop()
        shutil.rmtree(pipeline.settings.home / "partitions")
        await pipeline.start()
        assert pipeline.digests() == before
        assert (await pipeline.memory.record(a_turn(graph))).status == "duplicate"
        assert all(each.match for each in await pipeline.verified())

    async def test_an_event_of_an_earlier_owner_is_ignored(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.record(graph)
        partition = there.position.partition
        mine = only(await self.event_of(pipeline, there))
        await pipeline.restart()
        head = pipeline.app.owners[partition].state.head
        zombie = msgspec.structs.replace(mine, seq=head.seq + 1, src=head.source + 1, id="zombie")
        assert zombie.epoch < head.epoch
        for event in (zombie, mine):  # what a frozen worker writes when it wakes up, and an append that is repeated
            await pipeline.produce(pipeline.topics.events, graph.encode(), encode(event), partition)
        await pipeline.record(graph, id="t2")
        assert pipeline.ids(graph) == ["t1", "t2"]
        verified = (await pipeline.verified())[partition]
        assert verified.match
        assert verified.audit.ignored >= 2

    async def fill(self, pipeline: Pipeline, graph: str) -> None:
        """Have a little of everything in the log."""
        for number in range(3):
            await pipeline.record(f"{graph}-{number}", text=f"The kettle number {number} whistles.")
        await pipeline.record(graph)
        await pipeline.memory.record(a_turn(graph))
        await pipeline.memory.record(a_turn(graph, text="Another text."))
        await pipeline.memory.query(graph, "the kettle", reinforce=True)
        await pipeline.record(graph, id="t2")

    async def claims(self, pipeline: Pipeline, partition: int) -> int:
        return sum(isinstance(event, Claim) for event in await pipeline.events(partition))

    # what halts a worker, for good

    async def test_an_event_of_unknown_kind_halts_the_worker_each_time_and_is_never_skipped(
        self, doomed: Pipeline
    ) -> None:
        partition = doomed.place("ada")
        await doomed.record("ada")
        newer = json.dumps({"v": 2, "kind": "GraphErased", "graph": "ada"}).encode()
        await doomed.produce(doomed.topics.events, b"ada", newer, partition)
        turn = as_json(a_turn("ada", "t2"))
        await doomed.produce(doomed.topics.turns, b"ada", turn, partition, doomed.address(b"unheard"))
        await eventually(lambda: doomed.app.halted)
        self.check_unreadable(doomed.app.halted)
        query = as_json({"kind": "query", "graph": "ada", "text": "what?"})
        await doomed.produce(doomed.topics.queries, b"ada", query, partition, doomed.address(b"unheard"))
        await doomed.stop()
        for _ in range(2):
            with pytest.raises(UnreadableEvent) as told:
                await doomed.start()
            self.check_unreadable(told.value)
        assert b"unheard" not in await doomed.correlations()

    def check_unreadable(self, error: BaseException | None) -> None:
        assert isinstance(error, UnreadableEvent)
        assert "Run the version that wrote it; do not skip it" in str(error)

    async def test_a_worker_whose_partition_was_claimed_by_another_stops_and_its_successor_goes_on(
        self, doomed: Pipeline
    ) -> None:
        await doomed.record("ada")
        partition = doomed.place("ada")
        claim = encode(Claim(writer="another worker", partitions=doomed.partitions, nonce="its own"))
        await doomed.produce(doomed.topics.events, None, claim, partition)
        turn = as_json(a_turn("ada", "t2"))
        await doomed.produce(doomed.topics.turns, b"ada", turn, partition, doomed.address(b"unheard"))
        await eventually(lambda: doomed.app.halted)
        assert isinstance(doomed.app.halted, Fenced)
        assert b"unheard" not in await doomed.correlations()
        await doomed.stop()
        await doomed.start()
        await eventually(lambda: doomed.ids("ada") == ["t1", "t2"])
        assert all(each.match for each in await doomed.verified())

    @pytest.mark.parametrize("where", ["turns", "queries", "extractor"])
    async def test_a_bug_halts_the_worker_and_costs_no_turn(
        self, doomed: Pipeline, monkeypatch: pytest.MonkeyPatch, where: str
    ) -> None:
        """Faust alone would ack the record at which an agent failed, and go on behind it."""
        partition, app = doomed.place("ada"), doomed.app
        await doomed.record("ada")
        owner, name = {
            "turns": (app._loops[partition], "put"),
            "queries": (app._desk, "take"),
            "extractor": (app._extractor, "of_turn"),
        }[where]
        monkeypatch.setattr(owner, name, failing)
        query = as_json({"kind": "query", "graph": "ada", "text": "what?"})
        turn = as_json(a_turn("ada", "t2", "The teapot leaks."))
        if where == "queries":
            await doomed.produce(doomed.topics.queries, b"ada", query, partition)
            await eventually(lambda: app.halted)
        await doomed.produce(doomed.topics.turns, b"ada", turn, partition)
        await eventually(lambda: app.halted)
        assert isinstance(app.halted, ZeroDivisionError)
        assert await doomed.letters(doomed.topics.turns, partition, 1) == []
        monkeypatch.undo()
        await doomed.restart()
        await eventually(lambda: doomed.ids("ada") == ["t1", "t2"])
        assert all(each.match for each in await doomed.verified())

    async def test_turns_that_are_gone_unread_halt_the_worker(self, doomed: Pipeline) -> None:
        await doomed.record("ada")
        partition = doomed.place("ada")
        await doomed.stop()
        for number in range(4):
            turn = as_json(a_turn("ada", f"lost-{number}"))
            await doomed.produce(doomed.topics.turns, b"ada", turn, partition)
        await doomed.carrier.truncate(doomed.topics.turns, partition, 3)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(LogRewritten, match=r"no longer has .* offset 1"):
                await self.start_and_wait(doomed)

    async def test_an_event_log_without_its_beginning_halts_the_worker(self, doomed: Pipeline) -> None:
        await doomed.record("ada")
        partition = doomed.place("ada")
        await doomed.stop()
        await doomed.carrier.truncate(doomed.topics.events, partition, 1)
        shutil.rmtree(doomed.settings.home / "partitions")
        with pytest.raises(LogRewritten, match="events are missing"):
            await self.start_and_wait(doomed)

    async def start_and_wait(self, doomed: Pipeline) -> None:
        """Start a worker that may notice only after it is ready that it cannot go on; raise why."""
        await doomed.start()
        await eventually(lambda: doomed.app.halted)
        halted = doomed.app.halted
        assert isinstance(halted, Halted)
        raise halted
