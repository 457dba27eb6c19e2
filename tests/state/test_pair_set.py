"""The set of pairs equals Python's own, while it grows, and where buckets are full."""

from __future__ import annotations

import random

import numpy as np
import pytest

from state.graph import pair_set
from state.graph.pair_set import BUCKETS, PairSet

LAST = (1 << 23) - 1  # the largest number of a concept that is stored


def drawn(seeded: random.Random, count: int, below: int) -> set[int]:
    pairs = (sorted(seeded.sample(range(below), 2)) for _ in range(count))
    return {one << 32 | other for one, other in pairs}


def check_same(pairs: PairSet, known: set[int], keys: set[int]) -> None:
    """Check that adding tells what is new, and note that it is known."""
    listed = sorted(keys)
    assert pairs.add(np.array(listed, np.int64)).tolist() == [key not in known for key in listed]
    known |= keys
    assert len(pairs) == len(known)


@pytest.mark.parametrize(("least", "below"), [(1, 300), (1, LAST), (64, 300), (64, LAST)])
def test_it_tells_which_pairs_are_new_while_buckets_move(
    monkeypatch: pytest.MonkeyPatch, least: int, below: int
) -> None:
    monkeypatch.setattr(pair_set, "LEAST", least)
    pairs, known, seeded, sizes = PairSet(), set[int](), random.Random(below), set[int]()
    for _ in range(60):
        check_same(pairs, known, drawn(seeded, seeded.choice([0, 1, 700]), below))
        check_same(pairs, known, set(seeded.sample(sorted(known), min(20, len(known)))))
        sizes.add(pairs.size)
        if seeded.random() < 0.5:
            pairs.move_some(seeded.choice([1, 1000, BUCKETS]))
    check_same(pairs, known, {0 << 32 | LAST, 0 << 32 | 1, (LAST - 1) << 32 | LAST})
    assert len(sizes) > 2 or least > 1, "buckets moved twice, and on the way there were old and new ones"


def test_pairs_that_all_come_into_one_bucket_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_set, "_mixed", lambda keys: (keys >> 32 << 8 | keys & 0xFF).astype(np.uint64))
    pairs, known, seeded = PairSet(), set[int](), random.Random(1)
    for _ in range(30):
        check_same(pairs, known, drawn(seeded, 40, 200))
    assert len(known) > 64


def test_no_call_moves_more_buckets_than_the_pairs_that_come_are_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_set, "LEAST", 8)
    moved, pairs, seeded = [0], PairSet(), random.Random(2)
    put = PairSet._put  # noqa: SLF001 - how much it is given is what is asked for

    def watched(self: PairSet, slots: np.ndarray, mixed: np.ndarray) -> np.ndarray:
        moved[-1] += len(mixed)
        return put(self, slots, mixed)

    monkeypatch.setattr(PairSet, "_put", watched)
    for _ in range(600):
        keys = np.array(sorted(drawn(seeded, 300, LAST)), np.int64)
        moved.append(0)
        pairs.add(keys)
    assert max(moved) < (pair_set.MOVED + 2) * 300 < BUCKETS
    assert max(moved) > 300, "some were moved"
