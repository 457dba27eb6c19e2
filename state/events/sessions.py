"""Events of sessions: the end of a conversation, and its summary."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from emgas import limits
from state.events.base import ALWAYS, GraphEvent, Ordinal
from state.events.extraction_types import (
    Milliseconds,
)
from state.events.registry import EventTiming, graph_event

EndReason = Literal["said", "idle", "size", "topic shift"]


@graph_event(
    EventTiming.TIMED,
    summary=lambda event: f"session {event.session} ended ({event.reason})",
    touches=lambda event: (event.through,),
)
class SessionEnded(GraphEvent, frozen=True, kw_only=True):
    """A conversation ended at `at` (ms): what is said in it from then on is another one under the same name.

    reason   said: by a user; idle: silence; size: so many turns; topic shift: it went on about something else
    through  id of the last turn that belongs to what ended
    """

    src: Annotated[Ordinal | None, ALWAYS] = None
    at: Milliseconds
    session: str
    reason: EndReason
    through: str


@graph_event(
    EventTiming.TIMED,
    summary=lambda event: f"session {event.session}: {event.text}",
    touches=lambda event: event.turns,
    is_step=False,  # it goes with the end of the session
)
class SessionSummarised(GraphEvent, frozen=True, kw_only=True):
    """The summary of a conversation that ended at `at` (ms).

    turns  ids of the turns that the text is made of     by  who wrote it, with its version
    topic  what it was about in a word or two, where its author says it; written only where it does
    `src`, written only where an advisor wrote it: of its advice in `turns`
    `requested`, written only where it was, and `src` stayed in the log that the graph came from
    """

    src: Ordinal | None = None
    at: Milliseconds
    session: str
    text: Annotated[str, Meta(max_length=limits.SUMMARY_CHARACTERS)]
    turns: list[str]
    by: str
    topic: Annotated[str, Meta(max_length=limits.THEME_NAME_CHARACTERS)] = ""
    requested: bool = False
