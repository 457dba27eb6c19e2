"""Undo events: find the events of a graph that count, and fold just those.

    ordinal   0     1     2     3     4              5     6
    event     born  turn  turn  turn  Retracted 2–3  turn  Retracted 4–4
    counts    yes   yes   yes   yes   no             yes   yes                the undo was undone: 2 and 3 count again

A Retracted removes the earlier events of its range, including other Retracted events; a removed one removes nothing.
Only a later Retracted can remove one, so the last one always counts, and decides on those before it.
Ordinals stay what they were: an event that does not count is skipped, never removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from state.erasure import erased_by
from state.events.events import GraphEvent, Retracted, SubjectErased
from state.graph.graph import Graph
from state.sealing.keyring import NO_KEYS, Keyring, is_sealed, read, read_as

FOLDED_AT_ONCE: Final = 64  # events of one graph: decoded, they still fit into a processor's cache
_KINDS_TAKING_AWAY: Final = tuple(kind.__name__.encode() for kind in (Retracted, SubjectErased))


def surviving(events: Sequence[GraphEvent], first_ordinal: int = 0) -> list[bool]:
    """Decide which events count; `events` are a graph's from `first_ordinal` on, to the newest."""
    retractions = {place: event for place, event in enumerate(events) if isinstance(event, Retracted)}
    return still_counting(len(events), retractions, first_ordinal)


def still_counting(count: int, retractions: Mapping[int, Retracted], first_ordinal: int = 0) -> list[bool]:
    """Decide as `surviving`, for `count` events; these, by their place, are retractions."""
    survives = [True] * count
    for place in sorted(retractions, reverse=True):
        if survives[place]:
            first = max(0, retractions[place].first - first_ordinal)
            last = max(first, min(place, retractions[place].last - first_ordinal + 1))  # it may lie before all of them
            survives[first:last] = [False] * (last - first)
    return survives


def turned(events: Sequence[GraphEvent], undo: Retracted, first_ordinal: int = 0) -> list[GraphEvent]:
    """List which of `events`, as `surviving` has them, count otherwise once `undo` follows them."""
    before, after = surviving(events, first_ordinal), surviving([*events, undo], first_ordinal)
    return [event for event, counted, counts in zip(events, before, after, strict=False) if counted != counts]


def refolded(base: Graph, values: Sequence[bytes], keys: Keyring = NO_KEYS) -> Graph:
    """Go on with the graph's events from `base` on (record values): fold those that count, skip the others.

    base  the fold of what counts before: nothing in it may have been taken back or erased since; it is changed
    Raises UnreadableEventError, KeysError.
    """
    start = base.events
    retractions, erasures = _taking_away(values, start, keys)
    erased = erased_by(erasures)
    survives = still_counting(len(values), retractions, start)
    waiting = list[GraphEvent]()
    for place, value in enumerate(values):  # so many events decoded at once would fill the memory
        counts = survives[place] and place not in retractions
        standing = erased.standing(start + place, read_as(GraphEvent, value, keys)) if counts else None
        if standing is None or len(waiting) == FOLDED_AT_ONCE:
            base.fold_all(waiting)
            waiting = []
        if standing is None:
            base.skip()
        else:
            waiting.append(standing)
    base.fold_all(waiting)
    return base


def _taking_away(
    values: Sequence[bytes], start: int, keys: Keyring
) -> tuple[dict[int, Retracted], dict[int, SubjectErased]]:
    """Find the events that take others back, by place, and those that erase, by ordinal; `values` begin at `start`."""
    retractions, erasures = dict[int, Retracted](), dict[int, SubjectErased]()
    for place, value in enumerate(values):
        if not (is_sealed(value) or any(kind in value for kind in _KINDS_TAKING_AWAY)):
            continue  # without being decoded: nearly all of them
        event = read(value, keys)
        if isinstance(event, Retracted):
            retractions[place] = event
        elif isinstance(event, SubjectErased):
            erasures[start + place] = event
    return retractions, erasures
