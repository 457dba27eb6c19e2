"""Events of the log itself: claims of writers, and inputs that lead to no event of a graph.

They belong to no graph's fold: they only move the position in the log.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from state.events.base import DataEvent, Event, GraphId, Ordinal, Sha256
from state.events.registry import control_event

Tag = Annotated[str, Meta(pattern=r"^([0-9a-f]{16})?\Z")]


@control_event
class Claim(Event, frozen=True, kw_only=True):
    """A worker takes the partition.  Its offset is the epoch: monotone, not chosen.  No nonce is used twice.

    `anew`, written only where it is true: the log was restored, and `turns` is another topic than the one before.
    `source_topic`, written only where it is known: the id of the topic `turns` that sources are offsets in from here.
    """

    writer: str
    partitions: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    nonce: str
    anew: bool = False
    source_topic: str = ""


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
    """The topic `turns` no longer holds the offsets `first`..`last`, and they had not been read.

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
    """An operator decided that the record at `offset` of this partition of `events`, which is unreadable, never was.

    sha256  of its value, hex: another record there is not meant
    """

    offset: Ordinal
    sha256: Sha256
    reason: str


@control_event
class QuotaSet(DataEvent, frozen=True, kw_only=True):
    """A graph may take so many turns and bytes from here on, or any again (state/standing/quotas.py).

    subject  a hash of who sends them; "" for all
    """

    src: Ordinal
    graph: GraphId
    subject: Tag = ""
    turns: Ordinal | None = None
    bytes: Ordinal | None = None


@control_event
class QuotaCounted(DataEvent, frozen=True, kw_only=True):
    """A turn of a graph with a quota counts: the one at offset `of` of `turns`, which is recorded next.

    subject  a hash of who sent it; "" for one without a subject
    bytes    of its record
    """

    graph: GraphId
    subject: Tag = ""
    of: Ordinal
    bytes: Ordinal


@control_event
class GraphReceived(DataEvent, frozen=True, kw_only=True):
    """A graph comes from another log: its events follow, until this is `complete` (state/standing/placement.py).

    origin  what tells its history from others (replay/transfer.py)
    events  of it that were here already, where it left before; if it is complete: all that came
    hop     number of the move that brings it; 0 for a copy
    """

    src: Ordinal | None = None
    graph: GraphId
    origin: Sha256
    complete: bool = False
    events: Ordinal = 0
    hop: Ordinal = 0


@control_event
class GraphMoved(DataEvent, frozen=True, kw_only=True):
    """A graph goes to another place: from here on, nothing is accepted for it.

    phase   leaving: it still answers; left: it answers nothing; stayed: it does not go after all
    origin  what tells its history from others, so that it can come back
    events  of it that stay here
    hop     number of this move: how many of the graph's moves had begun by then, wherever; those cancelled count
    """

    src: Ordinal
    graph: GraphId
    to: Annotated[str, Meta(min_length=1, max_length=1000)]
    phase: Literal["leaving", "left", "stayed"]
    origin: Sha256 | None = None
    events: Ordinal = 0
    hop: Ordinal = 0
