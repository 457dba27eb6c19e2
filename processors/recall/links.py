"""Links between concepts that do not come from being said together: recalled together, or of one theme.

    recall   κ · x / (1 + x),  x = f · T_min,  f = n / max(T, T_min)        (SEEDS S18–S19, trap T9)
             n how often one reinforcing query woke both, T from the source's first recall to its last touch:
             what is recalled together often and lately is linked strongly, however rarely it was said together
    theme    τ / (size − 1) to every other member of the concept's theme: so a theme passes on τ in all   (SEEDS E5)

Both are options of spreading (activation.py).  Counts of recalls are of their own kind and never mixed with those of
what was said, so PPMI stays what it is.
"""

from __future__ import annotations

import numpy as np

from emgas.times import DAY_MS
from processors.association import Edges
from state.arrays import Integers
from state.graph.view import GraphView

T_MIN = DAY_MS  # recalls within a day count as at one time


def recall_links(view: GraphView, concepts: Integers, strength: float) -> Edges:
    """Find the edges out of ascending `concepts` (k,) that recalls made; `strength` is κ."""
    position, target, together = view.windows["recall"].pairs.neighbours(concepts)
    source = concepts[position]
    span = np.maximum(view.of_concepts("accessed", source) - view.of_concepts("first_recall", source), T_MIN)
    frequency = together * T_MIN / span
    return Edges(source, target, strength * frequency / (1 + frequency))


def theme_links(view: GraphView, concepts: Integers, strength: float) -> Edges:
    """Find the edges out of ascending `concepts` (k,) to the other members of their themes; `strength` is τ."""
    theme_of = {member: theme for theme in view.themes for member in theme.members}
    edges = [
        (concept, other, strength / (len(theme_of[concept].members) - 1))
        for concept in concepts.tolist()
        if concept in theme_of
        for other in sorted(theme_of[concept].members)
        if other != concept
    ]
    source, target, weight = zip(*edges, strict=True) if edges else ((), (), ())
    return Edges(np.array(source, np.int64), np.array(target, np.int64), np.array(weight, np.float64))
