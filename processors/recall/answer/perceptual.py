"""Search attachments by how they look or sound: photos, voice notes, films.  SEEDS H13, H14.

    score    (0.8 · vec + 0.2 · rec) · (0.8 + 0.4 · importance),   rec = max(0.1, e^(−0.1 · days))
    vec      like=TURN    the best cosine with what came with that turn, among the vectors that encoders gave both
             else         how well the caption answers: e^(score − best score) of the default recall

An AttachmentEncoder is a plug-in (streams/plugins/encoders.py): a worker with one records the vector of a turn's
attachment, as a TurnEmbedded of the encoder's own model.  So a question needs no encoder, and a replay calls none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from emgas.messages.fields import Modality
from emgas.times import DAY_MS
from processors.recall.ranking.dense import Vectors
from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.working_memory import matters
from processors.recall.retrieval.recall import Ranked
from state.arrays import Floats, Integers
from state.graph.view import GraphView

FADING: Final = 0.1  # a day
LEAST_RECENT: Final = 0.1
VECTOR: Final = 0.8  # share of likeness in a score; the rest is recency
PREFIX: Final = "perceptual "  # how the models of encoders are named in the log: no text is ever compared with them


class AttachmentEncoder(Protocol):
    """Computes a vector from an attachment of a turn: it depends only on the attachment's bytes."""

    @property
    def name(self) -> str:
        """Return the name of the model."""

    @property
    def version(self) -> str:
        """Return the version of the model: vectors of another version are not compared with it."""

    @property
    def kind(self) -> Modality:
        """Return the kind of attachments that it encodes."""

    def encode(self, uri: str) -> Vectors | None:
        """Encode what lies at `uri`: (d,), of length 1; None for what cannot be read."""


def encoder_name(encoder: AttachmentEncoder) -> str:
    """Return the name of an encoder's model in the log."""
    return f"{PREFIX}{encoder.kind} {encoder.name} {encoder.version}"


def rank_perceived(
    view: GraphView, candidates: Sequence[Ranked], *, allowed: Allowed, like: str | None
) -> tuple[Ranked, ...]:
    """Rank the turns that something came with: those like the attachments of a turn, or those of `candidates`."""
    if like is not None:
        turns, likeness = _alike(view, like)
    else:
        turns = np.array([each.number for each in candidates], np.int64)
        scores = np.array([each.score for each in candidates])
        likeness = np.exp(scores - scores.max(initial=0.0)) if len(scores) else scores
    shows = (view.of_turns("modality", turns) > 0) & allowed.passes(turns)
    turns, likeness = turns[shows], likeness[shows]
    graded = (VECTOR * likeness + (1 - VECTOR) * _recency(view, turns)) * (0.8 + 0.4 * matters(view, turns))
    order = np.lexsort((-turns, -graded))
    return tuple(
        Ranked(number, score) for number, score in zip(turns[order].tolist(), graded[order].tolist(), strict=True)
    )


def _alike(view: GraphView, turn: str) -> tuple[Integers, Floats]:
    """List the turns that share an encoder with a turn, which is not among them, and the best cosine of each."""
    of = view.passage_numbers([turn])
    best = np.full(view.turns, -1.0)
    for model, vectors in view.embeddings.items():
        mine = np.flatnonzero(np.isin(vectors.passage, of))
        if model.name.startswith(PREFIX) and len(mine):
            passages = vectors.passage.astype(np.int64)
            best[passages] = np.maximum(best[passages], vectors.vector.astype(np.float64) @ vectors.vector[mine[0]])
    best[of] = -1.0
    turns = np.flatnonzero(best > 0)
    return turns, best[turns]


def _recency(view: GraphView, turns: Integers) -> Floats:
    days = (view.clock - view.of_turns("at", turns)) / DAY_MS
    recent: Floats = np.maximum(LEAST_RECENT, np.exp(-FADING * days))
    return recent
