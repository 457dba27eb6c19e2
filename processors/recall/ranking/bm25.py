"""BM25, the one place where its formula stands.

    s(d) = Σ over the words w of a question:  idf(w) · tf (k1 + 1) / (tf + k1 (1 − b + b · length / mean length))
    idf  = ln(1 + (n − h + ½) / (h + ½)),   n documents, h that hold w

Source: Robertson & Zaragoza 2009, with the idf of Lucene, which is never negative.  k1 and b were tuned on
conversations.  A document is a turn, or a whole session.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from state.arrays import Floats, Integers

K1: Final = 0.9  # how fast repetition saturates
B: Final = 0.4  # how much a long document is discounted


def idf(documents: int, holding: Integers) -> Floats:
    """Compute how rare each concept is, in nats, > 0; `holding` (n,) counts the documents that hold it."""
    rarity: Floats = np.log1p((documents - holding + 0.5) / (holding + 0.5))
    return rarity


def relative(lengths: Floats | Integers) -> Floats:
    """Divide lengths (d,) by their mean, or by 1 where the mean is smaller."""
    shares: Floats = lengths / max(lengths.mean(), 1.0) if len(lengths) else np.zeros(0)
    return shares


def saturated(counts: Floats | Integers, relative_length: Floats, k1: float = K1, b: float = B) -> Floats:
    """Saturate counts (k, d), or (m,) one by one, in documents of these lengths relative to the mean, (d,) or (m,)."""
    gains: Floats = counts * (k1 + 1) / (counts + k1 * (1 - b + b * relative_length))
    return gains
