"""The pipeline, the past and the dense view: graphs as they were, and vectors that a replay finds in the log."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emgas.errors import HaltedError, InvalidMessageError
from emgas.messages.fields import Message
from emgas.messages.pictures import Compare, Picture
from emgas.messages.requests import Failure, Right
from emgas.messages.rights import Grant
from emgas.messages.sessions import EndSession, Recent
from emgas.messages.turns import Undo
from emgas.messages.views import Explore, Habits, Recap, Trend
from state.events.events import (
    Forgotten,
    TurnEmbedded,
)
from tests.support.clocks import DAY, NOON
from tests.support.pipeline import Pipeline, as_json
from tests.support.pipeline_steps import WEEKS, PipelineSteps
from tests.support.weeks import THINGS


class Past(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

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
                request = await pipeline.memory.query(graph, question, as_of=when, **options)
                assert request.found
                assert self.brought(request) == self.brought(then)
        assert await pipeline.end(pipeline.topics.events, pipeline.place(graph)) == ends

    async def test_what_was_forgotten_is_there_in_the_past_and_what_came_later_is_not(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS)
        (first, at, text), (last, end, _) = WEEKS[0], WEEKS[-1]
        request = {when: await pipeline.memory.query(graph, "anchor, kettle", as_of=when) for when in (at - 1, at)}
        assert [request[when].found for when in request] == [False, True]
        assert [(passage.id, passage.text) for passage in request[at].passages] == [(first, text)]
        now = await pipeline.memory.query(graph, "anchor, kettle", top_passages=100)
        assert last in {passage.id for passage in now.passages}
        seeds = [{seed.id for seed in reply.seeds} for reply in (request[at], now)]
        assert seeds == [{"anchor", "kettle"}, {"anchor", "kettle"}], "what faded is still found"
        still = await pipeline.memory.query(graph, THINGS[-1], as_of=end)
        later = end + 1000 * DAY  # nobody closed the windows up to there yet
        faded = await pipeline.memory.query(graph, THINGS[-1], as_of=later)
        assert [(reply.found, len(reply.seeds)) for reply in (still, faded)] == [(True, 1), (True, 1)]

    async def seen_of_the_past(self, pipeline: Pipeline, graph: str, at: int, *, since: int) -> dict[str, str]:
        """Ask for all that a graph tells of a moment; give the JSON of each answer."""
        memory = pipeline.memory
        when: dict[str, Any] = {"as_of": at}
        report: dict[str, Message] = {
            "query": await memory.query(graph, "the kettle", explain=True, top_concepts=50, **when),
            "literal": await memory.query(graph, "the kettle", mode="literal", **when),
            "turns": await memory.turns(graph, **when),
            "by id": await memory.turns(graph, ids=["t0", "t1", "t2"], **when),
            "picture": await memory.send(Picture(graph=graph, passages=50, **when)),
            "sessions": await memory.send(Recap(graph=graph, **when)),
            "recent": await memory.send(Recent(graph=graph, **when)),
            "trend": await memory.send(Trend(graph=graph, moods=True, **when)),
            "habits": await memory.send(Habits(graph=graph, **when)),
            "concept": await memory.send(Explore(graph=graph, concept="kettle", **when)),
            "changes": await memory.send(Compare(graph=graph, since=since)),
            "until then": await memory.send(Compare(graph=graph, since=since, until=at)),
        }
        return {name: answer.model_dump_json() for name, answer in report.items()}

    async def test_what_was_forgotten_later_is_seen_in_the_past_by_those_alone_who_may_forget(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        memory, last = pipeline.memory, NOON + 4 * DAY
        texts = ["The kettle met Zanzibar.", "The kettle sang in Zanzibar.", "The kettle is blue.", "A kettle again."]
        for n, text in enumerate(texts):
            await pipeline.record(graph, id=f"t{n}", at=NOON + n * DAY, text=text, session="Ithaca" if n < 2 else "s")
        await memory.send(EndSession(graph=graph, session="Ithaca"))
        rights: dict[str, list[Right]] = {
            "reader": ["read"],
            "forgetful": ["read", "forget"],
            "boss": ["read", "admin"],
        }
        for subject, contents in rights.items():
            await memory.send(Grant(graph=graph, subject=subject, rights=contents))
        assert (await memory.forget(graph, sessions=["Ithaca"])).status == "accepted"
        await pipeline.record(graph, id="last", at=last, text="Goodbye, kettle.")

        async def seen(subject: str | None, word: str = "zanzibar") -> set[str]:
            pipeline.subject = subject
            try:
                report = await self.seen_of_the_past(pipeline, graph, NOON + 2 * DAY, since=NOON)
            finally:
                pipeline.subject = None
            return {name for name, answer in report.items() if word in answer.lower()}

        everywhere = await seen(None)
        assert everywhere >= {"query", "literal", "turns", "by id", "picture", "sessions", "changes"}
        assert (await seen("forgetful"), await seen("boss")) == (everywhere, everywhere)
        for word in ("zanzibar", "ithaca", '"t0"', '"t1"'):
            assert await seen("reader", word) == set()
        assert {"query", "turns", "picture"} <= await seen("reader", "blue"), "all else is there"

        events = (await memory.turns(graph, ids=["last"])).turns
        assert events, "what was said since is there"
        assert (await memory.forget(graph, everything=True)).status == "accepted"
        assert await seen("reader", "blue") == set()
        assert {"query", "turns", "picture"} <= await seen("boss", "blue")

    async def test_a_forgetting_that_was_undone_hides_nothing(self, pipeline: Pipeline, graph: str) -> None:
        memory = pipeline.memory
        await pipeline.record(graph, id="t0", at=NOON, text="The kettle met Zanzibar.")
        await pipeline.record(graph, id="t1", at=NOON + DAY, text="The kettle is blue.")
        await memory.send(Grant(graph=graph, subject="reader", rights=["read"]))
        outcome = await memory.forget(graph, turns=["t0"])
        await pipeline.record(graph, id="t2", at=NOON + 2 * DAY, text="The kettle sings.")

        async def seen() -> list[str]:
            pipeline.subject = "reader"
            try:
                return [turn.id for turn in (await memory.turns(graph, as_of=NOON)).turns]
            finally:
                pipeline.subject = None

        assert (outcome.status, await seen()) == ("accepted", [])
        of_graph = [
            event for event in await pipeline.events(pipeline.place(graph)) if getattr(event, "graph", "") == graph
        ]
        (forgotten,) = (n for n, event in enumerate(of_graph) if isinstance(event, Forgotten))
        assert (await memory.send(Undo(graph=graph, first=forgotten, last=forgotten))).status == "accepted"
        assert await seen() == ["t0"]

    async def test_a_turn_that_is_recorded_late_belongs_to_the_past_it_was_said_in(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await self.live(pipeline, graph, WEEKS[:6])
        text, when = WEEKS[2][1], WEEKS[2][1] + DAY
        before = await pipeline.memory.query(graph, "the teapot", as_of=when)
        there = await pipeline.record(graph, id="late", at=text, text="The teapot leaks.")
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
        with pytest.raises(InvalidMessageError, match="cannot be reinforced"):
            await pipeline.memory.query(graph, "what?", as_of=NOON, reinforce=True)

    # the dense view

    @pytest.mark.source("P14")
    async def test_a_question_that_shares_no_word_with_its_answer_is_found_by_recorded_vectors(
        self, doomed: Pipeline, tmp_path: Path
    ) -> None:
        model = tmp_path / "tiny.npz"
        words = {"kitten": (1, 0), "purrs": (1, 0), "feline": (1, 0), "budget": (0, 1), "approved": (0, 1)}
        np.savez(model, words=np.array(list(words)), vectors=np.array(list(words.values())))
        await self.embedding(doomed, model)
        graph, message = "ada", ["The budget was approved.", "The kitten purrs.", "Volcanoes erupt.", "A budget again."]
        await self.say(doomed, graph, [(f"t{n}", NOON + n, text) for n, text in enumerate(message)])
        events = await doomed.events(doomed.place(graph))
        vectors = [event for event in events if isinstance(event, TurnEmbedded)]
        assert [event.id for event in vectors] == ["t0", "t1", "t3"], "of unknown words there is nothing to record"
        assert {event.model.split()[0] for event in vectors} == {"tiny"}
        result = await doomed.memory.query(graph, "feline", explain=True)
        assert [passage.id for passage in result.passages] == ["t1"]
        assert result.passages[0].why is not None
        assert result.passages[0].score == pytest.approx(sum(result.passages[0].why.terms.values()))
        assert result.passages[0].why.terms["dense"] > 0
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
        with pytest.raises(HaltedError, match=r"EMGAS_EMBEDDER: .*nowhere is no model: give a table of word vectors"):
            await self.embedding(doomed, tmp_path / "nowhere")

    async def embedding(self, pipeline: Pipeline, model: Path) -> None:
        """Let the worker go on with a model of text embeddings."""
        await pipeline.stop()
        pipeline.settings = pipeline.settings.model_copy(update={"embedder": model})
        await pipeline.start()
