"""Libraries that EMGAS is measured beside, on the same work: igraph, scipy, bm25s.  None where one is not installed.

    pagerank        igraph's personalised PageRank (prpack) on a graph's exchanges
    cooccurrences   scipy: sparse windows times themselves, which counts all pairs in one go and can do nothing else
    Bm25            bm25s: an index of words, made of all turns at once, and the best of them for a question

They get words as numbers, and what is theirs alone is timed: no text is cut into words here.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from bench.speed.measuring import mid, taken
from state.graph.graph import Graph

BEST: Final = 100  # turns that are asked for

Words = Sequence[Sequence[int]]  # of turns, or of windows, as numbers


def pagerank(graph: Graph, query: Words) -> float | None:
    """Measure igraph's personalised PageRank on the graph's exchanges from some concepts each, ms."""
    if not find_spec("igraph"):
        return None
    import igraph

    keys, counts = graph.pairs["exchange"].canonical()
    peer = igraph.Graph(n=len(graph.concepts), edges=np.stack((keys >> 32, keys & 0xFFFFFFFF), axis=1))
    peer.es["weight"] = counts.tolist()
    return mid(
        taken(lambda of=of: peer.personalized_pagerank(reset_vertices=of, weights="weight", implementation="prpack"))[1]
        for of in query
    )


def cooccurrences(windows: Words) -> tuple[int, float] | None:
    """Count all pairs of windows of distinct words; return how many there are, and how long it took, ms."""
    if not find_spec("scipy"):
        return None
    from scipy.sparse import csr_array, triu

    def counted() -> int:
        ends = np.cumsum([0, *map(len, windows)])
        words = np.concatenate(windows)
        mentions = csr_array((np.ones(len(words), np.int32), words, ends), shape=(len(windows), int(words.max()) + 1))
        return int(triu(mentions.T @ mentions, k=1).nnz)

    return taken(counted)


class Bm25:
    """The library's index of turns.  `built_ms`: how long it took to make."""

    def __init__(self, turns: Words, words: int) -> None:
        import bm25s

        self._index: Any = bm25s.BM25()
        vocabulary = {str(number): number for number in range(words)}
        corpus = bm25s.tokenization.Tokenized(ids=[list(turn) for turn in turns], vocab=vocabulary)
        _, self.built_ms = taken(lambda: self._index.index(corpus, show_progress=False))

    @classmethod
    def of(cls, turns: Words, words: int) -> Bm25 | None:
        """Index turns of words below `words`; None where the library is not installed."""
        return cls(turns, words) if find_spec("bm25s") else None

    def query_time(self, questions: Words) -> float:
        """Measure how long it takes to find the best turns for a question, ms."""
        return mid(taken(lambda of=of: self._best(of))[1] for of in questions)

    def _best(self, words: Sequence[int]) -> Any:
        scores = self._index.get_scores_from_ids(list(words))
        return np.argpartition(scores, -BEST)[-BEST:]
