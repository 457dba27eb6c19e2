"""Rank archived turns behind active turns that answer equally well.

Archived concepts are seeds and carry energy as others do: only the rank of a turn differs.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from emgas.messages.settings.modes import Mode
from state.arrays import Floats, Integers
from state.graph.view import GraphView

TERM: Final = "archived"  # its name in an explanation
BEHIND: Final = 0.5  # what an archived turn's score lacks in the default mode, whose scale is that of log-odds
SHARE: Final = 0.75  # of its score that an archived turn is ranked by in all other modes


def behind(view: GraphView, passages: Integers, scores: Floats, mode: Mode) -> Floats:
    """Rank those of `passages` (k,) behind that are archived, given the scores (k,) of all."""
    archived = view.of_turns("archived", passages) > 0
    if not archived.any():
        return scores
    ranked = scores - BEHIND if mode == "default" else scores * SHARE
    return np.where(archived, ranked, scores)


def term(view: GraphView, passage: int) -> dict[str, float]:
    """Return the term that the archive adds to the score of a passage in the default mode, {} for none."""
    return {TERM: -BEHIND} if view.of_turns("archived", np.array([passage]))[0] else {}
