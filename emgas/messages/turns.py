"""What may be sent to the topic `turns`, and what comes back: a turn, or a request about a graph; an Outcome.

Every model is strict (no coercion), frozen, and forbids unknown fields: a misspelt field is an error that the sender
sees, never a value that is silently dropped.  Times are integer milliseconds since the epoch, UTC.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from emgas import limits
from emgas.messages.fields import GraphId, Message, Metadata, Milliseconds, Modality, Name, Position, Role, Text, Zone
from emgas.messages.memory_settings import PresetName, Settings, Weights
from emgas.messages.modes import Mode, Rerank
from emgas.messages.rights import Right


class Attachment(Message):
    """What came with a turn: a photo, a voice note, a file.  It stays where it is; its caption is remembered.

    caption  what is on it, or said in it: remembered as if it had been said
    sha256   of its bytes, hex, where somebody wants to know later that it is the same
    """

    uri: str = Field(min_length=1, max_length=2000)
    mime: str = Field("", max_length=200)
    kind: Modality = "image"
    caption: str = Field("", max_length=2000)
    sha256: str = Field("", pattern=r"^([0-9a-f]{64})?$")


class Turn(Message):
    """One utterance of a conversation.  `id` names it for ever: the same id again has no second effect.

    Of `metadata`, one entry means something: `timezone`, as Europe/Berlin, says where "yesterday" was said (else it was
    where the graph's people are, by `Configure.timezone`, else UTC).
    """

    right: ClassVar[Right] = "write"
    id: Name
    graph: GraphId = Field(description="whose memory: a user, an agent, a room; also the record's key")
    speaker: Name
    text: Text
    session: Name = "main"
    role: Role | None = None
    at: Milliseconds | None = Field(None, description="event time; without it, the broker's timestamp counts")
    metadata: Metadata = Field(default_factory=dict)
    importance: float | None = Field(
        None,
        ge=0,
        le=1,
        description="how much it matters, 0.5 as much as any other; without it, rules decide whether it matters more",
        exclude_if=lambda importance: importance is None,
    )
    attachments: list[Attachment] = Field(
        default_factory=list,
        max_length=limits.ATTACHMENTS,
        description="photos, voice notes, files that came with it",
        exclude_if=lambda attachments: not attachments,
    )


class Configure(Message):
    """How a graph is to live from here on: a preset, and what differs from it."""

    right: ClassVar[Right] = "admin"
    kind: Literal["configure"]
    id: Name
    graph: GraphId
    preset: PresetName = "default"
    settings: Settings = Field(default_factory=Settings)
    weights: Weights | None = Field(
        None,
        description="what features of a turn are worth in recall, where not the default; {}: the defaults; else as is",
        exclude_if=lambda weights: weights is None,
    )
    mode: Mode | None = Field(
        None,
        description="mode of questions that name none; else as is, or the preset's where that is another",
        exclude_if=lambda mode: mode is None,
    )
    rerank: Rerank | Literal["none"] | None = Field(
        None,
        description="formula of this system by which they are ordered; else as `mode`",
        exclude_if=lambda rerank: rerank is None,
    )
    timezone: Zone | None = Field(
        None,
        description="where its people are, as Europe/Berlin: of turns and questions that do not say; else as is",
        exclude_if=lambda timezone: timezone is None,
    )


class Forget(Message):
    """What a graph is to forget: concepts by id or surface form, turns and sessions by id.  Replay keeps the past.

    everything  all that it holds: its name, its settings and the ids of its turns stay known
    """

    right: ClassVar[Right] = "forget"
    kind: Literal["forget"]
    id: Name
    graph: GraphId
    concepts: list[Name] = Field(default_factory=list, max_length=limits.TOP)
    turns: list[Name] = Field(default_factory=list, max_length=limits.TOP)
    sessions: list[Name] = Field(default_factory=list, max_length=limits.TOP)
    everything: bool = Field(default=False, exclude_if=lambda everything: not everything)


class _Named(Message):
    """What a pin is put on, or taken off: concepts by id or surface form, turns by id."""

    right: ClassVar[Right] = "write"
    id: Name
    graph: GraphId
    concepts: list[Name] = Field(default_factory=list, max_length=limits.TOP)
    turns: list[Name] = Field(default_factory=list, max_length=limits.TOP)


class Pin(_Named):
    """What a graph is to keep in mind, whatever fades: never archived until it is unpinned."""

    kind: Literal["pin"]


class Unpin(_Named):
    """What may fade again as everything does."""

    kind: Literal["unpin"]


class Feedback(Message):
    """What somebody thinks of turns that came back: right, wrong, or something between.

    query  the question that they came back for: what it asks for is linked with what they say, if they were right
    value  from −1, wrong, to 1, right
    """

    right: ClassVar[Right] = "write"
    kind: Literal["feedback"]
    id: Name
    graph: GraphId
    turns: list[Name] = Field(min_length=1, max_length=limits.TOP)
    query: Text | None = None
    value: float = Field(ge=-1, le=1)


class Undo(Message):
    """Take back a graph's events `first`..`last` (None: to the newest), counted from 0.  Itself one of its events."""

    right: ClassVar[Right] = "forget"
    kind: Literal["undo"]
    id: Name
    graph: GraphId
    first: int = Field(ge=0, lt=2**63)
    last: int | None = Field(None, ge=0, lt=2**63)


class Erase(Message):
    """Erase content of an encrypted graph for ever: its keys are destroyed.  Exactly one of the three is given.

    turn: the turn of that id.  speaker: every turn that this speaker said.  whole: all of the graph.
    """

    right: ClassVar[Right] = "admin"
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


class Reinforce(Message):
    """What a question that asked to reinforce woke, told by the reader that answered it: it writes no events.

    concepts  ids of what it woke, strongest first     turns  ids of what it brought back from the archive
    at        when it was asked, ms
    """

    right: ClassVar[Right] = "write"
    kind: Literal["reinforce"]
    id: Name
    graph: GraphId
    concepts: list[Name] = Field(max_length=limits.TOP)
    turns: list[Name] = Field(default_factory=list, max_length=limits.TOP)
    at: Milliseconds


class Outcome(Message):
    """What became of a turn.  `duplicate`: its id was known with the same text, so nothing changed."""

    kind: Literal["outcome"] = "outcome"
    status: Literal["accepted", "duplicate", "rejected"]
    turn: str | None
    reason: str | None = None
    position: Position
