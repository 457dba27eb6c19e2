"""Conversations: ending one, and what is in mind of the one that goes on: its working memory.

    EndSession ── topic turns ──▶ Outcome          Recent ── topic queries ──▶ InMind | Failure

What conversations there are, whether they go on and what they were about is told by Recap (views.py).
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from emgas import limits
from emgas.messages.contents import RecordedTurn
from emgas.messages.fields import GraphId, Message, Milliseconds, Name, Position
from emgas.messages.rights import Right

SessionState = Literal["working", "idle", "ended"]
EndReason = Literal["said", "idle", "size", "topic shift"]


class EndSession(Message):
    """A conversation is over: it is summed up and consolidated, and the next one inherits what it was about.

    What is said in the session from then on is another conversation under the same name.
    """

    right: ClassVar[Right] = "write"
    kind: Literal["endsession"]
    id: Name
    graph: GraphId
    session: Name = "main"


class Ending(Message):
    """How a conversation ended, at `at` (ms).  summary: what it was about, made of `turns` (ids), and `by` whom.

    topic  what it was about in a word or two, where its author says it
    """

    at: int
    reason: EndReason
    summary: str = ""
    turns: list[str] = Field(default_factory=list)
    by: str = ""
    topic: str = Field("", exclude_if=lambda topic: not topic)


class Recent(Message):
    """A question for what is in mind of a conversation, the latest one without a name: its last turns, and keywords."""

    kind: Literal["recent"] = "recent"
    graph: GraphId
    session: Name | None = None
    limit: int = Field(10, ge=0, le=limits.RING_TURNS)
    after: int | None = Field(None, ge=0, description="answer once the record at this offset of `turns` is folded")
    as_of: Milliseconds | None = Field(None, description="as the graph was at this time")


class Inherited(Message):
    """What the conversation before was about: recorded when it ended, or else read from it now, by `by`."""

    session: str
    at: int
    summary: str
    turns: list[str]
    by: str
    recorded: bool


class InMind(Message):
    """What is in mind of a conversation.  An unknown graph gives `found: false`.

    state      working: it goes on; idle: it fell silent; ended     turns      the last ones, in their order
    total      turns that are in mind in all                        keywords   its last ones, the latest last
    themes     what it touched, the latest first: labels            inherited  what the one before was about
    """

    kind: Literal["inmind"] = "inmind"
    graph: str
    found: bool
    session: str = ""
    state: SessionState = "idle"
    ended: Ending | None = None
    total: int = 0
    turns: Annotated[list[RecordedTurn], Field(max_length=limits.RING_TURNS)] = Field(default_factory=list)
    keywords: list[str] = Field(default_factory=list)
    themes: list[str] = Field(default_factory=list)
    inherited: Inherited | None = None
    paused: bool = Field(default=False, description="recalling is paused", exclude_if=lambda paused: not paused)
    position: Position
