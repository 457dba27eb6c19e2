"""Words of nearly one meaning: buy, purchase, order; 医生, 大夫, doctor (data/synonyms.tsv)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from processors.text import tables


def _neighbours() -> Mapping[str, tuple[str, ...]]:
    """Map each word to those that stand in a group with it, in the order written."""
    neighbours: dict[str, dict[str, None]] = {}
    for _field, group in tables.rows(__package__, "synonyms"):
        words = group.split()
        for word in words:
            neighbours.setdefault(word, {}).update(dict.fromkeys(words))
    return {word: tuple(other for other in others if other != word) for word, others in neighbours.items()}


SYNONYMS: Final = _neighbours()
