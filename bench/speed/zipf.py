"""Synthetic talk of any length: turns of made-up words drawn by Zipf's law, and questions that name a few of them.

    turn       9 words, the word of rank r with p ~ 1 / (r + 10); one of two speakers; a turn in five asks something,
               one in ten tells a time, one in four a name, three in twenty a number
    session    15 turns
    question   4 words of ranks 20 to 3,000, "what about WORD WORD WORD WORD"
    planted    20 words besides, each in 40 turns that lie evenly apart, however long the talk: questions of four of
               them have as many postings in every memory

As many words as a third of the turns, and 5,000 at least, so that a longer memory knows more of them.  Everything is a
function of its arguments: two runs measure the same work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from state.events.events import TurnRecorded
from state.events.extraction_types import Concept

GRAPH: Final = "bench"
TURN_WORDS, SESSION_TURNS, FEWEST_WORDS = 9, 15, 5000
QUERIES: Final = (20, 3000)  # ranks that questions name
SECONDS_APART: Final = 60
BEGIN: Final = 1_704_067_200_000  # 2024-01-01T00:00:00Z
MARKS: Final = {"@time": 0.1, "@name": 0.25, "@number": 0.15}
ASKING: Final = 0.2
CHUNK: Final = 1000  # turns drawn at once
PLANTED: Final = 20
MENTIONS: Final = 40  # of each planted word
_FIRST_PLANTED: Final = 10**6  # the rank that such a word is made up from
_SYLLABLES: Final = [first + second for first in "bdfgklmnprtv" for second in "aiou"]


def word(rank: int) -> str:
    """Make up the word of a rank: letters that no stemmer shortens, and no two ranks share."""
    syllables = []
    for _ in range(4):
        rank, one = divmod(rank, len(_SYLLABLES))
        syllables.append(_SYLLABLES[one])
    return "".join(syllables) + "k"


def vocabulary(turns: int) -> int:
    """Count the words that a memory of so many turns draws from."""
    return max(FEWEST_WORDS, turns // 3)


def turns(count: int, *, first: int = 0, of: int | None = None) -> Iterator[TurnRecorded]:
    """Yield the turns first … first + count − 1 of a talk of `of` turns, `count` of them unless said otherwise."""
    ranks, apart = vocabulary(of or count), (of or count) // MENTIONS
    share = np.cumsum(1 / (np.arange(ranks) + 10))
    share /= share[-1]
    for chunk in range(first // CHUNK, -(-(first + count) // CHUNK)):
        drawn = np.random.default_rng(chunk)
        words = np.searchsorted(share, drawn.random((CHUNK, TURN_WORDS)))
        chances = drawn.random((CHUNK, len(MARKS) + 1))
        tokens = drawn.integers(TURN_WORDS, 60, CHUNK)
        for at in range(CHUNK):
            number = chunk * CHUNK + at
            if first <= number < first + count:
                words_of_turn = [*words[at].tolist(), *_planted(number, apart)]
                yield _turn(number, words_of_turn, chances[at].tolist(), int(tokens[at]))


def _planted(number: int, apart: int) -> list[int]:
    """List the planted words that a turn holds, at most one: it comes back after so many turns."""
    each, beyond = divmod(number % apart, max(apart // PLANTED, 1))
    return [_FIRST_PLANTED + each] if not beyond and each < PLANTED and number < apart * MENTIONS else []


def _turn(number: int, ranks: list[int], chances: list[float], tokens: int) -> TurnRecorded:
    speaker = ("Ada", "Ben")[number % 2]
    counts = {rank: ranks.count(rank) for rank in ranks}
    marks = [mark for mark, chance in zip(MARKS.items(), chances, strict=False) if chance < mark[1]]
    concepts = [Concept(word(rank), word(rank), 0.5, times) for rank, times in counts.items()]
    concepts += [Concept(mark, mark, 0.0, 1) for mark, _ in marks]
    concepts.append(Concept(f"@speaker:{speaker.casefold()}", f"@speaker:{speaker.casefold()}", 0.0, 1))
    return TurnRecorded(
        epoch=0,
        claim="",
        seq=1,
        chain="0" * 16,
        src=number,
        graph=GRAPH,
        id=f"t{number}",
        session=f"s{number // SESSION_TURNS}",
        speaker=speaker,
        role="user",
        text=" ".join(word(rank) for rank in ranks),
        metadata={},
        at=BEGIN + number * SECONDS_APART * 1000,
        clamped=False,
        live=True,
        question=chances[-1] < ASKING,
        tokens=tokens,
        times=[],
        concepts=concepts,
        extractor="bench 1",
    )


def questions(count: int) -> list[str]:
    """Draw questions, the same for every memory."""
    drawn = np.random.default_rng(7)
    return ["what about " + " ".join(word(rank) for rank in drawn.integers(*QUERIES, 4).tolist()) for _ in range(count)]


def planted_questions(count: int) -> list[str]:
    """Draw questions of four planted words each, the same for every memory."""
    drawn = np.random.default_rng(11)
    drawn_words = [drawn.choice(PLANTED, 4, replace=False) + _FIRST_PLANTED for _ in range(count)]
    return ["what about " + " ".join(word(rank) for rank in ranks.tolist()) for ranks in drawn_words]
