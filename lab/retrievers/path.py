"""Path scores: how MoFox expands what is asked, over the best ways through its graph (SEEDS M27, M23).

    a way    its score falls by w · d^h with its h-th edge, d = 0.85, two edges at most: the best way to a node is the
             shortest by −ln (w · d^h), found edge by edge (Dijkstra's relaxation, by number of edges).  w is at most 1
    branches of a node only its 10 heaviest edges, 15 where the way scores above 0.7, 5 at 0.4 or below
    meet     where the ways of two seeds meet, and the weaker has 0.9 of the stronger at least: 1.2 · √(a · b)
    passage  of the ways to the nodes that it holds 0.4 · their sum + 0.6 · the mean of the best three,
             then 0.5 · that (over the largest) + 0.3 · importance + 0.2 · recency,  recency = 1 / (1 + days / 30)

MoFox adds to each step how similar the new node is to the question, by vectors; words that were not asked for have no
such likeness here, and what means the same is a seed.  Its edges are a language model's, with importances for weights;
ours are associations, by NPMI, which is at most 1.  A weight above 1, of another weighting, counts 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from emgas.messages.settings.modes import Stage
from emgas.times import DAY_MS
from lab.retrievers.seam import ModeInput, ModeResult
from lab.retrievers.walking import WALK, by_walk
from processors.association import Edges
from processors.recall.retrieval.policies import Retriever
from state.arrays import Floats, Integers, Mask
from state.graph.view import GraphView, importance

BRANCHES: Final = 10
HIGH, MEDIUM = 0.7, 0.4  # scores of ways, above which 15 and 10 edges are followed; else 5
PRUNE: Final = 0.9
MEET: Final = 1.2
BEST: Final = 3
SUMMED: Final = 0.4
OF_PATH, OF_IMPORTANCE, OF_RECENCY = 0.5, 0.3, 0.2
MONTH: Final = 30.0  # days


class Ways(NamedTuple):
    """The best ways from one seed: (n,) the score of each, 0 for none; (n,) the node before the last, -1 for none."""

    score: Floats
    before: Integers


def ways(mode_input: ModeInput, seed: int, start: float) -> Ways:
    """Find the best ways from a seed, which itself scores `start`, over as many edges as there may be."""
    nodes, damping = mode_input.view.concepts, mode_input.how.propagation_decay
    best, before = np.zeros(nodes), np.full(nodes, -1)
    best[seed] = start
    last = best.copy()  # of ways over exactly as many edges
    for hop in range(1, mode_input.how.max_iterations + 1):
        out = _branches(mode_input.edges(np.flatnonzero(last > 0)), last)
        scores = last[out.source] * np.minimum(out.weight, 1.0) * damping**hop
        step = np.zeros(nodes)
        np.maximum.at(step, out.target, scores)
        better = scores == step[out.target]
        better &= scores > best[out.target]
        before[out.target[better][::-1]] = out.source[better][::-1]  # of equals the lowest number
        best = np.maximum(best, step)
        last = step
    return Ways(best, before)


def _branches(out: Edges, score: Floats) -> Edges:
    """Leave the heaviest edges out of each node, as many as its score allows; edges are ordered by (source, target)."""
    order = np.lexsort((out.target, -out.weight, out.source))
    source = out.source[order]
    place = np.arange(len(source)) - np.searchsorted(source, source)
    scores = score[source]
    most = np.where(scores > HIGH, BRANCHES * 3 // 2, np.where(scores > MEDIUM, BRANCHES, BRANCHES // 2))
    keep: Mask = np.zeros(len(source), np.bool_)
    keep[order[place < most]] = True
    return out.where(keep)


def merged(scores: Floats) -> Floats:
    """Merge the scores (seeds, n) of the ways from every seed: (n,), more where two of about the same score meet."""
    if len(scores) == 1:
        best: Floats = scores[0]
        return best
    ordered = -np.partition(-scores, 1, axis=0)[:2]
    meets = (ordered[1] >= PRUNE * ordered[0]) & (ordered[1] > 0)
    met: Floats = np.where(meets, MEET * np.sqrt(ordered[0] * ordered[1]), ordered[0])
    return met


def recency(view: GraphView, passages: Integers) -> Floats:
    """Grade passages by age: (k,) in (0, 1], half after thirty days of the graph's clock."""
    days = np.maximum(view.clock - view.of_turns("at", passages), 0) / DAY_MS
    graded: Floats = 1 / (1 + days / MONTH)
    return graded


def find(mode_input: ModeInput) -> ModeResult:
    """Follow the best ways from every seed."""
    view, seeds = mode_input.view, mode_input.seeds
    paths = [ways(mode_input, seed, float(mode_input.put_in[seed])) for seed in seeds.tolist()]
    scores = np.array([each.score for each in paths])
    score, strongest = merged(scores), np.argmax(scores, axis=0)
    before = np.array([each.before for each in paths])[strongest, np.arange(view.concepts)]
    nodes = np.flatnonzero(score > 0)
    path, topic = _of_passages(view, nodes, score)
    passages = np.flatnonzero(path > 0)
    terms = {
        "path": OF_PATH * path[passages] / path.max(initial=1e-300),
        "importance": OF_IMPORTANCE * importance(view.of_turns("importance", passages)),
        "recency": OF_RECENCY * recency(view, passages),
    }
    total = sum(terms.values(), np.zeros(len(passages)))
    order = np.lexsort((-passages, -total))
    return ModeResult(
        energy=score,
        passages=passages[order],
        scores=total[order],
        terms={name: values[order] for name, values in terms.items()},
        topic=topic[passages[order]],
        predecessor=before,
        stages=(Stage(name="ways", found=len(nodes)), Stage(name="passages", found=len(passages))),
    )


def _of_passages(view: GraphView, nodes: Integers, score: Floats) -> tuple[Floats, Integers]:
    """Gather (p,) the scores of the ways to what each passage holds, and the best of these nodes, -1 for none."""
    nodes = nodes[np.argsort(-score[nodes], kind="stable")]
    node, passage = view.holders_of(nodes)
    worth = score[nodes][node]
    order = np.argsort(passage, kind="stable")  # within a passage the best come first
    passage, worth, node = passage[order], worth[order], node[order]
    place = np.arange(len(passage)) - np.searchsorted(passage, passage)
    top = np.bincount(passage[place < BEST], worth[place < BEST], view.turns)
    mean = top / np.maximum(np.minimum(np.bincount(passage, minlength=view.turns), BEST), 1)
    topic = np.full(view.turns, -1)
    topic[passage[place == 0]] = nodes[node[place == 0]]
    return SUMMED * np.bincount(passage, worth, view.turns) + (1 - SUMMED) * mean, topic


RETRIEVER: Final = Retriever(
    name="path",
    source="MoFox v2",
    spreading=replace(WALK, propagation_decay=0.85, max_iterations=2, weighting="npmi", marks=False),
    fields=("propagation_decay", "max_iterations"),
    retrieve=by_walk(find),
    edges=frozenset({"associations", "relations"}),
)
