"""What the tests of the whole pipeline have in common: a graph of its own for each, and how it is filled and read."""

from __future__ import annotations

from typing import Any

import pytest

from emgas.messages.queries import Reply
from emgas.messages.requests import Outcome
from tests.support.clocks import DAY, NOON
from tests.support.pipeline import Pipeline
from tests.support.weeks import THINGS

# twelve weeks: the kettle recurs, all else is said once and fades in three weeks of `forgetful`
WEEKS = [(f"t{n}", NOON + 7 * n * DAY, f"The kettle stands beside the {word}.") for n, word in enumerate(THINGS)]


def failing(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("a bug")


class PipelineSteps:
    """Inherit beside a fixture `pipeline`, started."""

    @pytest.fixture
    def graph(self, pipeline: Pipeline) -> str:
        """Return the name of a graph that nobody wrote to."""
        used: set[str] = pipeline.__dict__.setdefault("used", set())
        used.add(name := f"graph-{len(used)}")
        return name

    def brought(self, reply: Reply) -> dict[str, Any]:
        """Return what an answer brought back, without where and when it was given."""
        return reply.model_dump(exclude={"graph", "position", "timing"})

    async def live(self, pipeline: Pipeline, graph: str, turns: list[tuple[str, int, str]]) -> None:
        """Let `graph` live forgetfully through what is said."""
        outcome = await pipeline.memory.configure(graph, "forgetful", least_turns=4)
        assert outcome.status == "accepted", outcome.reason
        await self.say(pipeline, graph, turns)

    async def say(self, pipeline: Pipeline, graph: str, turns: list[tuple[str, int, str]]) -> None:
        for id, at, text in turns:
            await pipeline.record(graph, id=id, at=at, text=text)

    async def event_of(self, pipeline: Pipeline, there: Outcome) -> list[Any]:
        """Return the event that recorded a turn, given its outcome; a list of one."""
        events = await pipeline.events(there.position.partition)
        return [event for event in events if getattr(event, "src", None) == there.position.source]
