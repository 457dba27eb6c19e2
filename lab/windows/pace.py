"""A pace that adapts: a consolidation window decides by how much sooner, or later, the next one comes.  SEEDS P35.

Windows adapt only where a graph says by how much its active turns may grow (`steady_growth`).  The window compares
them with those after the one before; what it decides is in its event, so that a replay decides nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from state.graph.graph import Graph

FASTEST: Final = 3  # steps of pace, either way: eight times as soon, or as late


def adapted(graph: Graph, leaving: int) -> dict[str, int]:
    """Decide the pace of the next windows (MemorySettings.paced), as fields of the event that closes this one.

    leaving  turns that this window archives

    Active turns that grew by more than `steady_growth` raise the pace a step; by less than half of it lower it one.
    """
    steady = graph.settings.steady_growth
    active, before, pace = int(graph.passages.is_active().sum()) - leaving, graph.active_before, graph.pace
    if before:
        growth = (active - before) / before
        pace += (growth > steady) - (growth < steady / 2)
    return {"active": max(active, 1), "pace": int(np.clip(pace, -FASTEST, FASTEST))}
