"""Events of what was found in a graph: what a window decides, what is history since a turn, and what recurs.

They are events as all others (events.py), in a file of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from state.events.base import GraphEvent, Ordinal, Quantity
from state.events.extraction_types import Exempt, Milliseconds
from state.events.registry import Timing, graph_event


class WindowEvent(GraphEvent, frozen=True, kw_only=True):
    """Base of what a window decided; published in the topic `changes`."""


def _consolidated(event: ConsolidationWindowClosed) -> str:
    alike = len(event.merged) + len(event.repeats)
    return f"{len(event.consolidated)} concepts long-term, {len(event.topics)} topics, {alike} merged"


def _consolidation_touches(event: ConsolidationWindowClosed) -> Iterator[str]:
    yield from event.consolidated
    for change in event.topics:
        yield from (change.id, *change.concepts)
    for pair in (*event.merged, *event.repeats, *event.links):
        yield from pair


Fate = Literal["born", "changed", "merged", "split", "died"]


class TopicChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """What became of one theme: its members and label from here on, and the themes that it came from."""

    id: str
    change: Fate
    label: str
    concepts: list[str]
    origins: list[str] = msgspec.field(default_factory=list)


@graph_event(Timing.WINDOW, summary=_consolidated, touches=_consolidation_touches)
class ConsolidationWindowClosed(WindowEvent, frozen=True, kw_only=True):
    """A session or tumbling window ended at `at` (ms).  It may leave several of them, each a part.

    consolidated  concepts that are long-term from here on
    topics        the themes that changed, and nothing of those that did not
    merged        (kept turn, dropped turn): the one that says less leaves the graph.  Only in logs of version 1
    repeats       (kept turn, its repetition): near-duplicates of one session, of which the one that says less goes to
                  the archive, and stays linked to the other
    active        turns that are active from here on, and
    pace          the pace of the next windows (MemorySettings.paced): written where windows adapt, in the last part
    links         concepts that are linked as if they had been recalled together (processors/lifecycle/candidates.py)
    """

    at: Milliseconds
    consolidated: list[str]
    topics: list[TopicChange]
    merged: list[tuple[str, str]] = msgspec.field(default_factory=list)
    repeats: list[tuple[str, str]] = msgspec.field(default_factory=list)
    active: Quantity = 0
    pace: Annotated[int, Meta(ge=-8, le=8)] = 0
    links: list[tuple[str, str]] = msgspec.field(default_factory=list)


@graph_event(
    Timing.TIMED,
    summary=lambda event: f"{event.about}: {event.newer} supersedes {', '.join(event.older)}",
    touches=lambda event: (*event.older, event.newer),
)
class Superseded(GraphEvent, frozen=True, kw_only=True):
    """What the turns `older` say of `about` holds no more since the turn `newer`, said at `at` (ms): it is history.

    about  the slot of both statements ("lives in")
    """

    at: Milliseconds
    older: list[str]
    newer: str
    about: str


@graph_event(
    Timing.WINDOW,
    summary=lambda event: event.text or f"{event.id} is no habit any more",
    touches=lambda event: (event.id, *event.concepts, *event.members),
)
class MemoryConsolidated(WindowEvent, frozen=True, kw_only=True):
    """A window that ended at `at` (ms) found that something recurs, or that more of it has been said since.

    id          of the habit, new or known                speaker   whose it is
    text        what is said of it: a passage of its own  by        who wrote that ("template 1")
    concepts    ids of what all of it is about            members   ids of the turns that join it with this event
    count, days, first, last   of all its members: how many they are, on how many days, ms of the first and the last
    period      days from one day of it to the next, in the middle, in ms
    hours, weekdays            (24,) and (7,) members by hour and by day of the week, Monday first, where it was said
    exceptions  when it did not recur, as far as that is an exception
    """

    at: Milliseconds
    id: Annotated[str, Meta(min_length=1, max_length=200)]
    speaker: str
    text: str
    concepts: list[str]
    members: list[str]
    count: Quantity
    days: Quantity
    first: Milliseconds
    last: Milliseconds
    period: Ordinal
    hours: Annotated[list[Quantity], Meta(min_length=24, max_length=24)]
    weekdays: Annotated[list[Quantity], Meta(min_length=7, max_length=7)]
    exceptions: list[Exempt]
    by: str


@graph_event(
    Timing.WINDOW,
    summary=lambda event: f"dreamt of {', '.join(event.concepts) or 'nothing'}",
    touches=lambda event: (*event.concepts, *(end for link in event.links for end in link)),
)
class MemoryReplayed(WindowEvent, frozen=True, kw_only=True):
    """A window that ended at `at` (ms) went through what was touched in it, by random walks (SEEDS S23, P46).

    seed      of the walks, derived from the graph and the window
    concepts  by which they came, each once: they are strengthened by `dream_boost`
    links     (where a walk began, where it ended): linked as if they had been recalled together
    """

    at: Milliseconds
    seed: Ordinal
    concepts: list[str]
    links: list[tuple[str, str]] = msgspec.field(default_factory=list)
