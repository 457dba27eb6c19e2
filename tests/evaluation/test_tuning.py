"""Tuning to one's own questions: better where there is something to learn, and silent where there is not."""

from __future__ import annotations

import json
from itertools import count

import numpy as np
import pytest

from emgas.errors import InvalidMessageError
from emgas.messages.turns import Turn
from evaluation.fit import tuning
from evaluation.fit.fitting import Example, fit
from evaluation.fit.thresholds import Cases, best, curve, point
from evaluation.fit.tuning import Tuning, WeightsInForce
from evaluation.measure import Examined
from evaluation.questions import own_questions
from evaluation.questions.labelled import LabelledQuestion
from processors.recall.ranking.weights import DEFAULT_FLOW, FEATURES
from tests.support import tunable
from tests.support.memories import memory_of


def examined(questions: list[LabelledQuestion] | None = None) -> Examined:
    memory = memory_of([Turn(**turn) for turn in tunable.turns()])
    raw = "\n".join(map(json.dumps, tunable.questions())).encode()
    return Examined(memory, own_questions.read(raw) if questions is None else questions)


def tuned(of: Examined, now: WeightsInForce | None = None) -> Tuning:
    ticks = count()
    clock = lambda: float(next(ticks))  # noqa: E731
    return tuning.tune(tuning.in_folds([of]), now or WeightsInForce(), clock=clock, generator=np.random.default_rng(1))


@pytest.mark.source("M22")
def test_weights_fitted_to_own_questions_are_better_on_those_that_were_held_out() -> None:
    result = tuned(examined())
    assert (result.questions, result.folds) == (len(tunable.SUBJECTS), tuning.FOLDS)
    assert result.after["nDCG@10"] > result.before["nDCG@10"]
    assert result.gains["nDCG@10"].low > 0
    assert result.weights_are_better
    assert result.weights["asks"] > DEFAULT_FLOW["asks"], "what is wanted asks: it is worth more than by default"


def test_what_is_in_force_already_cannot_be_bettered_by_the_same_questions() -> None:
    first = tuned(examined())
    again = tuned(examined(), WeightsInForce(first.weights, first.drop))
    assert again.before["nDCG@10"] >= first.after["nDCG@10"]
    assert not again.weights_are_better


def test_evidence_by_chance_is_not_better_on_what_was_held_out() -> None:
    of = examined()
    draws = np.random.default_rng(3).choice(len(of.memory.view.passage_id), len(of.questions))
    luck = [
        LabelledQuestion(question.text, question.category, frozenset([of.memory.view.passage_id[draw]]), question.group)
        for question, draw in zip(of.questions, draws.tolist(), strict=True)
    ]
    assert not tuned(examined(luck)).weights_are_better


def test_too_few_questions_are_refused_with_their_number() -> None:
    few = examined().questions[: tuning.LEAST_QUESTIONS - 1]
    with pytest.raises(InvalidMessageError, match=f"{len(few)} questions .* at least {tuning.LEAST_QUESTIONS}"):
        tuning.in_folds([examined(list(few))])


def test_questions_about_the_same_turns_are_held_out_together() -> None:
    of = examined()
    twice = [*of.questions, *of.questions]
    folds: dict[frozenset[str], set[str]] = {}
    for question in tuning.in_folds([examined(twice)])[0].questions:
        folds.setdefault(question.evidence, set()).add(question.group)
    assert all(len(groups) == 1 for groups in folds.values())
    assert len({group for groups in folds.values() for group in groups}) == tuning.FOLDS


def test_few_questions_move_weights_less_than_many() -> None:
    values = np.zeros((2, len(FEATURES)))
    values[0, FEATURES.index("asks")] = 1.0
    one = Example(values, np.ones(2), np.array([0]), "x")
    few, many = (fit([one] * times, DEFAULT_FLOW, towards=DEFAULT_FLOW)["asks"] for times in (2, 200))
    assert DEFAULT_FLOW["asks"] < few < many
    untouched = fit([one] * 200, DEFAULT_FLOW, towards=DEFAULT_FLOW)["match"]
    assert untouched == DEFAULT_FLOW["match"], "of what no question tells anything, what is in force stays"


@pytest.mark.source("P9")
def test_a_threshold_is_calibrated_on_labels_by_precision_recall_and_f1() -> None:
    cases = Cases(np.array([0.9, 0.8, 0.6, 0.4, 0.2]), np.array([True, True, False, True, False]), unseen=1)
    points = curve(cases, (0.1, 0.35, 0.7, 0.95))
    assert [(each.precision, each.recall) for each in points] == [
        (3 / 5, 3 / 4),
        (3 / 4, 3 / 4),
        (1.0, 2 / 4),
        (0.0, 0.0),
    ]
    assert best(points).threshold == 0.35
    assert point(cases, 0.35).f1 == pytest.approx(0.75)


@pytest.mark.source("P9")
def test_how_far_scores_may_fall_in_a_context_is_calibrated_on_the_questions() -> None:
    result = tuned(examined())
    f1 = {each.threshold: each.f1 for each in result.points}
    assert result.drop in f1
    assert f1[result.drop] == max(f1.values())
    recalls = [each.recall for each in sorted(result.points)]
    assert recalls == sorted(recalls), "the further scores may fall, the more is found"


def test_own_questions_are_read_by_the_line_and_as_a_list() -> None:
    questions = tunable.questions()
    as_list, as_lines = json.dumps(questions).encode(), "\n".join(map(json.dumps, questions)).encode()
    assert own_questions.are_own(as_list)
    assert own_questions.are_own(as_lines)
    assert own_questions.read(as_list) == own_questions.read(as_lines)
    assert not own_questions.are_own(b'[{"sample_id": "x", "conversation": {}}]')


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b'{"question": "why?"}', 'question 1: "turns" must list'),
        (b'{"question": "why?", "turns": []}', "at least one"),
        (b'{"turns": ["t"]}', "question 1: must be an object"),
        (b'{"question": "why?", "turns": ["t"], "category": 3}', '"category" must be a text'),
        (b"{nonsense", "neither a JSON array nor"),
    ],
)
def test_a_wrong_question_is_named(raw: bytes, why: str) -> None:
    with pytest.raises(InvalidMessageError, match=why):
        own_questions.read(raw)


def test_turns_that_the_graph_does_not_hold_are_named() -> None:
    questions = [LabelledQuestion("why?", "own", frozenset(["t1", "nowhere"]), "own")]
    with pytest.raises(InvalidMessageError, match="graph 'ada' holds no turn nowhere"):
        own_questions.check_evidence(questions, ["t1"], "ada")
