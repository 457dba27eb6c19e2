"""Lets MTEB ask this memory, as a search model; LMEB is a part of MTEB.  Needs mteb; nothing else here imports it.

    model = EmgasSearch()                                         Bm25Search(): the baseline, to check the adapter with
    mteb.evaluate(model, mteb.get_tasks(tasks=["LoCoMo"]))        mteb.get_benchmark("LMEB").tasks: all

A document becomes a turn in a session of its own.  Where a query has candidates (LMEB's scenes), those are a memory of
their own; without, the corpus is one.  `Bm25Search` scores with our index (baselines/bm25.py) on MTEB's words, with
MTEB's constants: it must come to what MTEB's own `mteb/baseline-bm25s` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np

from emgas import __version__
from emgas.limits import TEXT_BYTES
from emgas.messages.turns import Turn
from emgas.pieces import pieces
from emgas.validation import build
from evaluation.baselines.bm25 import Index
from evaluation.logged_memory import remember
from evaluation.measure import Examined
from evaluation.methods import METHODS
from evaluation.questions.labelled import SPOKEN_AT, WRITER, DataSet, LabelledQuestion
from state.arrays import Floats, Integers
from streams.cli.shared import output

K1: Final = 1.5  # MTEB's constants
B: Final = 0.75
Results = dict[str, dict[str, float]]
Ranked = Sequence[tuple[str, float]]  # documents with their scores, best first


class Document(NamedTuple):
    """A row of a corpus.  `text`: its title is the first line, as MTEB joins them."""

    id: str
    text: str


class Search:
    """The search model that MTEB calls; a subclass ranks."""

    name: str

    def index(self, corpus: Iterable[Mapping[str, Any]], **task: Any) -> None:
        """Keep the corpus of a task.  task: MTEB's `task_metadata`, `hf_subset` and others."""
        joined = ((str(row["id"]), "\n".join([row.get("title") or "", row["text"]])) for row in corpus)
        self.documents, self.task = [Document(*each) for each in joined], task

    def search(
        self,
        queries: Iterable[Mapping[str, Any]],
        *,
        top_k: int,
        top_ranked: Mapping[str, Sequence[str]] | None = None,
        **_: Any,
    ) -> Results:
        """Return the scores of at most `top_k` documents for each query, of its candidates if it has any."""
        texts = {str(row["id"]): str(row["text"]) for row in queries}
        among = {query: frozenset((top_ranked or {}).get(query, ())) for query in texts}
        results = self.rank(texts, among, min(top_k, len(self.documents)))
        return {
            query: {name: score for name, score in ranked if not among[query] or name in among[query]}
            for query, ranked in results.items()
        }

    def rank(self, texts: Mapping[str, str], among: Mapping[str, frozenset[str]], most: int) -> dict[str, Ranked]:
        """Rank documents for each query.  among: its candidates; none: all documents."""
        raise NotImplementedError

    @property
    def mteb_model_meta(self) -> Any:
        """Describe the model to MTEB."""
        nothing = dict.fromkeys(
            ("languages", "release_date", "n_parameters", "memory_usage_mb", "max_tokens", "embed_dim", "license",
             "public_training_code", "public_training_data", "training_datasets", "similarity_fn_name")
        )  # fmt: skip
        meta: Any = import_module("mteb.models.model_meta").ModelMeta
        return meta(
            **nothing, loader=None, name=f"emgas/{self.name}", revision=__version__, open_weights=True, framework=[],
            use_instructions=False, model_type=["sparse"],
        )  # fmt: skip


class EmgasSearch(Search):
    """A method of recall on documents that were published as turns.

    A method ranks at most evaluation.memory.DEPTH turns, so recall beyond that many is not measured.
    """

    def __init__(self, method: str = "default") -> None:
        self.name = method

    def rank(self, texts: Mapping[str, str], among: Mapping[str, frozenset[str]], most: int) -> dict[str, Ranked]:
        """Publish each set of candidates to a memory, and ask it.  A score is 1 / rank."""
        sets = list(dict.fromkeys(among.values()))
        graphs = {candidates: f"mteb-{place}" for place, candidates in enumerate(sets)}
        turns = [turn for candidates, graph in graphs.items() for turn in self._turns(graph, candidates)]
        questions = {graph: [LabelledQuestion("", "", frozenset(), graph)] for graph in graphs.values()}
        memories, _ = output.run(remember(DataSet(turns, questions), output.settings(), lambda: None))
        ranked: dict[str, Ranked] = {}
        for memory in memories:
            graph = memory.questions[0].group
            here = {query: text for query, text in texts.items() if graphs[among[query]] == graph}
            ranked |= self._of_memory(memory, here, most)
        return ranked | {query: () for query in texts if query not in ranked}

    def _turns(self, graph: str, candidates: frozenset[str]) -> Iterable[Turn]:
        for number, document in enumerate(self.documents):
            for text in pieces(document.text, TEXT_BYTES)[:1] if not candidates or document.id in candidates else ():
                where = {"graph": graph, "session": f"document-{number}", "id": f"{graph}/{number}"}
                yield build(Turn, {**where, "speaker": WRITER, "text": text, "at": SPOKEN_AT + number})

    def _of_memory(self, of: Examined, texts: Mapping[str, str], most: int) -> dict[str, Ranked]:
        ranker, memory = METHODS[self.name](of.memory), of.memory
        names = [self.documents[int(turn.rpartition("/")[2])].id for turn in memory.view.passage_id]
        orders = {query: ranker(memory.question(text), text).listed[:most] for query, text in texts.items()}
        return {
            query: [(names[number], 1 / rank) for rank, number in enumerate(order.tolist(), 1)]
            for query, order in orders.items()
        }


class Bm25Search(Search):
    """BM25 on the words that MTEB's own baseline finds."""

    name = "bm25"

    def rank(self, texts: Mapping[str, str], among: Mapping[str, frozenset[str]], most: int) -> dict[str, Ranked]:
        """Score all documents; as in MTEB's own, candidates are chosen of the first `most` afterwards."""
        theirs: Any = import_module("mteb.models.model_implementations.bm25")
        language = theirs._get_language(self.task["task_metadata"], self.task["hf_subset"]) or "eng"  # noqa: SLF001
        tokenizer = theirs.BM25Tokenizer(language=language)
        words = tokenizer.fit_transform([document.text for document in self.documents])
        index = _index(words.ids, len(words.vocab))
        query_tokens = tokenizer.transform(list(texts.values()))
        spelled = {number: word for word, number in query_tokens.vocab.items()}
        return {
            query: self._best(index.scores(_numbers(ids, spelled, words.vocab)), most)
            for query, ids in zip(texts, query_tokens.ids, strict=True)
        }

    def _best(self, scores: Floats, most: int) -> Ranked:
        order = np.argsort(-scores, kind="stable")[:most]
        return [(self.documents[number].id, float(scores[number])) for number in order.tolist()]


def _index(documents: Sequence[Sequence[int]], words: int) -> Index:
    """Build our index of documents that are lists of words."""
    word = np.concatenate([np.array(each, np.int64) for each in documents])
    document = np.repeat(np.arange(len(documents)), [len(each) for each in documents])
    keys, counts = np.unique(word * len(documents) + document, return_counts=True)
    return Index(keys // len(documents), keys % len(documents), counts, words, len(documents), k1=K1, b=B)


def _numbers(ids: Iterable[int], spelled: Mapping[int, str], vocabulary: Mapping[str, int]) -> Integers:
    """Return the numbers in the corpus of a query's words that it holds."""
    numbers = (vocabulary.get(spelled[number]) for number in ids)
    return np.array([number for number in numbers if number is not None], np.int64)
