"""What people mention when they speak of a subject of daily life: work, badge, payroll, shift (data/associations.tsv).

"Who does she work for?" is answered by "I'm with Marymount now, my badge came today": no word is shared, and none of
nearly the same meaning.  The words are general knowledge, written by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from processors.text import tables


def _associations() -> Mapping[str, tuple[str, ...]]:
    """Map each word of a question to what is mentioned of its subject, in the order written."""
    associations: dict[str, dict[str, None]] = {}
    for subjects, cues in tables.rows(__package__, "associations"):
        for word in subjects.split():
            associations.setdefault(word, {}).update(dict.fromkeys(cues.split()))
    return {word: tuple(cue for cue in cues if cue != word) for word, cues in associations.items()}


ASSOCIATIONS: Final = _associations()
