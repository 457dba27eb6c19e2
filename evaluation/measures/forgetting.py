"""Measure whether forgetting is plausible: what stays active for how long, by how often it was said or recalled.

    curves      share of the words that are still active after HORIZONS, for each class of rehearsal, if nothing more
                were said: decay is a closed form, so nothing has to be waited for
    falls       how often a curve rises with time (Ebbinghaus: never)
    rehearsed   how often words of a class are kept less than those that were rehearsed less (never, or hardly)
    fit         share of the variance of mean strength that e^(−t / S) explains, and the S of the best fit, in days
    now         share of each class that is active as it is, after the windows that were closed

A word that a user pinned is left out: it does not fade.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from emgas.times import DAY_MS
from state.arrays import Floats, Integers
from state.graph.graph import Graph

HORIZONS: Final = (0, 1, 2, 7, 14, 30, 60, 91, 182, 365, 730)  # days
CLASSES: Final = (("once", 1, 1), ("2 to 4", 2, 4), ("5 and more", 5, None))


def forgetting(graphs: Sequence[Graph]) -> dict[str, Any]:
    """Measure graphs together, each by its own clock and settings."""
    touches = np.concatenate([_touches(graph) for graph in graphs])
    strengths = np.concatenate([_strengths(graph) for graph in graphs])  # (n, h)
    kept = np.concatenate([_strengths(graph) >= graph.settings.prune_below for graph in graphs])
    active = np.concatenate([_active(graph) for graph in graphs])
    members = {name: _of_class(touches, least, most) for name, least, most in CLASSES}
    there = {name: of for name, of in members.items() if of.any()}
    curves = {name: kept[of].mean(axis=0) for name, of in there.items()}
    return {
        "days": list(HORIZONS),
        "words": {name: int(of.sum()) for name, of in there.items()},
        "curves": {name: curve.round(4).tolist() for name, curve in curves.items()},
        "now": {name: float(active[of].mean()) for name, of in there.items()},
        "falls": sum(int((np.diff(curve) > 0).sum()) for curve in curves.values()),
        "rehearsed": sum(int((more < less).sum()) for less, more in pairwise(curves.values())),
        "fit": _fit(strengths.mean(axis=0)) if len(strengths) else None,
    }


def _words(graph: Graph) -> Integers:
    concepts = graph.concepts
    alive = np.array(concepts.alive, np.bool_) & ~np.array(concepts.is_mark, np.bool_)
    return np.flatnonzero(alive & ~np.array(concepts.pinned, np.bool_))


def _touches(graph: Graph) -> Integers:
    words = _words(graph)
    both: Integers = np.array(graph.concepts.in_turns)[words] + np.array(graph.concepts.recalls)[words]
    return both


def _active(graph: Graph) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return ~np.array(graph.concepts.archived, np.bool_)[_words(graph)]


def _strengths(graph: Graph) -> Floats:
    """Compute the strength of each word after each horizon from the graph's clock: (n, h)."""
    times = [graph.clock + days * DAY_MS for days in HORIZONS]
    rows = [[graph.concepts.strength_of(word, at, graph.settings) for at in times] for word in _words(graph).tolist()]
    return np.array(rows, np.float64).reshape(-1, len(HORIZONS))


def _of_class(touches: Integers, least: int, most: int | None) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return (touches >= least) & (touches <= (np.inf if most is None else most))


def _fit(strength: Floats) -> dict[str, float] | None:
    """Fit ln strength = a − t / S by least squares; None where nothing is left, or nothing fades."""
    days = np.array(HORIZONS, np.float64)
    there = strength > 0
    if there.sum() < 3 or np.ptp(strength[there]) == 0:
        return None
    slope, height = np.polyfit(days[there], np.log(strength[there]), 1)
    guessed, starts = np.exp(height + slope * days[there]), strength[there]
    explained = 1 - ((starts - guessed) ** 2).sum() / ((starts - starts.mean()) ** 2).sum()
    return {"explained": float(explained), "days": float(-1 / slope)} if slope < 0 else None
