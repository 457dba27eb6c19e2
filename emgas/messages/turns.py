"""Messages of the topic `turns`, a turn or a request about a graph, and their answer, an Outcome.

Every model is strict (no coercion), frozen, and forbids unknown fields: a misspelt field is an error that the sender
sees, never a value that is silently dropped.  Times are integer milliseconds since the epoch, UTC.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from emgas import limits
from emgas.messages.fields import Attachment, GraphId, Metadata, Milliseconds, Name, Origin, Role, Text, Zone
from emgas.messages.requests import Command, Request
from emgas.messages.settings.memory_settings import PresetName, Settings, Weights
from emgas.messages.settings.modes import Mode, Rerank
from emgas.times import offset_of


class Turn(
    Command,
    example={
        "id": "t1",
        "speaker": "Ada",
        "text": "The vet prescribed ear drops for Biscuit.",
        "session": "2023-05-08",
        "role": "user",
        "at": 1683554160000,
        "metadata": {"channel": "phone"},
    },
):
    """One utterance of a conversation.  Its `id` is permanent: sending the same id again has no effect.

    One entry of `metadata` has a meaning: `timezone`, as Europe/Berlin, decides what "yesterday" means (by default, the
    graph's own zone, `Configure.timezone`, else UTC).
    """

    graph: GraphId = Field(description="whose memory: a user, an agent, a room; also the record's key")
    speaker: Name
    text: Text
    session: Name = "main"
    role: Role | None = None
    at: Milliseconds | None = Field(None, description="event time; by default the broker's timestamp")
    metadata: Metadata = Field(default_factory=dict)
    importance: float | None = Field(
        None,
        ge=0,
        le=1,
        description="how much it matters, 0.5 for a usual turn; without it, rules decide whether it matters more",
        exclude_if=lambda importance: importance is None,
    )
    attachments: list[Attachment] = Field(
        default_factory=list,
        max_length=limits.ATTACHMENTS,
        description="photos, voice notes and files that came with it",
        exclude_if=lambda attachments: not attachments,
    )
    origin: Origin | None = Field(
        None,
        description="where the text comes from; mode `inject` leaves out tool and web",
        exclude_if=lambda origin: origin is None,
    )
    expires_at: Milliseconds | None = Field(
        None,
        description="when it is forgotten, in the graph's time; without it, it is kept",
        exclude_if=lambda at: at is None,
    )

    @model_validator(mode="before")
    @classmethod
    def _keep_offset(cls, fields: Any) -> Any:
        """Keep the offset of `at` as the turn's time zone: 2025-03-12T00:30+08:00 is the 12th where it was said."""
        at = fields.get("at") if isinstance(fields, dict) else None
        metadata = (fields.get("metadata") or {}) if at is not None else None
        offset = offset_of(at) if isinstance(at, str) and "T" in at.upper() else None
        if offset is None or not isinstance(metadata, dict) or "timezone" in metadata:
            return fields
        return {**fields, "metadata": {**metadata, "timezone": offset}}

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.text.strip() and not self.attachments:
            raise ValueError("`text` is empty: a turn needs a text or an attachment")
        return self

    @model_validator(mode="after")
    def _expires_later(self) -> Self:
        if self.at is not None and self.expires_at is not None and self.expires_at <= self.at:
            raise ValueError("`expires_at` must be later than `at`")
        return self


class Configure(
    Request,
    right="admin",
    route="PUT /settings",
    example={"id": "c1", "preset": "default", "settings": {"half_life": 604800000}},
):
    """Configure a graph: a preset, and the settings that differ from it, replacing all earlier ones."""

    kind: Literal["configure"] = "configure"
    preset: PresetName = "default"
    settings: Settings = Field(default_factory=Settings)
    weights: Weights | None = Field(
        None,
        description="weights of features of turns in recall, where not the default; {}: the defaults; null: unchanged",
        exclude_if=lambda weights: weights is None,
    )
    mode: Mode | None = Field(
        None,
        description="mode of questions without one; null: unchanged, or the new preset's if the preset changes",
        exclude_if=lambda mode: mode is None,
    )
    rerank: Rerank | Literal["none"] | None = Field(
        None,
        description="the system whose formula orders their results; null: as for `mode`",
        exclude_if=lambda rerank: rerank is None,
    )
    timezone: Zone | None = Field(
        None,
        description="time zone of turns and questions without one, as Europe/Berlin; null: unchanged",
        exclude_if=lambda timezone: timezone is None,
    )


class _PinRequest(Request):
    """The concepts (by id or surface form) and turns (by id) of a pin."""

    concepts: list[Name] = Field(default_factory=list, max_length=limits.TOP)
    turns: list[Name] = Field(default_factory=list, max_length=limits.TOP)


class Pin(_PinRequest, route="POST /pin", example={"id": "p1", "concepts": ["peanut allergy"], "turns": ["t3"]}):
    """Pin concepts and turns: they do not fade, and are not archived, until they are unpinned."""

    kind: Literal["pin"] = "pin"


class Unpin(_PinRequest, route="POST /unpin", example={"id": "p2", "turns": ["t3"]}):
    """Unpin concepts and turns, so that they fade again."""

    kind: Literal["unpin"] = "unpin"


class Feedback(
    Request,
    route="POST /feedback",
    example={"id": "b1", "turns": ["t1"], "query": "what did the vet prescribe?", "value": 1.0},
):
    """Rate turns that came back: right, wrong, or something between."""

    kind: Literal["feedback"] = "feedback"
    turns: list[Name] = Field(min_length=1, max_length=limits.TOP)
    query: Text | None = Field(
        None, description="the question that they answered: its concepts are linked with theirs, if they were right"
    )
    value: float = Field(ge=-1, le=1, description="from −1, wrong, to 1, right")


class Undo(Request, right="forget", route="POST /undo", example={"id": "u1", "first": 41, "last": 43}):
    """Undo a graph's events `first`..`last` (null: up to the newest), counted from 0.  The undo is an event, too."""

    kind: Literal["undo"] = "undo"
    first: int = Field(ge=0, lt=2**63)
    last: int | None = Field(None, ge=0, lt=2**63)


class Erase(Request, right="admin", example={"id": "e1", "turn": "t17"}):
    """Permanently erase content of an encrypted graph by destroying its keys.  Set exactly one of the three fields.

    turn: the turn with this id.  speaker: every turn of this speaker.  whole: the whole graph.
    """

    kind: Literal["erase"] = "erase"
    turn: Name | None = None
    speaker: Name | None = None
    whole: bool = False

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if sum((self.turn is not None, self.speaker is not None, self.whole)) != 1:
            raise ValueError("set exactly one of turn, speaker and whole")
        return self


class Reinforce(Request, example={"id": "r1", "concepts": ["vet", "ear drops"], "at": 1683554160000}):
    """What a question with `reinforce` activated, reported by the reader that answered it: readers write no events.

    concepts  ids of the activated ones, strongest first     turns  ids of those found in the archive
    at        when it was asked, ms
    """

    kind: Literal["reinforce"] = "reinforce"
    concepts: list[Name] = Field(max_length=limits.TOP)
    turns: list[Name] = Field(default_factory=list, max_length=limits.TOP)
    at: Milliseconds
