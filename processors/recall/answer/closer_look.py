"""Read the best turns again for six things that their words alone do not show, and say how much each is worth.

    "When did I miss pilates?"       a turn that says that it was left out: "didn't make it to pilates"
    "Can I drive?"                   a turn in which the asker is who does it: "I never learned to drive"
    "What happened to the drone?"    a turn that goes on about what the turn before it named: "it got stuck in a tree"
    丁老师在哪个办公室？               a turn that tells a place, as it is asked for: 丁老师搬到六楼了
    在哪个医院做的手术？               the reply to a turn that asks the same: 在哪个医院？ 市一院
    "Who is my GP?"                  a later turn of the asker that says that this has changed: "my GP retired"

Scores are log-odds.  Only the best turns are read, and only the order among them changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from processors.recall.ranking.query_terms import QueryTerms, speaker_mark
from processors.text import tables
from processors.text.language import Language
from processors.text.questions.answer_kinds import (
    asks_fate,
    asks_now,
    asks_omitted,
    asks_past,
    asks_present,
    asks_self,
    tells_change,
    tells_past,
)
from processors.text.questions.wanted import tells_wanted, wanted
from processors.text.scripts import HAN
from processors.text.statements import SKIPS, holds_form
from state.events.events import TurnRecorded
from state.graph.view import GraphView

TERM: Final = "closer_look"  # its name in an explanation
READ: Final = 8  # of the best turns
LOOKED_UP: Final = 100  # of them, whose statements are looked up: what was left out is like what was done each day
OMITTED: Final = 4.0  # a turn that says that what is asked for was left out
SELF: Final = 2.0  # a turn whose speaker says it of themselves
WANTED: Final = 3.0  # a turn that tells the kind of thing that is asked for
AHEAD: Final = 0.01  # of a score: as good as equal, but first
_BACK: Final = 2  # turns, as far as a pronoun looks back here
_MOST_WORDS: Final = 4  # between "I" and what is asked for
_GOES_ON: Final = tables.lazy(r"\b(?:[Ii]ts?|[Tt]h(?:ey|em|eir)|[Hh](?:e|im|is|er)|[Ss]he)\b|[他她它]")
_EARLY: Final = 60  # characters of a turn, in which a pronoun goes on about what was named before
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
    def is_past(self) -> bool:
        """Return whether the question asks how things once were."""
        return asks_past(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the known words of the question, and those that are not known."""
        known = (self.view.ids[number] for number in self.terms.words.tolist())
        return frozenset([*known, *self.terms.unknown])


def closer_look(
    question: AskedQuestion, scores: Mapping[int, float], best: Sequence[int], turn_of: Callable[[int], TurnRecorded]
) -> dict[int, float]:
    """Return what some of the `best` turns are worth besides their scores, by the turn's number.

    scores  of all turns that were found
    """
    read, added = best[:READ], dict[int, float]()
    if asks_omitted(question.text):
        added |= {number: OMITTED for number in best[:LOOKED_UP] if _omits(question, number)}
    if question.asker and asks_self(question.text):
        for number in read:
            if is_own(question, turn_of(number)) and _says_of_self(turn_of(number).text, question.words):
                added[number] = added.get(number, 0.0) + SELF
    telling = set(_telling(question, read, turn_of))
    if telling:
        now = {number: scores[number] + added.get(number, 0.0) for number in read}
        added |= {number: score - scores[number] for number, score in _in_turn(now, telling).items()}
    pairs = (*_goes_on(question, read, scores, turn_of), *_replies(question, read, scores, turn_of))
    for number, before in pairs:
        least = scores[before] + added.get(before, 0.0) + AHEAD
        if least > scores[number] + added.get(number, 0.0):
            added[number] = least - scores[number]
    return added


def _in_turn(scores: Mapping[int, float], telling: Container[int]) -> dict[int, float]:
    """Deal the scores of some turns out again, those that are `telling` as if each was worth WANTED more.

    The scores stay as many and as high, because a context shows what is near the best.
    """
    order = sorted(scores, key=lambda number: (-scores[number] - WANTED * (number in telling), -number))
    return dict(zip(order, sorted(scores.values(), reverse=True), strict=True))


def _telling(question: AskedQuestion, read: Sequence[int], turn_of: Callable[[int], TurnRecorded]) -> Iterator[int]:
    """Yield the turns that tell the kind of thing that is asked for; they, or a turn right before, speak of it."""
    kinds, is_past = question.kinds, question.is_past
    if not kinds and not is_past:
        return
    near = {(turn_of(number).session, number) for number in _spoken_of(question, read)}
    for number in read:
        turn = turn_of(number)
        is_near = any((turn.session, number - back) in near for back in range(_BACK + 1))
        tells = tells_wanted(turn.text, kinds) or (is_past and tells_past(turn.text))
        if tells and is_near and not turn.question:
            yield number


def _spoken_of(question: AskedQuestion, read: Sequence[int]) -> frozenset[int]:
    """Return the turns that mention a word of the question, or what is near it, and those by whom else it names."""
    terms, view = question.terms, question.view
    near = np.concatenate((terms.words, terms.relatives.concept, *map(np.array, terms.kinds.values()))).astype(np.int64)
    of, concepts, _ = view.concepts_of_turns(np.array(read, np.int64))
    asker = [place for place in terms.named.tolist() if view.speakers[place] == question.asker]
    by_named = np.isin(view.of_turns("speaker", np.array(read, np.int64)), np.setdiff1d(terms.named, asker))
    places = {*of[np.isin(concepts, near)].tolist(), *np.flatnonzero(by_named).tolist()}
    return frozenset(read[place] for place in places)


def _replies(
    question: AskedQuestion, read: Sequence[int], scores: Mapping[int, float], turn_of: Callable[[int], TurnRecorded]
) -> Iterator[tuple[int, int]]:
    """Yield the replies to turns that ask what the question asks, each with that turn, and with what it asked about."""
    kinds = question.kinds
    for number in read if kinds else ():
        turn, reply = turn_of(number), number + 1
        if turn.question and reply in scores and wanted(turn.text) & kinds and _is_reply(turn, turn_of(reply)):
            yield reply, number
            if number - 1 in scores and _is_reply(turn_of(number - 1), turn, asks=True):
                yield reply, number - 1


def _is_reply(turn: TurnRecorded, reply: TurnRecorded, *, asks: bool = False) -> bool:
    """Return whether another speaker says the next turn of a session, and does not ask, or does."""
    return turn.session == reply.session and turn.speaker != reply.speaker and reply.question == asks


def told_changes(
    question: AskedQuestion, scores: Mapping[int, float], best: Sequence[int], turn_of: Callable[[int], TurnRecorded]
) -> dict[int, float]:
    """Return what turns that tell a change of what is asked must get to rank before what they change, by number.

    Where the question is about the past, it is the other way round.
    """
    added = dict[int, float]()
    for older, newer in _changed(question, best[:READ], turn_of):
        after, first = (newer, older) if question.is_past else (older, newer)
        added[first] = max(added.get(first, 0.0), scores[after] + AHEAD - scores[first])
    return {number: worth for number, worth in added.items() if worth > 0}


def _changed(
    question: AskedQuestion, read: Sequence[int], turn_of: Callable[[int], TurnRecorded]
) -> Iterator[tuple[int, int]]:
    """Yield what was said of the things asked for, each with a later turn that says that they have changed.

    Where it is known who asks, that person said both.
    """
    if not question.is_past and (question.terms.past or not asks_present(question.text)):
        return
    own = [number for number in read if not question.asker or is_own(question, turn_of(number))]
    changing = [number for number in own if tells_change(turn_of(number).text)]
    asked = asked_in(question, own) if changing else {}
    for newer in changing:
        if asked[newer]:
            yield from ((older, newer) for older in own if _is_changed(question, asked, (older, newer), turn_of))


def _is_changed(
    question: AskedQuestion,
    asked: Mapping[int, frozenset[int]],
    pair: tuple[int, int],
    turn_of: Callable[[int], TurnRecorded],
) -> bool:
    """Return whether a later turn speaks of what an older one says of what is asked."""
    (older, newer), head = pair, _head(question)
    if turn_of(older).at >= turn_of(newer).at or not asked[older]:
        return False
    if asks_now(question.text) and (asked[older] & asked[newer] or head in asked[newer]):
        return True
    return asked[older] <= asked[newer] or (head is not None and head in asked[newer] & asked[older])


def _head(question: AskedQuestion) -> int | None:
    """Return the word of the question that the graph knows and that stands last: practice of "band practice"."""
    text, ids = question.text.casefold(), question.view.ids
    places = {number: text.rfind(ids[number]) for number in question.terms.words.tolist() if ids[number] in text}
    return max(places, key=lambda number: places[number]) if places else None


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


def _goes_on(
    question: AskedQuestion, read: Sequence[int], scores: Mapping[int, float], turn_of: Callable[[int], TurnRecorded]
) -> Iterator[tuple[int, int]]:
    """Yield the turns that say with a pronoun what is asked of what a turn right before names, each with that turn."""
    going = [number for number in read if _GOES_ON.search(turn_of(number).text, 0, _EARLY)]
    if not going or not len(question.terms.words):
        return
    near = {number: [each for each in range(number - 1, number - 1 - _BACK, -1) if each in scores] for number in going}
    asked = asked_in(question, sorted({*near, *(each for them in near.values() for each in them)}))
    for number, them in near.items():
        turn = turn_of(number)
        before = next((each for each in them if asked[each] - asked[number] and _is_beside(turn_of(each), turn)), None)
        if before is not None and _says_more(question, turn, turn_of(before), asked[number] - asked[before]):
            yield number, before


def _is_beside(before: TurnRecorded, turn: TurnRecorded) -> bool:
    """Return whether one speaker said two turns of one session."""
    return (before.session, before.speaker) == (turn.session, turn.speaker)


def asked_in(question: AskedQuestion, numbers: Sequence[int]) -> dict[int, frozenset[int]]:
    """Map some turns to the words of the question that each mentions."""
    return mapped(question, numbers, {number: number for number in question.terms.words.tolist()})


def mapped(question: AskedQuestion, numbers: Sequence[int], values: Mapping[int, int]) -> dict[int, frozenset[int]]:
    """Map some turns to the values of the concepts that each mentions, as far as a concept has one."""
    of, concepts, _ = question.view.concepts_of_turns(np.array(numbers, np.int64))
    found = dict[int, set[int]]()
    for place, concept in zip(of.tolist(), concepts.tolist(), strict=True):
        if concept in values:
            found.setdefault(numbers[place], set()).add(values[concept])
    return {number: frozenset(found.get(number, ())) for number in numbers}


def _says_more(question: AskedQuestion, turn: TurnRecorded, before: TurnRecorded, own: frozenset[int]) -> bool:
    """Return whether a turn says what is asked, and the one before it does not."""
    if own or asks_fate(question.text):
        return True
    return bool((_forms(question.text) - question.words) & (_forms(turn.text) - _forms(before.text)))


def _forms(text: str) -> frozenset[str]:
    """Return the words of a text, but for those that every question has: got is get; a Han character is a word."""
    latin = {_ENGLISH.normal_form(word) for word in _WORD.findall(text)} - _EMPTY
    return frozenset(latin | (set(_HAN.findall(text)) - _EMPTY_HAN))
