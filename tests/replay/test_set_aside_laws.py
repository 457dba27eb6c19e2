"""Whatever happened: a fold that lacks a key sets that graph aside alone, and is the same fold once the key is back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from state.errors import GraphLockedError, KeysError
from state.partition import Partition
from state.sealing.graph_key import GraphKey
from state.sealing.keyring import Keyring, is_sealed
from state.store.store import MemoryStore
from streams.ingest.sealing import Sealer
from tests.replay.test_erasure_laws import ERASURES, worked
from tests.support.builders import turn_recorded
from tests.support.strategies import GRAPHS, Step, steps_taken_back

LOST = GRAPHS[0]


class Changing:
    """Keys of which those of one graph come and go: `lost` has them, or is None for a file that is damaged."""

    def __init__(self, others: Keyring, lost: Keyring | None) -> None:
        self.others, self.lost = others, lost

    def of(self, graph_id: str) -> Mapping[str, GraphKey]:
        if graph_id != LOST:
            return self.others.of(graph_id)
        if self.lost is None:
            raise KeysError("the file is damaged")
        return self.lost.of(graph_id)

    def check(self) -> None:
        self.others.check()


class Nothing:
    def of(self, graph_id: str) -> Mapping[str, GraphKey]:
        return {}

    def check(self) -> None:
        pass


def in_steps(records: list[tuple[int, bytes]], *, at_once: bool) -> Iterator[list[tuple[int, bytes]]]:
    yield from [records] if at_once else ([each] for each in records)


@given(
    happened=steps_taken_back(25),
    erased=ERASURES,
    share=st.floats(0, 1),
    at_once=st.booleans(),
    reopens=st.booleans(),
    gone=st.sampled_from([Nothing(), None]),
)
def test_a_key_that_comes_back_makes_the_graph_the_fold_and_meanwhile_all_others_are(
    happened: list[Step],
    erased: list[tuple[int, str, dict[str, Any]]],
    share: float,
    at_once: bool,
    reopens: bool,
    gone: Keyring | None,
) -> None:
    worker = worked(happened, erased)
    records = list(enumerate(worker.values))
    keys = Changing(worker.hoarded, worker.hoarded)
    store, place = MemoryStore(), int(share * len(records))
    state = Partition(store, graph_keys=keys)
    state.fold_all(records[:place])
    state.flush()
    keys.lost = gone
    for some in in_steps(records[place:], at_once=at_once):
        state = Partition(store, graph_keys=keys) if reopens else state
        state.fold_all(some) if at_once else state.fold(*some[0])
        state.flush()
    live = worker.state.digests()
    assert state.graph_ids() == worker.state.graph_ids()
    readable = [name for name in state.graph_ids() if name != LOST]
    assert {name: graph.digest() for name in readable if (graph := state.graph(name))} == {
        name: live[name] for name in readable
    }
    keys.lost = worker.keys
    for name in state.unavailable:
        assert state.try_again(name)
    assert state.unavailable == {}
    assert state.digest() == worker.state.digest()
    assert Partition(store, graph_keys=keys).digest() == worker.state.digest(), "and so is what is stored"
    everything = [value for _, value in store.scan(b"", b"")]
    assert not any(word.encode() in value for value in everything for word in ("coffee", "sugar", "咖啡"))


def test_an_encrypted_graph_that_lost_its_key_is_not_written_to_in_clear() -> None:

    worker = worked([], [])
    worker.append(turn_recorded(graph=LOST, id="first"))
    worker.state.flush()
    assert is_sealed(worker.values[-1])
    keys = Changing(worker.hoarded, Nothing())
    state = Partition(worker.state.store, graph_keys=worker.keys)
    assert state.graph(LOST) is not None
    state._graph_keys = keys  # noqa: SLF001 - the file goes while the graph is in memory
    sealer = Sealer(worker.keys)
    sealer.keys = keys  # type: ignore[assignment]
    with pytest.raises(GraphLockedError, match=f"emgas change erase {LOST}"):
        sealer.values(state)(turn_recorded(graph=LOST, id="second"), None)


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("share", [0, 0.5])
def test_erasing_all_of_a_graph_needs_no_key_and_makes_the_same_of_it_everywhere(share: float, at_once: bool) -> None:
    worker = worked([], [])
    for number in range(6):
        worker.append(turn_recorded(graph=GRAPHS[number % 2], id=f"t{number}"))
    half = int(share * len(worker.values))
    worker.erase(LOST, whole=True)
    records = list(enumerate(worker.values))
    keys, store = Changing(worker.keys, worker.hoarded), MemoryStore()
    state = Partition(store, graph_keys=keys)
    state.fold_all(records[:half])
    state.flush()
    keys.lost = None
    state = Partition(store, graph_keys=keys)
    for some in in_steps(records[half:], at_once=at_once):
        state.fold_all(some) if at_once else state.fold(*some[0])
    assert state.unavailable == {}
    assert state.digest() == worker.state.digest()
    state.flush()
    assert Partition(store, graph_keys=worker.keys).digest() == worker.state.digest()
