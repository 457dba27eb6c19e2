"""Forgetting: the command, and the question what it would remove."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from emgas import limits
from emgas.messages.contents import RecordedTurn
from emgas.messages.fields import Message, Name, Position
from emgas.messages.requests import AnswerMessage, GraphQuestion, Request


class _Forgettable(Message):
    """What to forget: concepts by id or as written, turns and sessions by id, or everything."""

    concepts: list[Name] = Field(
        default_factory=list, max_length=limits.TOP, description="words, with every turn that mentions them"
    )
    turns: list[Name] = Field(default_factory=list, max_length=limits.TOP)
    sessions: list[Name] = Field(default_factory=list, max_length=limits.TOP)
    everything: bool = Field(
        default=False,
        description="the whole graph, except its name, its settings and the ids of its turns",
        exclude_if=lambda everything: not everything,
    )
    word_only: bool = Field(
        default=False,
        description="forget the concepts as words, and keep the turns that mention them and something else",
        exclude_if=lambda word_only: not word_only,
    )


class ForgetPreview(AnswerMessage):
    """What a request to forget would remove.  An unknown graph returns `found: false`.

    total      how many turns would be forgotten       turns    the latest of them, as they were said
    concepts   how many concepts would be forgotten    remains  how many turns would remain
    """

    kind: Literal["forgetpreview"] = "forgetpreview"
    graph: str
    found: bool
    total: int = 0
    concepts: int = 0
    remains: int = 0
    turns: list[RecordedTurn] = Field(default_factory=list)
    position: Position


class PreviewForget(
    _Forgettable, GraphQuestion, right="forget", example={"concepts": ["kettle"], "turns": ["t7"], "limit": 20}
):
    """List what a request to forget would remove.  Nothing is removed."""

    answer: ClassVar[type[ForgetPreview]] = ForgetPreview
    kind: Literal["previewforget"] = "previewforget"
    limit: int = Field(20, ge=0, le=limits.READ_TURNS, description="turns to show, at most")


class Forget(
    _Forgettable,
    Request,
    right="forget",
    route="POST /forget",
    preview=PreviewForget,
    example={"id": "f1", "concepts": ["kettle"], "turns": ["t7"]},
):
    """Forget concepts with the turns that mention them, turns and sessions.

    Nothing finds them any more.  The log still holds them, so an undo can restore them.
    """

    kind: Literal["forget"] = "forget"
    expected: int | None = Field(
        None,
        ge=0,
        description="refuse the request unless it forgets exactly so many turns, as a preview counted them",
        exclude_if=lambda expected: expected is None,
    )
