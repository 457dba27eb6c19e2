"""The union of all events that the log may hold, and their encoding as JSON records of the topic `events`.

    record    key = graph id for events of one graph, none for control events
              value = one JSON object

    Claim         v kind writer partitions nonce [anew] [source_topic]
                                                                 a worker takes the partition; its offset = the epoch
    Data events   v kind epoch claim seq chain [src] + facts     accepted only if they name the latest claim
                                                                 and seq is the next one (state/log_position.py)
      graph events   belong to one graph, which is the fold of just these
      control events do not: they only move the position in the log

An event is a value that says what happened.  The code that decides it makes it unstamped (`**UNSTAMPED`); the
partition's one writer stamps it with its place in the log on append (state/log_position.py).

    control.py   claims, and inputs that lead to no event of a graph     sessions.py  a conversation ended
    turns.py     a turn was accepted, embedded, or is out of date        access.py    rights
    requests.py  configure, recall, forget, undo, pin, feedback          advice.py    from advisors
    windows.py   consolidation, decay, dreams                            sealing.py   encryption and erasure

`claim` is the start of the hash of the claim that lies at `epoch`: after a broker lost acknowledged records, two claims
may have lain at one offset.  `chain` is the first 8 bytes (hex) of the rolling sha256 over every claim and accepted
event before this one: a log that was rewritten under a state cannot go unnoticed.  `src` is the offset in `turns` that
the event accounts for.
Facts are recorded with the version that found them (`extractor`, `model`): a replay never extracts or embeds again.

Fields have the bounds that the fold needs: it can apply, and the store can keep, every event that `decode` accepts.
An event that failed half-way through the fold would leave a state that is no fold of anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeVar, Union

import msgspec
import orjson
from pydantic import ValidationError

from state.errors import UnreadableEventError

# Every event and its parts can be imported from here; to import a file is to register its events.
from state.events.access import *
from state.events.advice import *
from state.events.base import *
from state.events.control import *
from state.events.extraction_types import TimeSpan
from state.events.memory_settings import MemorySettings
from state.events.registry import KINDS
from state.events.requests import *
from state.events.sealing import *
from state.events.sessions import *
from state.events.turns import *
from state.events.upcasting import as_present, upcast
from state.events.windows import *

EventT = TypeVar("EventT", bound="Event")


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
    """Encode an event; return its record value and what `decode` makes of it, so that it need not be decoded again.

    Raises ValueError as `encode`.
    """
    value = _turn(event) if isinstance(event, TurnRecorded) else _plain(event)
    try:
        read = _READER.decode(value)
    except msgspec.MsgspecError as error:
        if isinstance(event, DataEvent) and event.epoch < 0:
            raise ValueError(f"a {type(event).__name__} without an epoch: it must be stamped first") from None
        raise ValueError(f"an unreadable {type(event).__name__}: {error}") from None
    if read != event:
        raise ValueError(f"a {type(event).__name__} that would be read as another: {value[:500]!r}")
    return value, read


def _plain(event: AnyEvent) -> bytes:
    plain = msgspec.to_builtins(event, enc_hook=_dumped)
    return orjson.dumps({name: value for name, default in _FIELDS[type(event)] if (value := plain[name]) != default})


def _turn(turn: TurnRecorded) -> bytes:
    """Encode a turn, the most frequent event, in half the time that `_plain` would take.

    A concept is written without an unknown kind, and a time without more where it means days; numbers of any size are
    in metadata alone, and as `_plain` has them.
    """
    record = _TURN(*_turn_head(turn), type(turn).__name__, *_turn_facts(turn))
    record.concepts = [each if each.kind else _kindless(each) for each in turn.concepts]
    record.times = [each if _is_more(each) else (each.text, each.since, each.until) for each in turn.times]
    if turn.metadata:
        record.metadata = msgspec.Raw(orjson.dumps(turn.metadata))
    return _WRITER.encode(record)


def _is_more(span: TimeSpan) -> bool:
    """Return whether a time says more than its days."""
    return bool(span.kind or span.value) or span.confidence < 1


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
    """Build the error for a record of the log that this EMGAS cannot read."""
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
_ALWAYS = object()  # is written, whatever it is


def _fields(kind: type) -> list[tuple[str, Any]]:
    """List the fields of a kind in written order, each with the value at which it is omitted: its default."""
    inherited: Sequence[str] = kind.__bases__[0].__struct_fields__  # type: ignore[attr-defined]
    described: Any = msgspec.inspect.type_info(kind)
    default_by_name = {each.name: _omitted_at(each) for each in described.fields} | {"v": _ALWAYS, "kind": _ALWAYS}
    own = [name for name in kind.__struct_fields__ if name not in inherited]  # type: ignore[attr-defined]
    return [
        (name, default_by_name[name]) for name in (*inherited, "kind", *own)
    ]  # `kind` stands before what is its own


def _omitted_at(field: Any) -> Any:
    if getattr(field.type, "extra", None) == WRITTEN:
        return _ALWAYS
    default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    return _ALWAYS if default is msgspec.NODEFAULT else default


_FIELDS = {kind: _fields(kind) for kind in SCHEMA.__args__}
_TURN: Any = msgspec.defstruct(  # a turn as it is written: fields in that order, without those that hold their default
    "_TURN",
    [(name, Any) if default is _ALWAYS else (name, Any, default) for name, default in _FIELDS[TurnRecorded]],
    omit_defaults=True,
    gc=False,
)
_turn_head = attrgetter(*DataEvent.__struct_fields__, "graph")
_turn_facts = attrgetter(*TurnRecorded.__struct_fields__[len(GraphEvent.__struct_fields__) :])
_kindless = attrgetter("id", "label", "weight", "count")
_WRITER = msgspec.json.Encoder()
