"""Decide how broadly a context quotes its passages, by the kind of question.

    an answer    the passages that answer best per token, and long turns by their best sentences
    an account   a discussion of something (what did they discuss about the budget? 大家怎么看？): it takes many turns,
                 so neighbours of the matches are added, long turns are quoted shorter, and length counts for less

An account is spread over a stretch of talk in which few turns hold a word of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from processors.recall.context.context import LONG_TURN
from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.passage_scores import DENSITY
from processors.recall.retrieval.recall import Ranked
from processors.text.language import clean
from processors.text.questions.answer_kinds import asks_account
from state.graph.view import GraphView


class Breadth(NamedTuple):
    """The breadth of a context: how it quotes turns, and which neighbours it adds.

    longest  tokens of a turn beyond which its best sentences stand for it
    density  how much the length of a turn counts, 1 for all of it (passage_scores.per_token)
    beside   what a turn scores less than the one found that is one turn away, two turns away, …
    """

    longest: int
    density: float
    beside: tuple[float, ...] = ()


ANSWER: Final = Breadth(LONG_TURN, DENSITY)
ACCOUNT: Final = Breadth(LONG_TURN // 2, 0.5, (0.8, 1.8))


def breadth_of(text: str) -> Breadth:
    """Choose how broadly a question is answered."""
    return ACCOUNT if asks_account(clean(text)) else ANSWER


def with_neighbours(
    view: GraphView, passages: Sequence[Ranked], beside: Sequence[float], allowed: Allowed
) -> list[Ranked]:
    """Add the turns beside those found, or raise them, as far as a filter lets them through; the best first."""
    scores = {each.number: each.score for each in passages}
    order, place = view.session_order, view.session_order.place
    places = place[np.array([each.number for each in passages], np.int64)]
    for step, less in enumerate(beside, start=1):
        for here in (places + step, places - step):
            inside = (here < order.end[places]) & (here >= order.start[places])
            for number, near in zip(order.order[here[inside]].tolist(), np.flatnonzero(inside).tolist(), strict=True):
                scores[number] = max(scores.get(number, -np.inf), passages[near].score - less)
    numbers = np.array(list(scores), np.int64)
    passing = numbers[allowed.passes(numbers)].tolist()
    return sorted((Ranked(number, scores[number]) for number in passing), key=lambda each: -each.score)
