"""The pipeline, what a graph counts of what comes, where it asks for that; and how it shows what has faded."""

from __future__ import annotations

import pytest

from tests.support.clocks import DAY, NOON
from tests.support.pipeline import Pipeline, a_turn
from tests.support.pipeline_steps import PipelineSteps

TEXTS = (
    "The kettle in the kitchen broke again.",
    "Again the kitchen kettle broke.",
    "haha ok",
    "Bob repaired the kettle with a soldering iron.",
)
COUNTED = ["", "redundant", "unworthy", ""]


class Gates(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

    @pytest.mark.source("P8", "M11")
    async def test_what_came_together_is_judged_turn_by_turn_and_once_whoever_reads_the_log(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        memory = pipeline.memory
        await memory.configure(graph, "elephant", novelty_above=0.35, worth_words=2)
        turns = [a_turn(graph, id=f"t{n}", text=text, at=NOON + n) for n, text in enumerate(TEXTS)]
        async for _, outcome in memory.publish_many(turns):
            assert outcome.status == "accepted"  # type: ignore[union-attr]
        answer = (await memory.turns(graph)).turns
        assert {turn.id: turn.uncounted for turn in answer} == {f"t{n}": why for n, why in enumerate(COUNTED)}
        assert (await memory.describe(graph)).uncounted == 2
        await pipeline.restart()
        again = await pipeline.record(graph, id="t4", text=TEXTS[1], at=NOON + 4)
        assert (await pipeline.memory.turns(graph, ids=["t4"])).turns[0].uncounted == "redundant"
        reply = await pipeline.memory.query(graph, "the kitchen kettle", top_passages=10, after=again.position.source)
        assert [passage.id for passage in reply.passages if not passage.archived] == ["t0", "t3"]
        assert {passage.id for passage in reply.passages} == {"t0", "t1", "t2", "t3", "t4"}
        assert {turn.id: turn.uncounted for turn in (await pipeline.memory.turns(graph)).turns if turn.id != "t4"} == {
            f"t{n}": why for n, why in enumerate(COUNTED)
        }

    @pytest.mark.source("S30")
    async def test_a_question_may_be_answered_with_gaps_for_what_has_faded(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        text = "I adopted a ginger cat from the shelter."
        await pipeline.memory.configure(graph, "elephant", half_life=20 * DAY)
        await pipeline.record(graph, id="t0", text=text, at=NOON)
        last = await pipeline.record(graph, id="t1", text="Good morning!", at=NOON + 200 * DAY)
        request = {"after": last.position.source, "top_passages": 1}
        plain = await pipeline.memory.query(graph, "what did I adopt?", **request)
        masked = await pipeline.memory.query(graph, "what did I adopt?", render="masked", **request)
        clear = await pipeline.memory.query(
            graph, "what did I adopt?", render="masked", clear_from=0.0, hint_from=0.0, **request
        )
        assert (plain.passages[0].masked, masked.passages[0].masked, clear.passages[0].masked) == (None, "[…].", text)
        assert masked.passages[0].text == text
        assert (text in plain.context, text in masked.context, text in clear.context) == (True, False, True)
