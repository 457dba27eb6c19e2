"""Cut a conversation into parts by topic: how many parts, and where to cut.  Pure.  SEEDS M4.

    parts   (turns · RATE + clamp(int(2 (H − 3)), 1, 5)) / 2,  H the entropy of its characters in bits: the source's
    cuts    where the BLOCK turns before and after share least (TextTiling: Hearst 1997), SHORTEST turns apart

The source takes samples of its history, and a model compresses each into (topic, summary); here nothing is sampled, and
a part is described by its own words (session_summaries.py).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

RATE: Final = 0.1  # of the turns, and of the words of a part that stand for it
BLOCK: Final = 3
SHORTEST: Final = 2


def entropy(text: str) -> float:
    """Compute the entropy of a text's characters, bits; 0 of none."""
    total = len(text)
    return -sum(count / total * math.log2(count / total) for count in Counter(text).values())


def how_many(turns: int, bits: float) -> int:
    """Return the number of parts for a conversation of `turns` turns, at least one."""
    return max(1, int((turns * RATE + max(1, min(5, int((bits - 3) * 2)))) / 2))


def cuts(concept_sets: Sequence[AbstractSet[int]], parts: int) -> list[int]:
    """Find before which turns a conversation is cut; held: the words of each turn."""
    least = [(_shared(concept_sets, place), place) for place in range(SHORTEST, len(concept_sets) - SHORTEST + 1)]
    chosen: list[int] = []
    for _, place in sorted(least):
        if len(chosen) == parts - 1:
            break
        if all(abs(place - other) >= SHORTEST for other in chosen):
            chosen.append(place)
    return sorted(chosen)


def _shared(concept_sets: Sequence[AbstractSet[int]], place: int) -> float:
    """Compute how much of their words the turns before and after a place share: the cosine of the two sets."""
    before = set().union(*concept_sets[max(0, place - BLOCK) : place])
    after = set().union(*concept_sets[place : place + BLOCK])
    return len(before & after) / math.sqrt(max(1, len(before)) * max(1, len(after)))
