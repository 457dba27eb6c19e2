"""Conversations: end one, and read the working memory of one.

    EndSession ── topic turns ──▶ Outcome          Recent ── topic queries ──▶ InMind | Failure

Recap (views.py) lists conversations, their states and their summaries.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from emgas import limits
from emgas.messages.contents import RecordedTurn
from emgas.messages.fields import Message, Name, Position
from emgas.messages.requests import AnswerMessage, PastQuestion, Request

SessionState = Literal["working", "idle", "ended"]
EndReason = Literal["said", "idle", "size", "topic shift"]


class EndSession(Request, route="POST /sessions/end", example={"id": "s1", "session": "2023-05-08"}):
    """End a conversation.  It is summarised and consolidated, and the next one starts with the summary.

    Later turns of the session are a new conversation under the same name.
    """

    kind: Literal["endsession"] = "endsession"
    session: Name = "main"


class Ending(Message):
    """How a conversation ended, at `at` (ms).  summary: a summary of `turns` (ids), and `by` whom.

    topic  its topic in a word or two, if the author of the summary names it
    """

    at: int
    reason: EndReason
    summary: str = ""
    turns: list[str] = Field(default_factory=list)
    by: str = ""
    topic: str = Field("", exclude_if=lambda topic: not topic)


class Inherited(Message):
    """The summary of the conversation before: recorded when it ended, or else computed now, by `by`."""

    session: str
    at: int
    summary: str
    turns: list[str]
    by: str
    recorded: bool


class InMind(AnswerMessage):
    """A conversation's working memory.  An unknown graph returns `found: false`.

    state      working, idle (no turn for a while) or ended     turns      the last ones, in their order
    total      turns in working memory in all                   keywords   its last ones, the latest last
    themes     labels of its themes, the latest first           inherited  the summary of the one before
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


class Recent(PastQuestion, route="GET /recent", example={"session": "2023-05-09", "limit": 3}):
    """Return a conversation's latest turns and keywords, and the summary of the one before it."""

    answer: ClassVar[type[InMind]] = InMind
    kind: Literal["recent"] = "recent"
    session: Name | None = Field(None, description="of this conversation, else of the latest one")
    limit: int = Field(10, ge=0, le=limits.RING_TURNS, description="turns, at most")
