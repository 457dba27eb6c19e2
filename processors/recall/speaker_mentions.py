"""Which speakers a question names: a name counts as a whole word; in scripts without spaces, wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from processors.text.language import clean
from state.arrays import Integers

# A letter or digit of a script that writes spaces between words; 去 beside "Caroline" does not make her another word.
_SPACED = r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"


def named_speakers(text: str, speakers: Sequence[str]) -> Integers:
    """Find (k,) the positions in `speakers` of those that `text` names, ascending; case and width do not matter."""
    folded = _folded(text)
    return np.array([number for number, name in enumerate(speakers) if _stands_in(_folded(name), folded)], np.int64)


def speaker_mark(speaker: str) -> str:
    """Name the node that stands for a speaker: its id, as the extractor marks every turn of theirs."""
    return f"@speaker:{' '.join(clean(speaker).split()).casefold()}"


def _folded(text: str) -> str:
    return " ".join(clean(text).split()).casefold()


def _stands_in(name: str, text: str) -> bool:
    # The plain search first: it is fast, and a graph may have many speakers.
    if not name or name not in text:
        return False
    return re.search(rf"(?<!{_SPACED}){re.escape(name)}(?!{_SPACED})", text) is not None
