"""Fitting: it finds what tells evidence, the same whatever the order, and never looks at the group it leaves out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation.fit.fitting import Example, cross_validated, fit
from processors.recall.ranking.weights import DEFAULT_FLOW, FEATURES, FlowWeights

EVERY = FlowWeights(**dict.fromkeys(FEATURES, 1.0))


def example(group: str, feature: str, number: int) -> Example:
    """Return a question over ten passages; `feature` is larger where the evidence is, the rest is a formula."""
    rows = np.arange(10)
    values = np.array([np.sin(1 + column + 3 * number + rows * (column + 2)) for column in range(len(FEATURES))]).T
    evidence = number % 10
    values[evidence, FEATURES.index(feature)] += 1.5
    values[:, FEATURES.index("dense")] = 0
    return Example(values, np.full(10, 20.0), np.array([evidence]), group)


EXAMPLES = [example(group, "session", number) for group in "abc" for number in range(12)]


def test_what_tells_the_evidence_gets_the_largest_weight() -> None:
    weights = fit(EXAMPLES, EVERY)
    assert max(FEATURES[:-1], key=lambda name: abs(weights[name])) == "session"
    assert weights["session"] > 0


def test_a_term_that_is_off_stays_off_and_one_without_data_keeps_its_weight() -> None:
    weights = fit(EXAMPLES, EVERY.replace(session=0.0))
    assert weights["session"] == 0
    assert weights["dense"] == EVERY["dense"]


def test_neither_the_order_of_the_examples_nor_the_start_counts() -> None:
    weights = fit(EXAMPLES, EVERY).vector()
    start = DEFAULT_FLOW.replace(dense=EVERY["dense"])  # without data it stays as it was
    assert fit(EXAMPLES[::-1], start).vector() == pytest.approx(weights, abs=1e-3)


def test_a_group_has_no_say_in_the_weights_that_it_is_measured_with() -> None:
    others = [replace(each, group="b", features=-each.features) for each in EXAMPLES if each.group == "b"]
    rest = [each for each in EXAMPLES if each.group != "b"]
    assert cross_validated([*rest, *others], EVERY)["b"] == cross_validated(EXAMPLES, EVERY)["b"] == fit(rest, EVERY)


def test_without_examples_there_is_nothing_to_fit() -> None:
    with pytest.raises(ValueError, match="give questions with evidence"):
        fit([], EVERY)
    with pytest.raises(ValueError, match="give questions with evidence"):
        cross_validated(EXAMPLES[:12], EVERY)
