"""A graph's bytes: pinned, the same on every machine; and the events that could not be kept in them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from emgas.limits import EARLIEST_MS
from state.events.events import encode
from state.graph.canonical_bytes import pack, unpack
from state.graph.graph import Graph
from tests.support.events import concept, turn_recorded
from tests.support.logs import LogWriter, golden_log

GOLDEN = "e5599ece2a9e275e7a6a926b2f68bae1f96394d8e3a0e1c30d05e7094f2967b5"  # of the whole fold, its head included
GOLDEN_GRAPHS = {  # of what they hold
    "ada": "5f4ed229f5e7605a8b6588151e0e8874f2d1650db171055b6409f77d27ced01f",
    "bob": "2c44697f2bfa8da94b505f877f57eee0fc114a8b0d02640d0423c356bef0bd71",
}
GOLDEN_PACKS = {  # of the bytes of their snapshots
    "ada": "7e1610d2795c6effb19c26d35ad22eecedc5cc533eb87c44cb03f1fabfc98e1d",
    "bob": "50448267516d7a7b47ee7575c10c69d9f9942f42216c6ec5362a28df444b0613",
}


def test_the_digests_of_a_fixed_log_are_pinned() -> None:
    """Packs and digests change only with the layout: then raise _LAYOUT (stores refold from their events).

    GOLDEN changes also with what events carry and what a head holds; then GOLDEN_GRAPHS must not.
    """
    partition = golden_log().folded()
    assert partition.digests() == GOLDEN_GRAPHS
    assert {graph.name: hashlib.sha256(graph.pack()).hexdigest() for graph in partition.graphs()} == GOLDEN_PACKS
    assert partition.digest() == GOLDEN


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_the_digest_does_not_depend_on_the_hash_seed(seed: str) -> None:
    script = "from tests.support.logs import golden_log; print(golden_log().folded().digest())"
    result = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True
    )
    assert result.stdout.strip() == GOLDEN, result.stderr


def test_packed_bytes_are_little_endian_whatever_the_machine() -> None:
    big = np.array([1, 2], ">i8")
    assert pack({}, {"a": big}) == pack({}, {"a": big.astype("<i8")})
    assert unpack(pack({"b": 1}, {"a": big}))[1]["a"].tolist() == [1, 2]


def test_bytes_of_another_layout_are_refused() -> None:
    with pytest.raises(ValueError, match="graph layout 99, this version reads"):
        Graph.unpack(pack({"layout": 99}, {}))
    with pytest.raises(ValueError, match="left over"):
        Graph.unpack(Graph("ada").pack() + b"?")


# What must not get into the fold: it would fail half-way, or leave what no snapshot can keep


@pytest.mark.parametrize(
    "changes",
    [
        {"at": 2**63},
        {"tokens": 2**31},
        {"tokens": -1},
        {"src": 2**63},
        {"epoch": -1},
        {"graph": "../ada"},
        {"graph": "ä"},
        {"graph": "a" * 129},
        {"concepts": "coffee coffee"},
        {"concepts": [concept("coffee", count=2**31)]},
        {"concepts": [concept("coffee", count=0)]},
        {"concepts": [concept("coffee", weight=float("nan"))]},
        {"concepts": [concept("coffee", weight=-0.5)]},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_an_event_that_the_fold_could_not_keep_cannot_be_written(changes: dict[str, object]) -> None:
    (field,) = changes
    with pytest.raises(ValueError, match=rf"nobody could read: .*{field}|^{field}: one is there twice"):
        encode(turn_recorded(**changes))


def test_every_event_that_can_be_made_can_be_folded_and_kept() -> None:
    log = LogWriter()
    log.source = 2**63 - 2
    extremes = [concept("", weight=0.0, count=2**31 - 1), concept("x" * 1000, weight=1.0), "\x00"]
    log.turn(id="\x00" * 9, graph="A" + "@" * 127, at=EARLIEST_MS, tokens=2**31 - 1, concepts=extremes)
    partition = log.folded()
    partition.flush()
    assert partition.head.source == 2**63 - 1
    (graph,) = partition.graphs()
    assert Graph.unpack(graph.pack()).digest() == graph.digest()
