"""The window that consolidates: when it ends, and the events that close it.

It ends by `idle` of silence or at the next multiple of `consolidate_every`, whichever comes first, once there are
enough new turns (MemorySettings.enough_turns); or where a conversation was ended, however few they are.

Beside fading, turns leave the active tier at its end, both off by default; recall still finds them, ranks them behind,
and restores them when they are asked for:

    covered    turns that a habit holds, `archive_covered` after they were said: what is worth knowing of them is said
    too many   more than `active_turns` that are active: the oldest go, by when they were said or last came back, those
               that matter least first; what is pinned or protected stays (PassageTable.stays)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from processors.lifecycle.consolidation.consolidation import consolidated_steps, fresh_passages
from processors.lifecycle.decay.forgetting import archiving
from processors.lifecycle.habits.habits import recurring_steps
from processors.lifecycle.parts import parts
from processors.lifecycle.policies import Pace, policy
from processors.lifecycle.steps import Steps
from processors.lifecycle.window import Timekeeping, Window, WindowEnd
from state.events.events import UNSTAMPED, ConsolidationWindowClosed, GraphEvent
from state.graph.graph import Graph
from state.graph.tables.decay import NEVER


def _closing(graph: Graph, at: int) -> Steps[list[GraphEvent]]:
    """Decide what a window that ended at `at` (ms) finds.

    One event is left always, however little it says: the fold counts new turns from there on.
    """
    habits = yield from recurring_steps(graph, fresh_passages(graph), at)
    yield
    result = (yield from consolidated_steps(graph, at))._asdict()
    # Habits come first: cut off behind any of them, the window is still open, and the rest is decided again.
    turns = leaving(graph, at)
    gone = archiving(graph, at, concepts=[], turns=turns) if turns else []
    *before, last = [_closed(graph, at, **part) for part in parts(result)]
    return [*habits, *gone, *before, replace(last, **_pace(graph, len(turns)))]


def _pace(graph: Graph, leaving: int) -> dict[str, int]:
    """Decide the pace of the next windows, as fields of the event; {} where they do not adapt."""
    if not graph.settings.steady_growth:
        return {}
    adapt: Pace = policy("decisions", "pace")
    return adapt(graph, leaving)


def _closed(graph: Graph, at: int, **result: list[Any]) -> ConsolidationWindowClosed:
    there: dict[str, Any] = {"graph": graph.graph_id, "at": at, **result, **UNSTAMPED}
    return ConsolidationWindowClosed(**there)


def _next_end(graph: Timekeeping) -> WindowEnd | None:
    end = min(_ends(graph), default=NEVER)
    return None if end == NEVER else WindowEnd(end)


def _ends(graph: Timekeeping) -> tuple[int, ...]:
    """List the ends of the session window and of the tumbling one, ms; none without enough new turns."""
    over = () if graph.ended_at == NEVER else (graph.ended_at,)
    if graph.enough_at == NEVER:
        return over
    every = graph.rhythm.consolidate_every
    return *over, graph.last_turn_at + graph.settings.idle, graph.enough_at - graph.enough_at % every + every


def _may_end(graph: Timekeeping, now: int) -> bool:
    end = _next_end(graph)
    return end is not None and end.is_over(graph.settings, now)


CONSOLIDATION = Window("consolidation", _next_end, _closing, _may_end)


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
