"""Strengthen the neighbours of recalled concepts by a share of their boost.  MoFox v2, SEEDS M25.

    on access    `recall_spread` (there .5) of `recall_boost`, one step far, the `recall_related` (there 5) nearest
                 neighbours of each concept by PPMI

Decided once, when the recall is recorded, because the nearest neighbours change later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from processors.association import edges_out
from state.graph.graph import Graph

MOST: Final = 100  # of one recall


def related(graph: Graph, recalled: Sequence[str]) -> list[str]:
    """List the concepts that get a share of the boost of `recalled` ones: first the nearest to the first of those."""
    view = graph.view()
    woken = [number for name in dict.fromkeys(recalled) if (number := view.number(name)) is not None]
    words = [number for number in woken if not view.marks(np.array([number]))[0]]
    reached: dict[int, None] = {}
    for word in words:
        edges = edges_out(view.windows["exchange"], np.array([word], np.int64), "ppmi")
        out = edges.where((edges.weight > 0) & ~view.marks(edges.target) & ~np.isin(edges.target, woken))
        nearest = np.lexsort((out.target, -out.weight))[: graph.settings.recall_related]
        reached.update(dict.fromkeys(out.target[nearest].tolist()))
    return [view.ids[number] for number in reached][:MOST]
