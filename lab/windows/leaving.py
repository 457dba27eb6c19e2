"""Choose the turns that leave the active tier at the end of a consolidation window, beside those that fade.

    covered    turns that a habit holds, `archive_covered` after they were said: what is worth knowing of them is said
    too many   more than `active_turns` that are active: the oldest go, by when they were said or last came back, those
               that matter least first; what is pinned or protected stays (PassageTable.stays)

Recall still finds them, ranks them behind, and restores them when they are asked for.
"""

from __future__ import annotations

import numpy as np

from state.graph.graph import Graph


def leaving(graph: Graph, at: int) -> list[str]:
    """List the ids of the turns that a window that ended at `at` (ms) archives, in the order of their numbers."""
    covered = _covered(graph, at)
    gone = covered | _too_many(graph, covered)
    return [graph.passages.ids[number] for number in sorted(gone)]


def _covered(graph: Graph, at: int) -> set[int]:
    passages, after = graph.passages, graph.rhythm.archive_covered
    if not after:
        return set()
    members = (passages.numbers[turn] for turn in graph.habits.of_turn if turn in passages.numbers)
    return {
        number
        for number in members
        if not passages.archived[number] and passages.over_at(number, after) <= at and not passages.stays(number)
    }


def _too_many(graph: Graph, gone: set[int]) -> set[int]:
    passages, most = graph.passages, graph.settings.active_turns
    active = [number for number in np.flatnonzero(passages.is_active()).tolist() if number not in gone]
    if not most or len(active) <= most:
        return set()
    may_go = (number for number in active if not passages.stays(number))
    in_order = sorted(may_go, key=lambda number: (_matters(graph, number), passages.over_at(number, 0), number))
    return set(in_order[: len(active) - most])


def _matters(graph: Graph, number: int) -> bool:
    """Return whether someone said of a turn that it matters more than any other."""
    return graph.passages.importance[number] > 50
