"""Read the best turns again for four things that their words alone do not show, and say how much each is worth.

    "When did I miss pilates?"       a turn that says that it was left out: "didn't make it to pilates"
    "Can I drive?"                   a turn in which the asker is who does it: "I never learned to drive"
    "What happened to the drone?"    a turn that goes on about what the turn before it named: "it got stuck in a tree"
    "Who is my GP?"                  a later turn of the asker that says that this has changed: "my GP retired"

Scores are log-odds.  Only the READ best turns are read, and only the order among them changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from processors.recall.ranking.query_terms import QueryTerms, speaker_mark
from processors.text import tables
from processors.text.language import Language
from processors.text.questions.answer_kinds import asks_fate, asks_present, asks_omitted, asks_self, tells_change
from processors.text.scripts import HAN
from processors.text.statements import SKIPS, holds_form
from state.events.events import TurnRecorded
from state.graph.view import GraphView

READ: Final = 20  # of the best turns
OMITTED: Final = 4.0  # a turn that says that what is asked for was left out
SELF: Final = 1.2  # a turn whose speaker says it of themselves
AHEAD: Final = 0.01  # of a score: as good as equal, but first
_BACK: Final = 2  # turns, as far as a pronoun looks back here
_MOST_WORDS: Final = 4  # between "I" and what is asked for
_GOES_ON: Final = tables.lazy(r"\b(?:it|its|they|them|their|he|him|his|she|her)\b|[他她它]", re.IGNORECASE)
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


class Question(NamedTuple):
    """What is asked, by whom, and the words of it that the graph knows."""

    text: str
    asker: str
    view: GraphView
    terms: QueryTerms

    @property
    def words(self) -> frozenset[str]:
        """The known words of the question, and those that are not known."""
        known = (self.view.ids[number] for number in self.terms.words.tolist())
        return frozenset([*known, *self.terms.unknown])


def closer_look(
    question: Question, scores: Mapping[int, float], best: Sequence[int], turn_of: Callable[[int], TurnRecorded]
) -> dict[int, float]:
    """Return what the `best` turns are worth besides their scores, by the turn's number; those worth nothing are left out.

    scores  of all turns that were found
    """
    read = best[:READ]
    added: dict[int, float] = {}
    for number in read:
        worth = _omits(question, number) + _of_self(question, number, turn_of)
        if worth:
            added[number] = worth
    for number in read:
        before = _named_before(question, number, scores, turn_of)
        if before is not None:
            least = scores[before] + added.get(before, 0.0) + AHEAD
            if least > scores[number] + added.get(number, 0.0):
                added[number] = least - scores[number]
    return added


def told_changes(
    question: Question, scores: Mapping[int, float], best: Sequence[int], turn_of: Callable[[int], TurnRecorded]
) -> dict[int, float]:
    """Return what turns that tell a change of what is asked must get to rank before what they change, by number."""
    added: dict[int, float] = {}
    for older, newer in _changed(question, best[:READ], turn_of):
        least = scores[older] + AHEAD - scores[newer]
        added[newer] = max(added.get(newer, 0.0), least)
    return {number: worth for number, worth in added.items() if worth > 0}


def _changed(
    question: Question, read: Sequence[int], turn_of: Callable[[int], TurnRecorded]
) -> Iterator[tuple[int, int]]:
    """Yield what the asker said of the things asked for, each with a later turn that says that they have changed."""
    if not question.asker or question.terms.past or not asks_present(question.text):
        return
    asker = speaker_mark(question.asker)
    own = [number for number in read if speaker_mark(turn_of(number).speaker or "") == asker]
    asked = {number: _asked_in(question, number) for number in own}
    head = _head(question)
    for newer in own:
        if not asked[newer] or not tells_change(turn_of(newer).text):
            continue
        for older in own:
            is_later = turn_of(older).at < turn_of(newer).at and asked[older]
            if is_later and (asked[older] <= asked[newer] or (head is not None and head in asked[newer] & asked[older])):
                yield older, newer


def _head(question: Question) -> int | None:
    """Return the word of the question that the graph knows and that stands last: practice of "band practice"."""
    text, ids = question.text.casefold(), question.view.ids
    places = {number: text.rfind(ids[number]) for number in question.terms.words.tolist() if ids[number] in text}
    return max(places, key=lambda number: places[number]) if places else None


def tells_omission(question: Question, numbers: Sequence[int]) -> bool:
    """Return whether one of some turns says that what is asked for was left out."""
    return any(_omits(question, number) for number in numbers[:READ])


def _omits(question: Question, number: int) -> float:
    """Return what it is worth that a turn says that it was left out, if a question asks for that."""
    if not asks_omitted(question.text):
        return 0.0
    skipped = (each.slot.removeprefix(SKIPS) for each in question.view.stated(number) if each.slot.startswith(SKIPS))
    plain = [each.replace("-", "") for each in skipped]
    return OMITTED if holds_form(plain, question.words) else 0.0


def _of_self(question: Question, number: int, turn_of: Callable[[int], TurnRecorded]) -> float:
    """Return what it is worth that the asker says of themselves what they ask of themselves."""
    if not (question.asker and question.words and asks_self(question.text)):
        return 0.0
    turn = turn_of(number)
    is_own = speaker_mark(turn.speaker or "") == speaker_mark(question.asker)
    return SELF if is_own and _says_of_self(turn.text, question.words) else 0.0


def _says_of_self(text: str, words: frozenset[str]) -> bool:
    """Return whether "I" stands right before a form of one of some words: "I never learned to drive"."""
    forms = "|".join(re.escape(word[: max(3, len(word) - 1)] if word.isascii() else word) for word in sorted(words))
    if not forms:
        return False
    latin = rf"\bI(?:'\w+)?(?: [\w'’]+){{0,{_MOST_WORDS}}}? (?:{forms})\w*"
    return bool(re.search(latin, text, re.IGNORECASE) or re.search(rf"我(?![的妈爸们])[^,，。!！?？;；]{{0,6}}?(?:{forms})", text))


def _named_before(
    question: Question, number: int, scores: Mapping[int, float], turn_of: Callable[[int], TurnRecorded]
) -> int | None:
    """Return the turn that names what a turn goes on about with a pronoun, if it says what is asked of that."""
    view, turn = question.view, turn_of(number)
    if not _GOES_ON.search(turn.text):
        return None
    session, own = view.of_turns("session", np.array([number]))[0], _asked_in(question, number)
    for before in range(number - 1, max(-1, number - 1 - _BACK), -1):
        if view.of_turns("session", np.array([before]))[0] != session:
            return None
        named = _asked_in(question, before)
        if named - own and turn_of(before).speaker == turn.speaker:
            return before if before in scores and _says_more(question, turn, turn_of(before), own - named) else None
    return None


def _asked_in(question: Question, number: int) -> frozenset[int]:
    """Return the words of the question that a turn mentions."""
    _, concepts, _ = question.view.concepts_of_turns(np.array([number]))
    return frozenset(np.intersect1d(concepts, question.terms.words).tolist())


def _says_more(question: Question, turn: TurnRecorded, before: TurnRecorded, own: frozenset[int]) -> bool:
    """Return whether a turn says what is asked, and the one before it does not."""
    if own or asks_fate(question.text):
        return True
    return bool((_forms(question.text) - question.words) & (_forms(turn.text) - _forms(before.text)))


def _forms(text: str) -> frozenset[str]:
    """Return the words of a text, but for those that every question has: got is get; a Han character is a word."""
    latin = {_ENGLISH.normal_form(word) for word in _WORD.findall(text)} - _EMPTY
    return frozenset(latin | (set(_HAN.findall(text)) - _EMPTY_HAN))
