"""Words that tell what is asked for: not those that are said with everything ("drink", "go", 喝, 去).

The latter (processors/text/data/everyday_verbs.tsv) count only where nothing else is named: "how often do I drink
latte" asks for latte.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from processors.text import tables

_EVERYDAY: Final = frozenset(word for (word,) in tables.rows("processors.text", "everyday_verbs"))


def telling(names: Iterable[str]) -> list[str]:
    """Choose the names that tell something; all of them if none does."""
    named = list(names)
    return [name for name in named if name not in _EVERYDAY] or named
