"""What is in a graph and what changed in it, told to whoever asked: turns as they were said, names, two moments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import orjson

from emgas import limits
from emgas.messages.contents import Graphs, List, Read, RecordedTurn, Turns
from emgas.messages.pictures import ChangedConcept, ChangedTheme, Compare, Compared, GrownPair
from emgas.messages.sessions import InMind, Recent
from emgas.messages.views import Explore, Explored, Habits, Recap, Recapped, Recurring, Trend, Trended
from processors.extraction.extractor import Extractor
from processors.lifecycle.steps import Steps
from processors.recall.answer.answer import Memory, advised, concept_ids
from processors.recall.reports.habits import recurring
from processors.recall.reports.neighbourhood import explored
from processors.recall.reports.session_summaries import recapped
from processors.recall.reports.trends import trended
from processors.recall.reports.working_memory_view import minded, recorded
from replay.diff import diff
from state.arrays import Integers
from state.errors import GraphUnavailableError
from state.graph.graph import Graph
from state.graph.view import GraphView
from streams.ingest.access import is_granted
from streams.query.held import HeldPartition
from streams.query.replies import position_of

CONCEPTS = ("born", "stronger", "weaker", "forgotten", "long_term")  # fields that list changed concepts
TURNS = ("added", "archived")
NAMED = 20  # concepts that joined or left a theme


def graphs(writer: HeldPartition, request: List, subject: str | None) -> Steps[Graphs]:
    """List the graphs of a partition that `subject` may read, a page of them.

    Names are filtered before they are counted, so the cursor is a name that the page shows.
    """
    page, is_more = list[str](), False
    for name in filter(request.wants, writer.state.graph_ids()):
        if subject is not None:  # who runs the memory sees every graph, and none is loaded for it
            yield
            if not _may_read(writer, name, subject):
                continue
        if len(page) == request.limit:
            is_more = True
            break
        page.append(name)
    return Graphs(graphs=page, next=page[-1] if is_more else None, position=position_of(writer))


def _may_read(writer: HeldPartition, name: str, subject: str) -> bool:
    """Tell whether a subject may read a graph; of one that is unavailable nobody can say whom it grants what."""
    try:
        return is_granted("read", subject, writer.state.access(name))
    except GraphUnavailableError:
        return False


def turns(memory: Memory, request: Read, extractor: Extractor) -> Turns:
    """Read a page of turns.  Raises what `memory.text_of` raises."""
    graph = memory.graph
    if graph is None or graph.is_blank:
        return Turns(graph=request.graph, found=False, position=memory.position)
    view = graph.view()
    wanted = _wanted(view, request, extractor)
    ordinals = np.array(graph.passages.event, np.int64)[wanted]
    page = _page(ordinals, request)
    read = [recorded(memory.text_of(graph, number), view, number) for number in wanted[page].tolist()]
    if request.advised:
        read = [turn.model_copy(update={"advised": advised(graph, turn.id)}) for turn in read]
    read = read[: _fitting(read)]
    return Turns(
        graph=request.graph,
        found=True,
        total=len(wanted),
        turns=read,
        next=_next(ordinals, page[: len(read)], request),
        position=memory.position,
    )


def told(
    memory: Memory, request: Recap | Trend | Explore | Habits | Recent, extractor: Extractor
) -> Recapped | Trended | Explored | Recurring | InMind:
    """Recap conversations, tell how often something is spoken of, show a concept, what recurs, or what is in mind."""
    match request:
        case Recap():
            return recapped(memory, request)
        case Recent():
            return minded(memory, request)
        case Trend():
            return trended(memory, request, extractor)
        case Explore():
            return explored(memory, request, extractor)
        case Habits():
            return recurring(memory, request, extractor)


def _next(ordinals: Integers, page: Integers, request: Read) -> int | None:
    """Find the cursor of the page that follows `page` (positions in `ordinals`), None if nothing does."""
    if request.ids or not len(page):
        return None
    last = int(page[-1])
    is_last = last == 0 if request.newest else last == len(ordinals) - 1
    return None if is_last else int(ordinals[last])


def _wanted(view: GraphView, request: Read, extractor: Extractor) -> Integers:
    """Find the passages that a request is about, in the order in which they were recorded, or of its ids."""
    if request.ids:
        places = {view.passage_id[number]: number for number in range(len(view.passage_at))}
        return np.array([places[turn] for turn in dict.fromkeys(request.ids) if turn in places], np.int64)
    passes = np.ones(len(view.passage_at), np.bool_)
    if request.session is not None:
        known = request.session in view.sessions
        passes &= (view.passage_session == view.sessions.index(request.session)) if known else False
    if request.concept is not None:
        names = concept_ids([request.concept], view, extractor)
        numbers = [number for name in names if (number := view.number(name)) is not None]
        holding = view.posting_passage[np.isin(view.posting_concept, numbers)]
        passes &= np.isin(np.arange(len(passes)), holding)
    return np.flatnonzero(passes)


def _page(ordinals: Integers, request: Read) -> Integers:
    """Find the positions of a page; `ordinals` ascend, but for those of ids."""
    if request.ids:
        return np.arange(len(ordinals))
    if request.newest:
        end = len(ordinals) if request.cursor is None else int(np.searchsorted(ordinals, request.cursor, "left"))
        return np.arange(max(0, end - request.limit), end)[::-1]
    first = 0 if request.cursor is None else int(np.searchsorted(ordinals, request.cursor, "right"))
    return np.arange(first, min(len(ordinals), first + request.limit))


def _fitting(read: list[RecordedTurn]) -> int:
    """Count how many of the turns fit into one answer, at least one."""
    total = 0
    for count, turn in enumerate(read):
        total += len(turn.text.encode()) + len(orjson.dumps(turn.metadata))
        if total > limits.READ_BYTES and count:
            return count
    return len(read)


def compared(before: Graph | None, memory: Memory, request: Compare) -> Compared:
    """Tell what changed from `before` to the graph in `memory`; None: nothing had been said."""
    after = memory.graph
    if after is None or after.is_blank:
        return Compared(graph=request.graph, found=False, position=memory.position)
    found = diff(before or Graph(request.graph), after)
    limit, lists = request.limit, (*CONCEPTS, *TURNS)
    concepts: dict[str, Any] = {kind: _each(ChangedConcept, getattr(found, kind)[:limit]) for kind in CONCEPTS}
    return Compared(
        graph=request.graph,
        found=True,
        since=found.clocks[0] if before else request.since,
        until=found.clocks[1],
        turns=list(found.turns),
        totals={kind: len(getattr(found, kind)) for kind in (*lists, "themes")},
        themes=[_theme(each._asdict()) for each in found.themes[:limit]],
        pairs=_each(GrownPair, found.pairs[:limit]),
        added=found.added[:limit],
        archived=found.archived[:limit],
        position=memory.position,
        **concepts,
    )


def _each(kind: Any, changes: Iterable[Any]) -> list[Any]:
    return [kind(**change._asdict()) for change in changes]


def _theme(change: dict[str, Any]) -> ChangedTheme:
    return ChangedTheme(**{**change, "joined": change["joined"][:NAMED], "left": change["left"][:NAMED]})
