"""The peers' walks: those of the lab's retrievers (lab/retrievers/), which structured.py builds upon."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from emgas.messages.settings.modes import Mode
from lab.catalogue import RETRIEVERS
from lab.retrievers import ppr, steady_state, subtractive
from lab.retrievers.matching import matched
from lab.retrievers.seam import ModeInput
from state.arrays import Floats
from state.graph.view import GraphView

Scoring = Callable[[Floats], Floats]  # energy put in (n,) → the walk's score of each passage (p,), >= 0
Walk = Callable[[GraphView], Scoring]


def _walk(mode: Mode, scores: Callable[[ModeInput], Floats]) -> Walk:
    spreading = RETRIEVERS[mode].spreading

    def prepared(view: GraphView) -> Scoring:
        if view.concepts:
            scores(ModeInput(view, np.eye(1, view.concepts)[0], spreading))  # what is laid out once is not timed
        return lambda put_in: scores(ModeInput(view, put_in, spreading))

    return prepared


def _ppr(mode_input: ModeInput) -> Floats:
    result, scores = ppr.find(mode_input), np.zeros(mode_input.view.turns)
    scores[result.passages] = result.scores
    return scores


def _steady(mode_input: ModeInput) -> Floats:
    return matched(mode_input.view, steady_state.energies(mode_input)[0])


def _subtractive(mode_input: ModeInput) -> Floats:
    return matched(mode_input.view, subtractive.energies(mode_input).energy ** 2)


WALKS: dict[Mode, Walk] = {
    "ppr": _walk("ppr", _ppr),
    "subtractive": _walk("subtractive", _subtractive),
    "steady-state": _walk("steady-state", _steady),
}
