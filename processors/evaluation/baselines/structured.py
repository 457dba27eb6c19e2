"""What every peer that walks the graph gets on top of its own scores: the same episodic structure.

    match       s[p] = Σ over concepts c of p:  energy[c] · idf[c] · tf (k1 + 1) / (tf + k1 (1 − b + b length / mean))
    session     s[p] += 0.3 · mean of the three best of its session
    contiguity  s[p] += (0.3 + 0.5 if the previous turn asks) · s[previous] + 0.5 · s[next], within its session
    speaker     s[p] ·= 1.5 if the question names exactly p's speaker

Without it a comparison would only show that conversations have structure, which is no merit of a way of spreading.
The forms and numbers are the best that were found for scores of any origin: RECALL.md, "The algorithm behind the best
row", steps 4 to 7.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from processors.naming import named_speakers
from state.view import Floats, GraphView, Integers

K1, B = 0.9, 0.4
SESSION = 0.3
SESSION_BEST = 3
PREVIOUS = 0.3
ANSWER = 0.5  # on top of PREVIOUS when the previous turn asks: this turn may be its answer
NEXT = 0.5
SPEAKER = 1.5


def of_concepts(view: GraphView, energy: Floats, text: str) -> Floats:
    """Return (p,) what the energies (n,) of concepts give: passages match them BM25-like, then structure."""
    return of_passages(view, matched(view, energy), text)


def of_passages(view: GraphView, scores: Floats, text: str) -> Floats:
    """Return (p,) the `scores` of passages with session, contiguity and speaker."""
    order = np.argsort(view.passage_session, kind="stable")  # sessions apart, each in the order folded
    session, given = view.passage_session[order], scores[order]
    given = given + SESSION * _best_of_session(session, given)[session]
    given = _with_neighbours(session, given, view.passage_question[order])
    named = named_speakers(text, view.speakers)
    if len(named) == 1:
        given = np.where(view.passage_speaker[order] == named[0], given * SPEAKER, given)
    structured = np.empty_like(given)
    structured[order] = given
    return structured


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
    return np.bincount(at, values, size).astype(np.float64, copy=False)
