"""Replace outdated turns in a ranking: a turn that supersedes another one gets at least the score of that one.

    score of the newer    at least that of the older, had nothing been said since

"Where do I live?" matches "I live in Leeds", but not "we moved to Bristol", which is the right answer.  This does not
apply to questions about the past.  SEEDS P38.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.inquiry import Inquiry
from processors.recall.ranking.weights import FlowWeights
from state.arrays import Floats, Integers
from state.graph.view import GraphView

TERM: Final = "succession"  # its name in an explanation
HISTORY_SHARE: Final = 0.5  # of the score of what is history, by another formula


def succeeded(
    inquiry: Inquiry, ranking: tuple[Integers, Floats], allowed: Allowed, weights: FlowWeights, limit: int
) -> tuple[Integers, Floats]:
    """Replace outdated turns among the best by the newer turns that supersede them; best first."""
    older, newer = inquiry.successions
    turn, score = ranking
    if not len(older) or inquiry.terms.past or not np.isin(older, turn).any():
        return ranking
    penalty, at = weights["history"], inquiry.view.of_turns("at", older)
    scores, heirs = dict(zip(turn.tolist(), score.tolist(), strict=True)), dict[int, float]()
    for place in np.lexsort((older, at)).tolist():  # what was said first hands down first
        old, new = int(older[place]), int(newer[place])
        worth = max(scores.get(old, -np.inf) - penalty, heirs.get(old, -np.inf))
        heirs[new] = max(worth, heirs.get(new, -np.inf))
    numbers, history = np.array(list(heirs), np.int64), set(older.tolist())
    for number in numbers[allowed.passes(numbers)].tolist():
        handed_down = heirs[number] + (penalty if number in history else 0.0)
        if handed_down > scores.get(number, -np.inf):
            scores[number] = handed_down
    turn, score = np.array(list(scores), np.int64), np.array(list(scores.values()))
    order = np.lexsort((-turn, -score))[:limit]
    return turn[order], score[order]


def current_first(view: GraphView, turns: Integers, scores: Floats) -> Floats:
    """Return what the scores (k,) of `turns` are multiplied by where another formula ranked them: (k,).

    An outdated turn keeps half of its score, and a turn that supersedes it gets at least the score of the older one.
    """
    place = {turn: number for number, turn in enumerate(turns.tolist())}
    older, newer = view.successions
    now = scores.copy()
    for old, new in sorted(zip(older.tolist(), newer.tolist(), strict=True), key=lambda pair: place.get(pair[0], 0)):
        if old in place:
            if new in place:
                now[place[new]] = max(now[place[new]], scores[place[old]])
            now[place[old]] *= HISTORY_SHARE
    return np.divide(now, scores, out=np.ones_like(scores), where=scores > 0)
