"""The window that consolidates: when it ends, and the events that close it.

It ends by `idle` of silence or at the next multiple of `consolidate_every`, whichever comes first, once there are
enough new turns (MemorySettings.enough_turns); or where a conversation was ended, however few they are.

Where a graph wants that, turns leave the active tier at its end beside fading: lab/windows/leaving.py.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from processors.lifecycle.consolidation.consolidation import consolidated_steps, fresh_passages
from processors.lifecycle.decay.forgetting import archiving
from processors.lifecycle.habits.habits import recurring_steps
from processors.lifecycle.parts import parts
from processors.lifecycle.policies import Leaving, Pace, policy
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
    turns = _leaving(graph, at)
    gone = archiving(graph, at, concepts=[], turns=turns) if turns else []
    *before, last = [_closed(graph, at, **part) for part in parts(result)]
    return [*habits, *gone, *before, replace(last, **_pace(graph, len(turns)))]


def _leaving(graph: Graph, at: int) -> list[str]:
    """List the ids of the turns that leave the active tier besides, where a graph wants that."""
    if not (graph.settings.archive_covered or graph.settings.active_turns):
        return []
    leaving: Leaving = policy("decisions", "leaving")
    return leaving(graph, at)


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
