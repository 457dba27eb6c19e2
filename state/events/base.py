"""The base classes of events: the version of the schema, and where an event stands in the log."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypedDict

from msgspec import Meta, Struct

from emgas import limits
from state.events.upcasting import VERSION

WRITTEN: Final = {"written": True}
ALWAYS: Final = Meta(extra=WRITTEN)  # a field that is written even where it has its default; others are left out then
Ordinal = Annotated[int, Meta(ge=0, le=2**63 - 1)]  # an offset, or a position in the chain
Quantity = Annotated[int, Meta(ge=0, le=2**31 - 1)]  # what an int32 column can keep
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
GraphId = Annotated[str, Meta(min_length=1, max_length=limits.GRAPH_ID_CHARACTERS)]  # the rest, before it is recorded


class Event(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", gc=False):
    """Base of all events: frozen, strict, unknown fields are an error (a newer writer must raise `v`).

    `kind` is the name of the class.  Bounds are checked where an event is written or read, not where it is made.
    """

    v: Literal[2] = VERSION  # the schema version: raised, with an upcaster, when a field changes


class Stamp(TypedDict):
    """The place of an event in the log; only the partition's writer knows it (state/log_position.py)."""

    epoch: int
    claim: str
    seq: int
    chain: str


UNSTAMPED: Final[Stamp] = {"epoch": -1, "claim": "", "seq": -1, "chain": ""}  # out of bounds: nothing encodes it


class DataEvent(Event, frozen=True, kw_only=True):
    """Base of every event that a claim's owner appends.  The fields of `Stamp` are required: no record lacks them."""

    epoch: Ordinal
    claim: str
    seq: Ordinal
    chain: str


class GraphEvent(DataEvent, frozen=True, kw_only=True):
    """Base of every graph event: it belongs to one graph, which is the fold of just these.

    `src`, of those that a request led to, is null in a graph that came from another log: its `turns` are elsewhere.
    """

    graph: GraphId
