"""What may be sent to the topic `turns`, and what comes back: a turn, or a request about a graph; an Outcome.

Every model is strict (no coercion), frozen, and forbids unknown fields: a misspelt field is an error that the sender
sees, never a value that is silently dropped.  Times are integer milliseconds since the epoch, UTC.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from emgas import limits
from emgas.messages.fields import GraphId, Message, Metadata, Milliseconds, Name, Position, Role, Text
from emgas.messages.memory_settings import PresetName, Settings


class Turn(Message):
    """One utterance of a conversation.  `id` names it for ever: the same id again has no second effect."""

    id: Name
    graph: GraphId = Field(description="whose memory: a user, an agent, a room; also the record's key")
    speaker: Name
    text: Text
    session: Name = "main"
    role: Role | None = None
    at: Milliseconds | None = Field(None, description="event time; without it, the broker's timestamp counts")
    metadata: Metadata = Field(default_factory=dict)


class Configure(Message):
    """How a graph is to live from here on: a preset, and what differs from it."""

    kind: Literal["configure"]
    id: Name
    graph: GraphId
    preset: PresetName = "default"
    settings: Settings = Field(default_factory=Settings)


class Forget(Message):
    """What a graph is to forget: concepts by id or surface form, turns and sessions by id.  Replay keeps the past."""

    kind: Literal["forget"]
    id: Name
    graph: GraphId
    concepts: list[Name] = Field(default_factory=list, max_length=limits.TOP)
    turns: list[Name] = Field(default_factory=list, max_length=limits.TOP)
    sessions: list[Name] = Field(default_factory=list, max_length=limits.TOP)


class Undo(Message):
    """Take back a graph's events `first`..`last` (None: to the newest), counted from 0.  Itself one of its events."""

    kind: Literal["undo"]
    id: Name
    graph: GraphId
    first: int = Field(ge=0, lt=2**63)
    last: int | None = Field(None, ge=0, lt=2**63)


class Erase(Message):
    """Erase content of an encrypted graph for ever: its keys are destroyed.  Exactly one of the three is given.

    turn: the turn of that id.  speaker: every turn that this speaker said.  whole: all of the graph.
    """

    kind: Literal["erase"]
    id: Name
    graph: GraphId
    turn: Name | None = None
    speaker: Name | None = None
    whole: bool = False

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if sum((self.turn is not None, self.speaker is not None, self.whole)) != 1:
            raise ValueError("give one of turn, speaker and whole")
        return self


class Outcome(Message):
    """What became of a turn.  `duplicate`: its id was known with the same text, so nothing changed."""

    kind: Literal["outcome"] = "outcome"
    status: Literal["accepted", "duplicate", "rejected"]
    turn: str | None
    reason: str | None = None
    position: Position
