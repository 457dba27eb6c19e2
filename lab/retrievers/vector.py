"""Vectors: the passages most like the question by the cosine alone (SEEDS S3).

With a model of text embeddings (EMGAS_EMBEDDER) the vectors are those that the log holds; without one, tf-idf vectors
of the words, where what means nearly the same as a word of the question counts in part.  Every passage is compared,
exactly: an index of nearest neighbours (HNSW) would have to follow every undo and every forgotten turn, for less than
reading the turns takes.  `rerank` orders the best again (rerank.py).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from emgas.messages.settings.modes import Stage
from lab.retrievers.matching import tfidf_cosine
from lab.retrievers.seam import ModeInput, ModeResult
from lab.retrievers.walking import by_walk
from processors.recall.ranking.activation import DEFAULT
from processors.recall.retrieval.policies import Retriever


def find(mode_input: ModeInput) -> ModeResult:
    """Rank all passages by their cosine with the question."""
    modelled = mode_input.cosine is not None
    scores = mode_input.cosine if mode_input.cosine is not None else tfidf_cosine(mode_input.view, mode_input.put_in)
    stage = Stage(name="embeddings" if modelled else "tf-idf", found=int(np.count_nonzero(scores > 0)))
    return ModeResult.ranked(mode_input.put_in, scores, {"cosine": scores}, stages=(stage,))


RETRIEVER: Final = Retriever(
    name="vector",
    source="top-k by vectors",
    spreading=DEFAULT,
    fields=(),
    retrieve=by_walk(find, by_vectors=True),
    by_vectors=True,
)
