"""Read the best turns again for what their words alone do not show, and put them in order by it.

    sign       what the turn does                                                                             log-odds
    omitted    says that what is asked for was left out: "didn't make it to pilates"                          4
    wanted     tells the kind of thing that is asked for: a price, a colour, a place                          3
    goes on    says with a pronoun what is asked of what its speaker named right before: "it got stuck"       3
    advice     is the assistant's, where the question is what it said: "What did you suggest?"                3
    same       replies to another who asks the same of what is asked: "no one used it" after "why?"           3
    self       says it of the asker: "I never learned to drive" for "Can I drive?"                            2
    reply      replies to another who asks about what is asked: "a kayak" after "what for?"                   1
    change     is the newest about what is asked, and hints at a change: "going up to 100"                    1
    first      is the oldest about what is asked, where the question asks how things were                     1
    value      tells a time, a number, a name or a reason, as it is asked for                                 0.5
    its value  tells one of what the turns right before it name                                               0.5
    pronoun    has a pronoun, and the turns right before it name what is asked                                0.5

The turns deal out the scores that they have among themselves, because a context shows what is near the best; only
`omitted` adds to one.  The weights are the best found for the first turn of an answer on the development data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from processors.recall.ranking.query_terms import QueryTerms, speaker_mark
from processors.text import tables
from processors.text.language import Language
from processors.text.questions.answer_kinds import (
    ask_alike,
    asks_account,
    asks_assistant,
    asks_cause,
    asks_fate,
    asks_omitted,
    asks_past,
    asks_present,
    asks_self,
    hints_change,
    tells_cause,
    tells_past,
)
from processors.text.questions.values import asked_values, may_tell_value
from processors.text.questions.wanted import tells_wanted, wanted
from processors.text.scripts import HAN
from processors.text.statements import SKIPS, holds_form
from state.events.events import TurnRecorded
from state.graph.view import GraphView

TERM: Final = "closer_look"  # its name in an explanation
READ: Final = 8  # of the best turns
LOOKED_UP: Final = 100  # of them, whose statements are looked up: what was left out is like what was done each day
OMITTED: Final = 4.0
WANTED: Final = 3.0
ADVICE: Final = 3.0
SELF: Final = 2.0
SAME: Final = 3.0
REPLY: Final = 1.0
CHANGE: Final = 1.0
FIRST: Final = 1.0
VALUE: Final = 0.5
GOES_ON: Final = 3.0
PRONOUN: Final = 0.5
_BACK: Final = 3  # turns before one that it may go on about
_MOST_WORDS: Final = 4  # between "I" and what is asked for
_EARLY: Final = 60  # characters of a turn, in which a pronoun goes on about what was named before
_REFERS: Final = tables.lazy(r"\b(?:[Ii]ts?|[Tt]h(?:ey|em|eir)|[Hh](?:e|im|is|er)|[Ss]he)\b|[他她它]")
_GOES_ON: Final = tables.lazy(
    r"\b(?:its?|they|them|their|he|him|his|she|her|that|this|ones?|there)\b|[他她它]|[那这][边儿里家个]", re.IGNORECASE
)
_WORD: Final = tables.lazy(r"[a-z]{3,}", re.IGNORECASE)
_ENGLISH: Final = Language("en", ())
_HAN: Final = tables.lazy(f"[{HAN}]")
_EMPTY_HAN: Final = frozenset(
    "我你您他她它们咱的了吗呢吧啊呀什么怎样谁哪里儿个是有在要多少几为会能和跟对把被给也都就还很去来说做没不过着这那时候"
    "天年月日到用叫想得上下事情东西现今明昨最近后前请问知道可以应该"
)
_EMPTY: Final = frozenset(
    ("what", "when", "where", "which", "who", "whose", "how", "why", "do", "did", "with", "have", "be", "that", "this")
) | {"the", "there", "about", "and", "for", "you", "our", "your", "their", "his", "her", "its", "them", "they", "can"}

TurnOf = Callable[[int], TurnRecorded]


@dataclass(frozen=True)
class AskedQuestion:
    """What is asked, by whom, and the words of it that the graph knows."""

    text: str
    asker: str
    view: GraphView
    terms: QueryTerms

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Return the kinds of things that are asked for: a place, a price."""
        return wanted(self.text)

    @cached_property
    def values(self) -> frozenset[str]:
        """Return the kinds of values that are asked for: a price, a colour."""
        return asked_values(self.text)

    @cached_property
    def is_past(self) -> bool:
        """Return whether the question asks how things once were."""
        return asks_past(self.text)

    @cached_property
    def is_of_self(self) -> bool:
        """Return whether the question asks what its asker does."""
        return bool(self.asker) and asks_self(self.text)

    @cached_property
    def is_of_advice(self) -> bool:
        """Return whether the question asks what the assistant said."""
        return asks_assistant(self.text)

    @cached_property
    def is_of_cause(self) -> bool:
        """Return whether the question asks for a reason."""
        return asks_cause(self.text)

    @cached_property
    def is_account(self) -> bool:
        """Return whether the question asks for an account, which no single turn gives."""
        return asks_account(self.text)

    @cached_property
    def is_present(self) -> bool:
        """Return whether the question asks how things stand."""
        return asks_present(self.text) and not self.terms.past

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the known words of the question, and those that are not known."""
        known = (self.view.ids[number] for number in self.terms.words.tolist())
        return frozenset([*known, *self.terms.unknown])


def closer_look(
    question: AskedQuestion, scores: Mapping[int, float], best: Sequence[int], turn_of: TurnOf
) -> dict[int, float]:
    """Return what some of the `best` turns are worth besides their scores, by the turn's number.

    scores  of all turns that were found
    """
    omitted = _omitted(question, best)
    now = {number: scores[number] + omitted.get(number, 0.0) for number in (*best[:READ], *omitted)}
    read = sorted(now, key=lambda number: -now[number])[:READ] if omitted else best[:READ]
    signs = _Signs(question, read, turn_of)
    order = sorted(read, key=lambda number: (-now[number] - signs.worth(number), -number))
    dealt = zip(order, sorted((now[number] for number in read), reverse=True), strict=True)
    added = omitted | {number: score - scores[number] for number, score in dealt}
    return {number: worth for number, worth in added.items() if worth}


def _omitted(question: AskedQuestion, best: Sequence[int]) -> dict[int, float]:
    """Return what turns are worth that say that what is asked for was left out."""
    if not asks_omitted(question.text):
        return {}
    return {number: OMITTED for number in best[:LOOKED_UP] if _omits(question, number)}


class _Signs:
    """The signs of some turns, and the words of the question that they and the turns before them mention."""

    def __init__(self, question: AskedQuestion, read: Sequence[int], turn_of: TurnOf) -> None:
        self._question, self._read, self._turn_of = question, read, turn_of
        self._near = sorted({place for number in read for place in range(max(0, number - _BACK), number + 1)})
        near = np.array(self._near, np.int64)
        view = question.view
        columns = (view.of_turns(name, near).tolist() for name in ("session", "speaker", "question"))
        self._about = dict(zip(self._near, zip(*columns, strict=True), strict=True))
        self._asked = asked_in(question, self._near)

    @cached_property
    def _spoken_of(self) -> frozenset[int]:
        """Return the turns that speak of what is asked, or are by whom else the question names."""
        return _spoken_of(self._question, self._near)

    def worth(self, number: int) -> float:
        """Add up what the signs of a turn are worth."""
        turn, question = self._turn_of(number), self._question
        worth = SELF if question.is_of_self and self._is_of_self(turn) else 0.0
        if turn.question:
            return worth
        if question.kinds or question.values or question.is_past:
            worth += WANTED * self._tells_wanted(number, turn)
        if question.is_of_advice:
            worth += ADVICE * self._is_advice(number, turn)
        return worth if question.is_account else worth + self._part(number, turn)

    def _part(self, number: int, turn: TurnRecorded) -> float:
        """Add up what the part is worth that a turn plays in its talk."""
        before, own = self._before(number), self._asked[number]
        replies = self._replies(number, before)
        carried = self._carried(number, before, replies=replies)
        worth = self._in_time(number, turn) if own else 0.0
        if replies:
            worth += REPLY * bool(carried) + SAME * self._replies_to_the_same(number, before)
        if (own or carried) and self._tells_value(turn):
            worth += VALUE * (1 + bool(carried))
        if carried:
            worth += PRONOUN * bool(_GOES_ON.search(turn.text, 0, _EARLY)) + GOES_ON * self._goes_on(number, turn)
        return worth

    def _before(self, number: int, most: int = _BACK) -> list[int]:
        """List the turns right before one in its session, the last first."""
        session, about = self._about[number][0], self._about
        places = range(number - 1, max(-1, number - 1 - most), -1)
        return [other for other in places if about[other][0] == session]

    def _replies(self, number: int, before: Sequence[int]) -> bool:
        """Return whether a turn replies to another's question, in a talk about what is asked."""
        if not before or before[0] != number - 1:
            return False
        _, asker, asks = self._about[before[0]]
        return bool(asks) and asker != self._about[number][1] and any(self._asked[other] for other in before)

    def _carried(self, number: int, before: Sequence[int], *, replies: bool) -> frozenset[int]:
        """Return the words of the question that a turn leaves to those right before it.

        It may leave them to its own speaker's turns and, where it replies to a question, to any.
        """
        speaker = self._about[number][1]
        left = [self._asked[other] for other in before if replies or self._about[other][1] == speaker]
        return frozenset[int]().union(*left) - self._asked[number]

    def _replies_to_the_same(self, number: int, before: Sequence[int]) -> bool:
        """Return whether a reply is to a turn that asks what the question asks, and nothing right before tells it."""
        if not ask_alike(self._question.text, self._turn_of(number - 1).text):
            return False
        turns = (self._turn_of(other) for other in before if self._asked[other])
        return not any(self._tells_value(turn) for turn in turns if not turn.question)

    def _goes_on(self, number: int, turn: TurnRecorded) -> bool:
        """Return whether a turn says with a pronoun what is asked of what its speaker named right before."""
        speaker, own, asked = self._about[number][1], self._asked[number], self._question
        named = (
            other
            for other in self._before(number, most=2)
            if self._about[other][1] == speaker and self._asked[other] - own
        )
        before = next(named, None)
        if before is None or not _REFERS.search(turn.text, 0, _EARLY):
            return False
        if own - self._asked[before] or asks_fate(asked.text):
            return True
        said = _forms(turn.text) - _forms(self._turn_of(before).text)
        return bool((_forms(asked.text) - asked.words) & said)

    def _is_of_self(self, turn: TurnRecorded) -> bool:
        """Return whether the asker says of themselves what they ask."""
        return is_own(self._question, turn) and _says_of_self(turn.text, self._question.words)

    def _is_advice(self, number: int, turn: TurnRecorded) -> bool:
        """Return whether an assistant says something about what is asked, where the question is what it said."""
        return turn.role == "assistant" and any(self._asked[other] for other in (number, *self._before(number)))

    def _tells_wanted(self, number: int, turn: TurnRecorded) -> bool:
        """Return whether a turn tells the kind of thing that is asked for, where the talk is about it."""
        question = self._question
        if not any(other in self._spoken_of for other in (number, *self._before(number, most=2))):
            return False
        if tells_wanted(turn.text, question.kinds) or may_tell_value(turn.text, question.values):
            return True
        return question.is_past and tells_past(turn.text)

    def _tells_value(self, turn: TurnRecorded) -> bool:
        """Return whether a turn tells a time, a number, a name or a reason, as it is asked for."""
        asked = self._question
        if any(each.id in asked.terms.wants for each in turn.concepts) or tells_wanted(turn.text, asked.kinds):
            return True
        return asked.is_of_cause and tells_cause(turn.text)

    def _in_time(self, number: int, turn: TurnRecorded) -> float:
        """Weigh whether a turn is the newest about what is asked and tells a change, or the oldest for the past."""
        question, own = self._question, self._asked[number]
        is_new = question.is_present and hints_change(turn.text)
        if not is_new and not question.is_past:
            return 0.0
        others = [other for other in self._read if other != number and not self._about[other][2]]
        times = [self._turn_of(other).at for other in others if self._asked[other] & own]
        if is_new and times and max(times) < turn.at:
            return CHANGE
        return FIRST if question.is_past and times and min(times) > turn.at else 0.0


def _spoken_of(question: AskedQuestion, turns: Sequence[int]) -> frozenset[int]:
    """Return the turns that mention a word of the question, or what is near it, and those by whom else it names."""
    terms, view = question.terms, question.view
    near = np.concatenate((terms.words, terms.relatives.concept, *map(np.array, terms.kinds.values()))).astype(np.int64)
    of, concepts, _ = view.concepts_of_turns(np.array(turns, np.int64))
    asker = [place for place in terms.named.tolist() if view.speakers[place] == question.asker]
    by_named = np.isin(view.of_turns("speaker", np.array(turns, np.int64)), np.setdiff1d(terms.named, asker))
    places = {*of[np.isin(concepts, near)].tolist(), *np.flatnonzero(by_named).tolist()}
    return frozenset(turns[place] for place in places)


def asked_in(question: AskedQuestion, numbers: Sequence[int]) -> dict[int, frozenset[int]]:
    """Map some turns to the words of the question that each mentions."""
    of, concepts, _ = question.view.concepts_of_turns(np.array(numbers, np.int64))
    words = np.isin(concepts, question.terms.words)
    found = dict.fromkeys(numbers, frozenset[int]())
    for place, concept in zip(of[words].tolist(), concepts[words].tolist(), strict=True):
        found[numbers[place]] |= {concept}
    return found


def tells_omission(question: AskedQuestion, numbers: Sequence[int]) -> bool:
    """Return whether one of some turns says that what is asked for was left out."""
    return asks_omitted(question.text) and any(_omits(question, number) for number in numbers[:LOOKED_UP])


def _omits(question: AskedQuestion, number: int) -> bool:
    """Return whether a turn says that what is asked for was left out."""
    skipped = (each.slot.removeprefix(SKIPS) for each in question.view.stated(number) if each.slot.startswith(SKIPS))
    plain = [each.replace("-", "") for each in skipped]
    return holds_form(plain, question.words)


def is_own(question: AskedQuestion, turn: TurnRecorded) -> bool:
    """Return whether the asker said a turn."""
    return speaker_mark(turn.speaker or "") == speaker_mark(question.asker)


def _says_of_self(text: str, words: frozenset[str]) -> bool:
    """Return whether "I" stands right before a form of one of some words: "I never learned to drive"."""
    forms = "|".join(re.escape(word[: max(3, len(word) - 1)] if word.isascii() else word) for word in sorted(words))
    if not forms:
        return False
    latin = rf"\bI(?:'\w+)?(?: [\w'’]+){{0,{_MOST_WORDS}}}? (?:{forms})\w*"
    return bool(
        re.search(latin, text, re.IGNORECASE)
        or re.search(rf"我(?![的妈爸们])[^,，。!！?？;；]{{0,6}}?(?:{forms})", text)
    )


def _forms(text: str) -> frozenset[str]:
    """Return the words of a text, but for those that every question has: got is get; a Han character is a word."""
    latin = {_ENGLISH.normal_form(word) for word in _WORD.findall(text)} - _EMPTY
    return frozenset(latin | (set(_HAN.findall(text)) - _EMPTY_HAN))
