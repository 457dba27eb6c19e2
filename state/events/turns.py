"""Events of turns: one was accepted, has a vector, replaces older ones, or came while recording was paused."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from emgas import limits
from emgas.messages.fields import Origin
from state.events import vectors
from state.events.base import ALWAYS, GraphEvent, Ordinal, Quantity
from state.events.extraction_types import (
    FACTS,
    STATEMENTS,
    UNITS,
    Anchor,
    Attached,
    Concept,
    Fact,
    Mention,
    Milliseconds,
    Relation,
    Statement,
    TimeSpan,
    Uncounted,
)
from state.events.registry import EventTiming, concepts_and_turns, graph_event

_id_of = attrgetter("id")


@graph_event(
    EventTiming.TIMED,
    summary=lambda event: f"{event.speaker}: {event.text}",
    touches=lambda event: (event.id, *(concept.id for concept in event.concepts)),
)
class TurnRecorded(GraphEvent, frozen=True, kw_only=True):
    """A turn was accepted.

    `at` is its event time after clamping; `clamped` says that it lay in the future, `live`
    that it was recorded when it was said, not imported later: only a live graph gets ticks when it falls silent.

    `question` and `tokens` are facts of the text that recall needs (does it ask; its length in words).

    `importance`, written only where it is known, is what the sender said, else what the rule `anchor` gives.
    `statements`, written only where there are any, are what it says of how things are (processors/text/statements.py).
    `facts`, likewise, are what it says of people (processors/text/facts/facts.py).
    `attachments` and `ahead`, the minutes by which the speaker's clock is ahead of UTC, likewise.
    `relations`, written only where there are any, is what it says of two concepts, this turn's or older ones.
    `mentions`, likewise, is whom its pronouns mean, in this turn or an older one of its session.

    `origin`, where the text comes from, and `expires_at`, when it is forgotten, are as its sender wrote them.

    What gates found (processors/lifecycle/gates.py), where a graph has any: `novelty`, how much it says that is new;
    `uncounted`, why it is in the log and in no count; `units`, which of its concepts, by their places, stand in one
    clause or window: only those count as said together, where it has any.
    """

    src: Annotated[Ordinal | None, ALWAYS] = None
    id: str
    session: str
    speaker: str
    role: Literal["user", "assistant", "system", "tool"] | None
    text: str
    metadata: dict[str, str | int | float | bool | None]
    at: Milliseconds
    clamped: bool
    live: bool
    question: bool
    tokens: Quantity
    concepts: list[Concept]
    times: Annotated[list[TimeSpan], Meta(max_length=limits.SPANS_PER_TURN)]
    extractor: str
    importance: Annotated[float, Meta(ge=0, le=1)] | None = None
    anchor: Anchor | None = None
    statements: Annotated[list[Statement], Meta(max_length=STATEMENTS)] = msgspec.field(default_factory=list)
    attachments: Annotated[list[Attached], Meta(max_length=limits.ATTACHMENTS)] = msgspec.field(default_factory=list)
    ahead: Annotated[int, Meta(ge=-1440, le=1440)] = 0
    relations: Annotated[list[Relation], Meta(max_length=limits.RELATIONS_PER_TURN)] = msgspec.field(
        default_factory=list
    )
    mentions: Annotated[list[Mention], Meta(max_length=limits.MENTIONS_PER_TURN)] = msgspec.field(default_factory=list)
    novelty: Annotated[float, Meta(ge=0, le=1)] | None = None
    uncounted: Uncounted = ""
    units: Annotated[list[list[Quantity]], Meta(max_length=UNITS)] = msgspec.field(default_factory=list)
    facts: Annotated[list[Fact], Meta(max_length=FACTS)] = msgspec.field(default_factory=list)
    origin: Origin | None = None
    expires_at: Milliseconds | None = None

    def __post_init__(self) -> None:
        """Raise ValueError when a concept is there twice: or a unit holds one that is not there."""
        if len(set(map(_id_of, self.concepts))) < len(self.concepts):
            raise ValueError("concepts: one is there twice: sum up its counts")
        if self.units and any(place >= len(self.concepts) for unit in self.units for place in unit):
            raise ValueError("units: one holds a concept that the turn does not")


@graph_event(
    EventTiming.TIMED,
    summary=lambda event: f"{event.id} as a vector by {event.model}",
    touches=lambda event: (event.id,),
    is_step=False,  # it goes with its turn
)
class TurnEmbedded(GraphEvent, frozen=True, kw_only=True):
    """The vector of turn `id`, said at `at`, by `model`, "name version"; float16 (state/events/vectors.py)."""

    id: str
    at: Milliseconds
    model: str
    vector: Annotated[bytes, Meta(min_length=2, max_length=2 * limits.DIMENSIONS)]

    def __post_init__(self) -> None:
        """Raise ValueError for bytes that are no vector."""
        vectors.check(self.vector)


@graph_event(
    EventTiming.TIMED,
    summary=lambda event: f"{event.about}: {event.newer} supersedes {', '.join(event.older)}",
    touches=lambda event: (*event.older, event.newer),
)
class Superseded(GraphEvent, frozen=True, kw_only=True):
    """The turn `newer`, said at `at` (ms), supersedes what the turns `older` state of `about`: they are outdated.

    about  the slot of both statements ("lives in")
    """

    at: Milliseconds
    older: list[str]
    newer: str
    about: str


@graph_event(
    EventTiming.TIMED,
    summary=lambda event: f"expired: {', '.join(event.turns)}",
    touches=concepts_and_turns,
)
class TurnsExpired(GraphEvent, frozen=True, kw_only=True):
    """Turns reached their `expires_at` at `at` (ms), and are forgotten with the concepts that only they mention."""

    at: Milliseconds
    concepts: list[str]
    turns: list[str]


@graph_event(EventTiming.UNTIMED, summary=lambda event: "a turn came while recording was paused", is_step=False)
class TurnNotRecorded(GraphEvent, frozen=True, kw_only=True):
    """A turn arrived while the graph did not record: only its arrival is kept, not even its id."""

    src: Annotated[Ordinal | None, ALWAYS] = None
