"""The peers' walks: those of the modes of a question (processors/recall/modes/), which structured.py builds upon."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from emgas.messages.modes import Mode
from processors.recall.retrieval.modes import ppr, steady_state, subtractive
from processors.recall.retrieval.modes.constants import MODES
from processors.recall.retrieval.modes.matching import matched
from processors.recall.retrieval.modes.seam import ModeInput
from state.arrays import Floats
from state.graph.view import GraphView

Scoring = Callable[[Floats], Floats]  # energy put in (n,) → the walk's score of each passage (p,), >= 0
Walk = Callable[[GraphView], Scoring]


def _walk(mode: Mode, scores: Callable[[ModeInput], Floats]) -> Walk:
    def prepared(view: GraphView) -> Scoring:
        if view.concepts:
            scores(
                ModeInput(view, np.eye(1, view.concepts)[0], MODES[mode].spreading)
            )  # what is laid out once is not timed
        return lambda put_in: scores(ModeInput(view, put_in, MODES[mode].spreading))

    return prepared


def _ppr(given: ModeInput) -> Floats:
    found, scores = ppr.find(given), np.zeros(given.view.turns)
    scores[found.passages] = found.scores
    return scores


def _steady(given: ModeInput) -> Floats:
    return matched(given.view, steady_state.energies(given)[0])


def _subtractive(given: ModeInput) -> Floats:
    return matched(given.view, subtractive.energies(given).energy ** 2)


WALKS: dict[Mode, Walk] = {
    "ppr": _walk("ppr", _ppr),
    "subtractive": _walk("subtractive", _subtractive),
    "steady-state": _walk("steady-state", _steady),
}
