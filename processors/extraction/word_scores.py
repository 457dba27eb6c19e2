"""Score the words of a text by the formulas of YAKE: case, frequency, relatedness, spread, position; lower is better.

Source: Campos et al., "YAKE! Keyword extraction from single documents using multiple local features", Information
Sciences 509 (2020), section 3: for single words, a window of one word, and the whole text as one sentence.  The yake
library computes the same on objects and a graph of networkx, to the last bit, for many times the instructions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from math import log
from typing import Final

import numpy as np

from processors.text.language import Word

_Key = tuple[str, bool]  # form, and whether it is content: "Go" may be where "go" is not

_POSITION: Final = log(log(3))  # of the first sentence, which holds all words
_SPREAD: Final = 1.0  # the share of sentences with the word: the only one has it


def word_scores(words: Iterable[Word]) -> dict[str, float]:
    """Score every content word by its form: > 0, lower is more important."""
    terms = _terms(words)
    content = {form: term for (form, is_content), term in terms.items() if is_content}
    if not content:
        return {}
    usual = _usual_count(content.values())
    most = max(term.count for term in terms.values())
    return {form: _score(term, usual, most) for form, term in content.items()}


@dataclass(slots=True)
class _Term:
    """How a word is used in a text: how often, how it is written, and the words beside it without a mark between."""

    count: int = 0
    acronyms: int = 0
    names: int = 0
    before: list[_Key] = field(default_factory=list)
    after: list[_Key] = field(default_factory=list)


def _terms(words: Iterable[Word]) -> dict[_Key, _Term]:
    terms: defaultdict[_Key, _Term] = defaultdict(_Term)
    last: _Key | None = None
    sentence = 0
    for word in words:
        key = word.form, word.content
        _count(terms[key], word.surface, is_first=last is None and not word.pause)
        if last is not None and word.sentence == sentence and not word.pause:
            terms[last].after.append(key)
            terms[key].before.append(last)
        last, sentence = key, word.sentence
    return terms


def _count(term: _Term, surface: str, *, is_first: bool) -> None:
    term.count += 1
    if surface[0].isupper():
        if len(surface) > 1 and surface.isupper():
            term.acronyms += 1
        elif not is_first:  # where a capital may only begin the text
            term.names += 1


def _usual_count(content: Collection[_Term]) -> float:
    """Return the mean count of content words, and a standard deviation on top."""
    counts = [term.count for term in content]
    if min(counts) == max(counts):  # as in most turns; arrays take longer than all else here
        return counts[0]
    array = np.array(counts, float)
    return float(array.mean()) + float(array.std())


def _score(term: _Term, usual: float, most: int) -> float:
    case = max(term.acronyms, term.names) / (1.0 + log(term.count))
    share = term.count / most
    related = (0.5 + _variety(term.before) * share) + (0.5 + _variety(term.after) * share)
    weight = (_POSITION * related) / (case + term.count / usual / related + _SPREAD / related)
    return weight / ((weight + 1) * term.count)


def _variety(neighbours: list[_Key]) -> float:
    """Return the share of different words among neighbours: 1 if none came twice."""
    return len(set(neighbours)) / len(neighbours) if neighbours else 0.0
