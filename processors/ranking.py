"""How well each passage answers, given how awake its concepts are: pure functions of a view and energies.

    match       s[p] = Σ over concepts c of p:  energy[c] · idf[c] · tf (k1 + 1) / (tf + k1 (1 − b + b length / mean))
                (BM25 with energies as query weights; without spreading it is BM25)
    session     s[p] += 0.3 · mean of the three best of its session
    contiguity  s[p] += (0.3 + 0.5 if the previous turn asks) · s[previous] + 0.5 · s[next], within its session
    speaker     s[p] ·= 1.5 if the question names exactly p's speaker

Source of the forms and numbers: RECALL.md, "The algorithm behind the best row", steps 4 to 7.  There is no ranking by
recency: it cost 6.5 points there.  The seed's own ranking is `carried`: no structure, only energies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from state.view import Floats, GraphView, Integers

K1 = 0.9  # how fast repetition saturates
B = 0.4  # how much a long turn is discounted
SESSION = 0.3
SESSION_BEST = 3
PREVIOUS = 0.3
ANSWER = 0.5  # on top of PREVIOUS when the previous turn asks: this turn may be its answer
NEXT = 0.5
SPEAKER = 1.5  # above about 1.7, recall on adversarial questions falls


def idf(view: GraphView) -> Floats:
    """Return (n,) how rare each concept is: ln(1 + (p − d + ½) / (d + ½)), d = passages that hold it; > 0."""
    rarity: Floats = np.log1p((len(view.passage_at) - view.passages_with + 0.5) / (view.passages_with + 0.5))
    return rarity


def matched(view: GraphView, energy: Floats) -> Floats:
    """Return (p,) the BM25-like match of each passage with the energies (n,)."""
    awake = np.flatnonzero((energy > 0)[view.posting_concept])
    concept, passage, count = (
        column[awake] for column in (view.posting_concept, view.posting_passage, view.posting_count)
    )
    relative = view.passage_tokens / max(view.passage_tokens.mean(), 1.0)
    damping = (K1 * (1 - B) + K1 * B * relative)[passage]
    term = (energy * idf(view))[concept] * (K1 + 1) * count / (count + damping)
    return _summed(passage, term, len(view.passage_at))


def carried(view: GraphView, energy: Floats, sources: Integers) -> Floats:
    """Return (p,) the energies that each passage holds, 0 unless it holds one of `sources` (seed 000 §4.3)."""
    given = _summed(view.posting_passage, energy[view.posting_concept], len(view.passage_at))
    is_source = np.zeros(len(energy), np.bool_)
    is_source[sources] = True
    reached = np.zeros(len(given), np.bool_)
    reached[view.posting_passage[is_source[view.posting_concept]]] = True
    return np.where(reached, given, 0.0)


def with_structure(view: GraphView, scores: Floats, named: Integers) -> Floats:
    """Return (p,) `scores` with session, contiguity and speaker; `named` (k,) are the speakers the question names."""
    order = np.argsort(view.passage_session, kind="stable")  # sessions apart, each in the order folded
    session, ranked = view.passage_session[order], scores[order]
    ranked = ranked + SESSION * _best_of_session(session, ranked)[session]
    ranked = _with_neighbours(session, ranked, view.passage_question[order])
    if len(named) == 1:
        ranked = np.where(view.passage_speaker[order] == named[0], ranked * SPEAKER, ranked)
    structured = np.empty_like(ranked)
    structured[order] = ranked
    return structured


def _best_of_session(session: Integers, scores: Floats) -> Floats:
    """Return (sessions,) the mean of the best scores of each; `session` (p,) is ascending."""
    best_first = np.lexsort((-scores, session))
    starts = np.searchsorted(session, np.arange(session[-1] + 1))
    place = np.arange(len(session)) - starts[session]
    best = place < SESSION_BEST
    sums = _summed(session[best], scores[best_first][best], len(starts))
    return sums / np.maximum(np.bincount(session[best], minlength=len(starts)), 1)


def _with_neighbours(session: Integers, scores: Floats, asks: NDArray[np.bool_]) -> Floats:
    """Return (p,) `scores` with what the turn before and the turn after give."""
    together = session[1:] == session[:-1]
    given = scores.copy()
    given[1:] += np.where(together, (PREVIOUS + ANSWER * asks[:-1]) * scores[:-1], 0.0)
    given[:-1] += np.where(together, NEXT * scores[1:], 0.0)
    return given


def _summed(at: Integers, values: Floats, size: int) -> Floats:
    """Return (size,) the sum of the values at each position, added in their order."""
    return np.bincount(at, values, size).astype(np.float64, copy=False)
