"""What travels on the wire: turns and queries going in, outcomes and replies coming back.

Every model is strict (no coercion), frozen, and forbids unknown fields: a misspelt field is an error that the sender
sees, never a value that is silently dropped.  Times are integer milliseconds since the epoch, UTC.  The JSON Schema
files in emgas/schema/ are generated from it (`python -m emgas.schema`).

    Turn, Configure, Forget, Undo ── topic turns ──▶ Outcome  (only if the headers ask for one)
    Query ── topic queries ──▶ Reply | Failure;   Describe ──▶ Description | Failure
    Inspect ─ topic queries ─▶ Inspection | Failure;   Checkpoint ──▶ Checkpointed | Failure
                                                       (to a partition, not to a graph: the record has no key)
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, TypeAdapter, model_validator

from emgas import limits
from emgas.explanations import Why
from emgas.fields import GraphId, Message, Metadata, Milliseconds, Name, Role, Text
from emgas.filters import Filter
from emgas.spreading import Spreading

Mode = Literal["default", "literal"]


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


class Settings(Message):
    """What may be changed about how a graph lives; what is not given keeps the preset's value (state/presets.py).

    Durations in ms.
    """

    half_life: int | None = Field(None, ge=1)
    stability: int | None = Field(None, ge=0, le=1000)
    prune_below: float | None = Field(None, ge=0, le=1)
    episode_life: int | None = Field(None, ge=0)
    recall_boost: float | None = Field(None, ge=0, le=10)
    long_windows: int | None = Field(None, ge=0)
    long_recalls: int | None = Field(None, ge=0)
    long_tau: int | None = Field(None, ge=1)
    long_beta: float | None = Field(None, ge=0.05, le=5)
    decay_every: int | None = Field(None, ge=1)
    consolidate_every: int | None = Field(None, ge=1)
    idle: int | None = Field(None, ge=1)
    grace: int | None = Field(None, ge=0)
    least_turns: int | None = Field(None, ge=1)
    duplicate_above: float | None = Field(None, gt=0, le=2)
    undo_events: int | None = Field(None, ge=0, le=2**53)


class Configure(Message):
    """How a graph is to live from here on: a preset, and what differs from it."""

    kind: Literal["configure"]
    id: Name
    graph: GraphId
    preset: Literal["default", "forgetful", "elephant", "memorybank", "mofox"] = "default"
    settings: Settings = Field(default_factory=lambda: Settings())


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


def _kind(message: object) -> str:
    """Return what a record of `turns` is; a turn need not say so."""
    kind = message.get("kind", "turn") if isinstance(message, dict) else getattr(message, "kind", "turn")
    return str(kind)


Inbound = Annotated[
    Annotated[Turn, Tag("turn")]
    | Annotated[Configure, Tag("configure")]
    | Annotated[Forget, Tag("forget")]
    | Annotated[Undo, Tag("undo")],
    Discriminator(_kind),
]
INBOUND: TypeAdapter[Turn | Configure | Forget | Undo] = TypeAdapter(Inbound)


class Query(Message):
    """A question to one graph.  It never changes state; `reinforce` asks for an event that does.

    Without `top_passages`, as many passages come back as the question needs, 3 to 20; `budget` alone decides how much
    context does.
    """

    kind: Literal["query"] = "query"
    graph: GraphId
    text: Text
    mode: Mode = "default"
    spreading: Spreading = Field(default_factory=lambda: Spreading())
    top_concepts: int = Field(10, ge=0, le=limits.TOP)
    top_passages: int | None = Field(None, ge=0, le=limits.TOP, exclude_if=lambda top: top is None)
    budget: int = Field(1000, ge=0, le=limits.CONTEXT_TOKENS, description="tokens of assembled context")
    after: int | None = Field(None, ge=0, description="answer once the turn at this offset of `turns` is folded")
    as_of: Milliseconds | None = Field(None, description="answer as of this time", exclude_if=lambda at: at is None)
    only: Filter = Field(default_factory=lambda: Filter(), exclude_if=lambda only: only == Filter())
    explain: bool = Field(False, description="say why each passage came", exclude_if=lambda explain: not explain)
    reinforce: bool = False

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.explain and self.mode == "literal":
            raise ValueError("only the default mode is explained: leave out `explain` or `mode`")
        if self.reinforce and self.as_of is not None:
            raise ValueError("the past cannot be reinforced: leave out `reinforce` or `as_of`")
        return self


class Inspect(Message):
    """A question to the owner of a partition: what do you hold, and what is its digest?"""

    kind: Literal["inspect"] = "inspect"
    digest: bool = Field(True, description="compute the digest too (reads every graph of the partition)")
    graphs_after: str | None = Field(None, description="tell the digests of the next graphs after this name, by name")


class Checkpoint(Message):
    """A wish to the owner of a partition: write a snapshot of what you hold to where you keep snapshots."""

    kind: Literal["checkpoint"] = "checkpoint"


class Describe(Message):
    """A question about a graph itself: its topics, its settings, how much it holds."""

    kind: Literal["describe"] = "describe"
    graph: GraphId
    after: int | None = Field(None, ge=0, description="answer once the record at this offset of `turns` is folded")


Request = Annotated[Query | Inspect | Describe | Checkpoint, Field(discriminator="kind")]
REQUEST: TypeAdapter[Query | Inspect | Describe | Checkpoint] = TypeAdapter(Request)


class ActivatedConcept(Message):
    """A concept that the query woke, and the strongest path by which its energy came (seed first, itself last)."""

    id: str
    label: str
    energy: float
    path: list[str]


class RecalledPassage(Message):
    """An old turn, and how well it answers."""

    id: str
    session: str
    speaker: str
    role: Role | None
    text: str
    at: int
    score: float
    why: Why | None = Field(None, description="if the query said `explain`", exclude_if=lambda why: why is None)


class Position(Message):
    """What the answer had seen: `watermark` is the offset in `events`, `source` the offset in `turns`, -1 for none."""

    partition: int
    watermark: int
    source: int


class Timing(Message):
    """Where the time went inside the owner, in milliseconds."""

    waited_ms: float
    recall_ms: float


class Reply(Message):
    """The answer to a query.  An unknown graph gives `found: false` and empty lists."""

    kind: Literal["reply"] = "reply"
    graph: str
    found: bool
    seeds: list[ActivatedConcept]
    concepts: list[ActivatedConcept]
    passages: list[RecalledPassage]
    context: str
    tokens: int
    position: Position
    timing: Timing


class Outcome(Message):
    """What became of a turn.  `duplicate`: its id was known with the same text, so nothing changed."""

    kind: Literal["outcome"] = "outcome"
    status: Literal["accepted", "duplicate", "rejected"]
    turn: str | None
    reason: str | None = None
    position: Position


class Inspection(Message):
    """What a partition's owner holds at `position`.

    turns        ids that were ever accepted, each once    concepts, pairs, topics   what is alive
    forgotten    concepts and turns that have left         digests                   by graph, in pages
    """

    kind: Literal["inspection"] = "inspection"
    position: Position
    digest: str | None
    graphs: int
    turns: int
    concepts: int
    pairs: int
    topics: int
    forgotten: int
    digests: dict[str, str] = Field(default_factory=dict)


class Checkpointed(Message):
    """A snapshot that was written: its name, where the state in it stands, and how large it is."""

    kind: Literal["checkpointed"] = "checkpointed"
    snapshot: str
    position: Position
    bytes: int


class Theme(Message):
    """A topic of a graph: its label, its concepts' labels (strongest first), and since when it exists (ms)."""

    id: str
    label: str
    concepts: list[str]
    born: int


class Description(Message):
    """What a graph holds.  An unknown graph gives `found: false`."""

    kind: Literal["description"] = "description"
    graph: str
    found: bool
    preset: str = "default"
    settings: dict[str, int | float] = Field(default_factory=dict)
    clock: int = 0
    turns: int = 0
    archived: int = 0
    concepts: int = 0
    long_term: int = 0
    themes: list[Theme] = Field(default_factory=list)
    position: Position


FailureCode = Literal["invalid", "wrong-partition", "not-yet", "expired", "overloaded", "internal"]


class Failure(Message):
    """A query that got no answer, and what to do about it."""

    kind: Literal["failure"] = "failure"
    code: FailureCode
    message: str


Answer = Annotated[Reply | Outcome | Inspection | Description | Checkpointed | Failure, Field(discriminator="kind")]
ANSWER: TypeAdapter[Reply | Outcome | Inspection | Description | Checkpointed | Failure] = TypeAdapter(Answer)
