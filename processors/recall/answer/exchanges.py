"""Find among the best turns those that answer by the part they play in a talk: a reason, a refusal, a name.

    "Why did he sell it?"            what follows "I sold it" and "why?", or says "because", "it's the gearbox"
    "Who is not coming?"             "can't, on shift", after "who is coming on Sunday?"
    "Who suggested the lake?"        "we should go to the lake", before others that speak of the lake
    "When is it due?"                "early May", after "when?"
    "Can I eat bread?"               "I'm coeliac", before others that speak of food
    "What car do we have?"           "gone for a Skoda", after "we're swapping cars"
    "What does my cousin study?"     "Ilse is doing law", after "my cousin Ilse might come"

Such a turn often shares no word with the question.  It ranks right before the turn that it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from processors.recall.answer.closer_look import AHEAD, READ, AskedQuestion, asked_in, is_own, mapped
from processors.text.questions.answer_kinds import (
    asks_absent,
    asks_allowed,
    asks_cause,
    asks_present,
    asks_proposal,
    asks_when,
    asks_when_back,
    asks_why,
    declines,
    invites,
    proposes,
    tells_cause,
    tells_ending,
    tells_instead,
    tells_restriction,
)
from state.events.events import TurnRecorded

FEW: Final = 3  # best turns that others may belong to
_NEXT: Final = 3  # turns within which a reason is given
_EXCHANGE: Final = 4  # turns between what went and what came instead
_REPLIES: Final = 6  # turns within which an invitation is declined
_MOST_WORDS: Final = 2  # between a role and a name: my cousin, the quiet one called Ilse

TurnOf = Callable[[int], TurnRecorded]


def exchanges(
    question: AskedQuestion, scores: Mapping[int, float], best: Sequence[int], turn_of: TurnOf
) -> dict[int, float]:
    """Return what turns that answer by their part in the talk must get to rank before those they belong to."""
    added: dict[int, float] = {}
    for before, number in _found(question, scores, best, turn_of):
        worth = scores[before] + AHEAD - scores[number]
        added[number] = max(added.get(number, 0.0), worth)
    return {number: worth for number, worth in added.items() if worth > 0}


def _found(
    question: AskedQuestion, scores: Mapping[int, float], best: Sequence[int], turn_of: TurnOf
) -> Iterator[tuple[int, int]]:
    """Yield each turn that answers, behind the turn that it must rank before."""
    if asks_cause(question.text):
        yield from _reasons(scores, best, turn_of)
    if asks_absent(question.text):
        yield from _refusals(question, scores, best, turn_of)
    if asks_proposal(question.text):
        yield from _proposals(question, best, turn_of)
    if asks_when(question.text):
        yield from _times(scores, best, turn_of)
    if question.asker and asks_allowed(question.text):
        yield from _restrictions(question, best, turn_of)
    if question.terms.past or asks_present(question.text):
        yield from _replaced(question, scores, best, turn_of)
    yield from _introduced(question, best, turn_of)


def _reasons(scores: Mapping[int, float], best: Sequence[int], turn_of: TurnOf) -> Iterator[tuple[int, int]]:
    """Yield the reason that is given for what the best turn tells, if it gives none itself."""
    effect = turn_of(best[0])
    if tells_cause(effect.text):
        return
    asked_by: str | None = None
    for number in _beside(best[0], _NEXT, scores, turn_of):
        turn = turn_of(number)
        if tells_cause(turn.text) or (asked_by is not None and turn.speaker != asked_by):
            yield best[0], number
            return
        if asks_why(turn.text) and turn.speaker != effect.speaker:
            asked_by = turn.speaker


def _refusals(
    question: AskedQuestion, scores: Mapping[int, float], best: Sequence[int], turn_of: TurnOf
) -> Iterator[tuple[int, int]]:
    """Yield those who decline, after a turn that asks who takes part in what the question names."""
    for number in best[:READ]:
        invitation = turn_of(number)
        if invites(invitation.text) and asked_in(question, [number])[number]:
            for reply in _beside(number, _REPLIES, scores, turn_of):
                if turn_of(reply).speaker != invitation.speaker and declines(turn_of(reply).text):
                    yield best[0], reply


def _proposals(question: AskedQuestion, best: Sequence[int], turn_of: TurnOf) -> Iterator[tuple[int, int]]:
    """Yield the best turn that proposes something that the question names."""
    read = best[:READ]
    asked = asked_in(question, read)
    for number in read:
        if asked[number] and proposes(turn_of(number).text):
            yield best[0], number
            return


def _times(scores: Mapping[int, float], best: Sequence[int], turn_of: TurnOf) -> Iterator[tuple[int, int]]:
    """Yield what answers with a time where a talk about what is asked asks for one."""
    for number in best[:FEW]:
        asked_by: str | None = None
        for following in _beside(number, _NEXT, scores, turn_of):
            turn = turn_of(following)
            if asked_by is not None and turn.speaker != asked_by and turn.times:
                yield best[0], following
                return
            asked_by = turn.speaker if asks_when_back(turn.text) else asked_by


def _restrictions(question: AskedQuestion, best: Sequence[int], turn_of: TurnOf) -> Iterator[tuple[int, int]]:
    """Yield what the asker says that they may not eat, drink or take."""
    read = best[:READ]
    related = _related_in(question, read)
    for number in read:
        if related[number] and is_own(question, turn_of(number)) and tells_restriction(turn_of(number).text):
            yield best[0], number
            return


def _replaced(
    question: AskedQuestion, scores: Mapping[int, float], best: Sequence[int], turn_of: TurnOf
) -> Iterator[tuple[int, int]]:
    """Yield what a speaker got instead of what the best turn says is gone; what is gone, if the past is asked for."""
    is_asked, other, direction = (
        (tells_instead, tells_ending, -1) if question.terms.past else (tells_ending, tells_instead, 1)
    )
    known = turn_of(best[0])
    if not is_asked(known.text) or other(known.text):
        return
    for number in _beside(best[0], direction * _EXCHANGE, scores, turn_of):
        if turn_of(number).speaker == known.speaker and other(turn_of(number).text):
            yield best[0], number
            return


def _introduced(question: AskedQuestion, best: Sequence[int], turn_of: TurnOf) -> Iterator[tuple[int, int]]:
    """Yield turns that say what is asked of a person by name, each behind the one that names them by their role."""
    read = best[:READ]
    naming = [number for number in read[:FEW] if any(each.label[:1].isupper() for each in turn_of(number).concepts)]
    if not naming:
        return
    asked, related = asked_in(question, read), _related_in(question, read)
    for number in naming:
        roles = {question.view.ids[each] for each in asked[number]}
        called = _called(turn_of(number), roles) if roles else frozenset[str]()
        for other in read if called else ():
            named = {each.id for each in turn_of(other).concepts}
            if called & named and not asked[other] & asked[number] and related[other] - related[number]:
                yield number, other


def _called(turn: TurnRecorded, roles: set[str]) -> frozenset[str]:
    """Return whom a turn names beside one of some words: Ilse of "my cousin Ilse"."""
    forms = "|".join(re.escape(each) for each in sorted(roles))
    between = rf"[, ]+(?:\w+ ){{0,{_MOST_WORDS}}}?"
    people = (each for each in turn.concepts if each.label[:1].isupper() and each.id not in roles)
    return frozenset(
        each.id
        for each in people
        if re.search(rf"\b(?i:{forms}){between}{re.escape(each.label)}\b", turn.text)
        or re.search(rf"\b{re.escape(each.label)}[, ]+(?:is )?(?:my|his|her|their|our) (?i:{forms})\b", turn.text)
    )


def _related_in(question: AskedQuestion, numbers: Sequence[int]) -> dict[int, frozenset[int]]:
    """Map some turns to the rows of the question's words that each mentions, or a relative of."""
    terms = question.terms
    row_of = dict(zip(terms.relatives.concept.tolist(), terms.relatives.row.tolist(), strict=True))
    row_of |= {number: row for row, number in enumerate(terms.words.tolist())}
    return mapped(question, numbers, row_of)


def _beside(number: int, most: int, scores: Mapping[int, float], turn_of: TurnOf) -> Iterator[int]:
    """Yield the turns right after one in its session that were found, or those before it if `most` is negative."""
    session, step = turn_of(number).session, 1 if most > 0 else -1
    for other in range(number + step, number + step + most, step):
        if other in scores and turn_of(other).session == session:
            yield other
