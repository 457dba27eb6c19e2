"""Quote a long turn in a context: its best sentences, word for word, with […] where something is left out.

    […] I finally booked the ferry to Naxos for June. We leave on the 12th. […]

    best   a sentence is worth the words of the question that it holds, each word by its weight, the second sentence
           with the same word half of it, and so on; and shares of what the sentences around it are worth, because an
           answer goes on after the word that was asked for.  At equal worth the earlier one
    taken  while they fit into the budget, the best at any length; shown in the order of the text

Pure: a text, words and a budget in, a text out.  Nothing is rewritten: every part stands in the turn as it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from processors.text import tables
from processors.text.scripts import DENSE

LEFT_OUT: Final = "[…]"
AROUND: Final = ((-1, 0.9), (-2, 0.7), (-3, 0.4), (1, 0.7), (2, 0.5), (3, 0.3))  # sentences before or after, share
BEGINNING: Final = 4  # characters of a word from which longer words may begin with it: adopt, adopted

_SENTENCE: Final = tables.lazy(
    r"""(?: [^.!?…。！？；।؟۔။።\n] | [.!?…](?![\s"'”’)\]]|$) )*      # a full stop inside "3.5" or "v1.2" ends nothing
        (?: [.!?…。！？；।؟۔။።]+["'”’)\]」』]* | \n | $ ) \s*""",
    re.VERBOSE,
)
# Thai, Lao and Khmer write no mark at the end of a sentence, and spaces between phrases and sentences only.
_SPACED: Final = tables.lazy(r"[\u0e00-\u0eff\u1780-\u17ff][\"'”’)\]]*\s+(?=[\"'“‘(\[]*[\u0e00-\u0eff\u1780-\u17ff])")
_WORD: Final = tables.lazy(r"[^\W_]+(?:['-][^\W_]+)*")
_DENSE: Final = tables.lazy(f"[{DENSE}]")


class QueryWord(NamedTuple):
    """A word that the question asks for, in the forms that the turn has it in, casefolded, and what it is worth."""

    forms: tuple[str, ...]
    weight: float


def sentences(text: str) -> list[str]:
    """Split a text into its sentences, or phrases where no mark ends one; joined, they are the text."""
    return list(each_sentence(text))


def each_sentence(text: str) -> Iterator[str]:
    """Yield the same one by one."""
    found = (match.group() for match in _SENTENCE.finditer(text) if match.group())
    return found if text.isascii() else (phrase for sentence in found for phrase in _phrases(sentence))


def _phrases(sentence: str) -> list[str]:
    """Split a sentence where Thai, Lao or Khmer writes a space."""
    ends = [0, *(match.end() for match in _SPACED.finditer(sentence)), len(sentence)]
    return [sentence[start:end] for start, end in pairwise(ends) if end > start]


def best_sentences(text: str, query_words: Sequence[QueryWord], budget: int, cost: Callable[[str], int]) -> str:
    """Return the sentences of `text` that are worth most, within `budget` as `cost` counts; the whole text if it fits.

    The best sentence is quoted at any length.  If no sentence is worth anything, the quote starts at the beginning.
    """
    parts = sentences(text)
    if cost(text) <= budget or not parts:
        return text
    order = _by_worth(parts, query_words)
    chosen, spent = {order[0]}, cost(parts[order[0]])
    for place in order[1:]:
        spent += cost(parts[place])
        if spent > budget:
            break
        chosen.add(place)
    return _quoted(parts, chosen)


def _by_worth(parts: Sequence[str], query_words: Sequence[QueryWord]) -> list[int]:
    """Order the places of sentences, the best first."""
    matches = [_words_in(part, query_words) for part in parts]
    alone = [sum(query_words[word].weight for word in words) for words in matches]
    worth, seen = [0.0] * len(parts), [0] * len(query_words)
    for place in sorted(range(len(parts)), key=lambda place: (-alone[place], place)):
        for word in matches[place]:
            worth[place] += query_words[word].weight / 2 ** seen[word]
            seen[word] += 1
    near = [_near(worth, place) for place in range(len(parts))]
    return sorted(range(len(parts)), key=lambda place: (-near[place], place))


def _near(worth: Sequence[float], place: int) -> float:
    """Add shares of what the sentences around it are worth to the worth of a sentence."""
    around = ((place + step, share) for step, share in AROUND)
    return worth[place] + sum(share * worth[other] for other, share in around if 0 <= other < len(worth))


def _words_in(part: str, query_words: Sequence[QueryWord]) -> list[int]:
    """Find the words that a sentence holds, by their position in `query_words`."""
    folded = part.casefold()
    words = set(_WORD.findall(folded))
    return [
        number for number, word in enumerate(query_words) if any(_is_in(form, words, folded) for form in word.forms)
    ]


def _is_in(form: str, words: set[str], folded: str) -> bool:
    """Return whether a form stands among the words of a sentence; where no spaces are written, anywhere in it."""
    if _DENSE.search(form) or " " in form:
        return form in folded
    return form in words or (len(form) >= BEGINNING and any(word.startswith(form) for word in words))


def _quoted(parts: Sequence[str], chosen: set[int]) -> str:
    """Join the chosen sentences in their order, and mark what is left out between them."""
    shown: list[str] = []
    for place, part in enumerate(parts):
        if place in chosen:
            shown.append(part.strip())
        elif not shown or shown[-1] != LEFT_OUT:
            shown.append(LEFT_OUT)
    return " ".join(shown)
