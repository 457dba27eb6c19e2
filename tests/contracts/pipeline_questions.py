"""The pipeline, questions: who gets which answer, and what a question does to the state."""

from __future__ import annotations

import asyncio
from typing import Any, get_args

import pytest

from emgas.errors import QueryFailedError
from emgas.limits import RECORD_BYTES, TEXT_BYTES
from emgas.messages.operator import Inspect
from emgas.messages.requests import Failure
from emgas.messages.settings.modes import Mode
from emgas.wire import DEADLINE
from state.events.events import (
    ConceptsRecalled,
)
from tests.support.clocks import DAY, NOON, eventually
from tests.support.pipeline import Pipeline, a_turn, as_json, only
from tests.support.pipeline_steps import WEEKS, PipelineSteps

AT_ONCE = 8  # of `queries_at_once`; the fixtures set it

BAD_QUERIES: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"what broke?", "not valid JSON"),
    "no kind": (b'{"graph":"ada","text":"what?"}', "kind"),
    "an unknown field": (b'{"kind":"query","graph":"ada","text":"what?","depth":3}', "not a known field"),
    "text over the limit": (as_json({"kind": "query", "graph": "ada", "text": "x" * (TEXT_BYTES + 1)}), "the limit is"),
    "a record over the limit": (b'{"kind":"query","graph":"ada","text":"what?"}' + b" " * RECORD_BYTES, "the limit is"),
}


class Questions(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

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

    async def test_a_question_whose_deadline_has_passed_is_told_so(self, pipeline: Pipeline, graph: str) -> None:
        value = as_json({"kind": "query", "graph": graph, "text": "what?"})
        expired = (*pipeline.address(b"too late"), (DEADLINE, b"1"))
        await pipeline.produce(pipeline.topics.queries, graph.encode(), value, pipeline.place(graph), expired)
        await pipeline.memory.query(graph, "what?")  # of the same partition, so the other one was looked at before
        assert b"too late" in await pipeline.correlations()

    async def test_a_question_waits_until_the_turn_it_names_is_folded(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.record(graph)
        to_come = there.position.source + 1
        async with pipeline.folding_nothing(graph):
            task = asyncio.create_task(pipeline.record(graph, id="t2", text="The teapot leaks."))
            await pipeline.until_end(pipeline.topics.turns, pipeline.place(graph), to_come + 1)
            waiting = asyncio.create_task(pipeline.memory.query(graph, "What about the teapot?", after=to_come))
            await asyncio.sleep(0)
            await pipeline.memory.query(graph, "what?")  # of the same partition, so the other one was looked at before
            assert not waiting.done()
        reply = await waiting
        await task
        assert reply.position.source >= to_come
        assert "t2" in {passage.id for passage in reply.passages}

    @pytest.mark.source("P28", "E41")
    async def test_everybody_reads_what_they_wrote(self, pipeline: Pipeline, graph: str) -> None:
        for number in range(20):
            there = await pipeline.memory.publish(a_turn(graph, f"t{number}", f"Teapot number {number} leaks."))
            reply = await pipeline.memory.query(graph, f"teapot number {number}", after=there, top_passages=100)
            assert f"t{number}" in {passage.id for passage in reply.passages}

    async def test_a_question_about_a_turn_that_is_not_in_the_log_is_told_so_at_once(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        there = await pipeline.record(graph)
        with pytest.raises(QueryFailedError) as answer:
            await pipeline.memory.query(graph, "what?", after=there.position.source + 1_000_000)
        assert answer.value.code == "not-yet"
        assert "there is no turn" in answer.value.message

    async def test_more_questions_than_places_are_told_to_come_back(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.record(graph)
        to_come = there.position.source + 1
        async with pipeline.folding_nothing(graph):
            recorded = asyncio.create_task(pipeline.record(graph, id="t2"))
            await pipeline.until_end(pipeline.topics.turns, pipeline.place(graph), to_come + 1)
            requests = [
                asyncio.create_task(pipeline.memory.query(graph, "what?", after=to_come)) for _ in range(AT_ONCE)
            ]
            await eventually(lambda: pipeline.reader._query_handler.answering == AT_ONCE)  # noqa: SLF001 - only from inside can this be told
            with pytest.raises(QueryFailedError) as answer:
                await pipeline.memory.query(graph, "what?")
            assert answer.value.code == "overloaded"
        await recorded
        assert all(reply.found for reply in await asyncio.gather(*requests))
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
        for mode in get_args(Mode):
            request = {"mode": mode, "weighting": "npmi", "guidance": {"mood": "curious"}}
            reply = await pipeline.memory.query(graph, "the red kettle", explain=True, **request)
            assert [passage.id for passage in reply.passages] == ["t1"]
            assert reply.how is not None
            assert reply.how.mode == ("default" if mode == "inject" else mode), "inject ranks as default does"
        assert pipeline.digests() == digests
        assert await pipeline.end(pipeline.topics.events, pipeline.place(graph)) == ends

    @pytest.mark.source("E10")
    async def test_a_reinforcing_question_appends_one_event_that_boosts_what_it_woke(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        there = await pipeline.record(graph, text="The red kettle whistles in the kitchen.")
        contents = pipeline.graph(graph)
        assert contents is not None
        before = {name: contents.concepts.strength[number] for name, number in contents.concepts.numbers.items()}
        folded = contents.events
        reply = await pipeline.memory.query(graph, "the red kettle", reinforce=True)
        assert reply.concepts
        await eventually(lambda: contents.events > folded or pipeline.app.halted)
        recalled = only(await pipeline.events(there.position.partition, there.position.watermark + 1))
        assert isinstance(recalled, ConceptsRecalled)
        assert recalled.graph == graph
        assert recalled.concepts
        after = {name: contents.concepts.strength[number] for name, number in contents.concepts.numbers.items()}
        assert {name for name in after if after[name] > before[name]} == set(recalled.concepts)

    @pytest.mark.source("S9", "S19")
    async def test_the_way_that_a_reinforcing_question_went_carries_more_the_next_time(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        messages = ("The vet has new medicine.", *(f"Onions grow in cellar number {n}." for n in range(8)))
        for n, text in enumerate(messages):
            await pipeline.record(graph, id=f"w{n}", text=text, session=f"{n}", at=NOON + n * DAY)

        async def way() -> tuple[float, list[str]]:
            reply = await pipeline.memory.query(graph, "the vet")
            led_to = next(each for each in reply.concepts if each.id == "medicine")
            return led_to.energy, led_to.path

        energy, path = await way()
        assert path == ["vet", "medicine"]
        contents = pipeline.graph(graph)
        assert contents is not None
        folded = contents.events
        await pipeline.memory.query(graph, "the vet", reinforce=True)
        await eventually(lambda: contents.events > folded or pipeline.app.halted)
        stronger, again = await way()
        assert again == path
        assert stronger > energy
        await pipeline.memory.query(graph, "onions", reinforce=True)
        await eventually(lambda: contents.events > folded + 1 or pipeline.app.halted)
        assert await way() == (stronger, path), "another way was used"

    async def test_what_a_partition_tells_of_itself_is_what_it_holds(self, pipeline: Pipeline, graph: str) -> None:
        there = await pipeline.record(graph)
        answer = await pipeline.memory.send(Inspect(digest=False), partition=there.position.partition)
        state = pipeline.app.ownership.writers[there.position.partition].state
        assert (answer.digest, answer.turns, answer.graphs) == (None, state.position.turns, len(state.graph_ids()))
        assert answer.position == there.position

    # filters, explanations

    async def test_a_question_brings_back_only_what_its_filter_lets_through(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        for n in range(6):
            facts: dict[str, Any] = {"session": f"s{n % 2}", "speaker": ("Ada", "Bob", "Cleo")[n % 3]}
            text: dict[str, Any] = {"at": NOON + n * DAY, "text": f"The kettle broke number {n}.", "metadata": {"n": n}}
            there = await pipeline.record(graph, id=f"t{n}", **facts, **text)
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
                lines = [line for line in reply.context.splitlines() if line.startswith(("Ada:", "Bob:", "Cleo:"))]
                assert len(lines) == len(expected)

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
        request = {text: await pipeline.memory.query(graph, text) for text in ("kettle", "Hello there!")}
        assert [len(reply.passages) for reply in request.values()] == [5, 0]
        assert len(request["kettle"].context.splitlines()) > 5
