"""Answers on the contents of a memory: names of graphs, turns word for word, and changes between two moments."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import numpy as np
import orjson

from emgas import limits
from emgas.messages.contents import Graphs, List, Read, RecordedTurn, Turns
from emgas.messages.pictures import ChangedConcept, ChangedTheme, Compare, Compared, GrownPair
from processors.extraction.extractor import Extractor
from processors.lifecycle.steps import Steps
from processors.recall.answer.answer import advice_on
from processors.recall.answer.prepared_query import QueriedGraph, concept_ids
from processors.recall.reports.working_memory_view import recorded
from replay.diff import diff
from state.arrays import Integers
from state.errors import GraphUnavailableError
from state.graph.graph import Graph
from state.graph.view import GraphView
from streams.ingest.verbs.rights import is_granted, subject_of
from streams.query.answers.context import AnswerContext, QueryablePartition, position_of
from streams.query.answers.registry import answers
from streams.query.scheduling import run_cooperatively

CONCEPTS = ("born", "stronger", "weaker", "forgotten", "long_term")  # fields that list changed concepts
TURNS = ("added", "archived")
NAMED = 20  # concepts that joined or left a theme


@answers(List)
async def list_graphs(request: List, context: AnswerContext) -> Graphs:
    """List the graphs of a partition that the client may read."""
    return await run_cooperatively(_graph_page(context.partition, request, subject_of(context.question.record)))


@answers(Read)
async def read_turns(request: Read, context: AnswerContext) -> Turns:
    """Read a page of turns when its turn comes."""
    memory = await context.memory(request)
    async with context.schedule.short_turn(context.question):
        return _turn_page(memory(), request, context.extractor)


@answers(Compare)
async def compare(request: Compare, context: AnswerContext) -> Compared:
    """Compare two moments of the past, in a thread: the graphs of then belong to this question alone."""
    graph_id, position, state = request.graph, context.position, context.state
    live = state.graph(graph_id)
    until = request.until if request.until is not None else live.clock if live else request.since
    before = await context.past(graph_id, request.since)
    after = await context.past(graph_id, until)
    memory = QueriedGraph(after.graph if after else None, state.text_of, position)
    async with context.schedule.turn(context.schedule.long, context.question):
        return await asyncio.to_thread(_compared, before.graph if before else None, memory, request)


def _graph_page(partition: QueryablePartition, request: List, subject: str | None) -> Steps[Graphs]:
    """List the graphs of a partition that `subject` may read, a page of them.

    Names are filtered before they are counted, so the cursor is a name that the page shows.
    """
    page, is_more = list[str](), False
    for name in filter(request.wants, partition.state.graph_ids_with_content()):
        if subject is not None:  # who runs the memory sees every graph, and none is loaded for it
            yield
            if not _may_read(partition, name, subject):
                continue
        if len(page) == request.limit:
            is_more = True
            break
        page.append(name)
    return Graphs(graphs=page, next=page[-1] if is_more else None, position=position_of(partition))


def _may_read(partition: QueryablePartition, name: str, subject: str) -> bool:
    """Return whether a subject may read a graph; the rights of one that is unavailable are unknown."""
    try:
        return is_granted("read", subject, partition.state.access(name))
    except GraphUnavailableError:
        return False


def _turn_page(memory: QueriedGraph, request: Read, extractor: Extractor) -> Turns:
    """Read a page of turns.  Raises what `memory.text_of` raises."""
    graph = memory.graph
    if graph is None or graph.is_blank:
        return Turns(graph=request.graph, found=False, position=memory.position)
    view = graph.view()
    matches = _matches(view, request, extractor)
    ordinals = np.array(graph.passages.event, np.int64)[matches]
    page = _page(ordinals, request)
    turns = [recorded(memory.text_of(graph, number), view, number) for number in matches[page].tolist()]
    if request.advised:
        turns = [turn.model_copy(update={"advised": advice_on(graph, turn.id)}) for turn in turns]
    turns = turns[: _fitting(turns)]
    return Turns(
        graph=request.graph,
        found=True,
        total=len(matches),
        turns=turns,
        next=_next(ordinals, page[: len(turns)], request),
        position=memory.position,
    )


def _next(ordinals: Integers, page: Integers, request: Read) -> int | None:
    """Find the cursor of the page that follows `page` (positions in `ordinals`), None if nothing does."""
    if request.ids or not len(page):
        return None
    last = int(page[-1])
    is_last = last == 0 if request.newest else last == len(ordinals) - 1
    return None if is_last else int(ordinals[last])


def _matches(view: GraphView, request: Read, extractor: Extractor) -> Integers:
    """Find the passages that a request is about, in the order in which they were recorded, or of its ids."""
    if request.ids:
        places = {view.passage_id[number]: number for number in range(len(view.passage_at))}
        return np.array([places[turn] for turn in dict.fromkeys(request.ids) if turn in places], np.int64)
    passes = np.ones(len(view.passage_at), np.bool_)
    if request.session is not None:
        exists = request.session in view.sessions
        passes &= (view.passage_session == view.sessions.index(request.session)) if exists else False
    if request.concept is not None:
        names = concept_ids([request.concept], view, extractor)
        numbers = [number for name in names if (number := view.number(name)) is not None]
        mentioning = view.posting_passage[np.isin(view.posting_concept, numbers)]
        passes &= np.isin(np.arange(len(passes)), mentioning)
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


def _fitting(turns: list[RecordedTurn]) -> int:
    """Count how many of the turns fit into one answer, at least one."""
    total = 0
    for count, turn in enumerate(turns):
        total += len(turn.text.encode()) + len(orjson.dumps(turn.metadata))
        if total > limits.READ_BYTES and count:
            return count
    return len(turns)


def _compared(before: Graph | None, memory: QueriedGraph, request: Compare) -> Compared:
    """Compute what changed from `before` to the graph in `memory`; None stands for an empty graph."""
    after = memory.graph
    if after is None or after.is_blank:
        return Compared(graph=request.graph, found=False, position=memory.position)
    change = diff(before or Graph(request.graph), after)
    limit, lists = request.limit, (*CONCEPTS, *TURNS)
    concepts: dict[str, Any] = {kind: _each(ChangedConcept, getattr(change, kind)[:limit]) for kind in CONCEPTS}
    return Compared(
        graph=request.graph,
        found=True,
        since=change.clocks[0] if before else request.since,
        until=change.clocks[1],
        turns=list(change.turns),
        totals={kind: len(getattr(change, kind)) for kind in (*lists, "themes")},
        themes=[_theme(each._asdict()) for each in change.themes[:limit]],
        pairs=_each(GrownPair, change.pairs[:limit]),
        added=change.added[:limit],
        archived=change.archived[:limit],
        position=memory.position,
        **concepts,
    )


def _each(kind: Any, changes: Iterable[Any]) -> list[Any]:
    return [kind(**change._asdict()) for change in changes]


def _theme(change: dict[str, Any]) -> ChangedTheme:
    return ChangedTheme(**{**change, "joined": change["joined"][:NAMED], "left": change["left"][:NAMED]})
