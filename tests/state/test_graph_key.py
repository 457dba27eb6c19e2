"""A tree of secrets: any leaf can be destroyed, no other is touched by it, and it cannot be derived again."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from state.sealing.graph_key import DEPTH, GraphKey

ROOT, WORKING = b"r" * 32, b"w" * 32
KEY = GraphKey.born("ada", b"12345678", ROOT, WORKING)
FIRST = 300  # leaves that the tests look at
RUNS = st.lists(st.tuples(st.integers(0, FIRST), st.integers(0, 20)).map(lambda run: (run[0], run[0] + run[1])))


def merged(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    gone = sorted({ordinal for first, last in runs for ordinal in range(first, last + 1)})
    return [(ordinal, ordinal) for ordinal in gone]


def test_a_secret_is_the_hash_of_the_way_down_to_it() -> None:
    secret = ROOT
    for level in reversed(range(DEPTH)):
        secret = hashlib.sha256(secret + bytes([5 >> level & 1])).digest()
    assert KEY.secret_of(5) == secret


@given(runs=RUNS, later=RUNS)
def test_what_is_destroyed_is_gone_and_all_else_is_as_it_was(
    runs: list[tuple[int, int]], later: list[tuple[int, int]]
) -> None:
    key = KEY.without(merged(runs), b"1" * 32).without(merged(later), b"2" * 32)
    gone = {ordinal for first, last in (*runs, *later) for ordinal in range(first, last + 1)}
    for ordinal in range(FIRST + 30):
        assert key.secret_of(ordinal) == (None if ordinal in gone else KEY.secret_of(ordinal))
    assert key.secret_of(2**DEPTH - 1) == KEY.secret_of(2**DEPTH - 1)
    assert GraphKey.of_bytes(key.to_bytes()).nodes == key.nodes


@given(runs=RUNS)
def test_nothing_that_is_kept_leads_to_what_was_destroyed(runs: list[tuple[int, int]]) -> None:
    key = KEY.without(merged(runs), WORKING)
    gone = {ordinal for first, last in runs for ordinal in range(first, last + 1)}
    for depth, place in key.nodes:
        covered = range(place << (DEPTH - depth), (place + 1) << (DEPTH - depth))
        assert not [ordinal for ordinal in gone if ordinal in covered]


@given(runs=RUNS)
def test_destroying_it_again_changes_nothing_not_even_the_working_secret(runs: list[tuple[int, int]]) -> None:
    once = KEY.without(merged(runs), b"1" * 32)
    assert once.without(merged(runs), b"2" * 32) is once
    assert (once is KEY) == (not runs)


@given(runs=RUNS, others=RUNS)
def test_two_values_of_a_key_meet_in_what_both_open_whichever_comes_first(
    runs: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    one, other = KEY.without(merged(runs), b"1" * 32), KEY.without(merged(others), b"2" * 32)
    both = KEY.without(merged([*runs, *others]), b"3" * 32)
    assert one.meet(other).nodes == other.meet(one).nodes == both.nodes
    assert one.meet(one) is one
    assert (one.meet(other).working in {one.working, other.working}) == (both.nodes in (one.nodes, other.nodes))


def test_a_run_in_one_piece_leaves_few_secrets_and_a_key_for_what_is_to_come() -> None:
    key = KEY.without([(0, 99_999)], WORKING)
    assert len(key.nodes) < 2 * DEPTH
    assert key.secret_of(99_999) is None
    assert key.secret_of(100_000) == KEY.secret_of(100_000)


def test_a_key_that_is_destroyed_keeps_its_name_alone() -> None:
    key = GraphKey.of_bytes(KEY.destroyed().to_bytes())
    assert key.is_destroyed
    assert (key.graph, key.id, key.nodes, key.working) == ("ada", KEY.id, {}, b"")
    assert key.secret_of(0) is None
