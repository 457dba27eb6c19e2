"""Every method on the demo's bilingual conversation; nothing that ranks meets the evidence; luck scores as luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import count

import numpy as np
import pytest

from evaluation import summary
from evaluation.measure import Scores, measured, shuffled
from evaluation.memory import DEPTH, EvaluatedMemory, Ranker, Ranking, best
from evaluation.methods import METHODS, dense_methods
from evaluation.metrics import METRICS
from evaluation.questions.labelled import LabelledQuestion
from processors.extraction.extractor import Extraction
from processors.recall.ranking.dense import Vectors, unit
from tests.support.memories import demo


class Letters:
    """An embedder that counts letters: enough to be a function of the text."""

    name, version = "letters", "1"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return unit(
            np.array([[text.casefold().count(letter) for letter in "abcdefghij"] for text in texts], np.float32)
        )


NOTHING = Ranking(*[np.zeros(0, np.int64)] * 3)
ALL = METHODS | dense_methods(Letters())


def ticking() -> float:
    return float(next(_ticks))


_ticks = count()


def of(rank: Ranker, memory: EvaluatedMemory, text: str) -> tuple[list[int], list[int]]:
    listed, packed, shown = rank(memory.extractor.of_query(text), text)
    assert set(shown.tolist()) <= set(packed.tolist())
    return listed.tolist(), packed.tolist()


@pytest.mark.source("E42")
@pytest.mark.parametrize("name", ALL)
def test_every_method_ranks_the_demo(name: str) -> None:
    examined = demo()
    rank = ALL[name](examined.memory)
    for question in examined.questions:
        listed, packed = of(rank, examined.memory, question.text)
        assert listed, question.text
        assert len(listed) == len(set(listed)) <= DEPTH
        assert set(listed) <= set(range(len(examined.memory.texts)))
        assert sorted(packed) == sorted(listed)
        assert of(rank, examined.memory, question.text) == (listed, packed)


@pytest.mark.parametrize("name", [name for name in ALL if "dense" not in name])
def test_a_question_of_unknown_things_ranks_nothing(name: str) -> None:
    memory = demo().memory
    assert of(ALL[name](memory), memory, "Xyzzyplugh?") == ([], [])


def test_a_method_gets_the_words_of_a_question_and_nothing_else() -> None:
    got: list[tuple[object, ...]] = []

    def spy(memory: EvaluatedMemory) -> Ranker:
        def rank(*arguments: object) -> Ranking:
            got.append(arguments)
            return NOTHING

        return rank

    measured(demo(), spy, ticking)
    assert {tuple(map(type, arguments)) for arguments in got} == {(Extraction, str)}
    assert [field.name for field in fields(EvaluatedMemory)] == ["view", "texts", "extractor"]


def test_other_evidence_gives_the_same_rankings() -> None:
    seen: list[list[int]] = []

    def watched(memory: EvaluatedMemory) -> Ranker:
        rank = METHODS["default"](memory)

        def kept(question: Extraction, text: str) -> Ranking:
            seen.append(rank(question, text).listed.tolist())
            return rank(question, text)

        return kept

    examined = demo()
    other = shuffled(examined.questions, examined.memory.view.passage_id, np.random.default_rng(1))
    measured(examined, watched, ticking)
    half = len(seen)
    measured(replace(examined, questions=other), watched, ticking)
    assert seen[:half] == seen[half:]


@pytest.mark.source("P50")
def test_shuffled_evidence_scores_at_chance() -> None:
    examined = demo()
    questions = [question for question in examined.questions for _ in range(200)]
    by_luck = shuffled(questions, examined.memory.view.passage_id, np.random.default_rng(1))
    for name in ("default", "bm25", "ppr"):
        scores = measured(replace(examined, questions=by_luck), METHODS[name], ticking)
        has_chance = ~np.isnan(scores.chance[0])
        values, chance = scores.values[:, has_chance], scores.chance[:, has_chance]
        error = values.std(axis=0) / np.sqrt(len(questions))
        assert (np.abs(values.mean(axis=0) - chance.mean(axis=0)) < 4 * error + 1e-9).all(), name


def test_the_true_evidence_scores_far_above_chance() -> None:
    scores = measured(demo(), METHODS["default"], ticking)
    column = METRICS.index("R@5")
    assert scores.values[:, column].mean() > 5 * scores.chance[:, column].mean()


def test_shuffling_keeps_how_much_evidence_there_is_and_draws_from_the_graph() -> None:
    question = LabelledQuestion("?", "all", frozenset({"a", "b"}), "g")
    turns = [f"t{number}" for number in range(9)]
    (other,) = shuffled([question], turns, np.random.default_rng(1))
    assert len(other.evidence) == 2
    assert other.evidence <= set(turns)
    assert (other.text, other.category) == (question.text, question.category)


@pytest.mark.source("P37")
def test_a_query_is_timed_with_its_extraction_and_without_the_preparation() -> None:
    now = [0.0]

    def slow(memory: EvaluatedMemory) -> Ranker:
        now[0] += 1000.0

        def rank(question: Extraction, text: str) -> Ranking:
            now[0] += 0.002
            return NOTHING

        return rank

    assert measured(demo(), slow, lambda: now[0]).ms == pytest.approx(2.0)


def test_ties_fall_to_the_earlier_turn_and_nothing_scores_at_zero() -> None:
    assert best(np.array([0.0, 2.0, 3.0, 2.0])).listed.tolist() == [2, 1, 3]
    assert best(np.array([1.0, 1.0, 1.0]), depth=2).packed.tolist() == [0, 1]


# what it comes to


WITHIN_973 = "recall_within_973_tokens"


def made_of(*kinds: str) -> list[LabelledQuestion]:
    return [LabelledQuestion("?", kind, frozenset({"t"}), "g") for kind in kinds]


def scores_of(*values: float) -> Scores:
    row = np.array([[value] * len(METRICS) for value in values])
    return Scores(row, row, np.arange(len(values), dtype=float))


def test_the_headline_leaves_the_unanswerable_out_and_weighs_questions_alike() -> None:
    report = summary.of_method(
        scores_of(1, 0, 0, 1), made_of("temporal", "temporal", "multi-hop", "adversarial"), 1.0, chance=False
    )
    assert report[WITHIN_973] == 33.33
    assert report["by_category"]["temporal"] == {WITHIN_973: 50.0, "R@10": 50.0, "questions": 2}
    assert report["by_category"]["adversarial"][WITHIN_973] == 100.0
    assert (report["ms_per_query_p50"], report["ms_per_turn"]) == (1.5, 1.0)
    assert "chance" not in report
    assert "by_hop" not in report


def test_a_set_of_nothing_but_the_unanswerable_is_its_own_headline() -> None:
    assert (
        summary.of_method(scores_of(1, 0), made_of("adversarial", "adversarial"), 1.0, chance=False)[WITHIN_973] == 50.0
    )


def test_hops_are_told_where_the_data_names_them() -> None:
    questions = [replace(question, hop=hop) for question, hop in zip(made_of("a", "a", "a"), (2, None, 1), strict=True)]
    report = summary.of_method(scores_of(1, 0, 1), questions, 1.0, chance=True)
    assert {hop: part[WITHIN_973] for hop, part in report["by_hop"].items()} == {"1": 50.0, "2": 100.0}
    assert report["chance"]["R@5"] == 66.67


def test_differences_are_those_of_the_headline_in_points() -> None:
    scores = {"default": scores_of(1, 1, 0), "bm25": scores_of(0.5, 0.5, 1), "literal": scores_of(0, 0, 0)}
    report = summary.differences(scores, made_of("a", "a", "adversarial"), np.random.default_rng(1))
    assert list(report) == ["default - bm25"]
    assert report["default - bm25"][WITHIN_973] == {"mean": 50.0, "low": 50.0, "high": 50.0}
    assert summary.differences({"bm25": scores_of(1)}, made_of("a"), np.random.default_rng(1)) == {}


def test_joined_scores_keep_the_order_of_their_parts() -> None:
    joined = Scores.joined([scores_of(1, 0), scores_of(0.5)])
    assert joined.values[:, 0].tolist() == [1, 0, 0.5]
