"""A graph's bytes: pinned, the same on every machine; and the events that could not be kept in them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from emgas.limits import EARLIEST_MS
from state.events import encode
from state.graph import Graph
from state.packing import pack, unpack
from tests.support.events import concept, turn_recorded
from tests.support.logs import LogWriter, golden_log

GOLDEN = "616d5edabaedfa982f03c280d7e9f3e74f70798b1b2f8e80694d8db54f237730"  # of the whole fold, its head included
GOLDEN_GRAPHS = {  # of what they hold
    "ada": "3b649f97125276f84196adfe122b9f57f7c798b74ea683f7f8dd21b27bd3355d",
    "bob": "b997758c31a815096d92fb43ddb5af989a414994495fc82f4e1e9afc6a7398bf",
}
GOLDEN_PACKS = {  # of the bytes of their snapshots
    "ada": "71ddd0a76b1c947e15a2d225a9711fc3543070ebc11a82df2a4e078be3c7e3b7",
    "bob": "6177d4002da7db47e8dce992a2d6a87f2e81f59d664ac82da6230d37a0450be9",
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
