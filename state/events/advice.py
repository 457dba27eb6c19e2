"""Events of advice: statements of an advisor, a model or a person outside the memory.  Advisors may be wrong.

Each names its author in `by`.  None changes a text: the turn stays, and the advice stands beside it.  A summary by an
advisor is a SessionSummarised.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from msgspec import Meta, Struct

from emgas import limits
from state.events.base import ALWAYS, GraphEvent, Ordinal
from state.events.registry import EventTiming, graph_event

Share = Annotated[float, Meta(ge=0, le=1)]
Span = tuple[
    Annotated[int, Meta(ge=0, le=limits.TEXT_BYTES)],
    Annotated[int, Meta(ge=0, le=limits.TEXT_BYTES)],
]
Of = Literal["turn", "habit"]


class AdviceEvent(GraphEvent, frozen=True, kw_only=True):
    """Base of advice.  by: the advisor, with its version ("gpt-x 1")."""

    src: Annotated[Ordinal | None, ALWAYS] = None
    by: Annotated[str, Meta(min_length=1, max_length=limits.NAME_CHARACTERS)]


class Rated(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """The relatedness of two concepts, by their ids: 0 not at all, 0.5 neither, 1 very."""

    source: Annotated[str, Meta(min_length=1)]
    target: Annotated[str, Meta(min_length=1)]
    rating: Share

    def __post_init__(self) -> None:
        """Raise ValueError for a concept that is rated with itself."""
        if self.source == self.target:
            raise ValueError("ratings: a concept is rated with itself")


@graph_event(
    EventTiming.UNTIMED,
    summary=lambda event: f"{event.topic} is named {event.name!r}",
    touches=lambda event: (event.topic,),
)
class TopicNamed(AdviceEvent, frozen=True, kw_only=True):
    """A theme has a name, beside the label of its strongest concepts."""

    topic: Annotated[str, Meta(min_length=1, max_length=200)]
    name: Annotated[str, Meta(min_length=1, max_length=limits.THEME_NAME_CHARACTERS)]


@graph_event(
    EventTiming.UNTIMED,
    summary=lambda event: ", ".join(f"{each.source} – {each.target}: {each.rating:g}" for each in event.ratings),
    touches=lambda event: (name for each in event.ratings for name in (each.source, each.target)),
)
class EdgesRated(AdviceEvent, frozen=True, kw_only=True):
    """Links between concepts are worth more, or less, than their counts of co-occurrence."""

    ratings: Annotated[list[Rated], Meta(min_length=1, max_length=limits.RATINGS)]


@graph_event(
    EventTiming.UNTIMED,
    summary=lambda event: f"{event.id} in other words: {event.text}",
    touches=lambda event: (event.id,),
)
class PassageRewritten(AdviceEvent, frozen=True, kw_only=True):
    """A turn, or what recurs, in other words, shown beside its own on request.  role: in whose words, "" no one's."""

    of: Of
    id: Annotated[str, Meta(min_length=1, max_length=limits.NAME_CHARACTERS)]
    text: Annotated[str, Meta(min_length=1, max_length=limits.REWRITTEN_CHARACTERS)]
    role: Annotated[str, Meta(max_length=limits.NAME_CHARACTERS)] = ""


@graph_event(
    EventTiming.UNTIMED,
    summary=lambda event: f"{event.turn} says {len(event.spans)} things",
    touches=lambda event: (event.turn,),
)
class PassageSplit(AdviceEvent, frozen=True, kw_only=True):
    """A turn says several things: the characters of its text, from start to end, of each, in their order."""

    turn: Annotated[str, Meta(min_length=1, max_length=limits.NAME_CHARACTERS)]
    spans: Annotated[list[Span], Meta(min_length=2, max_length=limits.SPLIT_PARTS)]

    def __post_init__(self) -> None:
        """Raise ValueError for parts that are empty, or overlap."""
        if any(start >= end for start, end in self.spans) or any(one[1] > two[0] for one, two in pairwise(self.spans)):
            raise ValueError("spans: one is empty, or overlaps the one before it")


@graph_event(
    EventTiming.UNTIMED,
    summary=lambda event: f"{event.turn} is worth {event.worth:g}",
    touches=lambda event: (event.turn,),
)
class WorthJudged(AdviceEvent, frozen=True, kw_only=True):
    """The worth of remembering a turn; below a half it goes to the archive, unless it stays there anyway.

    keywords  words of it that matter
    """

    turn: Annotated[str, Meta(min_length=1, max_length=limits.NAME_CHARACTERS)]
    worth: Share
    keywords: Annotated[list[str], Meta(max_length=limits.KEYWORDS)]
