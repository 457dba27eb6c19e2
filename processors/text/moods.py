"""How thoroughly somebody of this mood wants to search: in a hurry, not at all; curious, much (SEEDS S7).

Few patterns of English and Chinese decide (data/moods.tsv); a mood that is none of them says nothing about it.
"""

from __future__ import annotations

import re
from typing import Final

from processors.text import tables

DEPTHS: Final = {"shallow": 0.0, "deep": 0.8}


def _pattern(kind: str) -> re.Pattern[str]:
    found = [(script, pattern) for each, script, pattern in tables.rows(__package__, "moods") if each == kind]
    return re.compile("|".join(rf"\b{each}\b" if script == "latin" else each for script, each in found), re.IGNORECASE)


_PATTERNS: Final = {kind: _pattern(kind) for kind in DEPTHS}


def depth_of(mood: str) -> float | None:
    """Tell how thoroughly to search, 0 to 1; None where the mood does not say."""
    told = [DEPTHS[kind] for kind, pattern in _PATTERNS.items() if pattern.search(mood)]
    return told[0] if len(told) == 1 else None
