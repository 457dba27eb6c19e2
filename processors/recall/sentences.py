"""What a long turn contributes to a context: its best sentences, word for word, with […] where something is left out.

    […] I finally booked the ferry to Naxos for June. We leave on the 12th. […]

    best   a sentence is worth the words of the question that it holds, each word by its weight, the second sentence
           with the same word half of it, and so on; and shares of what the sentences around it are worth, because an
           answer goes on after the word that was asked for.  At equal worth the earlier one
    taken  while they fit into the budget, the best at any length; shown in the order of the text

Pure: a text, terms and a budget in, a text out.  Nothing is rewritten: every part stands in the turn as it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from processors.text import chinese
from processors.text.scripts import HAN

LEFT_OUT: Final = "[…]"
AROUND: Final = ((-1, 0.9), (-2, 0.7), (-3, 0.4), (1, 0.7), (2, 0.5), (3, 0.3))  # sentences before or after, share

_SENTENCE: Final = re.compile(
    r"(?:[^.!?…。！？；\n]|[.!?…](?![\s\"'”’)\]]|$))*(?:[.!?…。！？；]+[\"'”’)\]」』]*|\n|$)\s*"
)
_WORD: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_HAN: Final = re.compile(f"[{HAN}]")


class Terms(NamedTuple):
    """What a question looks for in a sentence.

    weights  normal form of a word, or a Chinese word → what a sentence is worth that holds it, > 0
    normal   a casefolded word → its normal form (processors/text/language.py)
    """

    weights: Mapping[str, float]
    normal: Callable[[str], str]


def sentences(text: str) -> list[str]:
    """Split a text into its sentences; joined, they are the text."""
    return [found.group() for found in _SENTENCE.finditer(text) if found.group()]


def best_sentences(text: str, terms: Terms, budget: int, cost: Callable[[str], int]) -> str:
    """Quote the sentences of `text` that are worth most, within `budget` as `cost` counts; the whole text if it fits.

    The best sentence is quoted at any length.  A text of which no sentence holds a term is quoted from its beginning.
    """
    if cost(text) <= budget:
        return text
    parts = sentences(text)
    order = _by_worth(parts, terms)
    chosen, spent = {order[0]}, cost(parts[order[0]])
    for place in order[1:]:
        spent += cost(parts[place])
        if spent > budget:
            break
        chosen.add(place)
    return _quoted(parts, chosen)


def _by_worth(parts: list[str], terms: Terms) -> list[int]:
    """Order the places of sentences, the best first."""
    said = [_held(part, terms) for part in parts]
    seen = dict[str, int]()
    worth = [0.0] * len(parts)
    for place in sorted(range(len(parts)), key=lambda place: (-_sum(said[place], terms), place)):
        for word in said[place]:
            worth[place] += terms.weights[word] / 2 ** seen.get(word, 0)
            seen[word] = seen.get(word, 0) + 1
    near = [_near(worth, place) for place in range(len(parts))]
    return sorted(range(len(parts)), key=lambda place: (-near[place], place))


def _near(worth: list[float], place: int) -> float:
    """Add to what a sentence is worth shares of what those around it are."""
    return worth[place] + sum(
        share * worth[other] for step, share in AROUND for other in (place + step,) if 0 <= other < len(worth)
    )


def _held(part: str, terms: Terms) -> set[str]:
    """Find the terms that a sentence holds."""
    words = (terms.normal(word) for word in _WORD.findall(part.casefold()))
    held = {word for word in words if word in terms.weights}
    if _HAN.search(part):
        plain = chinese.simplified(part)
        held.update(word for word in terms.weights if _HAN.match(word) and word in plain)
    return held


def _sum(words: set[str], terms: Terms) -> float:
    return sum(terms.weights[word] for word in sorted(words))


def _quoted(parts: list[str], chosen: set[int]) -> str:
    """Join the chosen sentences in their order, and mark what is left out between them."""
    shown: list[str] = []
    for place, part in enumerate(parts):
        if place in chosen:
            shown.append(part.strip())
        elif not shown or shown[-1] != LEFT_OUT:
            shown.append(LEFT_OUT)
    return " ".join(shown)
