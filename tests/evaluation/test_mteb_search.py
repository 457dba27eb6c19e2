"""The search model for MTEB, run by MTEB itself: our BM25 must come to the scores of MTEB's own, on talk of our own.

`scripts/integrations` installs mteb beside the other frameworks, without torch, and runs this.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from emgas import __version__
from evaluation.mteb_search import Bm25Search, EmgasSearch
from evaluation.questions.datasets import read
from tests.support.cli import ROOT

NO_MTEB = "NO MTEB, SO ITS ADAPTER WAS NOT TESTED: run scripts/integrations, which installs it"
if find_spec("mteb") is None:
    if os.environ.get("EMGAS_REQUIRE_MTEB") == "1":
        raise RuntimeError(NO_MTEB)
    pytest.skip(NO_MTEB, allow_module_level=True)

Dataset: Any = import_module("datasets").Dataset
RetrievalEvaluator: Any = import_module("mteb._evaluators").RetrievalEvaluator
TaskMetadata: Any = import_module("mteb.abstasks.task_metadata").TaskMetadata
BM25Search: Any = import_module("mteb.models.model_implementations.bm25").BM25Search
TimingStack: Any = import_module("mteb.timing").TimingStack
FILES = ROOT / "evaluation" / "languages" / "data"
LANGUAGES = {"de": "deu-Latn", "es": "spa-Latn", "fr": "fra-Latn", "ja": "jpn-Jpan", "ko": "kor-Hang"}


class Talk(NamedTuple):
    """A data set as MTEB has it."""

    corpus: Dataset
    queries: Dataset
    relevant: dict[str, dict[str, int]]
    metadata: TaskMetadata

    @classmethod
    def of(cls, language: str) -> Talk:
        """Read talk of our own in a language."""
        data = read((FILES / f"{language}.json").read_bytes())
        questions = [each for of_graph in data.questions.values() for each in of_graph]
        corpus = [{"id": turn.id, "title": "", "text": f"{turn.speaker}: {turn.text}"} for turn in data.turns]
        return cls(
            Dataset.from_list(corpus),
            Dataset.from_list([{"id": f"q{place}", "text": each.text} for place, each in enumerate(questions)]),
            {f"q{place}": dict.fromkeys(each.evidence, 1) for place, each in enumerate(questions)},
            TaskMetadata(
                name="EmgasTalk", description="talk", reference=None, type="Retrieval", category="t2t",
                modalities=["text"], eval_splits=["test"], eval_langs=[LANGUAGES[language]], main_score="ndcg_at_10",
                dataset={"path": "x", "revision": "1"}, date=None, domains=None, task_subtypes=None, license=None,
                annotations_creators=None, dialect=None, sample_creation=None, bibtex_citation="",
            ),
        )  # fmt: skip

    def search(self, model: Any, candidates: dict[str, list[str]] | None = None) -> dict[str, dict[str, float]]:
        """Let MTEB ask a model."""
        return dict(self._evaluator(candidates)(model, encode_kwargs={}))

    def scores(self, model: Any) -> dict[str, float]:
        """Let MTEB ask a model, and score what it finds; return all measures."""
        result = self._evaluator(None).evaluate(self.relevant, self.search(model), [1, 3, 5, 10, 20])
        measures = result.ndcg, result.map, result.recall, result.precision, result.mrr, result.hit_rate
        return {name: value for each in measures for name, value in each.items()}

    def _evaluator(self, candidates: dict[str, list[str]] | None) -> RetrievalEvaluator:
        return RetrievalEvaluator(
            corpus=self.corpus, queries=self.queries, task_metadata=self.metadata, hf_split="test",
            hf_subset="default", top_k=1000, top_ranked=candidates, timer=TimingStack(),
        )  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_our_bm25_comes_to_the_scores_of_mtebs_own(language: str) -> None:
    talk = Talk.of(language)
    ours, theirs = talk.scores(Bm25Search()), talk.scores(BM25Search())
    assert len(ours) >= 25
    assert ours == theirs
    assert max(ours.values()) > 0.2


def test_another_constant_comes_to_other_scores() -> None:
    talk = Talk.of("de")
    assert talk.scores(Bm25Search()) != talk.scores(BM25Search(k1=0.2, b=0.1))


def test_only_a_querys_candidates_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMGAS_DATA", str(tmp_path))
    talk = Talk.of("de")
    names = talk.corpus["id"]
    candidates = {query: list(names[:8] if place % 2 else names[8:]) for place, query in enumerate(talk.relevant)}
    for model in (EmgasSearch(), Bm25Search()):
        found = talk.search(model, candidates)
        assert found.keys() == candidates.keys()
        assert any(found.values())
        assert all(set(ranked) <= set(candidates[query]) for query, ranked in found.items())


def test_recall_finds_more_than_bm25_through_mteb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMGAS_DATA", str(tmp_path))
    talk = Talk.of("de")
    assert talk.scores(EmgasSearch())["NDCG@10"] > talk.scores(Bm25Search())["NDCG@10"]


def test_mteb_is_told_what_the_model_is() -> None:
    meta = EmgasSearch().mteb_model_meta
    assert (meta.name, meta.revision) == ("emgas/default", __version__)
