"""Whenever a key is destroyed, and however far behind a store is then: all stores come to the fold of the log.

A worker writes a generated log with erasures in between.  Followers fold it too: readers, standbys, workers that were
stopped.  Each is behind by as much as it likes, is flushed, killed, stopped or copied at any moment, and opens what it
stored with the keys that are left by then.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.as_of.history import histories
from replay.rebuild.rebuild import refold
from replay.verify.verify import verify_partition
from state.partition import Partition
from state.sealing.keyring import Keyring
from state.store.keys import POSITION
from state.store.store import MemoryStore
from tests.replay.test_erasure_laws import Erasing, Log, Worker, fold_anew, worked
from tests.support.builders import concept
from tests.support.clocks import NOON
from tests.support.command_handlers import a_handler, decide
from tests.support.fakes import arrival
from tests.support.strategies import Step, steps_taken_back

TURNS = [f"t{number}" for number in range(4)]
_GRAPH, _TURN, _SPEAKER = st.sampled_from(["ada", "bob"]), st.sampled_from(TURNS), st.sampled_from(["Ada", "Bob"])
END = 10**6


def _turn(graph: str, name: str, speaker: str) -> Step:
    concepts = [concept("coffee"), concept(f"word of {name}")]
    return "turn", {"graph": graph, "id": name, "speaker": speaker, "at": NOON, "concepts": concepts, "session": "main"}


Follow = tuple[int, int, str, int]  # which follower; after how much that happened; what it does; of how many records
_happens = st.one_of(
    st.builds(lambda graph, name, speaker: [_turn(graph, name, speaker)], _GRAPH, _TURN, _SPEAKER),
    st.builds(lambda graph, name, speaker: [_turn(graph, name, speaker)], _GRAPH, _TURN, _SPEAKER),
    steps_taken_back(3),
)
_SUBJECTS: list[dict[str, Any]] = [*({"turn": name} for name in TURNS), {"speaker": "Ada"}, {"whole": True}]
_erased = st.tuples(_GRAPH, st.sampled_from(_SUBJECTS))
_followed = st.tuples(
    st.integers(0, 1),
    st.sampled_from(["fold and flush", "fold", "fold all at once", "kill", "stop", "copy", "ask"]),
    st.sampled_from([1, 3, END]),
)
HISTORIES = st.lists(st.one_of(_happens, _happens, _erased, _erased, _followed, _followed), min_size=8, max_size=30)


def parts_of(history: list[Any]) -> tuple[list[Step], list[Erasing], list[Follow]]:
    """Sort a history by who does what: what happens, what is erased, what followers do."""
    happened: list[Step] = []
    erased: list[Erasing] = []
    steps: list[Follow] = []
    for each in history:
        if isinstance(each, list):
            happened += each
        elif len(each) == 2:
            erased.append((len(happened), *each))
        else:
            steps.append((each[0], len(happened), *each[1:]))
    return happened, erased, steps


class Follower:
    """A store of the same partition that is behind the worker."""

    def __init__(self, keys: Keyring) -> None:
        self._keys = keys
        self._store = MemoryStore()
        self.state = Partition(self._store, graph_keys=keys)

    def lives_on(self, values: Sequence[bytes], what: str, count: int) -> None:
        if what.startswith("fold"):
            self.fold(values, count, at_once=what == "fold all at once")
            if what == "fold and flush":
                self.state.flush()
        elif what == "ask":
            self.state.digests()
        elif what == "flush":
            self.state.flush()
        else:
            self._again(what)

    def fold(self, values: Sequence[bytes], count: int, *, at_once: bool = False) -> None:
        start = self.state.position.watermark + 1
        records = list(enumerate(values))[start : start + count]
        if at_once:
            self.state.fold_all(records)
        for offset, value in [] if at_once else records:
            self.state.fold(offset, value)

    def _again(self, what: str) -> None:
        """Be opened again: after a kill, what was not flushed is lost; a copy is what a snapshot restores."""
        if what == "stop":
            self.state.close()
        elif what == "copy":
            self.state.flush()
            copied = MemoryStore()
            copied.write(dict(self._store.scan(b"", b"")))
            self._store = copied
        self.state = Partition(self._store, graph_keys=self._keys)


def followed(happened: list[Step], erased: Sequence[Erasing], steps: Sequence[Follow]) -> tuple[Worker, list[Follower]]:
    """Live through what happened while two followers do."""
    due, followers = list(steps), list[Follower]()

    def follow(worker: Worker, number: int) -> None:
        followers[:] = followers or [Follower(worker.keys) for _ in range(2)]
        while due and due[0][1] <= number:
            who, _, what, count = due.pop(0)
            followers[who].lives_on(worker.values, what, count)

    worker = worked(happened, erased, follow)
    for who, _, what, count in due:
        followers[who].lives_on(worker.values, what, count)
    return worker, followers


@given(history=HISTORIES, stored_after=st.sampled_from([1, 4, 64]))
def test_every_store_comes_to_the_fold_of_the_log_however_far_it_was_behind_when_keys_were_destroyed(
    history: list[Any], stored_after: int
) -> None:
    with mock.patch("state.partition.STORED_AFTER", stored_after):
        worker, followers = followed(*parts_of(history))
        log, end = Log(worker), len(worker.values)
        again = asyncio.run(refold(log, 0, end, MemoryStore()))
        assert again.position == worker.state.position
        assert again.digests() == worker.state.digests()
        kept = {name: history.folded().digest() for name, history in asyncio.run(histories(log, 0)).items()}
        assert kept == again.digests()
        followers[0].lives_on(worker.values, "kill", 0)  # the other one may have read what is dark by now
        for follower in followers:
            follower.fold(worker.values, END)
            for what in ("ask", "flush", "kill", "stop"):
                follower.lives_on(worker.values, what, 0)
                assert follower.state.position == again.position
                assert follower.state.digests() == again.digests()
            assert follower.state.position.turns == sum(graph.turns for graph in follower.state.graphs())
            verified = asyncio.run(verify_partition(log, 0, end - 1, follower.state.digest()))
            assert verified.digest_live == verified.digest_replayed


@given(history=HISTORIES, place=st.integers(0, 30))
def test_a_store_of_before_an_erasure_that_is_opened_with_the_keys_of_now_is_the_fold_with_them(
    history: list[Any], place: int
) -> None:
    """A snapshot, or a reader that was stopped: it may be verified before it has read of the erasure."""
    happened, erased, _ = parts_of(history)
    worker, (follower, _) = followed(happened, erased, [(0, place, "fold and flush", END)])
    follower.lives_on(worker.values, "kill", 0)
    watermark = follower.state.position.watermark
    verified = asyncio.run(verify_partition(Log(worker), 0, watermark, follower.state.digest()))
    assert verified.digest_live == verified.digest_replayed


def six_turns(erased: dict[str, Any]) -> tuple[Worker, Follower]:
    """Say six things, stop a follower that has them all, erase, and start the follower again."""
    turns: list[Step] = [
        ("turn", {"graph": "ada", "at": NOON, "concepts": [], "session": "main", "id": f"t{n}"}) for n in range(6)
    ]
    worker = worked(turns, [])
    follower = Follower(worker.keys)
    follower.fold(worker.values, END)
    assert follower.state.position.turns == 6
    follower.lives_on(worker.values, "stop", 0)
    worker.erase("ada", **erased)
    follower.lives_on(worker.values, "kill", 0)
    return worker, follower


def test_a_turn_that_was_erased_while_a_follower_was_stopped_is_counted_once() -> None:
    worker, follower = six_turns({"turn": "t3"})
    follower.fold(worker.values, END)
    assert follower.state.position.turns == worker.state.position.turns == 6
    assert follower.state.digest() == worker.state.digest()


def test_a_graph_that_was_erased_while_a_follower_was_stopped_is_counted_no_more() -> None:
    worker, follower = six_turns({"whole": True})
    follower.fold(worker.values, END)
    assert follower.state.position.turns == worker.state.position.turns == 0
    assert follower.state.digest() == worker.state.digest()


@pytest.mark.parametrize(
    ("lost", "comes_again"),
    [({"turn": "t3"}, {"turn": "t3"}), ({"whole": True}, {"whole": True}), ({"whole": True}, {"turn": "t3"})],
)
def test_an_erasure_that_the_log_lost_is_recorded_again_when_its_request_comes_again(
    lost: dict[str, Any], comes_again: dict[str, Any]
) -> None:
    """Found by the simulation (seed 2676): a standby that had read the turns counted them for good."""
    worker, _ = six_turns(lost)
    if lost == {"whole": True}:
        for key in worker.keys.of("ada").copy().values():
            worker.keys.hold(key.destroyed())
    del worker.values[-1]
    worker.state = fold_anew(worker, worker.keys, at_once=False)
    standby = Follower(worker.hoarded)
    standby.fold(worker.values, END)
    assert standby.state.position.turns == 6
    assert standby.state.digest() != worker.state.digest()
    request = json.dumps({"kind": "erase", "id": "e1", "graph": "ada", **comes_again}).encode()
    came = arrival(request, offset=worker.state.position.source + 1)
    for event in decide(a_handler(worker.state, keys=worker.keys), came).events:
        worker.append(event)
    standby.fold(worker.values, END)
    assert standby.state.digest() == worker.state.digest() == fold_anew(worker, worker.keys, at_once=True).digest()
    assert decide(a_handler(worker.state, keys=worker.keys), came).status == "duplicate"


def test_a_digest_still_tells_of_a_count_of_turns_that_is_wrong() -> None:
    worker, follower = six_turns({"turn": "t3"})
    follower.fold(worker.values, END)
    follower.state.flush()
    store = follower.state.store
    stored = store.get(POSITION)
    assert stored is not None
    store.write({POSITION: stored.replace(b'"turns":6', b'"turns":7')})
    assert Partition(store, graph_keys=worker.keys).digest() != worker.state.digest()
