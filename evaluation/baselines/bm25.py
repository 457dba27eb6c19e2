"""BM25, as a search engine would run it: an inverted index, nothing of a conversation but its words.

The formula is the one that recall uses (processors/recall/ranking/bm25.py).  Tokens: the content words that
extraction found and the log holds, so segmentation (Han text too), dictionary forms and stopwords are the same as
ours; marks (speaker, dates) are not words and left out, but a turn's speaker is a word of it, as in any index of
"Ada: I went …": a question that names Ada finds what Ada said.  Length = number of tokens.
"""

from __future__ import annotations

import numpy as np

from evaluation.memory import EvaluatedMemory, Ranker, best
from processors.extraction.extractor import Extraction
from processors.recall.ranking.bm25 import K1, B, idf, relative, saturated
from state.arrays import Floats, Integers


class Index:
    """An inverted index of documents: (word, document, count) in columns, over `words` distinct words."""

    def __init__(
        self,
        word: Integers,
        document: Integers,
        count: Integers,
        words: int,
        documents: int,
        *,
        k1: float = K1,
        b: float = B,
    ) -> None:
        self._word, self._document, self._documents = word, document, documents
        length = np.bincount(document, count, documents)
        rarity = idf(documents, np.bincount(word, minlength=words))
        self._gain = rarity[word] * saturated(count, relative(length)[document], k1, b)
        self._order = np.argsort(word, kind="stable")
        self._starts = np.searchsorted(word[self._order], np.arange(words + 1))

    def scores(self, query: Integers) -> Floats:
        """Score each of (documents,) for the words `query` (k,); a word asked twice counts twice."""
        rows = [self._order[self._starts[word] : self._starts[word + 1]] for word in query.tolist()]
        postings = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        scores = np.bincount(self._document[postings], self._gain[postings], self._documents)
        return scores.astype(np.float64, copy=False)


class Vocabulary:
    """The words of a memory's turns as an index, and of a question as numbers in it."""

    def __init__(self, memory: EvaluatedMemory) -> None:
        view = memory.view
        words = ~view.is_mark[view.posting_concept]
        self._numbers = dict(view.numbers)
        spoken = [self._of_name(memory, name) for name in view.speakers]
        by = [(number, turn) for turn, who in enumerate(view.passage_speaker.tolist()) for number in spoken[who]]
        word = np.concatenate((view.posting_concept[words], np.array([number for number, _ in by], np.int64)))
        turn = np.concatenate((view.posting_passage[words], np.array([turn for _, turn in by], np.int64)))
        count = np.concatenate((view.posting_count[words], np.ones(len(by), np.int64)))
        keys, at = np.unique(word * len(view.passage_at) + turn, return_inverse=True)
        counts = np.bincount(at, count, len(keys)).astype(np.int64)
        turns = max(len(view.passage_at), 1)
        self.index = Index(keys // turns, keys % turns, counts, len(self._numbers), len(view.passage_at))

    def _of_name(self, memory: EvaluatedMemory, name: str) -> list[int]:
        """Return the numbers of the words of a speaker's name; a word that occurs in no turn gets a new number."""
        concepts = memory.extractor.of_query(name).concepts
        words = [concept.id for concept in concepts if not concept.id.startswith("@")]
        return [self._numbers.setdefault(word, len(self._numbers)) for word in words]

    def query_ids(self, question: Extraction) -> Integers:
        """Return the numbers (k,) of a question's known words, each as often as the question holds it."""
        concepts = [concept for concept in question.concepts if not concept.id.startswith("@")]
        numbers = [self._numbers[each.id] for each in concepts if each.id in self._numbers for _ in range(each.count)]
        return np.array(numbers, np.int64)


def bm25(memory: EvaluatedMemory) -> Ranker:
    """Index the turns of `memory` for BM25."""
    vocabulary = Vocabulary(memory)
    return lambda question, _: best(vocabulary.index.scores(vocabulary.query_ids(question)))
