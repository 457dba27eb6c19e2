"""Quotas of a graph, as clients that send turns meet them."""

from __future__ import annotations

import asyncio

from emgas.messages.requests import Outcome
from emgas.messages.rights import OVER_QUOTA, Quota
from tests.support.pipeline import Pipeline, a_turn
from tests.support.pipeline_steps import PipelineSteps

MOST = 7


class Quotas(PipelineSteps):
    async def test_of_turns_that_are_sent_at_once_exactly_as_many_are_recorded_as_the_quota_allows(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        memory = pipeline.memory
        assert (await memory.send(Quota(graph=graph, turns=MOST))).status == "accepted"
        turns = [a_turn(graph, id=f"t{number}") for number in range(2 * MOST)]
        outcomes = await asyncio.gather(*(memory.record(turn) for turn in turns))
        refused = [outcome for outcome in outcomes if outcome.status == "rejected"]
        assert len(refused) == MOST
        assert all((outcome.reason or "").startswith(OVER_QUOTA) for outcome in refused)
        assert len(pipeline.ids(graph)) == MOST
        letters = await pipeline.letters(pipeline.topics.turns, *_place(refused[0]))
        assert graph.encode() in letters[0].value, "nothing is lost"
        raised = await memory.send(Quota(graph=graph, turns=1))
        assert f"{MOST} turns" in str(raised.remains)
        assert (await memory.record(a_turn(graph, id=refused[0].turn))).status == "accepted"
        assert (await memory.record(a_turn(graph, id="more"))).status == "rejected"


def _place(outcome: Outcome) -> tuple[int, int]:
    return outcome.position.partition, outcome.position.source
