"""Choose how thorough a search is from a mood: short if the reader is in a hurry, long if curious (SEEDS S7).

Few patterns of English and Chinese decide (data/moods.tsv); a mood that is none of them says nothing about it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from processors.text import tables

_ROWS: Final = tables.rows(__package__, "moods")
DEPTHS: Final = {"shallow": 0.0, "deep": 0.8}


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    """Compile the patterns of a kind of mood, when one is first asked about."""
    patterns = [(script, pattern) for each, script, pattern in _ROWS if each == kind]
    return re.compile(
        "|".join(rf"\b{each}\b" if script == "latin" else each for script, each in patterns), re.IGNORECASE
    )


def depth_of(mood: str) -> float | None:
    """Return how thoroughly to search, 0 to 1; None where the mood does not say."""
    depths = [depth for kind, depth in DEPTHS.items() if _pattern(kind).search(mood)]
    return depths[0] if len(depths) == 1 else None
