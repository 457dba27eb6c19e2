"""Measure the extraction of habits: precision, recall and F1 against the habits in the data.

A pattern of a data set is the turns in which something recurs.  A habit has found it where each holds at least HALF of
the other: one that swallows half the memory has found nothing, and so has one of two turns of thirty.  Without patterns
in the data set, only what was found is counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from state.graph.graph import Graph

HALF: Final = 0.5
Pattern = frozenset[str]  # turn ids


def extract_patterns(graph: Graph) -> list[Pattern]:
    """List the habits of a graph by their members."""
    return [frozenset(habit.members) for habit in graph.habits.habits.values()]


def matches_pattern(pattern: Pattern, habit: Pattern) -> bool:
    """Return whether a habit and a pattern share at least half of each other."""
    both = len(pattern & habit)
    return both >= HALF * len(pattern) and both >= HALF * len(habit) and both > 0


def patterns(memories: Iterable[tuple[Graph, Sequence[Pattern]]]) -> dict[str, Any]:
    """Measure graphs, each with the patterns that it holds; shares in [0, 1], None where nothing was to be found."""
    habits = expected = hits = right = members = 0
    for graph, of_graph in memories:
        made = extract_patterns(graph)
        habits, expected, members = habits + len(made), expected + len(of_graph), members + sum(map(len, made))
        hits += sum(_any(pattern, made) for pattern in of_graph)
        right += sum(any(matches_pattern(pattern, habit) for pattern in of_graph) for habit in made)
    report: dict[str, Any] = {"habits": habits, "turns_of_habits": members, "expected": expected}
    precision, recall = (right / habits if habits else 0.0), (hits / expected if expected else 0.0)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    scores = {"precision": precision, "recall": recall, "f1": f1}
    return report | (scores if expected else dict.fromkeys(scores))


def _any(pattern: Pattern, habits: Collection[Pattern]) -> bool:
    return any(matches_pattern(pattern, habit) for habit in habits)
