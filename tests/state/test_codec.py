"""A graph's bytes: pinned, the same on every machine; and the events that could not be kept in them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from emgas.limits import EARLIEST_MS
from state.events.events import UNSTAMPED, encode
from state.graph.canonical_bytes import pack, unpack
from state.graph.graph import Graph
from tests.support.builders import concept, turn_recorded
from tests.support.logs import LogWriter, golden_log

GOLDEN = "400c0da7fefbd7d269806b70c3a9371e8274e1379a058a26e32c416f21ccd4d9"  # of the whole fold, its position included
GOLDEN_GRAPHS = {  # of what they hold
    "ada": "0cb6d7224da3a18ef5a5b3b7205338314bdf9e646c7070276dc00baab69783fb",
    "bob": "d35624442041247215e361b50ecfd628e5e3dfa6994953130df1dcd062200c96",
}
GOLDEN_PACKS = {  # of the bytes of their snapshots
    "ada": "d361aa96200d7407b7ef258f1b35a18b17433a4424430879eff311552af9e1d2",
    "bob": "975dac4457851dbadda41e090f3e62d7590cdab3a556f9b2aa2e6e6080ba437c",
}


def test_the_digests_of_a_fixed_log_are_pinned() -> None:
    """Packs and digests change only with the layout: then raise LAYOUT of state/graph/codec.py; stores are refolded.

    GOLDEN changes also with what events carry and what a position holds; then GOLDEN_GRAPHS must not.
    """
    partition = golden_log().folded()
    assert partition.digests() == GOLDEN_GRAPHS
    assert {graph.graph_id: hashlib.sha256(graph.pack()).hexdigest() for graph in partition.graphs()} == GOLDEN_PACKS
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
    with pytest.raises(
        ValueError,
        match=rf"an unreadable .*: .*{field}|^{field}: one is there twice|without an {field}|an {field}: it must",
    ):
        encode(turn_recorded(**changes))


def test_an_event_without_a_place_in_the_log_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="must be stamped first"):
        encode(turn_recorded(**UNSTAMPED))


def test_every_event_that_can_be_made_can_be_folded_and_kept() -> None:
    log = LogWriter()
    log.source = 2**63 - 2
    extremes = [concept("", weight=0.0, count=2**31 - 1), concept("x" * 1000, weight=1.0), "\x00"]
    log.turn(id="\x00" * 9, graph="A" + "@" * 127, at=EARLIEST_MS, tokens=2**31 - 1, concepts=extremes)
    partition = log.folded()
    partition.flush()
    assert partition.position.source == 2**63 - 1
    (graph,) = partition.graphs()
    assert Graph.unpack(graph.pack()).digest() == graph.digest()
