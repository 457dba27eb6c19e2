"""The events: everything that the log may hold, as JSON records of the topic `events`.

    record    key = graph id for events of one graph, none for control events
              value = one JSON object

    Claim         v kind writer partitions nonce [anew] [source_topic]
                                                                 a worker takes the partition; its offset = the epoch
    Data events   v kind epoch claim seq chain [src] + facts     accepted only if they name the latest claim
                                                                 and seq is the next one (state/log_position.py)
      graph events   belong to one graph, which is the fold of just these
      control events do not: they only move the position in the log

An event is a value that says what happened.  It is made unstamped (`**UNSTAMPED`) by whoever decides it; where it lies
in the log is known to the one writer only, which stamps it on append (state/log_position.py).

`claim` is the start of the hash of the claim that lies at `epoch`: after a broker lost acknowledged records, two claims
may have lain at one offset.  `chain` is the first 8 bytes (hex) of the rolling sha256 over every claim and accepted
event before this one: a log that was rewritten under a state cannot go unnoticed.  `src` is the offset in `turns` that
the event accounts for.
Facts are recorded with the version that found them (`extractor`, `model`): a replay never extracts or embeds again.

Bounds stand here where the fold needs them: what `decode` lets through, the fold can apply and the store can keep.  An
event that failed half-way through the fold would leave a state that is no fold of anything.
"""

from __future__ import annotations

from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, Literal, TypeVar, Union

import msgspec
import orjson
from msgspec import Meta
from pydantic import ValidationError

from emgas import limits
from emgas.times import format_utc
from state.errors import UnreadableEventError
from state.events import vectors
from state.events.advice_events import EdgesRated, PassageRewritten, PassageSplit, TopicNamed, WorthJudged
from state.events.base import UNSTAMPED, DataEvent, Event, GraphEvent, GraphId, Ordinal, Quantity, Sha256, Stamp
from state.events.extraction_types import (
    STATEMENTS,
    UNITS,
    Anchor,
    Attached,
    Concept,
    Mention,
    Milliseconds,
    Relation,
    Statement,
    TimeSpan,
    Uncounted,
)
from state.events.found_events import (
    ConsolidationWindowClosed,
    Fate,
    MemoryConsolidated,
    MemoryReplayed,
    Superseded,
    TopicChange,
    WindowEvent,
)
from state.events.graph_configured import GraphConfigured
from state.events.memory_settings import MemorySettings
from state.events.opinions import FeedbackGiven, Pinned, Unpinned, concepts_and_turns
from state.events.registry import KINDS, Timing, control_event, graph_event
from state.events.sealing_events import Sealed, SubjectErased
from state.events.shared_events import (
    AccessGranted,
    AccessRevoked,
    EndReason,
    SessionEnded,
    SessionSummarised,
    TurnNotRecorded,
)
from state.events.upcasting import as_present, upcast

# Declared in files of their own, and known here, as all events are.
__all__ = [
    "UNSTAMPED",
    "AccessGranted",
    "AccessRevoked",
    "ConsolidationWindowClosed",
    "DataEvent",
    "EdgesRated",
    "EndReason",
    "Event",
    "Fate",
    "FeedbackGiven",
    "GraphConfigured",
    "GraphEvent",
    "MemoryConsolidated",
    "MemoryReplayed",
    "Ordinal",
    "PassageRewritten",
    "PassageSplit",
    "Pinned",
    "Sealed",
    "SessionEnded",
    "SessionSummarised",
    "Stamp",
    "SubjectErased",
    "Superseded",
    "TopicChange",
    "TopicNamed",
    "TurnNotRecorded",
    "Unpinned",
    "WindowEvent",
    "WorthJudged",
]

EventT = TypeVar("EventT", bound="Event")

_id_of = attrgetter("id")


@control_event
class Claim(Event, frozen=True, kw_only=True):
    """A worker takes the partition.  Its offset is the epoch: monotone, chosen by nobody.  No nonce is used twice.

    `anew`, written only where it is true: the log was restored, and `turns` is another topic than the one before.
    `source_topic`, written only where it is known: the id of the topic `turns` that sources are offsets in from here.
    """

    writer: str
    partitions: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    nonce: str
    anew: bool = False
    source_topic: str = ""


def _forgot(event: Forgotten | DecayWindowClosed) -> str:
    return f"forgot {', '.join((*event.concepts, *event.turns))}"


def _archived(event: MemoryArchived) -> str:
    links = sum(len(names) - 1 for names in event.links)
    faded = [f"{links} links"] if links else []
    return f"archived {', '.join((*event.concepts, *event.turns, *faded))}"


@graph_event(
    Timing.TIMED,
    summary=lambda event: f"{event.speaker}: {event.text}",
    touches=lambda event: (event.id, *(concept.id for concept in event.concepts)),
)
class TurnRecorded(GraphEvent, frozen=True, kw_only=True):
    """A turn was accepted.

    `at` is its event time after clamping; `clamped` says that it lay in the future, `live`
    that it was recorded when it was said, not imported later: only a live graph is told the time when it falls silent.

    `question` and `tokens` are facts of the text that recall needs (does it ask; its length in words).

    `importance`, written only where it is known, is what the sender said, else what the rule `anchor` gives.
    `statements`, written only where there are any, are what it says of how things are (processors/text/statements.py).
    `attachments` and `ahead`, the minutes by which the speaker's clock is ahead of UTC, likewise.
    `relations`, written only where there are any, is what it says of two concepts, this turn's or older ones.
    `mentions`, likewise, is whom its pronouns mean, in this turn or an older one of its session.

    What gates found (processors/lifecycle/gates.py), where a graph has any: `novelty`, how much it says that is new;
    `uncounted`, why it is in the log and in no count; `units`, which of its concepts, by their places, stand in one
    clause or window: only those count as said together, where it has any.
    """

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
    concepts: list[Concept]
    times: Annotated[list[TimeSpan], Meta(max_length=limits.SPANS_PER_TURN)]
    extractor: str
    importance: Annotated[float, Meta(ge=0, le=1)] | None = None
    anchor: Anchor | None = None
    statements: Annotated[list[Statement], Meta(max_length=STATEMENTS)] = msgspec.field(default_factory=list)
    attachments: Annotated[list[Attached], Meta(max_length=limits.ATTACHMENTS)] = msgspec.field(default_factory=list)
    ahead: Annotated[int, Meta(ge=-1440, le=1440)] = 0
    relations: Annotated[list[Relation], Meta(max_length=limits.RELATIONS_PER_TURN)] = msgspec.field(
        default_factory=list
    )
    mentions: Annotated[list[Mention], Meta(max_length=limits.MENTIONS_PER_TURN)] = msgspec.field(default_factory=list)
    novelty: Annotated[float, Meta(ge=0, le=1)] | None = None
    uncounted: Uncounted = ""
    units: Annotated[list[list[Quantity]], Meta(max_length=UNITS)] = msgspec.field(default_factory=list)

    def __post_init__(self) -> None:
        """Raise ValueError when a concept is there twice: or a unit holds one that is not there."""
        if len(set(map(_id_of, self.concepts))) < len(self.concepts):
            raise ValueError("concepts: one is there twice: sum up its counts")
        if self.units and any(place >= len(self.concepts) for unit in self.units for place in unit):
            raise ValueError("units: one holds a concept that the turn does not")


@graph_event(
    Timing.TIMED,
    summary=lambda event: f"{event.id} as a vector by {event.model}",
    touches=lambda event: (event.id,),
    is_step=False,  # it goes with its turn
)
class TurnEmbedded(GraphEvent, frozen=True, kw_only=True):
    """The vector of turn `id`, said at `at`, by `model`, "name version"; float16 (state/events/vectors.py)."""

    id: str
    at: Milliseconds
    model: str
    vector: Annotated[bytes, Meta(min_length=2, max_length=2 * limits.DIMENSIONS)]

    def __post_init__(self) -> None:
        """Raise ValueError for bytes that are no vector."""
        vectors.check(self.vector)


@control_event
class TurnDuplicated(DataEvent, frozen=True, kw_only=True):
    """The graph knows this turn id with the same text: only the source position moves."""

    src: Ordinal
    graph: GraphId
    id: str


@control_event
class TurnRejected(DataEvent, frozen=True, kw_only=True):
    """An input was refused; its bytes lie in dead-letters under (turns, partition, src)."""

    src: Ordinal
    reason: str


@control_event
class TurnsLost(DataEvent, frozen=True, kw_only=True):
    """The topic `turns` no longer holds the offsets `first`..`last`, and nobody had read them.

    They expired, or were deleted.  Reading goes on behind them; `src` is `last`.
    """

    src: Ordinal
    first: Ordinal
    last: Ordinal

    def __post_init__(self) -> None:
        """Raise ValueError for a range that is none, or that does not end at `src`."""
        if not self.first <= self.last == self.src:
            raise ValueError("last: lies before first, or is not src")


@control_event
class RecordSkipped(DataEvent, frozen=True, kw_only=True):
    """An operator decided that the record at `offset` of this partition of `events`, which nobody can read, never was.

    sha256  of its value, hex: another record there is not meant
    """

    offset: Ordinal
    sha256: Sha256
    reason: str


@graph_event(
    Timing.TIMED,
    summary=lambda event: f"recalled {', '.join(event.concepts)}",
    touches=lambda event: (*event.concepts, *event.related),
)
class ConceptsRecalled(GraphEvent, frozen=True, kw_only=True):
    """A query that asked to reinforce woke these concepts at time `at` (ms).

    `src`, written only where a reader answered and told it in `turns`, of this or of the MemoryRestored behind it.
    `related`, written only where a graph wants that (`recall_spread`): their neighbours, which get a share of it.
    """

    src: Ordinal | None = None
    at: Milliseconds
    concepts: list[str]
    related: list[str] = msgspec.field(default_factory=list)


@graph_event(Timing.UNTIMED, summary=_forgot, touches=concepts_and_turns)
class Forgotten(GraphEvent, frozen=True, kw_only=True):
    """A user asked to forget these concepts and turns; a session is recorded as its turns.

    What would be too large for a record is several events, of which the last has the source: until that one is there,
    the request is read again, and goes on with what is left.
    """

    src: Ordinal | None = None
    concepts: list[str]
    turns: list[str]


@graph_event(Timing.UNTIMED, summary=lambda event: f"takes back {event.first} to {event.last}")
class Retracted(GraphEvent, frozen=True, kw_only=True):
    """A user took back events `first`..`last` of the graph, counted from 0 (Graph.events); itself one that can be."""

    src: Ordinal
    first: Ordinal
    last: Ordinal

    def __post_init__(self) -> None:
        """Raise ValueError for a range that is none."""
        if self.last < self.first:
            raise ValueError("last: lies before first")


@graph_event(Timing.TIMED, summary=lambda event: f"it is {format_utc(event.at)}")
class Ticked(GraphEvent, frozen=True, kw_only=True):
    """Time reached `at` (ms) in a graph that is live but silent.

    Kept because the golden log of version 1 holds some, and because a look at the past is told its time by one; no
    worker writes it: window events tell the time.
    """

    at: Milliseconds


@graph_event(Timing.WINDOW, summary=_forgot, touches=concepts_and_turns)
class DecayWindowClosed(WindowEvent, frozen=True, kw_only=True):
    """A tumbling window ended at `at` (ms): these concepts had faded by then, and these turns with the last of them.

    They are gone.  Kept because logs of version 1 hold some; what fades is archived since (MemoryArchived).
    """

    at: Milliseconds
    concepts: list[str]
    turns: list[str]


@graph_event(
    Timing.WINDOW,
    summary=_archived,
    touches=lambda event: (*concepts_and_turns(event), *chain.from_iterable(event.links)),
)
class MemoryArchived(WindowEvent, frozen=True, kw_only=True):
    """A tumbling window ended at `at` (ms): these concepts had faded by then, and these turns with the last of them.

    They leave the active tier and can still be found.  A window may leave several of them, each a part.

    `links`, written only where there are any: lists of concepts of which the first is linked no more with the others.
    """

    at: Milliseconds
    concepts: list[str]
    turns: list[str]
    links: list[Annotated[list[str], Meta(min_length=2)]] = msgspec.field(default_factory=list)


@graph_event(
    Timing.TIMED,
    summary=lambda event: f"restored {', '.join((*event.concepts, *event.turns))}",
    touches=concepts_and_turns,
    is_step=False,  # it goes with the recall that did it
)
class MemoryRestored(GraphEvent, frozen=True, kw_only=True):
    """A query that asked to reinforce brought these back from the archive at time `at` (ms).

    `src`  as of the recall
    """

    src: Ordinal | None = None
    at: Milliseconds
    concepts: list[str]
    turns: list[str]


AnyEvent = Claim | DataEvent


def source_of(event: object) -> int | None:
    """Read the offset in `turns` that an event accounts for, None if it came about otherwise."""
    return getattr(event, "src", None)


def encode(event: AnyEvent) -> bytes:
    """Encode an event as its record value: compact JSON, fields in the order of the class, `kind` before its own.

    Raises ValueError for an event that could not be read back as it is.
    """
    return written(event)[0]


def written(event: AnyEvent) -> tuple[bytes, AnyEvent]:
    """Encode an event, and give with its record value what `decode` makes of that, so that nobody needs to ask again.

    Raises ValueError as `encode`.
    """
    value = _turn(event) if isinstance(event, TurnRecorded) else _plain(event)
    try:
        read = _READER.decode(value)
    except msgspec.MsgspecError as error:
        if isinstance(event, DataEvent) and event.epoch < 0:
            raise ValueError(f"a {type(event).__name__} without an epoch: it must be stamped first") from None
        raise ValueError(f"a {type(event).__name__} that nobody could read: {error}") from None
    if read != event:
        raise ValueError(f"a {type(event).__name__} that would be read as another: {value[:500]!r}")
    return value, read


def _plain(event: AnyEvent) -> bytes:
    plain = msgspec.to_builtins(event, enc_hook=_dumped)
    return orjson.dumps({name: said for name, unsaid in _FIELDS[type(event)] if (said := plain[name]) != unsaid})


def _turn(turn: TurnRecorded) -> bytes:
    """Encode a turn, of which there are more than of all else, in half the time that `_plain` would take.

    A concept is written without an unknown kind, and a time without more where it means days; numbers of any size are
    in metadata alone, and as `_plain` has them.
    """
    said = _TURN(*_turn_head(turn), type(turn).__name__, *_turn_facts(turn))
    said.concepts = [each if each.kind else _kindless(each) for each in turn.concepts]
    said.times = [each if each.kind else (each.text, each.since, each.until) for each in turn.times]
    if turn.metadata:
        said.metadata = msgspec.Raw(orjson.dumps(turn.metadata))
    return _WRITER.encode(said)


def decode(value: bytes) -> AnyEvent:
    """Decode the event that a record value holds.  Raises UnreadableEventError, never skips."""
    try:
        return _READER.decode(as_present(value))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError) as error:  # TypeError: a tombstone
        return _decode_older(value, error)


def decode_as(kind: type[EventT], value: bytes) -> EventT:
    """Decode a record value that can only hold one kind of event.  Raises UnreadableEventError for any other."""
    event = decode(value)
    if not isinstance(event, kind):
        raise unreadable(TypeError(f"{type(event).__name__} where only a {kind.__name__} can stand"))
    return event


def _decode_older(value: bytes, error: Exception) -> AnyEvent:
    """Decode an event of an older version.  Raises UnreadableEventError, with `error` in words, for others."""
    try:
        plain = upcast(orjson.loads(value))
        if plain is not None:
            return _converted(plain)
    except (orjson.JSONDecodeError, msgspec.MsgspecError) as wrong:
        error = wrong if isinstance(wrong, msgspec.MsgspecError) else error
    raise unreadable(error) from None


def _converted(plain: dict[str, Any]) -> AnyEvent:
    event: AnyEvent = msgspec.convert(plain, SCHEMA, dec_hook=_validated)
    return event


def unreadable(why: Exception) -> UnreadableEventError:
    """Say of a record of the log that it is no event that this EMGAS reads, and why."""
    return UnreadableEventError(
        f"cannot read an event of the log ({why}). It was written by a newer version of EMGAS, "
        "or by a program that must not write to this topic. Run the version that wrote it; do not skip it."
    )


def _dumped(value: Any) -> dict[str, Any]:
    if isinstance(value, MemorySettings):
        return value.model_dump()
    raise NotImplementedError(f"no event holds a {type(value).__name__}")


def _validated(kind: type, value: Any) -> Any:
    try:
        return kind.model_validate(value)  # type: ignore[attr-defined]  # MemorySettings: nothing else is a model
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'])) or 'record'}: {first['msg']}") from None


SCHEMA: Any = Union[tuple(KINDS)]  # noqa: UP007 - of every record of the log; only known when all are registered
_READER: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(SCHEMA, dec_hook=_validated)
_UNSAID = {
    "anew": False,
    "source_topic": "",
    "importance": None,
    "anchor": None,
    "statements": [],
    "attachments": [],
    "ahead": 0,
    "relations": [],
    "mentions": [],
    "weights": {},
    "mode": "default",
    "rerank": "",
    "timezone": "UTC",
    "active": 0,
    "pace": 0,
    "novelty": None,
    "uncounted": "",
    "units": [],
    "related": [],
    "links": [],
}  # written only where they differ
_UNSAID_OF: dict[type, dict[str, Any]] = {
    **{kind: {"src": None} for kind in (ConceptsRecalled, MemoryRestored)},
    SessionSummarised: {"src": None, "topic": ""},
    PassageRewritten: {"role": ""},
}
_ALWAYS = object()  # is written, whatever it is


def _fields(kind: type) -> list[tuple[str, Any]]:
    """List the fields of a kind as they are written, each with the value for which it is not."""
    inherited, all_of_it = kind.__bases__[0].__struct_fields__, kind.__struct_fields__  # type: ignore[attr-defined]
    unsaid = _UNSAID | _UNSAID_OF.get(kind, {})
    names = [*inherited, "kind", *all_of_it[len(inherited) :]]  # `kind` stands before what is its own
    return [(name, unsaid.get(name, _ALWAYS)) for name in names]


_FIELDS = {kind: _fields(kind) for kind in SCHEMA.__args__}
_TURN: Any = msgspec.defstruct(  # a turn as it is written: fields in that order, of which those that say nothing go
    "_TURN",
    [(name, Any) if unsaid is _ALWAYS else (name, Any, unsaid) for name, unsaid in _FIELDS[TurnRecorded]],
    omit_defaults=True,
    gc=False,
)
_turn_head = attrgetter(*DataEvent.__struct_fields__, "graph")
_turn_facts = attrgetter(*TurnRecorded.__struct_fields__[len(GraphEvent.__struct_fields__) :])
_kindless = attrgetter("id", "label", "weight", "count")
_WRITER = msgspec.json.Encoder()
