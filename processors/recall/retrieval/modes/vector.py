"""Vectors: the passages most like the question by the cosine alone (SEEDS S3).

With a model of text embeddings (EMGAS_EMBEDDER) the vectors are those that the log holds; without one, tf-idf vectors
of the words, where what means nearly the same as a word of the question counts in part.  Every passage is compared,
exactly: an index of nearest neighbours (HNSW) would have to follow every undo and every forgotten turn, for less than
reading the turns takes (docs/recall.md).  `rerank` orders the best anew (rerank.py).
"""

from __future__ import annotations

import numpy as np

from emgas.messages.modes import Stage
from processors.recall.retrieval.modes.matching import tfidf_cosine
from processors.recall.retrieval.modes.seam import ModeInput, ModeResult


def find(given: ModeInput) -> ModeResult:
    """Rank all passages by their cosine with the question."""
    modelled = given.cosine is not None
    scores = given.cosine if given.cosine is not None else tfidf_cosine(given.view, given.put_in)
    stage = Stage(name="embeddings" if modelled else "tf-idf", found=int(np.count_nonzero(scores > 0)))
    return ModeResult.ranked(given.put_in, scores, {"cosine": scores}, stages=(stage,))
