"""Weights of edges, against their definitions over plain lists of windows."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.association import Weighting, edges_out
from state.graph.counting.cooccurrence import PairCounts
from state.graph.view import WindowCounts

CONCEPTS = 6
windows_of_concepts = st.lists(
    st.lists(st.integers(0, CONCEPTS - 1), unique=True, max_size=4).map(sorted), min_size=1, max_size=30
)


def counts_of(windows: Sequence[Sequence[int]]) -> WindowCounts:
    pairs = PairCounts()
    for window in windows:
        pairs.add(window)
    turn_counts = array("q", [sum(concept in window for window in windows) for concept in range(CONCEPTS)])
    return WindowCounts(len(windows), lambda: turn_counts, pairs)


def weights_of(windows: Sequence[Sequence[int]], weighting: Weighting) -> dict[tuple[int, int], float]:
    edges = edges_out(counts_of(windows), np.arange(CONCEPTS), weighting)
    return {(int(x), int(y)): float(w) for x, y, w in zip(*edges, strict=True)}


def defined(windows: Sequence[Sequence[int]], x: int, y: int, weighting: Weighting) -> float:
    """Compute the weight of x–y as the papers write it: probabilities, one pair at a time."""

    def share(*concepts: int) -> float:
        return sum(set(concepts) <= set(window) for window in windows) / len(windows)

    def fan(concept: int) -> int:
        return len({other for window in windows if concept in window for other in window} - {concept})

    ppmi = max(0.0, math.log(share(x, y) / (share(x) * share(y))))
    if weighting == "ppmi":
        return ppmi
    if weighting == "npmi":
        return ppmi / -math.log(share(x, y)) if share(x, y) < 1 else 0.0
    return ppmi / math.sqrt(fan(x) * fan(y))


@pytest.mark.source("E6")
@pytest.mark.parametrize("weighting", ["ppmi", "npmi", "fan"])
@given(windows=windows_of_concepts)
def test_every_pair_seen_together_weighs_what_is_defined(weighting: Weighting, windows: list[list[int]]) -> None:
    expected = {
        (x, y): defined(windows, x, y, weighting)
        for x in range(CONCEPTS)
        for y in range(CONCEPTS)
        if x != y and any(x in window and y in window for window in windows)
    }
    assert weights_of(windows, weighting) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighting", ["ppmi", "npmi", "fan"])
@given(windows=windows_of_concepts)
def test_a_weight_is_the_same_in_both_directions(weighting: Weighting, windows: list[list[int]]) -> None:
    weights = weights_of(windows, weighting)
    assert all(weights[y, x] == weight for (x, y), weight in weights.items())


@given(windows=windows_of_concepts)
def test_npmi_lies_between_nothing_and_one(windows: list[list[int]]) -> None:
    assert all(0 <= weight <= 1 + 1e-12 for weight in weights_of(windows, "npmi").values())


def test_ppmi_counts_in_natural_logarithms() -> None:
    windows = [[0, 1], [0, 1], [2], [3]]
    assert weights_of(windows, "ppmi")[0, 1] == pytest.approx(math.log(2))


def test_independent_concepts_weigh_exactly_nothing() -> None:
    windows = [[0, 1], [0], [1], []]
    assert weights_of(windows, "ppmi")[0, 1] == 0.0


@pytest.mark.source("E7")
def test_concepts_met_less_often_than_by_chance_weigh_nothing() -> None:
    windows = [[0, 1], [0], [0], [0], [1], [1], [1]]
    assert weights_of(windows, "ppmi")[0, 1] == 0.0


@pytest.mark.parametrize("weighting", ["ppmi", "npmi", "fan"])
def test_two_concepts_in_every_window_tell_nothing_of_each_other(weighting: Weighting) -> None:
    assert weights_of([[0, 1], [0, 1]], weighting)[0, 1] == 0.0


def test_a_concept_with_many_neighbours_gives_less_to_each() -> None:
    windows = [[0, 1], [2, 3], [2, 4], [5]]
    few, many = weights_of(windows, "fan")[0, 1], weights_of(windows, "fan")[2, 3]
    assert few == pytest.approx(math.log(4))
    assert many == pytest.approx(math.log(2) / math.sqrt(2))


@given(windows=windows_of_concepts, rows=st.lists(st.integers(0, CONCEPTS - 1), unique=True).map(sorted))
def test_edges_come_by_source_and_then_by_target(windows: list[list[int]], rows: list[int]) -> None:
    edges = edges_out(counts_of(windows), np.array(rows, np.int64), "ppmi")
    ends = list(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
    assert ends == sorted(ends)
    assert {source for source, _ in ends} <= set(rows)
