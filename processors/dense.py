"""The optional dense view: texts as vectors, and how their likeness joins a score of passages.  Off by default.

    fused[p] = s[p] / max s + 0.6 · r[p] / max r,   r = max(0, z(cos)),   z(x) = (x − mean) / deviation

Source of the form and of 0.6: RECALL.md, step 8.  Standardising makes models comparable whose cosines lie in other
ranges; what is less like the question than the average counts nothing.

A model is never fetched: whoever wants this view hands in an Embedder (streams/embedders.py loads one from a path).
Nothing of it is in the log: vectors are made from the texts when they are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from state.view import Floats

Vectors = NDArray[np.float32]
WEIGHT = 0.6


class Embedder(Protocol):
    """Turns texts into vectors: a function of the text alone."""

    @property
    def name(self) -> str:
        """What the model is called."""

    @property
    def version(self) -> str:
        """What tells this model's vectors from another's: equal versions give equal vectors."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return (n, d) one vector for each text, of length 1; zeros for a text of which the model knows nothing."""


def unit(vectors: Vectors) -> Vectors:
    """Return (n, d) the vectors at length 1; zeros stay zeros."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(length > 0, length, 1)).astype(np.float32)
    return scaled


def cosines(passages: Vectors, question: Vectors) -> Floats:
    """Return (p,) the cosine of each of `passages` (p, d) with `question` (1, d); all of length 1."""
    likeness: Floats = (passages @ question[0]).astype(np.float64)
    return likeness


def fused(scores: Floats, cosine: Floats) -> Floats:
    """Return (p,) the `scores` (p,), >= 0, with what the `cosine` (p,) of each passage says."""
    deviation = cosine.std() if len(cosine) else 0.0
    above = np.maximum(0.0, (cosine - cosine.mean()) / deviation) if deviation > 0 else np.zeros(len(cosine))
    return _share(scores) + WEIGHT * _share(above)


def _share(values: Floats) -> Floats:
    """Return `values` over the largest of them."""
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else np.zeros(len(values))
