"""Links between concepts that were recalled together, belong to one theme, or are related.

    recall   κ · x / (1 + x),  x = f · T_min,  f = n / max(T, T_min)        (SEEDS S18–S19, trap T9)
             n how often one reinforcing query woke both, T from the source's first recall to its last touch, or to
             its last recall in graphs that keep that (`frequent_linked`): what is recalled together often and lately is
             linked strongly, however rarely it was said together
    related  w · n / (1 + n),  n turns that say so, w the weight of the relation's type: "stress causes headaches"
             leads from either to the other, to the words of a phrase alike                     (SEEDS E37)
    theme    τ / (size − 1) to every other member of the concept's theme: so a theme passes on τ in all   (SEEDS E5)
    rated    what two concepts said together give each other × (½ + r), r what an advisor says of them     (SEEDS E40)

Both are options of spreading (activation.py).  Counts of recalls are of their own kind and never mixed with those of
what was said, so PPMI stays what it is.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from emgas.messages.relations import RelationType
from emgas.times import DAY_MS
from processors.association import Edges
from state.arrays import Integers
from state.graph.view import GraphView

T_MIN = DAY_MS  # recalls within a day count as at one time


def recall_links(view: GraphView, concepts: Integers, strength: float) -> Edges:
    """Find the edges out of ascending `concepts` (k,) that recalls made; `strength` is κ."""
    position, target, together = view.windows["recall"].pairs.neighbours(concepts)
    source = concepts[position]
    first, last = view.of_concepts("first_recall", source), view.of_concepts("last_recall", source)
    last = np.where(last > 0, last, np.where(first > 0, view.of_concepts("accessed", source), first))
    span = np.maximum(last - first, T_MIN)
    frequency = together * T_MIN / span
    return Edges(source, target, strength * frequency / (1 + frequency))


def relation_links(view: GraphView, concepts: Integers, weights: Mapping[RelationType, float]) -> Edges:
    """Find the edges out of ascending `concepts` (k,) to what turns say that they are related to, by type."""
    links: dict[tuple[int, int], float] = {}
    related = [each for each in view.relations.all() if weights.get(each.type)] if len(view.relations) else []
    chosen = set(concepts.tolist())
    for each in related:
        count = len(each.passages)
        ends = _words(view, each.source), _words(view, each.target)
        for here, there in (ends, ends[::-1]):
            for source in chosen.intersection(here):
                for target in there:
                    weight = links.get((source, target), 0.0) + weights[each.type] * count / (1 + count)
                    links[source, target] = weight
    pairs = np.array(sorted(links), np.int64).reshape(-1, 2)
    return Edges(pairs[:, 0], pairs[:, 1], np.array([links[pair] for pair in sorted(links)], np.float64))


def _words(view: GraphView, concept: int) -> list[int]:
    """List the words that stand for a concept: those of a phrase, the name of a speaker, itself."""
    name = view.ids[concept]
    names = name.split(" ") if concept in view.phrases else [name.removeprefix("@speaker:")]
    return [number for each in names if (number := view.number(each)) is not None]


def rated(view: GraphView, edges: Edges) -> Edges:
    """Weigh edges by how closely an advisor says that their ends belong together: × (½ + rating).  SEEDS E40."""
    pairs = [(view.number(one), view.number(other), opinion.rating) for (one, other), opinion in view.rated.items()]
    existing = [(a, b, rating) for a, b, rating in pairs if a is not None and b is not None]
    if not existing or not len(edges.source):
        return edges
    both = {end << 32 | start: rating for a, b, rating in existing for start, end in ((a, b), (b, a))}
    keys = np.array(sorted(both), np.int64)
    factors = np.array([0.5 + both[key] / 100 for key in keys.tolist()])
    of = edges.target << 32 | edges.source
    place = np.minimum(np.searchsorted(keys, of), len(keys) - 1)
    return Edges(edges.source, edges.target, edges.weight * np.where(keys[place] == of, factors[place], 1.0))


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
