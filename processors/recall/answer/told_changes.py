"""Rank a turn that tells a change of what is asked before what it changes: "my GP retired" before "my GP is Dr Falk".

Where it is known who asks, that person said both.  For a question about the past, it is the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from processors.recall.answer.closer_look import READ, AskedQuestion, TurnOf, asked_in, is_own
from processors.text.questions.answer_kinds import asks_now, asks_present, tells_change

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
