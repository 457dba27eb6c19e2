"""Neutral replies of an assistant, 500 words each: on the topic of a turn, but without new content.

A reply takes up the words of the turn before it, as assistants do, and goes on in general advice.  It holds no fact, so
nothing that is asked stands in it.  Sentences are drawn by a hash of the turn's id: the same turn gets the same reply,
everywhere.  Written from general knowledge, in both languages; nothing comes from a data set
(data/neutral_replies.tsv).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from typing import Final

from processors.recall.context.context import tokens
from processors.text import chinese, stopwords, tables
from processors.text.scripts import HAN

TOKENS: Final = 650  # of a reply: 500 words, · 1.3
ECHOED: Final = 12  # words of the turn that a reply takes up at most

_HAN: Final = re.compile(f"[{HAN}]+")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'-]{3,}")


def reply(turn: str, text: str) -> str:
    """Write the reply of TOKENS tokens to the turn of this id and text, in its language."""
    han = bool(_HAN.search(text))
    language = "zh" if han else "en"
    sentences, everyday = _lines(language), " ".join(_lines(f"everyday-{language}")).split()
    draw = _drawing(turn)
    echoed = _echoed(text, han) or [draw(everyday)]
    parts: list[str] = []
    spent = 0
    while spent < TOKENS:
        sentence = draw(sentences).format(draw(echoed), draw(echoed), draw(everyday))
        spent += tokens(sentence)
        parts.append(sentence)
    return ("" if han else " ").join(parts)


def _drawing(turn: str) -> Callable[[Sequence[str]], str]:
    """Make a function that draws from a list, the same things in the same order for the same turn."""
    numbers = _numbers(turn)
    return lambda values: values[next(numbers) % len(values)]


def _numbers(turn: str) -> Iterator[int]:
    for number in count():
        yield int.from_bytes(hashlib.blake2b(f"{turn} {number}".encode(), digest_size=6).digest())


def _echoed(text: str, han: bool) -> list[str]:  # noqa: FBT001 - said of one thing
    """List the words of a turn that a reply takes up, in their order."""
    result = _WORD.findall(text.casefold())
    words = [word for word in result if word not in stopwords.ENGLISH and word not in _function_words()]
    if han:
        tagged = (pair for run in _HAN.findall(chinese.simplified(text)) for pair in chinese.segmented(run))
        words += [word for word, tag in tagged if len(word) > 1 and chinese.is_content(word, tag)]
    return list(dict.fromkeys(words))[:ECHOED]


@cache
def _lines(kind: str) -> tuple[str, ...]:
    return tuple(line for each, line in tables.rows(__package__, "neutral_replies") if each == kind)


@cache
def _function_words() -> frozenset[str]:
    import stopwordsiso

    return frozenset(stopwordsiso.stopwords("en"))
