"""Peers that walk the graph, with all other parts of recall: a walk replaces our flow.

    match        the walk's score of a passage, over the largest
    inherited    ln(1 + 10 x), x what the walk's scores leave in the session: · 0.7 with every turn after, half before
    session      ln(1 + 10 x), x the walk's scores of the session, added up
    association  nothing: the walk is the association
    packed       per token and cut where scores drop, as recall has it
    all else     as recall has it: coverage, kinds, reply, speaker, what is asked for, … (ranking/features.py)

So a comparison shows what the way of spreading is worth, not that conversations have structure.  The walk starts where
recall does, relatives included (lab/retrievers/seeds.py).  Weights are fitted as those of recall are, for each
peer its own; the forms are the best for the peers of five that were tried.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evaluation.baselines.walks import Scoring, Walk
from evaluation.memory import DEPTH, EvaluatedMemory, Ranker, Ranking, ranking
from lab.retrievers.seeds import put_in
from processors.extraction.extractor import Extraction
from processors.recall.ranking.edge_scores import BACKWARDS, FADING, REACH
from processors.recall.ranking.features import features
from processors.recall.ranking.passage_scores import weighed
from processors.recall.ranking.query_terms import find_query_terms
from processors.recall.ranking.weights import FEATURES, FlowWeights
from processors.recall.retrieval.recall import Ranked, highest
from state.arrays import Floats, Integers
from state.graph.counting.session_layout import SessionOrder
from state.graph.view import GraphView

SATURATION = 10.0

Columns = Callable[[Extraction, str], Floats]  # a question → (p, f) the features of each passage


def columns(walk: Walk, memory: EvaluatedMemory) -> Columns:
    """Prepare the features of a question, the walk's in their places."""
    view, scoring = memory.view, walk(memory.view)

    def of_question(question: Extraction, text: str) -> Floats:
        return _features(view, scoring, question, text)[:, view.session_order.place].T

    return of_question


def structured(walk: Walk, weights: FlowWeights) -> Callable[[EvaluatedMemory], Ranker]:
    """Make the method that ranks by the walk and by all else that recall has."""

    def method(memory: EvaluatedMemory) -> Ranker:
        view, scoring = memory.view, walk(memory.view)

        def rank(question: Extraction, text: str) -> Ranking:
            if not put_in(view, question, find_query_terms(view, question, text)).any():
                return Ranking(*[np.zeros(0, np.int64)] * 3)
            place = view.session_order.place
            scores, reached = weighed(_features(view, scoring, question, text), weights)
            scores, reached = scores[place], reached[place]
            listed = highest(scores, reached, DEPTH)
            ranked = list(map(Ranked, listed.tolist(), scores[listed].tolist()))
            return ranking(view, ranked, "default")

        return rank

    return method


def _features(view: GraphView, scoring: Scoring, question: Extraction, text: str) -> Floats:
    """Compute the features of each place: (f, p)."""
    meant, order = find_query_terms(view, question, text), view.session_order
    values = features(view, meant, np.zeros(len(view.is_mark)))
    energy = put_in(view, question, meant)
    scores = scoring(energy)[order.order] if energy.any() else np.zeros(len(order.order))
    scores = scores / (scores.max(initial=0.0) or 1.0)
    own = {
        "match": scores,
        "inherited": np.log1p(SATURATION * lasting(order, scores)),
        "session": np.log1p(SATURATION * _summed(order.session, scores, len(order.tokens))[order.session]),
        "association": np.zeros(len(scores)),
    }
    for name, column in own.items():
        values[FEATURES.index(name)] = column
    return values


def lasting(order: SessionOrder, scores: Floats) -> Floats:
    """Add to the scores of each place (p,) what the turns around it leave there."""
    lasted, places = scores.copy(), np.arange(len(scores))
    for distance in range(1, REACH + 1):
        here = places[places + distance < order.end]
        lasted[here + distance] += scores[here] * FADING**distance
        here = places[places - distance >= order.start]
        lasted[here - distance] += scores[here] * BACKWARDS * FADING**distance
    return lasted


def _summed(at: Integers, values: Floats, size: int) -> Floats:
    return np.bincount(at, values, size).astype(np.float64, copy=False)
