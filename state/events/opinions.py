"""What users think of what is remembered: what is to stay in mind, and how well an answer suited.

They are events as all others (events.py), in a file of their own.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from state.events.base import GraphEvent, Ordinal
from state.events.registry import Timing, graph_event


def concepts_and_turns(event: Any) -> tuple[str, ...]:
    """List what an event names."""
    return *event.concepts, *event.turns


@graph_event(
    Timing.UNTIMED,
    summary=lambda event: f"pinned {', '.join((*event.concepts, *event.turns))}",
    touches=concepts_and_turns,
)
class Pinned(GraphEvent, frozen=True, kw_only=True):
    """A user asked to keep these concepts and turns in mind: they do not fade, and those archived are active again."""

    src: Ordinal
    concepts: list[str]
    turns: list[str]


@graph_event(
    Timing.UNTIMED,
    summary=lambda event: f"unpinned {', '.join((*event.concepts, *event.turns))}",
    touches=concepts_and_turns,
)
class Unpinned(GraphEvent, frozen=True, kw_only=True):
    """A user let these concepts and turns fade again."""

    src: Ordinal
    concepts: list[str]
    turns: list[str]


@graph_event(
    Timing.UNTIMED,
    summary=lambda event: f"{'right' if event.value > 0 else 'wrong'}: {', '.join(event.turns)}",
    touches=concepts_and_turns,
)
class FeedbackGiven(GraphEvent, frozen=True, kw_only=True):
    """A user said of these turns that they were right, or wrong: `value` in [−1, 1].

    concepts  what the question asked for and what the turns say of it, strongest first: linked if they were right,
              and what recalls linked of them is loosened if they were wrong
    """

    src: Ordinal
    turns: list[str]
    concepts: list[str]
    value: Annotated[float, Meta(ge=-1, le=1)]
