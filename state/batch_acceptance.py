"""Many records judged at once, for a fold that takes them graph by graph: decoded only as far as the head needs.

    judged    head, records in the order of the log  →  head after them, and what each graph has to fold, in order

A graph is the fold of its own events, so the order of events of different graphs does not matter to it; and a graph
whose events come one after another finds its tables in the processor's cache.  The values wait undecoded: as events
they would be several times as large.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import msgspec
from msgspec.structs import replace

from state.events.events import GraphData, GraphEvent, decode
from state.events.upcasting import VERSION
from state.log_position import Acceptance, LogPosition, Outline, fingerprint

Runs = dict[str, list[bytes]]  # graph → the record values of its events


def judged(head: LogPosition, records: Iterable[tuple[int, bytes]]) -> tuple[LogPosition, Runs]:
    """Return the head after the records (offset, value), and what graphs have to fold, of which nothing is checked.

    Raises as `LogPosition.after`, and UnreadableEventError for every other record.
    """
    runs: Runs = {}
    value = None
    for offset, value in records:
        event = _outline(value) or decode(value)
        head, verdict = head.after(offset, event, value, is_last=False)
        if verdict is not Acceptance.ACCEPTED:
            decode(value)  # what does not count must be readable as well: a newer version may know better
        elif isinstance(event, (Outline, GraphData)):
            runs.setdefault(event.graph, []).append(value)
    return (head if value is None else replace(head, last=fingerprint(value))), runs


def _outline(value: bytes) -> Outline | None:
    """Return the outline of a graph event of this version, None for anything else."""
    try:
        outline = _READER.decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError):
        return None
    return outline if outline.kind in _KINDS and outline.v == VERSION else None


_READER = msgspec.json.Decoder(Outline)
_KINDS = {kind.__name__ for kind in get_args(GraphEvent)}
