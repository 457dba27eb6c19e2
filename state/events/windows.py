"""Events of windows: what consolidation, decay and dreams decide when time has passed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from emgas.times import format_utc
from state.events.base import ALWAYS, GraphEvent, Ordinal, Quantity
from state.events.extraction_types import (
    Exempt,
    Milliseconds,
)
from state.events.registry import EventTiming, concepts_and_turns, graph_event


class WindowEvent(GraphEvent, frozen=True, kw_only=True):
    """Base of a window's decisions; published in the topic `changes`."""


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
    """The change of one theme: its members and label from here on, and the themes that it came from."""

    id: str
    change: Fate
    label: str
    concepts: list[str]
    origins: list[str] = msgspec.field(default_factory=list)


@graph_event(EventTiming.WINDOW, summary=_consolidated, touches=_consolidation_touches)
class ConsolidationWindowClosed(WindowEvent, frozen=True, kw_only=True):
    """A session or tumbling window ended at `at` (ms).  It may leave several of them, each a part.

    consolidated  concepts that are long-term from here on
    topics        the themes that changed, and nothing of those that did not
    merged        (kept turn, dropped turn): the one that says less leaves the graph.  Only in logs of version 1
    repeats       (kept turn, its repetition): near-duplicates of one session: the one that says less goes to
                  the archive, and stays linked to the other
    active        turns that are active from here on, and
    pace          the pace of the next windows (MemorySettings.paced): written where windows adapt, in the last part
    links         concepts that are linked as if they had been recalled together
    """

    at: Milliseconds
    consolidated: list[str]
    topics: list[TopicChange]
    merged: Annotated[list[tuple[str, str]], ALWAYS] = msgspec.field(default_factory=list)
    repeats: Annotated[list[tuple[str, str]], ALWAYS] = msgspec.field(default_factory=list)
    active: Quantity = 0
    pace: Annotated[int, Meta(ge=-8, le=8)] = 0
    links: list[tuple[str, str]] = msgspec.field(default_factory=list)


@graph_event(
    EventTiming.WINDOW,
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
    EventTiming.WINDOW,
    summary=lambda event: f"dreamt of {', '.join(event.concepts) or 'nothing'}",
    touches=lambda event: (*event.concepts, *(end for link in event.links for end in link)),
)
class MemoryReplayed(WindowEvent, frozen=True, kw_only=True):
    """A window that ended at `at` (ms) went through what was touched in it, by random walks.

    seed      of the walks, derived from the graph and the window
    concepts  by which they came, each once: they are strengthened by `dream_boost`
    links     (where a walk began, where it ended): linked as if they had been recalled together
    """

    at: Milliseconds
    seed: Ordinal
    concepts: list[str]
    links: list[tuple[str, str]] = msgspec.field(default_factory=list)


@graph_event(
    EventTiming.WINDOW,
    summary=lambda event: f"forgot {', '.join(concepts_and_turns(event))}",
    touches=concepts_and_turns,
)
class DecayWindowClosed(WindowEvent, frozen=True, kw_only=True):
    """A tumbling window ended at `at` (ms): these concepts had faded by then, and these turns with the last of them.

    They are gone.  Kept because logs of version 1 hold some; what fades is archived since (MemoryArchived).
    """

    at: Milliseconds
    concepts: list[str]
    turns: list[str]


def _archived(event: MemoryArchived) -> str:
    links = sum(len(names) - 1 for names in event.links)
    faded = [f"{links} links"] if links else []
    return f"archived {', '.join((*event.concepts, *event.turns, *faded))}"


@graph_event(
    EventTiming.WINDOW,
    summary=_archived,
    touches=lambda event: (*concepts_and_turns(event), *chain.from_iterable(event.links)),
)
class MemoryArchived(WindowEvent, frozen=True, kw_only=True):
    """A tumbling window ended at `at` (ms): these concepts had faded by then, and these turns with the last of them.

    They leave the active tier and can still be found.  A window may leave several of them, each a part.

    `links`, written only where there are any: lists of concepts, the first linked no more with the others.
    """

    at: Milliseconds
    concepts: list[str]
    turns: list[str]
    links: list[Annotated[list[str], Meta(min_length=2)]] = msgspec.field(default_factory=list)


@graph_event(EventTiming.TIMED, summary=lambda event: f"it is {format_utc(event.at)}")
class Ticked(GraphEvent, frozen=True, kw_only=True):
    """Time reached `at` (ms) in a graph that is live but silent.

    Kept because the golden log of version 1 holds some, and because a look at the past gets its time from one; no
    worker writes it: window events tell the time.
    """

    at: Milliseconds
