"""Score how well passages match the energies of concepts: as BM25 matches words, or by the cosine of tf-idf vectors."""

from __future__ import annotations

import numpy as np

from processors.recall.ranking.bm25 import idf, relative, saturated
from state.arrays import Floats
from state.graph.view import GraphView


def matched(view: GraphView, energy: Floats) -> Floats:
    """Match each passage with the energies (n,) as BM25 does: (p,)."""
    awake = np.flatnonzero((energy > 0)[view.posting_concept])
    concept, passage, count = (
        column[awake] for column in (view.posting_concept, view.posting_passage, view.posting_count)
    )
    rarity = idf(view.turns, view.passages_with)
    term = (energy * rarity)[concept] * saturated(count, relative(view.passage_tokens)[passage])
    return np.bincount(passage, term, view.turns).astype(np.float64, copy=False)


def tfidf_cosine(view: GraphView, energy: Floats) -> Floats:
    """Compute (p,) the cosine of each passage with the energies (n,), words weighed by how rare they are."""
    rarity = idf(view.turns, view.passages_with)
    length = view.once("tfidf length", _lengths)
    query_vector = energy * rarity
    query_vector[view.is_mark] = 0.0
    awake = np.flatnonzero((query_vector > 0)[view.posting_concept])
    concept, passage = view.posting_concept[awake], view.posting_passage[awake]
    dot = np.bincount(passage, query_vector[concept] * rarity[concept] * view.posting_count[awake], view.turns)
    whole = length * np.sqrt((query_vector**2).sum())
    cosine: Floats = np.divide(dot, whole, out=np.zeros(view.turns), where=whole > 0)
    return cosine


def _lengths(view: GraphView) -> Floats:
    """Compute (p,) the length of the tf-idf vector of each passage, marks left out."""
    rarity = np.where(view.is_mark, 0.0, idf(view.turns, view.passages_with))
    parts = (rarity[view.posting_concept] * view.posting_count) ** 2
    length: Floats = np.sqrt(np.bincount(view.posting_passage, parts, view.turns))
    return length
