"""The features of every turn for one question: what flows to it, and what it is.  Their weights: processors/recall/weights.py.

One row for each name in FEATURES, one column for each place of `view.session_order`.
"""

from __future__ import annotations

import numpy as np

from processors.recall import edge_scores
from processors.recall.dense import above_mean
from processors.recall.query_terms import QueryTerms
from processors.recall.weights import FEATURES
from state.arrays import Floats, Integers
from state.graph.view import GraphView


def features(view: GraphView, asked: QueryTerms, energy: Floats, cosine: Floats | None = None) -> Floats:
    """Return (f, p) the features of each place.

    energy  (n,) what the concepts hold after spreading
    cosine  (p,) of each passage with the question, if there are embeddings
    """
    order = view.session_order
    mentions, near = edge_scores.mentions(view, asked)
    asks = view.passage_question[order.order].astype(np.float64)
    first = order.start == np.arange(len(asks))
    speaker = _said_by(view, asked.named)
    columns = {
        "inherited": near.inherited(),
        "session": mentions.sessions(),
        "coverage": mentions.coverage(),
        "association": edge_scores.associated(view, energy, asked),
        "kinds": edge_scores.kinds(view, asked, mentions.total),
        "reply": speaker * np.where(first, 0.0, np.roll(asks, 1)),
        "match": mentions.match(),
        "speaker": speaker,
        "asks": asks,
        "first": first,
        **{kind: _marked(view, f"@{kind}", f"@{kind}" in asked.wants) for kind in ("time", "name", "number")},
        "names": _marked(view, "@name"),
        "length": np.log(np.maximum(view.passage_tokens[order.order], 1)),
        "dense": above_mean(cosine)[order.order] if cosine is not None else np.zeros(len(asks)),
    }
    return np.array([columns[name] for name in FEATURES], np.float64)


def _said_by(view: GraphView, named: Integers) -> Floats:
    """Return (p,) 1 for the turns of the speaker named, if it is just one."""
    if len(named) != 1:
        return np.zeros(len(view.passage_at))
    said: Floats = (view.passage_speaker[view.session_order.order] == named[0]).astype(np.float64)
    return said


def _marked(view: GraphView, mark: str, wanted: bool = True) -> Floats:
    """Return (p,) 1 for the turns that bear a mark, if it is wanted."""
    number = view.number(mark)
    if number is None or not wanted:
        return np.zeros(len(view.passage_at))
    return edge_scores.holding(view, np.array([number]))[view.session_order.order].astype(np.float64)
