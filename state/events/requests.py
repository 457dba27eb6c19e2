"""Events that a user's request becomes: configure, recall, forget, undo, pin, and feedback."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from state.events.base import ALWAYS, GraphEvent, Ordinal
from state.events.extraction_types import (
    Milliseconds,
)
from state.events.memory_settings import MemorySettings
from state.events.registry import EventTiming, concepts_and_turns, graph_event


def _lives_by(event: GraphConfigured) -> str:
    own = f", with {len(event.weights)} weights of its own" if event.weights else ""
    return f"lives by {event.preset}{own}"


@graph_event(EventTiming.UNTIMED, summary=_lives_by)
class GraphConfigured(GraphEvent, frozen=True, kw_only=True):
    """The graph's settings from here on.  A replay never reads a configuration, because all values are here.

    weights  what features of a turn are worth in its recall, by name, where that is not the default: written only
             where there are any
    mode     in which its questions are answered that name none, and
    rerank   by whose formula they are ordered, "" for none: names of emgas/messages/settings/modes.py where they differ
    timezone where its people are, an IANA name: of turns and questions that do not say; written where it is not UTC
    """

    src: Annotated[Ordinal | None, ALWAYS] = None
    preset: str
    settings: MemorySettings
    weights: dict[str, Annotated[float, Meta(ge=-1000, le=1000)]] = msgspec.field(default_factory=dict)
    mode: str = "default"
    rerank: str = ""
    timezone: str = "UTC"


@graph_event(
    EventTiming.TIMED,
    summary=lambda event: f"recalled {', '.join(event.concepts)}",
    touches=lambda event: (*event.concepts, *event.related),
)
class ConceptsRecalled(GraphEvent, frozen=True, kw_only=True):
    """A query that asked to reinforce woke these concepts at time `at` (ms).

    `src`, written only where a reader answered and told it in `turns`, of this or of the MemoryRestored behind it.
    `related`, written only where a graph wants that (`recall_spread`): their neighbours, which get a share of it.
    """

    src: Ordinal | None = None
    at: Milliseconds
    concepts: list[str]
    related: list[str] = msgspec.field(default_factory=list)


@graph_event(
    EventTiming.TIMED,
    summary=lambda event: f"restored {', '.join(concepts_and_turns(event))}",
    touches=concepts_and_turns,
    is_step=False,  # it goes with the recall that did it
)
class MemoryRestored(GraphEvent, frozen=True, kw_only=True):
    """A query that asked to reinforce brought these back from the archive at time `at` (ms).

    `src`  as of the recall
    """

    src: Ordinal | None = None
    at: Milliseconds
    concepts: list[str]
    turns: list[str]


@graph_event(
    EventTiming.UNTIMED,
    summary=lambda event: f"forgot {', '.join(concepts_and_turns(event))}",
    touches=concepts_and_turns,
)
class Forgotten(GraphEvent, frozen=True, kw_only=True):
    """A user asked to forget these concepts and turns; a session is recorded as its turns.

    A request that is too large for one record becomes several events, and the last one has the source: until it is
    there, the request is read again, and goes on with the rest.
    """

    src: Annotated[Ordinal | None, ALWAYS] = None
    concepts: list[str]
    turns: list[str]


@graph_event(EventTiming.UNTIMED, summary=lambda event: f"takes back {event.first} to {event.last}")
class Retracted(GraphEvent, frozen=True, kw_only=True):
    """A user took back events `first`..`last` of the graph, counted from 0 (Graph.events); itself one that can be."""

    src: Annotated[Ordinal | None, ALWAYS] = None
    first: Ordinal
    last: Ordinal

    def __post_init__(self) -> None:
        """Raise ValueError for a range that is none."""
        if self.last < self.first:
            raise ValueError("last: lies before first")


@graph_event(
    EventTiming.UNTIMED,
    summary=lambda event: f"pinned {', '.join(concepts_and_turns(event))}",
    touches=concepts_and_turns,
)
class Pinned(GraphEvent, frozen=True, kw_only=True):
    """A user asked to keep these concepts and turns in mind: they do not fade, and those archived are active again."""

    src: Annotated[Ordinal | None, ALWAYS] = None
    concepts: list[str]
    turns: list[str]


@graph_event(
    EventTiming.UNTIMED,
    summary=lambda event: f"unpinned {', '.join(concepts_and_turns(event))}",
    touches=concepts_and_turns,
)
class Unpinned(GraphEvent, frozen=True, kw_only=True):
    """A user let these concepts and turns fade again."""

    src: Annotated[Ordinal | None, ALWAYS] = None
    concepts: list[str]
    turns: list[str]


@graph_event(
    EventTiming.UNTIMED,
    summary=lambda event: f"{'right' if event.value > 0 else 'wrong'}: {', '.join(event.turns)}",
    touches=concepts_and_turns,
)
class FeedbackGiven(GraphEvent, frozen=True, kw_only=True):
    """A user said of these turns that they were right, or wrong: `value` in [−1, 1].

    concepts  what the question asked for and what the turns say of it, strongest first: linked if they were right,
              and what recalls linked of them is loosened if they were wrong
    """

    src: Annotated[Ordinal | None, ALWAYS] = None
    turns: list[str]
    concepts: list[str]
    value: Annotated[float, Meta(ge=-1, le=1)]
