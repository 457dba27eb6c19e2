"""The pipeline, and secrets: none reaches a topic, whichever program sends it."""

from __future__ import annotations

import json

from emgas.messages.requests import Outcome
from tests.support.clocks import NOON
from tests.support.pipeline import Pipeline, a_turn
from tests.support.pipeline_steps import PipelineSteps

SECRET = "ghp_" + "aB3" * 12
TEXT = f"The deploy token is {SECRET} for the kettle."
REDACTED = "The deploy token is [secret: github token] for the kettle."


async def topics_with(pipeline: Pipeline, secret: str) -> set[str]:
    """Return the topics that hold a secret."""
    topics = pipeline.topics
    named = (topics.turns, topics.events, topics.changes, topics.dead_letters)
    places = [(topic, partition) for topic in named for partition in range(pipeline.partitions)]
    records = {place: await pipeline.records(*place) for place in [*places, (topics.replies, 0), (topics.queries, 0)]}
    return {
        topic for (topic, _), those in records.items() if any(secret.encode() in (each.value or b"") for each in those)
    }


class Secrets(PipelineSteps):
    """Part of PipelineContract (pipeline_contract.py)."""

    async def test_a_secret_in_a_turn_or_a_question_reaches_no_topic(self, pipeline: Pipeline, graph: str) -> None:
        outcome = await pipeline.record(graph, id="t1", text=TEXT, at=NOON)
        assert outcome.redacted == 1
        reply = await pipeline.memory.query(graph, f"is {SECRET} the deploy token?", after=outcome.position.source)
        assert reply.passages[0].text == REDACTED
        assert await topics_with(pipeline, SECRET) == set()
        again = await pipeline.memory.record(a_turn(graph, id="t1", text=TEXT, at=NOON))
        assert again.status == "duplicate", "what was replaced is the same each time"

    async def test_a_secret_that_another_program_sends_is_in_no_event_no_answer_and_no_dead_letter(
        self, pipeline: Pipeline, graph: str
    ) -> None:
        secret = "ghp_" + "Zy9" * 12
        place, topics = pipeline.place(graph), pipeline.topics
        good = json.dumps(a_turn(graph, id="t1", text=f"The token is {secret}.", at=NOON)).encode()
        bad = json.dumps({"graph": graph, "id": "t2", "text": f"{secret}", "speaker": ""}).encode()
        accepted = await pipeline.ask(topics.turns, graph.encode(), good, place)
        refused = await pipeline.ask(topics.turns, graph.encode(), bad, place)
        assert isinstance(accepted, Outcome)
        assert isinstance(refused, Outcome)
        assert (accepted.status, accepted.redacted, refused.status) == ("accepted", 1, "rejected")
        letters = await pipeline.letters(topics.turns, place, refused.position.source)
        assert [json.loads(letter.value or b"")["text"] for letter in letters] == ["[secret: github token]"]
        assert await topics_with(pipeline, secret) == {topics.turns}, "there it is the other program's"
