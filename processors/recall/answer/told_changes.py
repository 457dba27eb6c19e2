"""Rank a turn that tells a change of what is asked before what it changes: "my GP retired" before "my GP is Dr Falk".

Where it is known who asks, that person said both.  For a question about the past, it is the other way round.

Most changes are told without a word of the question: "they bumped me to the 19th".  Such turns are not ranked before
others, as too many of them would be wrong.  A context shows some of them, with their times, besides what answers, and
leaves it to the reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from processors.recall.answer.closer_look import READ, AskedQuestion, TurnOf, asked_in, is_own
from processors.recall.retrieval.recall import Ranked
from processors.text.questions.answer_kinds import asks_now, asks_present, hints_change, tells_change
from state.events.events import TurnRecorded

LATER: Final = 2  # later turns that a context shows, at most
AHEAD: Final = 0.01  # of a score: as good as equal, but first


def told_changes(
    question: AskedQuestion, scores: Mapping[int, float], best: Sequence[int], turn_of: TurnOf
) -> dict[int, float]:
    """Return what turns that tell a change of what is asked must get to rank before what they change, by number.

    Where the question is about the past, it is the other way round.
    """
    added = dict[int, float]()
    for older, newer in _changed(question, best[:READ], turn_of):
        after, first = (newer, older) if question.is_past else (older, newer)
        added[first] = max(added.get(first, 0.0), scores[after] + AHEAD - scores[first])
    return {number: worth for number, worth in added.items() if worth > 0}


def later_turns(
    question: AskedQuestion, passages: Sequence[Ranked], shown: Sequence[Ranked], turn_of: TurnOf
) -> list[Ranked]:
    """Choose turns that are not shown, and may tell how what is asked has changed since a shown turn told it.

    Its speaker says them later, and they hint at a change.
    """
    listed = [each.number for each in shown[:READ]]
    others = [each for each in passages[:READ] if each.number not in listed]
    if not others or not listed or not _asks_how_things_stand(question):  # the cheapest first
        return []
    asked = asked_in(question, listed)
    first = dict[str | None, int]()  # when each speaker told of what is asked
    for number in listed:
        turn = turn_of(number)
        if asked[number] and not turn.question:
            first[turn.speaker] = min(turn.at, first.get(turn.speaker, turn.at))
    later = (each for each in others if _may_tell_change(turn_of(each.number), first))
    return list(islice(later, LATER))


def _asks_how_things_stand(question: AskedQuestion) -> bool:
    """Return whether a question asks how things stand now."""
    if question.is_past or question.is_account:
        return False
    return asks_now(question.text) or (asks_present(question.text) and not question.terms.past)


def _may_tell_change(turn: TurnRecorded, first: Mapping[str | None, int]) -> bool:
    """Return whether a turn is later than what its speaker told of what is asked, and hints at a change."""
    is_later = turn.at > first.get(turn.speaker, turn.at)
    return is_later and not turn.question and hints_change(turn.text)


def _changed(question: AskedQuestion, read: Sequence[int], turn_of: TurnOf) -> Iterator[tuple[int, int]]:
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
    turn_of: TurnOf,
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
