"""Pair counts equal a plain Counter, however the windows are ordered, batched, settled, packed or forgotten."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.graph.counting.cooccurrence import QUEUED_PAIRS, PairCounts

CONCEPTS = [*range(12), 1023, 2**20, 2**30]
windows = st.lists(st.sampled_from(CONCEPTS), unique=True, max_size=8)
actions = st.one_of(
    st.tuples(st.just("add"), windows),
    st.tuples(st.just("add"), windows),
    st.tuples(st.sampled_from(["settle", "pack", "count", "read", "merge", "merge"]), st.just([])),
)


def integers(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


def all_edges(pairs: PairCounts) -> list[tuple[int, int, int]]:
    """Return (concept, neighbour, count) in the order in which `neighbours` gives them."""
    position, neighbour, count = pairs.neighbours(integers(CONCEPTS))
    return [(CONCEPTS[p], int(n), int(c)) for p, n, c in zip(position, neighbour, count, strict=True)]


def counted(listed: list[list[int]]) -> PairCounts:
    pairs = PairCounts()
    for window in listed:
        pairs.add(window)
    return pairs


def expected_edges(reference: Counter[tuple[int, int]]) -> list[tuple[int, int, int]]:
    return [(a, b, count) for (a, b), count in sorted(reference.items())]


@pytest.fixture(autouse=True, params=[(1, 1, 1), (1, 9, 1 << 16), (9, 1 << 18, 4), (QUEUED_PAIRS, QUEUED_PAIRS, 1)])
def queued(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let windows wait until they hold so many pairs; runs and levels are merged as if they were large."""
    monkeypatch.setattr("state.graph.counting.cooccurrence.RUNS", 3)
    monkeypatch.setattr("state.graph.counting.cooccurrence.SMALLEST_LEVEL", 1)
    monkeypatch.setattr("state.graph.counting.cooccurrence.QUEUED_PAIRS", request.param[0])
    monkeypatch.setattr("state.graph.counting.cooccurrence.UNREAD_PAIRS", request.param[1])
    monkeypatch.setattr("state.graph.counting.cooccurrence.MERGED_AT_ONCE", request.param[2])


@pytest.mark.source("E4", "M2")
@given(st.lists(actions, max_size=40))
def test_counts_equal_a_counter_whatever_happens_in_between(happened: list[tuple[str, list[int]]]) -> None:
    pairs, reference = PairCounts(), Counter[tuple[int, int]]()
    for action, concepts in happened:
        if action == "add":
            pairs.add(concepts)
            reference.update(permutations(concepts, 2))
        elif action == "settle":
            pairs.settle()
        elif action == "merge":
            pairs.merge_some(3)
        elif action == "pack":
            pairs = PairCounts.of_canonical(*pairs.canonical())
        elif action == "read":
            assert all_edges(pairs) == expected_edges(reference)
        else:
            assert len(pairs) == len(reference) // 2
    assert all_edges(pairs) == expected_edges(reference)


@given(st.lists(st.lists(st.integers(0, 11), unique=True, max_size=5), max_size=40))
def test_fans_that_are_kept_as_pairs_come_are_those_that_are_counted_anew(listed: list[list[int]]) -> None:
    pairs, neighbours = PairCounts(), Counter[int]()
    seen = set[tuple[int, int]]()
    for window in listed:
        pairs.add(window)
        neighbours.update(a for a, b in {*permutations(window, 2)} - seen)
        seen |= {*permutations(window, 2)}
        assert pairs.fan(12).tolist() == [neighbours[concept] for concept in range(12)]


@given(st.lists(st.tuples(st.booleans(), st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=4)), max_size=30))
def test_forgetting_and_renumbering_leaves_the_counts_of_all_others(happened: list[tuple[bool, list[str]]]) -> None:
    pairs, reference, names = PairCounts(), Counter[tuple[str, str]](), list[str]()
    for forgets, concepts in happened:
        if forgets:
            gone = [name in concepts for name in names]
            pairs.renumber(np.where(gone, -1, np.cumsum(np.logical_not(gone)) - 1))
            names = [name for name in names if name not in concepts]
            reference = Counter({pair: n for pair, n in reference.items() if not set(pair) & set(concepts)})
        else:
            names += [name for name in concepts if name not in names]
            pairs.add([names.index(name) for name in concepts])
            reference.update(permutations(concepts, 2))
    position, neighbour, count = pairs.neighbours(np.arange(len(names)))
    counts = {(names[p], names[n]): int(c) for p, n, c in zip(position, neighbour, count, strict=True)}
    assert counts == dict(reference)


@pytest.mark.source("E8")
@given(st.lists(windows, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_windows_does_not_matter(listed: list[list[int]], seeded: random.Random) -> None:
    shuffled = [seeded.sample(window, len(window)) for window in seeded.sample(listed, len(listed))]
    one, other = counted(listed).canonical(), counted(shuffled).canonical()
    assert [column.tobytes() for column in one] == [column.tobytes() for column in other]


@given(st.lists(windows, max_size=30), st.sets(st.integers(0, 29)))
def test_the_order_of_neighbours_does_not_depend_on_when_they_were_settled(
    listed: list[list[int]], pauses: set[int]
) -> None:
    paused = PairCounts()
    for number, window in enumerate(listed):
        paused.add(window)
        if number in pauses:
            paused.canonical()  # settles, and merges both levels
    assert all_edges(paused) == all_edges(counted(listed))


def test_many_pairs_overflow_from_the_small_level_into_the_large_one() -> None:
    seeded = random.Random(3)
    listed = [seeded.sample(range(400), 20) for _ in range(3 * QUEUED_PAIRS // 190 + 7)]
    reference = Counter(pair for window in listed for pair in permutations(window, 2))
    position, neighbour, count = counted(listed).neighbours(np.arange(400))
    assert list(zip(position.tolist(), neighbour.tolist(), count.tolist(), strict=True)) == expected_edges(reference)


def test_canonical_form_has_each_pair_once_in_ascending_order() -> None:
    keys, counts = counted([[3, 1], [1, 3, 2]]).canonical()
    assert keys.tolist() == [1 << 32 | 2, 1 << 32 | 3, 2 << 32 | 3]
    assert counts.tolist() == [1, 2, 1]
    assert counts.dtype == np.int32


def test_what_canonical_returned_stays_as_it_was() -> None:
    pairs = counted([[1, 2]])
    _, counts = pairs.canonical()
    pairs.add([1, 2])
    assert len(pairs) == 1
    assert counts.tolist() == [1]


@pytest.mark.parametrize("window", [[], [7]])
def test_a_window_of_fewer_than_two_concepts_holds_no_pair(window: list[int]) -> None:
    assert len(counted([window])) == 0
    assert not counted([window])


def test_whether_there_is_a_pair_is_known_before_it_is_counted_and_after_it_was_forgotten() -> None:
    pairs = PairCounts()
    assert not pairs
    pairs.add([1, 2])
    assert pairs
    pairs.settle()
    assert pairs
    pairs.renumber(np.array([0, -1, 1]))
    assert not pairs


def test_fan_is_the_number_of_distinct_neighbours() -> None:
    pairs = counted([[0, 1], [0, 1], [0, 3]])
    assert pairs.fan(5).tolist() == [2, 1, 0, 1, 0]
    assert PairCounts().fan(2).tolist() == [0, 0]


def test_nothing_leaves_unknown_concepts() -> None:
    assert [len(column) for column in counted([[0, 1]]).neighbours(integers([5, 9]))] == [0, 0, 0]
    assert [len(column) for column in counted([[0, 1]]).neighbours(integers([]))] == [0, 0, 0]
    assert [len(column) for column in PairCounts().neighbours(integers([0]))] == [0, 0, 0]


def test_neighbours_keep_the_order_of_the_question() -> None:
    position, neighbour, count = counted([[0, 2], [0, 1], [5, 4]]).neighbours(integers([5, 0]))
    assert (position.tolist(), neighbour.tolist(), count.tolist()) == ([0, 1, 1], [4, 1, 2], [1, 1, 1])
