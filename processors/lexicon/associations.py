"""Words that people use for a subject of daily life: work, badge, payroll, shift (data/associations.tsv).

"Who does she work for?" is answered by "I'm with Marymount now, my badge came today": no word is shared, and none of
nearly the same meaning.  The words are general knowledge, written by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from processors.text import tables
from processors.text.language import clean

_LETTERS: Final = tables.lazy("[a-z]+")


def _associations() -> Mapping[str, tuple[str, ...]]:
    """Map each word of a question to what is mentioned of its subject, in the order written."""
    associations: dict[str, dict[str, None]] = {}
    for subjects, cues in tables.rows(__package__, "associations"):
        for word in subjects.split():
            associations.setdefault(word, {}).update(dict.fromkeys(cues.split()))
    return {word: tuple(cue for cue in cues if cue != word) for word, cues in associations.items()}


ASSOCIATIONS: Final = _associations()
_HAN_SUBJECTS: Final = tuple(word for word in ASSOCIATIONS if not word.isascii() and len(word) > 1)


def subjects(words: Iterable[str], text: str) -> list[str]:
    """Find the subjects of a question that are too common to be among its concepts `words`: own, from, 哪里人."""
    plain, existing = clean(text).casefold(), set(words)
    candidates = (*_LETTERS.findall(plain), *(word for word in _HAN_SUBJECTS if word in plain))
    return [word for word in dict.fromkeys(candidates) if word in ASSOCIATIONS and word not in existing]
