"""Score turns that mean a word of the question by a pronoun: "What did Tomas crack?" asks for "He cracked his wrist".

    added = ln(1 − c + c · e^x)   c  how sure it is that a pronoun of the turn means a word of the question
                                  x  what a mention of the word would match, + WHOLE · share of the question's other
                                     words that the turn mentions: it says of them what is asked

Scores are log-odds, so c is the share of cases in which the turn is worth so much more.  The meaning of pronouns is
recorded with a turn (text/pronouns/mentions.py), but not in nodes: energy flows as if there were no pronouns.  So only
the READ best turns are checked, and only the order among them changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp, log, sqrt
from typing import Final

import numpy as np

from processors.recall.ranking.bm25 import idf, saturated
from processors.recall.ranking.query_terms import QueryTerms
from state.events.events import TurnRecorded
from state.graph.view import GraphView

TERM: Final = "pronoun"  # its name in an explanation
READ: Final = 20  # of the best turns
LEAST: Final = 0.5  # confidence
WHOLE: Final = 2.0
# Share of the question's other words, at least, where the turn does not tell the kind of answer that is asked for: else
# it only speaks of the same person.
ALSO: Final = 0.25


def meant_by_pronouns(
    view: GraphView, terms: QueryTerms, best: Sequence[int], turn_of: Callable[[int], TurnRecorded], weight: float
) -> Mapping[int, float]:
    """Return what pronouns of the `best` turns add to their scores, by the turn's number.

    weight  of a match
    """
    rarity = _rarity(view, terms)
    added: dict[int, float] = {}
    for number in best[:READ] if rarity else ():
        turn = turn_of(number)
        if turn.mentions and (worth := _added(view, number, turn, rarity, weight=weight, wants=terms.wants)) > 0:
            added[number] = worth
    return added


def _added(
    view: GraphView,
    number: int,
    turn: TurnRecorded,
    rarity: Mapping[str, float],
    *,
    weight: float,
    wants: frozenset[str],
) -> float:
    """Return what the surest pronoun of a turn that means a word of the question adds.

    wants  the marks of the kind of answer that is asked for
    """
    own = {concept.id for concept in turn.concepts}
    meant = [each for each in turn.mentions if each.confidence >= LEAST and each.concept in rarity.keys() - own]
    if not meant:
        return 0.0
    surest = max(meant, key=lambda each: each.confidence)
    total, worth = sum(rarity.values()), rarity[surest.concept]
    others = sum(each for word, each in rarity.items() if word in own) / max(total - worth, 1e-9)
    if others < ALSO and wants.isdisjoint(own):
        return 0.0
    once = float(saturated(np.ones(1), np.array([_relative(view, number)]))[0])
    return log(1 - surest.confidence + surest.confidence * exp(weight * once * worth / sqrt(total) + WHOLE * others))


def _rarity(view: GraphView, terms: QueryTerms) -> dict[str, float]:
    """Map the words of a question to how rare each is, times its weight."""
    rarity = idf(view.turns, view.holding(terms.words)) * terms.weight
    return dict(zip((view.ids[number] for number in terms.words.tolist()), rarity.tolist(), strict=True))


def _relative(view: GraphView, number: int) -> float:
    """Return how long a turn is, as a multiple of the mean."""
    return float(view.of_turns("tokens", np.array([number]))[0]) / max(view.tokens / max(view.turns, 1), 1.0)
