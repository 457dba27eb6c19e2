"""Sorted runs of pairs: a long one is searched in two stages, and finds what one stage finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from state.graph.counting import sorted_pairs
from state.graph.counting.sorted_pairs import EVERY, Sorted

keys = st.sets(st.integers(0, 3000), min_size=1, max_size=1500)


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every run be long."""
    monkeypatch.setattr(sorted_pairs, "LONG", 1)


@pytest.mark.usefixtures("long")
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(keys, keys)
def test_a_key_is_found_where_a_plain_search_finds_it(here: set[int], expected: set[int]) -> None:
    stored, keys = np.array(sorted(here)), np.array(sorted(expected))
    run = Sorted(stored, np.ones(len(stored), np.int32))
    assert run.find(keys).tolist() == np.searchsorted(stored, keys).tolist()
    assert run.has(keys).tolist() == [key in here for key in keys.tolist()]


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("length", [1, EVERY - 1, EVERY, EVERY + 1, 2 * EVERY, 5 * EVERY + 7])
def test_every_key_and_every_gap_of_a_run_is_found_whatever_its_length(length: int) -> None:
    stored = np.arange(length) * 2 + 1
    keys = np.arange(2 * length + 3)
    assert Sorted(stored, np.ones(length, np.int32)).find(keys).tolist() == np.searchsorted(stored, keys).tolist()
