"""Trends: how often people mention something, since when, at which hours, and when they stopped.  SEEDS H8, P39, P40.

    what counts   turns that hold all that the words name; where no turn does, those that hold some of it; without
                  words, all that the filter lets through: what a session or a speaker said
    a day         begins at midnight of the asker's clock
    every         the median of the days between two days on which it was spoken of
    a pause       more than twice as long between two of them

Moods are reported if requested, from the texts of the latest turns (processors/text/feelings.py).

Words that are spoken of with everything ("drink", "go", 喝, 去: data/everyday_verbs.tsv) count only where a question
names nothing else: "how often do I drink latte" asks for latte.  Counted from what is held, archived turns among it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Final

import numpy as np

from emgas.limits import TOP
from emgas.messages.filters import Filter
from emgas.messages.views import Mood, Period, Span, Trend, Trended
from emgas.times import DAY_MS, HOUR_MS, MINUTE_MS
from processors.extraction.extractor import Extractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.habits import informative
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.answer.turn_facts import read_turn_facts
from processors.recall.ranking.filters import NO_FILTER, Allowed
from processors.text.feelings import feelings
from state.arrays import Integers, Mask
from state.graph.view import GraphView

MOST_PERIODS: Final = 1000
MOST_PAUSES: Final = 5
MOST_READ: Final = 500  # turns, the latest, whose moods are told
_MOOD_WORDS: Final = frozenset({"feel", "feeling", "mood", "emotion", "emotional", "心情", "情绪", "感受", "感觉"})


def compute_trend(memory: QueriedGraph, request: Trend, extractor: Extractor) -> Trended:
    """Count how often something is spoken of in a graph."""
    graph = memory.graph
    if graph is None or graph.is_blank:
        return Trended(graph=request.graph, found=False, position=memory.position)
    if request.only.asks_facts:
        in_one_go(read_turn_facts(graph, memory.text_of))
    view = graph.view()
    passing = _passing(view, request.only)
    if request.text is None or (request.moods and _names_nothing(request.text, extractor)):
        concepts, whole = list[int](), True
        passages = np.flatnonzero(np.ones(view.turns, np.bool_) if passing is None else passing)
    else:
        concepts = _concepts(view, request.text, extractor)
        passages, whole = _holding(view, concepts, passing)
    ids = [view.ids[number] for number in concepts]
    if not len(passages):
        return Trended(graph=request.graph, found=True, concepts=ids, position=memory.position)
    times = np.sort(view.passage_at[passages])
    local = times + request.offset * MINUTE_MS
    days = np.unique(local // DAY_MS)
    every = float(np.median(np.diff(days))) if len(days) > 1 else None
    felt = _felt(memory, view, passages) if request.moods else []
    latest = passages[np.argsort(-view.passage_at[passages], kind="stable")][:TOP]
    return Trended(
        graph=request.graph,
        found=True,
        concepts=ids,
        all=whole,
        turns=len(passages),
        days=len(days),
        first=int(times[0]),
        last=int(times[-1]),
        every=every,
        periods=[_with_moods(span, felt) for span in _periods(local, request)],
        pauses=_pauses(days, every, request.offset),
        hours=np.bincount(local % DAY_MS // HOUR_MS, minlength=24).tolist(),
        weekdays=np.bincount((local // DAY_MS + 3) % 7, minlength=7).tolist(),
        ids=[view.passage_id[number] for number in latest.tolist()],
        moods=_counted(mood for _, mood in felt),
        position=memory.position,
    )


def _concepts(view: GraphView, text: str, extractor: Extractor) -> list[int]:
    """Find the numbers of the words that a text names and the graph knows; everyday verbs only if it names no other."""
    numbers = (view.number(name) for name in informative(concept.id for concept in extractor.of_query(text).concepts))
    return [number for number in numbers if number is not None and not view.is_mark[number]]


def _names_nothing(text: str, extractor: Extractor) -> bool:
    """Return whether a question for moods asks of nothing else."""
    named = informative(concept.id for concept in extractor.of_query(text).concepts if concept.id[:1] != "@")
    return set(named) <= _MOOD_WORDS


def _felt(memory: QueriedGraph, view: GraphView, passages: Integers) -> list[tuple[int, Mood]]:
    """List the moods that the latest of these turns tell of who said them, with the time of each (ms)."""
    assert memory.graph is not None  # noqa: S101 - there is a view of it
    at = view.of_turns("at", passages)
    latest = np.argsort(-at, kind="stable")[:MOST_READ]
    texts = ((int(at[place]), memory.text_of(memory.graph, int(passages[place])).text) for place in latest.tolist())
    return [(when, mood) for when, text in texts for mood in feelings(text)]


def _with_moods(span: Span, felt: list[tuple[int, Mood]]) -> Span:
    in_span = _counted(mood for at, mood in felt if span.since <= at < span.until)
    return span.model_copy(update={"moods": in_span}) if in_span else span


def _counted(moods: Iterable[Mood]) -> dict[Mood, int]:
    """Count moods, the most frequent first, of equals by name."""
    counts = Counter(moods)
    return {mood: counts[mood] for mood in sorted(counts, key=lambda mood: (-counts[mood], mood))}


def _passing(view: GraphView, only: Filter) -> Mask | None:
    """Return which passages a filter lets through, None for all of them."""
    return None if only == NO_FILTER else Allowed(view, only).passes(np.arange(view.turns))


def _holding(view: GraphView, concepts: list[int], passes: Mask | None) -> tuple[Integers, bool]:
    """Find the passages that hold all of `concepts`, or else some of them; and whether it is all."""
    matches = np.isin(view.posting_concept, concepts)
    counts = np.bincount(view.posting_passage[matches], minlength=len(view.passage_at))
    among = counts > 0 if passes is None else (counts > 0) & passes
    whole = among & (counts == len(concepts))
    return np.flatnonzero(whole if whole.any() else among), bool(whole.any()) or not among.any()


def _periods(local: Integers, request: Trend) -> list[Span]:
    """Count the turns of each period that has one, the latest MOST_PERIODS of them."""
    starts, counts = np.unique(_STARTS[request.by](local), return_counts=True)
    shift = request.offset * MINUTE_MS
    spans = zip(starts.tolist(), counts.tolist(), strict=True)
    periods = [Span(since=at - shift, until=_next(at, request.by) - shift, turns=count) for at, count in spans]
    return periods[-MOST_PERIODS:]


def _month(local: Integers) -> Integers:
    """Find when the month of each time began, ms."""
    months: Integers = local.astype("datetime64[ms]").astype("datetime64[M]").astype("datetime64[ms]").astype(np.int64)
    return months


_STARTS: Final[dict[Period, Callable[[Integers], Integers]]] = {
    "day": lambda local: local // DAY_MS * DAY_MS,
    "week": lambda local: ((local // DAY_MS + 3) // 7 * 7 - 3) * DAY_MS,  # 1970-01-01 was a Thursday
    "month": _month,
}


def _next(start: int, by: Period) -> int:
    """Return when the period after the one that begins at `start` (ms) begins."""
    if by != "month":
        return start + (DAY_MS if by == "day" else 7 * DAY_MS)
    first = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=start)).date()
    following = date(first.year + first.month // 12, first.month % 12 + 1, 1)
    return (following.toordinal() - date(1970, 1, 1).toordinal()) * DAY_MS


def _pauses(days: Integers, every: float | None, offset: int) -> list[Span]:
    """Find the longest pauses: from the end of a day on which it was spoken of to the next such day."""
    if every is None:
        return []
    gaps = np.diff(days)
    longest = [place for place in np.argsort(-gaps, kind="stable").tolist() if gaps[place] > 2 * every][:MOST_PAUSES]
    shift = offset * MINUTE_MS
    ends = ((int(days[place] + 1) * DAY_MS, int(days[place + 1]) * DAY_MS) for place in sorted(longest))
    return [Span(since=since - shift, until=until - shift) for since, until in ends]
