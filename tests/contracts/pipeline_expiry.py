"""The pipeline, and turns that expire: kept with their origin until then, and in no answer from then on."""

from __future__ import annotations

from emgas.times import DAY_MS as DAY
from state.events.events import TurnRecorded, TurnsExpired
from tests.support.clocks import NOON
from tests.support.pipeline import Pipeline, a_turn
from tests.support.pipeline_steps import PipelineSteps

QUESTION = "when is the tram free?"


class Expiry(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

    async def test_a_turn_keeps_its_origin_and_end_in_the_log_in_answers_and_in_lists(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        facts = {"origin": "web", "expires_at": NOON + 7 * DAY}
        there = await pipeline.record(graph, id="n0", at=NOON, text="The tram is free this week.", **facts)
        (event,) = await self.event_of(pipeline, there)
        assert isinstance(event, TurnRecorded)
        assert (event.origin, event.expires_at) == ("web", NOON + 7 * DAY)
        reply = await pipeline.memory.query(graph, QUESTION, after=there.position.source)
        assert [(each.id, each.origin, each.expires_at) for each in reply.passages] == [("n0", "web", NOON + 7 * DAY)]
        (turn,) = (await pipeline.memory.turns(graph)).turns
        assert (turn.origin, turn.expires_at) == ("web", NOON + 7 * DAY)
        for mode, only, ids in (
            ("inject", {}, []),
            ("inject", {"origins": ["web"]}, ["n0"]),
            ("default", {"without_origins": ["web"]}, []),
        ):
            filtered = await pipeline.memory.query(graph, QUESTION, mode=mode, only=only, min_likelihood=0)
            assert [each.id for each in filtered.passages] == ids

    async def test_an_expired_turn_is_in_no_answer_and_a_window_forgets_it(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        await pipeline.record(graph, id="n0", at=NOON, text="The tram is free this week.", expires_at=NOON + 7 * DAY)
        there = await pipeline.record(graph, id="n1", at=NOON + 7 * DAY, text="The tram costs two euros again.")
        reply = await pipeline.memory.query(graph, QUESTION, after=there.position.source, fallback="recent")
        assert "n0" not in {each.id for each in reply.passages}
        assert "free this week" not in reply.context
        assert [turn.id for turn in (await pipeline.memory.turns(graph)).turns] == ["n1"]
        events = [event for event in await pipeline.events(there.position.partition) if isinstance(event, TurnsExpired)]
        assert [(event.at, event.turns) for event in events if event.graph == graph] == [(NOON + 7 * DAY, ["n0"])]
        for at, ids in ((NOON + 7 * DAY - 1, ["n0"]), (NOON + 7 * DAY, ["n1"])):
            past = await pipeline.memory.query(graph, "tram", as_of=at, fallback="recent")
            assert [each.id for each in past.passages] == ids

    async def test_a_turn_that_comes_after_its_end_is_in_no_answer(self, pipeline: Pipeline, graph: str) -> None:
        await pipeline.record(graph, id="n1", at=NOON + 8 * DAY, text="The tram costs two euros.")
        late = {"id": "n0", "at": NOON, "text": "The tram is free this week.", "expires_at": NOON + 7 * DAY}
        there = await pipeline.record(graph, **late)
        assert there.status == "accepted"
        reply = await pipeline.memory.query(graph, QUESTION, after=there.position.source, fallback="recent")
        assert [each.id for each in reply.passages] == ["n1"]
        again = await pipeline.memory.record(a_turn(graph, **late))
        assert again.status == "duplicate", "its id stays known"
