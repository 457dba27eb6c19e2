"""Extract from turns without storing them: a question and its answer.

    Extract(turns) ──▶ Extracted(turns, card, changes)          POST /v1/extract, `emgas look extract`

The record has no key: extraction needs no graph, so any partition's owner can answer.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from emgas import limits
from emgas.messages.fields import EntityKind, Message, Milliseconds, Name, Text
from emgas.messages.relations import Kind
from emgas.messages.requests import AnswerMessage, PartitionQuestion

TimeKind = Literal["span", "clock", "length", "set"]


class TurnText(Message):
    """A turn to read: who says what, when (by default now), in which language (by default the memory's)."""

    speaker: Name = "user"
    text: Text
    at: Milliseconds | None = Field(None, description="when it was said; now by default")
    language: Annotated[str, Field(pattern="^[a-z]{2,3}$")] | None = Field(
        None, description="of its times, ISO 639-1; by default the memory's, or Chinese"
    )


class ExtractedConcept(Message):
    """A node that the turn would have in the graph: its id, how it is written, its weight, and what it is, if known."""

    id: str
    label: str
    weight: float
    of: Kind | None = None


class ExtractedEntity(Message):
    """A name, the characters where it stands, and what it names."""

    start: int
    end: int
    text: str
    kind: EntityKind


class ExtractedTime(Message):
    """A time that a turn tells, the characters that tell it, and its meaning.

    span    [since, until), ISO 8601 by the clock of the speaker; null: open on that side
    clock   [since, until), minutes of a day
    length  seconds
    set     a rule that repeats, an RRULE of RFC 5545
    """

    start: int
    end: int
    text: str
    kind: TimeKind
    since: str | int | None = None
    until: str | int | None = None
    seconds: float | None = None
    rule: str | None = None
    direction: str | None = None


class ExtractedMention(Message):
    """A pronoun, whom or what it means, where that was named last ([turn, start, end]), and how surely."""

    start: int
    end: int
    means: str | list[str]
    at: list[int] | None = None
    confidence: float


class ExtractedRelation(Message):
    """A relation that a turn states, and the characters that state it."""

    subject: str
    relation: str
    object: str
    role: str | None = None
    confidence: float
    start: int
    end: int


class ExtractedTurn(Message):
    """What one turn is understood to say."""

    language: str
    question: bool
    concepts: list[ExtractedConcept]
    entities: list[ExtractedEntity]
    times: list[ExtractedTime]
    mentions: list[ExtractedMention]
    relations: list[ExtractedRelation]


class ExtractedChange(Message):
    """A value that a turn (its place in the request) replaces or ends: `new` is None if it ends."""

    subject: str
    slot: str
    old: str
    new: str | None
    turn: int


class Extracted(AnswerMessage):
    """What would be understood: of each turn, in order, and of the people in them.

    card     subject → slot → its values after the last turn
    changes  the values that later turns replace
    """

    kind: Literal["extracted"] = "extracted"
    turns: list[ExtractedTurn]
    card: dict[str, dict[str, list[str]]]
    changes: list[ExtractedChange]
    extractor: str = Field(description="what read the turns, with its version")


class Extract(
    PartitionQuestion,
    right="read",
    example={
        "turns": [
            {"speaker": "Ada", "text": "I moved to Porto yesterday.", "at": 1683554160000},
            {"speaker": "Ben", "text": "Do you like it there?"},
        ]
    },
):
    """Ask what the memory would understand of these turns, read as one session.  Nothing is stored."""

    answer: ClassVar[type[Extracted]] = Extracted
    kind: Literal["extract"] = "extract"
    turns: Annotated[list[TurnText], Field(min_length=1, max_length=limits.EXTRACTED_TURNS)]
