"""The optional dense view: texts as vectors, and how their similarity joins a score of passages.  Off by default.

    recall   Σ weight · feature + weight · z(cos),   z(x) = (x − mean) / deviation       (features.py `dense`)
    others   fused[p] = s[p] / max s + 0.6 · r[p] / max r,   r = max(0, z(cos))

Standardising makes models with different ranges of cosines comparable.  With scores that are no log-odds, as BM25's,
only a similarity above the average counts; the form and 0.6 come from an early study.

A model is never downloaded: the caller supplies an Embedder (streams/plugins/embedders.py loads one from a path).  A
worker with an embedder records the vector of each turn in the log, with the model's name and version (TurnEmbedded in
state/events/events.py); a question is compared only with vectors of exactly that model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from state.arrays import Floats
from state.graph.tables.embedding_table import Model
from state.graph.view import GraphView

Vectors = NDArray[np.float32]
WEIGHT = 0.6


class Embedder(Protocol):
    """Turns texts into vectors: a function of the text alone.  A worker calls it from several threads."""

    @property
    def name(self) -> str:
        """Return the name of the model."""

    @property
    def version(self) -> str:
        """Return the version of the model: equal versions make equal vectors."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a vector (n, d) of length 1 for each text; zeros for a text without anything that the model knows."""


def model_name(embedder: Embedder) -> str:
    """Return the name of a model in the log: name and version."""
    return f"{embedder.name} {embedder.version}"


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> list[Vectors | None]:
    """Find (d,) the vector of each text; None where the model knows nothing of it, or gave no numbers."""
    return [vector if np.isfinite(vector).all() and vector.any() else None for vector in embedder.embed(texts)]


def vector_of(embedder: Embedder, text: str) -> Vectors | None:
    """Find (d,) the vector of `text`, or None."""
    (vector,) = vectors_of(embedder, [text])
    return vector


def likeness(view: GraphView, embedder: Embedder, question: str) -> Floats | None:
    """Compare each passage with `question`: (p,) cosines, by the vectors that the log holds of this model.

    A passage without one gets the mean of the others: nothing speaks for it or against it.  None if no passage has one,
    or the question has none.
    """
    if not any(model.name == model_name(embedder) for model in view.embeddings):
        return None
    question_vector = vector_of(embedder, question)
    vectors = (
        None if question_vector is None else view.embeddings.get(Model(model_name(embedder), len(question_vector)))
    )
    if question_vector is None or vectors is None:
        return None
    cosine = cosines(vectors.vector, question_vector[None])
    whole = np.full(view.turns, cosine.mean())
    whole[vectors.passage] = cosine
    return whole


def unit(vectors: Vectors) -> Vectors:
    """Scale vectors (n, d) to length 1; zeros stay zeros."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(length > 0, length, 1)).astype(np.float32)
    return scaled


def cosines(passages: Vectors, question: Vectors) -> Floats:
    """Compute (p,) the cosine of each of `passages` (p, d) with `question` (1, d); all of length 1."""
    likeness: Floats = (passages @ question[0]).astype(np.float64)
    return likeness


def fused(scores: Floats, cosine: Floats) -> Floats:
    """Add to the `scores` (p,), >= 0, what the `cosine` (p,) of each passage says."""
    return _share(scores) + WEIGHT * _share(above_mean(cosine))


def above_mean(cosine: Floats) -> Floats:
    """Compute (p,) by how many deviations each cosine lies above the mean, 0 below it."""
    return np.maximum(0.0, standardised(cosine))


def standardised(cosine: Floats) -> Floats:
    """Compute (p,) by how many deviations each cosine lies above the mean, < 0 below it."""
    deviation = cosine.std() if len(cosine) else 0.0
    return (cosine - cosine.mean()) / deviation if deviation > 0 else np.zeros(len(cosine))


def _share(values: Floats) -> Floats:
    """Divide `values` by the largest of them."""
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else np.zeros(len(values))
