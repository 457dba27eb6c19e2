"""The measures of one ranking, by hand; and the paired bootstrap on cases whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.bootstrap import paired
from evaluation.metrics import METRICS, PRECISION, RankedPlaces, inside, scored


def measures(ranking: str, evidence: str, costs: list[float]) -> dict[str, float]:
    ranked = RankedPlaces.of(ranking.split(), np.array(costs), evidence.split())
    return dict(zip(METRICS, scored({"listed": ranked, "packed": ranked, "shown": ranked}), strict=True))


@pytest.mark.source("P36")
def test_the_measures_of_a_ranking_by_hand() -> None:
    ranking = "a b c d e f g h i j k l"
    scores = measures(ranking, "b f k z", [100.0] * 12)
    assert scores["R@5"] == 1 / 4
    assert scores["R@10"] == 2 / 4
    assert scores["R@20"] == 3 / 4
    assert scores["recall_within_531_tokens"] == 1 / 4, "five turns fit"
    assert scores["recall_within_973_tokens"] == 2 / 4, "nine turns fit"
    gained = 1 / math.log2(3) + 1 / math.log2(7)  # places 2 and 6
    possible = 1 + 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    assert scores["nDCG@10"] == pytest.approx(gained / possible)
    assert scores["MRR"] == 1 / 2


def test_a_perfect_ranking_scores_one_everywhere_and_its_precision_is_what_the_budget_leaves() -> None:
    scores = measures("a b c", "a b", [10.0] * 3)
    assert scores.pop(PRECISION) == scores.pop("precision_shown") == 2 / 3
    assert scores.pop("room_taken") == 30 / 973
    assert set(scores.values()) == {1.0}


def test_a_list_a_context_and_what_it_shows_are_measured_each_in_its_own_order() -> None:
    listed = RankedPlaces.of(list("abcdef"), np.array([900.0, 10, 10, 10, 10, 10]), "ab")
    packed = RankedPlaces.of(list("bcdefa"), np.array([10.0, 10, 10, 10, 10, 900]), "ab")
    shown = RankedPlaces.of(list("bc"), np.array([10.0, 10]), "ab")
    scores = dict(zip(METRICS, scored({"listed": listed, "packed": packed, "shown": shown}), strict=True))
    assert (scores["R@5"], scores["MRR"]) == (1, 1)
    assert (scores["recall_within_531_tokens"], scores["recall_within_973_tokens"]) == (1 / 2, 1)
    assert (scores["recall_shown"], scores["precision_shown"], scores["room_taken"]) == (1 / 2, 1 / 2, 20 / 973)


def test_where_one_turn_is_enough_the_first_is_all_there_is_to_find() -> None:
    ranked = RankedPlaces.of(list("abcdefgh"), np.array([100.0] * 8), "cgz", any_of=True)
    scores = dict(zip(METRICS, scored({"listed": ranked, "packed": ranked, "shown": ranked}), strict=True))
    assert (scores["R@5"], scores["recall_within_973_tokens"], scores["MRR"]) == (1, 1, 1 / 3)
    assert scores["nDCG@10"] == pytest.approx(1 / 2)
    none = RankedPlaces.of(list("ab"), np.array([100.0] * 2), "z", any_of=True)
    assert dict(zip(METRICS, scored({"listed": none, "packed": none, "shown": none}), strict=True))["R@20"] == 0


def test_more_evidence_than_is_looked_at_can_still_be_perfect_gain() -> None:
    turns = " ".join(f"t{number}" for number in range(15))
    assert measures(turns, turns, [1.0] * 15)["nDCG@10"] == pytest.approx(1.0)


def test_a_ranking_without_evidence_or_without_turns_scores_zero() -> None:
    assert {score for name, score in measures("a b", "z", [1.0, 1.0]).items() if name != "room_taken"} == {0.0}
    assert set(measures("", "z", []).values()) == {0.0}


def test_the_budget_ends_at_the_first_turn_that_does_not_fit() -> None:
    assert inside(531, np.array([100.0, 400.0, 50.0, 1.0])) == 2, "the small turn behind the large one is not taken"
    assert inside(531, np.array([531.0])) == 1, "a turn that fits exactly is taken"
    assert inside(531, np.array([531.1])) == 0


def test_equal_differences_leave_no_doubt() -> None:
    one, other = np.full(50, 0.75), np.full(50, 0.5)
    assert paired(one, other, np.random.default_rng(1)) == (0.25, 0.25, 0.25)


def test_the_interval_of_a_coin_is_that_of_the_normal_distribution() -> None:
    coin = np.tile([1.0, -1.0], 200)  # mean 0, deviation 1
    mean, low, high = paired(coin, np.zeros(400), np.random.default_rng(1))
    assert mean == 0
    assert (low, high) == (pytest.approx(-1.96 / 20, abs=0.006), pytest.approx(1.96 / 20, abs=0.006))


def test_the_questions_are_drawn_in_pairs() -> None:
    noise = np.random.default_rng(2).random(300)
    _, low, high = paired(noise + 0.1, noise, np.random.default_rng(1))
    assert (low, high) == (pytest.approx(0.1), pytest.approx(0.1)), "what both share cancels"


def test_the_same_seed_gives_the_same_interval() -> None:
    one, other = np.random.default_rng(3).random((2, 40))
    assert paired(one, other, np.random.default_rng(1)) == paired(one, other, np.random.default_rng(1))


def test_another_seed_moves_the_interval_by_less_than_is_printed() -> None:
    one, other = np.random.default_rng(3).random((2, 400))
    first, second = (paired(one, other, np.random.default_rng(seed)) for seed in (1, 2))
    assert first != second, "the draws come from the generator"
    assert first == pytest.approx(second, abs=0.001), "a tenth of a point: many enough were drawn"


def test_no_question_is_no_difference() -> None:
    assert paired(np.zeros(0), np.zeros(0), np.random.default_rng(1)) == (0, 0, 0)
