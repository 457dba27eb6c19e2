"""Decide whether a question asks for a value that no turn tells near what has it: How much did the couch cost?

    "The new couch is here!"  "Does it fit?"  "Had to take the door off."     the couch is known, its price is not

Near are the turns that mention what the question names, and of the same talk the one before and the three after them.
Where it names only the value itself (my blood type), the turns that were found stand in.  What many turns mention is
never judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from emgas.times import HOUR_MS
from processors.recall.answer.closer_look import AskedQuestion
from processors.recall.ranking.query_terms import QueryTerms
from processors.text.language import clean
from processors.text.questions.answer_kinds import EVERYDAY, form_of
from processors.text.questions.values import asked_values, asks_back, may_tell_value, names_value
from state.arrays import Integers, Mask
from state.events.events import TurnRecorded
from state.graph.view import GraphView

BEFORE: Final = 1  # turns before a mention that may tell the value,
AFTER: Final = 3  # and behind it,
APART_MS: Final = 3 * HOUR_MS  # from it at most: a session of notes goes on for days, each about something else
MOST: Final = 64  # turns that mention it, at most: more take long to read, and tell most things


def is_value_untold(
    question: AskedQuestion,
    best: Sequence[int],
    aliases: Mapping[str, str],
    turn_of: Callable[[int], TurnRecorded],
) -> bool:
    """Return whether a question asks for a value that no turn near what has it may tell.

    best     the turns that were found
    aliases  the names of people by what they are to others: "Ada's sister" → "Ilse"
    """
    kinds = asked_values(question.text)
    mentions = _mentions(question, kinds, best, aliases) if kinds else np.empty(0, np.int64)
    if not 0 < len(mentions) <= MOST:
        return False
    near = [turn_of(number) for number in _near(question.view, mentions).tolist()]
    answered = any(_is_answered(turn, reply, kinds) for turn, reply in pairwise(near))
    return not answered and not any(may_tell_value(turn.text, kinds) for turn in near)


def _is_answered(turn: TurnRecorded, reply: TurnRecorded, kinds: frozenset[str]) -> bool:
    """Return whether a person speaks right after another asked for such a value."""
    is_reply = turn.session == reply.session and turn.speaker != reply.speaker and reply.role != "assistant"
    return is_reply and asks_back(turn.text, kinds)


def _mentions(
    question: AskedQuestion, kinds: frozenset[str], best: Sequence[int], aliases: Mapping[str, str]
) -> Integers:
    """Find the turns that mention what has the value: all that name a word of the question, a relative or a member."""
    view, terms = question.view, question.terms
    form, names = form_of(clean(question.text)), _names(view, terms)
    named = np.array([not (name in EVERYDAY or name in form or names_value(name, kinds)) for name in names], np.bool_)
    if not named.any():
        return np.array(best, np.int64)
    concepts = [_concepts(terms, named), view.numbers_of(_also_called(names, named, aliases))]
    members = [each for kind, each in terms.kinds.items() if not names_value(kind, kinds)]
    _, passages, _ = view.mentions_of(np.unique(np.concatenate([*concepts, *members]).astype(np.int64)))
    return np.unique(passages).astype(np.int64)


def _names(view: GraphView, terms: QueryTerms) -> list[str]:
    """List the words of a question that lead to turns, known ones first."""
    return [*(view.ids[number] for number in terms.words.tolist()), *terms.unknown]


def _concepts(terms: QueryTerms, rows: Mask) -> Integers:
    """Return the numbers of some words of a question, and of their relatives."""
    known, others = len(terms.words), len(terms.seeds) - len(terms.words)
    row = terms.relatives.row
    word = np.where(row < known, row, row - others)  # rows of dates and speakers stand between known and unknown words
    is_of_word = (row < known) | (row >= known + others)
    wanted = is_of_word & rows[np.where(is_of_word, word, 0)]
    numbers: Integers = np.concatenate((terms.words[rows[:known]], terms.relatives.concept[wanted]))
    return numbers


def _also_called(names: list[str], rows: Mask, aliases: Mapping[str, str]) -> set[str]:
    """Return what else people are called whom a question names: Leo, who is my son."""
    named = {name for name, is_named in zip(names, rows.tolist(), strict=True) if is_named}
    pairs = [(path.rpartition("'s ")[2].casefold(), name.casefold()) for path, name in aliases.items()]
    return {other for role, name in pairs for one, other in ((role, name), (name, role)) if one in named}


def _near(view: GraphView, mentions: Integers) -> Integers:
    """Return the turns near some turns of their sessions, in place and in time, those turns among them."""
    talk = view.excerpt(np.unique(view.of_turns("session", mentions)))
    places = np.flatnonzero(np.isin(talk.turn, mentions))
    around = (places[:, None] + np.arange(-BEFORE, AFTER + 1)).clip(0, len(talk.turn) - 1)
    at = view.of_turns("at", talk.turn)
    is_near = np.abs(at[around] - at[places][:, None]) <= APART_MS
    is_near &= talk.session[around] == talk.session[places][:, None]
    numbers: Integers = np.unique(talk.turn[around[is_near]])
    return numbers
