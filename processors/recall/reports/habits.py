"""Report the habits of a graph, and how near they are to each other.

groups   habits at .7, .5 and .3 of  γ · cos + (1 − γ) · e^(−Δt / τ)  of what they are about, and Δt between them;
         each level holds the one before it.  SEEDS P21, P23
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, sqrt
from typing import Final

from emgas.limits import TOP
from emgas.messages.views import Exemption, HabitGroup, Habits, Recurring
from emgas.messages.views import Habit as HabitReport
from emgas.times import DAY_MS
from processors.extraction.extractor import Extractor
from processors.lifecycle.habits.affinity import clusters
from processors.recall.answer.habits import about, by_size, current, of
from processors.recall.answer.prepared_query import QueriedGraph
from processors.text.language import clean
from state.graph.graph import Graph
from state.graph.tables.habit_table import HabitRow

LEVELS: Final = (0.7, 0.5, 0.3)
MEMBERS: Final = TOP  # that are named, the latest


def list_habits(memory: QueriedGraph, request: Habits, extractor: Extractor) -> Recurring:
    """Return what recurs in a graph."""
    graph = memory.graph
    if graph is None or graph.is_blank:
        return Recurring(graph=request.graph, found=False, position=memory.position)
    all_habits = current(graph)
    habits = of(all_habits, [request.speaker] if request.speaker is not None else [])
    if request.text is not None:
        habits = about(graph, habits, extractor.of_query(request.text), clean(request.text))
    habits = by_size(habits)[: request.limit]
    return Recurring(
        graph=request.graph,
        found=True,
        total=len(all_habits),
        habits=[_describe(graph, habit) for habit in habits],
        groups=list(_groups(graph, habits)),
        position=memory.position,
    )


def _describe(graph: Graph, habit: HabitRow) -> HabitReport:
    numbers, concepts = graph.concepts.numbers, graph.concepts
    words = graph.advice.rewritten.get(("habit", habit.id))
    return HabitReport(
        id=habit.id,
        speaker=habit.speaker,
        text=habit.text,
        concepts=[concepts.label(numbers[id]) for id in habit.concepts if id in numbers],
        turns=habit.count,
        days=habit.days,
        first=habit.first,
        last=habit.last,
        period=habit.period / DAY_MS,
        hours=list(habit.hours),
        weekdays=list(habit.weekdays),
        exceptions=[Exemption(since=each.since, until=each.until, turn=each.turn or None) for each in habit.exceptions],
        members=list(habit.members[-MEMBERS:]),
        by=habit.by,
        rewritten=words.text if words else None,
        rewritten_by=words.by if words else None,
    )


def _groups(graph: Graph, habits: Sequence[HabitRow]) -> Iterable[HabitGroup]:
    """Yield the groups of each level that are wider than those of the level before."""
    seen: set[tuple[int, ...]] = set()
    for above in LEVELS:
        near = [
            (left, right)
            for right in range(len(habits))
            for left in range(right)
            if _near(graph, habits[left], habits[right]) >= above
        ]
        for group in clusters(near):
            if tuple(group) not in seen:
                seen.add(tuple(group))
                yield HabitGroup(above=above, habits=[habits[place].id for place in group])


def _near(graph: Graph, left: HabitRow, right: HabitRow) -> float:
    """Compute the affinity of two habits; Δt is what lies between them, 0 where they overlap."""
    shared = len(set(left.concepts).intersection(right.concepts))
    cosine = shared / sqrt(max(1, len(left.concepts)) * max(1, len(right.concepts)))
    between = max(0, left.first - right.last, right.first - left.last)
    gamma = graph.settings.affinity_gamma
    return gamma * cosine + (1 - gamma) * exp(-between / graph.settings.affinity_tau)
