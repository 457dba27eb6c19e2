"""The events: everything that the log may hold, as JSON records of the topic `events`.

    record    key = graph id for events of one graph, none for control events
              value = one JSON object

    Claim         v kind writer partitions nonce                 a worker takes the partition; its offset = the epoch
    Data events   v kind epoch claim seq chain [src] + facts     accepted only if they name the latest claim
                                                                 and seq is the next one (state/head.py)
      TurnRecorded     a turn and what extraction found in it (graph event)
      TurnDuplicated   a turn id that was known, same text: no effect but the source position (control event)
      TurnRejected     an input that could not be accepted; the bytes are in dead-letters (control event)
      ConceptsRecalled concepts that a reinforcing query woke (graph event)
      GraphConfigured  how this graph lives from here on: decay, thresholds, windows (graph event; a graph's first)
      Forgotten        what a user asked to forget (graph event)
      Ticked           stream time went on though nobody spoke (graph event)
      DecayWindowClosed          what faded below the threshold (graph event)
      ConsolidationWindowClosed  what became long-term, topics, merged passages (graph event)

`claim` is the start of the hash of the claim that lies at `epoch`: after a broker lost acknowledged records, two claims
may have lain at one offset.  `chain` is the first 8 bytes (hex) of the rolling sha256 over every claim and accepted
event before this one: a log that was rewritten under a state cannot go unnoticed.  `src` is the offset in `turns` that
the event accounts for.
Facts are recorded with the version that found them (`extractor`): a replay never extracts again.

Bounds stand here where the fold needs them: what `decode` lets through, the fold can apply and the store can keep.  An
event that failed half-way through the fold would leave a state that is no fold of anything.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from emgas.limits import SPANS_PER_TURN
from emgas.messages import GraphId, Milliseconds
from state.errors import UnreadableEvent
from state.presets import MemorySettings

Ordinal = Annotated[int, Field(ge=0, le=2**63 - 1)]  # an offset, or a position in the chain
Quantity = Annotated[int, Field(ge=0, le=2**31 - 1)]  # what an int32 column can keep


class Concept(NamedTuple):
    """A concept found in one turn.

    id      normalised text: the node's name ("framework"); marks that are not words start with "@" ("@day:2023-05-08")
    label   the surface form as it stood in the text ("frameworks")
    weight  importance in (0, 1], higher is more important, rounded to 6 digits (1 / (1 + YAKE score))
    count   how often it occurs in the turn, >= 1
    """

    id: str
    label: str
    weight: Annotated[float, Field(ge=0, le=1)]
    count: Annotated[int, Field(ge=1, le=2**31 - 1)]  # type: ignore[assignment]  # hides tuple.count, which nobody calls


class TimeSpan(NamedTuple):
    """A time expression of a turn and the time that it means, as the turn's event time resolves it.

    text   the expression as it stood in the text ("last week")
    since  ms since 1970, UTC: its first
    until  ms since 1970, UTC: the first that it no longer means; > since
    """

    text: str
    since: Milliseconds
    until: Milliseconds


class Event(BaseModel):
    """Base of all events: frozen, strict, unknown fields are an error (a newer writer must raise `v`)."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)
    v: Literal[1] = 1  # the schema version: raised, with an upcaster, when a field changes


class Claim(Event):
    """A worker takes the partition.  Its offset is the epoch: monotone, chosen by nobody.  No nonce is used twice."""

    kind: Literal["Claim"] = "Claim"
    writer: str
    partitions: Annotated[int, Field(ge=1, le=2**31 - 1)]
    nonce: str


class Data(Event):
    """Base of every event that a claim's owner appends."""

    epoch: Ordinal
    claim: str
    seq: Ordinal
    chain: str


class GraphData(Data):
    """Base of every graph event: it belongs to one graph, which is the fold of just these."""

    graph: GraphId


def _distinct(concepts: list[Concept]) -> list[Concept]:
    """Return `concepts`.  Raises ValueError when one is there twice: a concept would co-occur with itself."""
    if len({concept.id for concept in concepts}) < len(concepts):
        raise ValueError("a concept is there twice: sum up its counts")
    return concepts


class TurnRecorded(GraphData):
    """A turn was accepted.  `at` is its event time after clamping; `clamped` says that it lay in the future, `live`
    that it was recorded when it was said, not imported later: only a live graph is told the time when it falls silent.

    `question` and `tokens` are facts of the text that recall needs (does it ask; its length in words).
    """

    kind: Literal["TurnRecorded"] = "TurnRecorded"
    src: Ordinal
    id: str
    session: str
    speaker: str
    role: Literal["user", "assistant", "system", "tool"] | None
    text: str
    metadata: dict[str, str | int | float | bool | None]
    at: Milliseconds
    clamped: bool
    live: bool
    question: bool
    tokens: Quantity
    concepts: Annotated[list[Concept], AfterValidator(_distinct)]
    times: Annotated[list[TimeSpan], Field(max_length=SPANS_PER_TURN)]
    extractor: str


class TurnDuplicated(Data):
    """The graph knows this turn id with the same text: only the source position moves."""

    kind: Literal["TurnDuplicated"] = "TurnDuplicated"
    src: Ordinal
    graph: GraphId
    id: str


class TurnRejected(Data):
    """An input was refused; its bytes lie in dead-letters under (turns, partition, src)."""

    kind: Literal["TurnRejected"] = "TurnRejected"
    src: Ordinal
    reason: str


class ConceptsRecalled(GraphData):
    """A query that asked to reinforce woke these concepts at time `at` (ms)."""

    kind: Literal["ConceptsRecalled"] = "ConceptsRecalled"
    at: Milliseconds
    concepts: list[str]


class GraphConfigured(GraphData):
    """How the graph lives from here on.  A replay never reads anybody's configuration: all values are here."""

    kind: Literal["GraphConfigured"] = "GraphConfigured"
    src: Ordinal | None = None
    preset: str
    settings: MemorySettings


class Forgotten(GraphData):
    """A user asked to forget these concepts and turns; a session is recorded as its turns."""

    kind: Literal["Forgotten"] = "Forgotten"
    src: Ordinal
    concepts: list[str]
    turns: list[str]


class Ticked(GraphData):
    """Time reached `at` (ms) in a graph that is live but silent."""

    kind: Literal["Ticked"] = "Ticked"
    at: Milliseconds


class DecayWindowClosed(GraphData):
    """A tumbling window ended at `at` (ms): these concepts had faded by then, and these turns with the last of them."""

    kind: Literal["DecayWindowClosed"] = "DecayWindowClosed"
    at: Milliseconds
    concepts: list[str]
    turns: list[str]


class TopicChange(BaseModel):
    """What became of one topic: its members and label from here on, and the topics that it came from."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    id: str
    change: Literal["born", "changed", "merged", "split", "died"]
    label: str
    concepts: list[str]
    origins: list[str] = Field(default_factory=list)


class ConsolidationWindowClosed(GraphData):
    """A session or tumbling window ended at `at` (ms).

    consolidated  concepts that are long-term from here on
    topics        the topics that changed, and nothing of those that did not
    merged        (kept turn, dropped turn): near-duplicates, of which the one that says less leaves the graph
    """

    kind: Literal["ConsolidationWindowClosed"] = "ConsolidationWindowClosed"
    at: Milliseconds
    consolidated: list[str]
    topics: list[TopicChange]
    merged: list[tuple[str, str]]


WindowEvent = DecayWindowClosed | ConsolidationWindowClosed
GraphEvent = TurnRecorded | ConceptsRecalled | GraphConfigured | Forgotten | Ticked | WindowEvent
DataEvent = GraphEvent | TurnDuplicated | TurnRejected
AnyEvent = Claim | DataEvent
_READER: TypeAdapter[AnyEvent] = TypeAdapter(Annotated[AnyEvent, Field(discriminator="kind")])


def encode(event: AnyEvent) -> bytes:
    """Return the record value of `event`: compact JSON, fields in the order of the class."""
    return orjson.dumps(event.model_dump(mode="json"))


def decode(value: bytes) -> AnyEvent:
    """Return the event that a record value holds.  Raises UnreadableEvent, never skips."""
    try:
        return _READER.validate_json(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "record"
        raise UnreadableEvent(
            f"cannot read an event of the log ({where}: {first['msg']}). It was written by a newer version of EMGAS, "
            "or by a program that must not write to this topic. Run the version that wrote it; do not skip it."
        ) from None
