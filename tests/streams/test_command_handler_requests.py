"""How a graph lives: its birth comes first, and requests to configure, forget and undo become events."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Self

import pytest
from hypothesis import given
from pydantic import model_validator

from emgas import limits
from emgas.times import DAY_MS, HOUR_MS
from state.events.events import (
    ConceptsRecalled,
    Forgotten,
    GraphConfigured,
    MemoryRestored,
    Retracted,
    TurnRecorded,
)
from state.events.memory_settings import PRESETS, MemorySettings
from state.partition import Partition
from tests.support.clocks import NOW
from tests.support.command_handlers import (
    PARTITIONS,
    a_handler,
    a_turn,
    decide,
    events_of,
    fold_into,
    reason_of,
    recorded,
)
from tests.support.fakes import arrival
from tests.support.logs import LogWriter
from tests.support.strategies import Step, steps_taken_back, written

# how a graph lives


def configure(**changes: Any) -> bytes:
    return json.dumps({"kind": "configure", "id": "c1", "graph": "ada", **changes}).encode()


def forget(**changes: Any) -> bytes:
    return json.dumps({"kind": "forget", "id": "f1", "graph": "ada", **changes}).encode()


def undo(**changes: Any) -> bytes:
    return json.dumps({"kind": "undo", "id": "u1", "graph": "ada", **changes}).encode()


REFUSALS = (
    "there is no graph",
    "counted from 0: it has no event",
    "lies before the first",
    "to go further back, make a branch",
    "taken back already: nothing left to undo",
)


def existing_state() -> Partition:
    """Return a state in which Ada said two things."""
    log = LogWriter(partitions=PARTITIONS)
    log.turn(id="t1", text="The kettle broke.", concepts="kettle", session="one")
    log.turn(id="t2", text="Tea is sad.", concepts="tea", session="two")
    return log.folded()


def test_a_graph_is_born_once_with_the_preset_of_the_worker() -> None:
    state = LogWriter(partitions=PARTITIONS).folded()
    handler = a_handler(state)
    first = decide(handler, arrival(a_turn()))
    birth, _ = events_of(first)
    assert isinstance(birth, GraphConfigured)
    assert (birth.graph, birth.preset, birth.settings, birth.src) == ("ada", "mofox", PRESETS["mofox"], None)
    assert len(decide(handler, arrival(a_turn(id="t2"), offset=1)).events) == 1, "within a batch"
    fold_into(state, first)
    handler.folded()
    assert len(decide(handler, arrival(a_turn(id="t3"), offset=1)).events) == 1, "and once it is folded"


@pytest.mark.parametrize(
    ("at", "live"), [(NOW, True), (NOW - HOUR_MS, True), (NOW - HOUR_MS - 1, False), (NOW + 1, True)]
)
def test_a_turn_is_live_that_is_recorded_within_an_hour_of_being_said(at: int, live: bool) -> None:
    assert recorded(decide(a_handler(), arrival(a_turn(at=at)))).live is live


def test_a_request_to_configure_is_the_preset_with_its_differences_in_full() -> None:
    value = configure(preset="forgetful", settings={"least_turns": 3})
    decision = decide(a_handler(existing_state()), arrival(value, offset=9))
    (event,) = events_of(decision)
    assert isinstance(event, GraphConfigured)
    assert (decision.status, decision.turn, event.src, event.graph) == ("accepted", "c1", 9, "ada")
    assert (event.preset, event.settings) == ("forgetful", PRESETS["forgetful"].model_copy(update={"least_turns": 3}))


class Coupled(MemorySettings):
    """Settings of which two do not go together."""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.idle > self.decay_every:
            raise ValueError("`idle` is longer than `decay_every`: take a shorter one")
        return self


def test_settings_that_do_not_go_together_are_rejected_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PRESETS, "forgetful", Coupled())
    handler = a_handler()
    decision = decide(handler, arrival(configure(preset="forgetful", settings={"idle": 2 * DAY_MS})))
    assert "`idle` is longer than `decay_every`" in reason_of(decision)
    assert len(decide(handler, arrival(a_turn(), offset=1)).events) == 2, "the graph is yet to be born"


def test_what_is_rejected_gives_birth_to_no_graph_and_the_turn_right_behind_it_does() -> None:
    handler = a_handler()
    revoke = json.dumps({"kind": "revoke", "id": "r1", "graph": "ada", "subject": "bob", "rights": ["read"]}).encode()
    assert "nothing to revoke" in reason_of(decide(handler, arrival(revoke)))
    birth, turn = events_of(decide(handler, arrival(a_turn(), 1)))
    assert isinstance(birth, GraphConfigured)
    assert isinstance(turn, TurnRecorded)


def test_a_graph_that_is_configured_before_its_first_turn_is_not_born_again() -> None:
    handler = a_handler()
    assert len(decide(handler, arrival(configure(preset="elephant"))).events) == 1
    assert len(decide(handler, arrival(a_turn(), offset=1)).events) == 1, "the birth would undo what was configured"


@pytest.mark.parametrize(
    ("fields", "concepts", "turns"),
    [
        ({"concepts": ["kettle"]}, ["kettle"], ["t1"]),
        ({"concepts": ["the Kettles"]}, ["kettle"], ["t1"]),
        ({"turns": ["t2"]}, ["tea"], ["t2"]),
        ({"sessions": ["one"]}, ["kettle"], ["t1"]),
        ({"concepts": ["kettle", "unheard-of"], "turns": ["t2", "t9"]}, ["kettle", "tea"], ["t1", "t2"]),
    ],
)
def test_a_request_to_forget_is_recorded_as_what_goes(
    fields: dict[str, Any], concepts: list[str], turns: list[str]
) -> None:
    state = existing_state()
    decision = decide(a_handler(state), arrival(forget(**fields), offset=9))
    (event,) = events_of(decision)
    assert isinstance(event, Forgotten), decision.reason
    assert (decision.status, decision.turn, event.src, event.graph) == ("accepted", "f1", 9, "ada")
    assert (event.concepts, event.turns) == (concepts, turns)
    fold_into(state, decision)
    assert "nothing to forget" in reason_of(decide(a_handler(state), arrival(forget(**fields), offset=10)))


@pytest.mark.parametrize("done", range(5))
@pytest.mark.parametrize(
    "fields", [{"concepts": ["kettle"], "turns": ["t2"]}, {"sessions": ["one", "two"]}], ids=["names", "sessions"]
)
def test_a_request_that_forgets_more_than_a_record_holds_is_finished_by_whoever_reads_it_again(
    fields: dict[str, Any], done: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is several events, of which the last has the source."""
    state, whole = existing_state(), existing_state()
    fold_into(whole, decide(a_handler(whole), arrival(forget(**fields), offset=9)))
    monkeypatch.setattr(limits, "EVENT_NAMES_BYTES", 1)
    decision = decide(a_handler(state), arrival(forget(**fields), offset=9))
    assert [getattr(event, "src", 0) for event in decision.events] == [None, None, None, 9]
    fold_into(state, replace(decision, events=decision.events[:done]))
    if done < 4:
        assert state.position.source < 9
        fold_into(state, decide(a_handler(state), arrival(forget(**fields), offset=9)))
    assert (state.position.source, state.digests()) == (9, whole.digests())


def test_what_nobody_wrote_cannot_be_forgotten() -> None:
    unknown = decide(a_handler(), arrival(forget(concepts=["kettle"]), offset=4))
    assert "there is no graph 'ada'" in reason_of(unknown)
    assert unknown.turn == "f1"
    nothing = decide(a_handler(existing_state()), arrival(forget(concepts=["submarine"], turns=["t9"]), offset=4))
    assert reason_of(nothing) == "none of these is in the graph: nothing to forget"


@pytest.mark.parametrize(("fields", "last"), [({}, 1), ({"last": None}, 1), ({"last": 0}, 0), ({"last": 99}, 1)])
def test_a_request_to_undo_is_recorded_as_the_events_that_go(fields: dict[str, Any], last: int) -> None:
    state = existing_state()
    decision = decide(a_handler(state), arrival(undo(first=0, **fields), offset=9))
    (event,) = events_of(decision)
    assert isinstance(event, Retracted), decision.reason
    assert (decision.status, decision.turn, event.src, event.graph) == ("accepted", "u1", 9, "ada")
    assert (event.first, event.last) == (0, last)
    fold_into(state, decision)
    assert "nothing left to undo" in reason_of(decide(a_handler(state), arrival(undo(first=0, last=last), offset=10)))


def test_a_turn_that_was_taken_back_may_come_again_in_a_graph_that_is_born_again() -> None:
    state = existing_state()
    fold_into(state, decide(a_handler(state), arrival(undo(first=0), offset=9)))
    birth, turn = events_of(decide(a_handler(state), arrival(a_turn(id="t1", text="Another text."), offset=10)))
    assert isinstance(birth, GraphConfigured)
    assert isinstance(turn, TurnRecorded)


def test_what_cannot_be_taken_back_is_refused_with_the_reason() -> None:
    unknown = decide(a_handler(), arrival(undo(first=0), offset=4))
    assert "there is no graph 'ada'" in reason_of(unknown)
    beyond = decide(a_handler(existing_state()), arrival(undo(first=2), offset=4))
    assert "has 2 events, counted from 0: it has no event 2" in reason_of(beyond)
    backwards = decide(a_handler(existing_state()), arrival(undo(first=1, last=0), offset=4))
    assert "the last event to undo, 0, lies before the first, 1" in reason_of(backwards)
    log = LogWriter(partitions=PARTITIONS)
    log.configure(undo_events=2)
    for _ in range(4):
        log.turn()
    too_late = decide(a_handler(log.folded()), arrival(undo(first=2), offset=9))
    assert "can undo its last 2 events; to go further back, make a branch" in reason_of(too_late)


@given(happened=steps_taken_back(60))
def test_every_request_to_undo_is_recorded_or_refused_in_words(happened: list[Step]) -> None:
    """Undo what was undone, what never was, what is an undo, what lies before an undo."""
    state = written(happened).folded()
    graph = state.graph("ada")
    events = graph.events if graph else 0
    for first in range(events + 2):
        for last in (None, first - 1, first, first + 2, events):
            expected = {} if last is None else {"last": max(0, last)}
            decision = decide(a_handler(state), arrival(undo(first=first, **expected), offset=10**6))
            if decision.status == "rejected":
                reason = reason_of(decision)
                assert any(words in reason for words in REFUSALS), reason


def test_an_undo_is_decided_by_what_counts_though_earlier_undos_reach_behind_its_first_event() -> None:
    log = LogWriter(partitions=PARTITIONS)
    for _ in range(10):
        log.turn()
    log.undo(first=9, last=9)
    log.turn()
    log.undo(first=4, last=5)
    log.turn()
    state = log.folded()
    taken_back = decide(a_handler(state), arrival(undo(first=9, last=9), offset=99))
    assert "events 9 to 9 of graph 'ada' are taken back already" in reason_of(taken_back)
    assert decide(a_handler(state), arrival(undo(first=11, last=11), offset=99)).status == "accepted"
    assert decide(a_handler(state), arrival(undo(first=7), offset=99)).status == "accepted"


@pytest.mark.parametrize("value", [configure(preset="goldfish"), configure(settings={"idle": 0}), forget(concepts="x")])
def test_a_command_that_is_none_is_rejected(value: bytes) -> None:
    assert reason_of(decide(a_handler(existing_state()), arrival(value, offset=9)))


@pytest.mark.parametrize("value", [configure(), forget(turns=["t1"])])
def test_a_command_needs_the_key_of_its_graph_too(value: bytes) -> None:
    reason = reason_of(decide(a_handler(existing_state()), arrival(value, offset=9, key=b"bob")))
    assert "is not the turn's graph" in reason


# what a question woke, told by a reader


def reinforce(**changes: Any) -> bytes:
    request = {"kind": "reinforce", "id": "q-0-7", "graph": "ada", "concepts": ["kettle", "tea"], "at": NOW}
    return json.dumps({**request, **changes}).encode()


def test_what_a_reader_tells_is_recorded_once_for_its_record_and_brings_back_what_had_faded() -> None:
    state = existing_state()
    graph = state.graph("ada")
    assert graph is not None
    graph.settle()
    graph.concepts.archived[graph.concepts.numbers["tea"]] = 1
    recalled, restored = events_of(decide(a_handler(state), arrival(reinforce(turns=["t2"]), offset=7)))
    assert isinstance(recalled, ConceptsRecalled)
    assert isinstance(restored, MemoryRestored)
    assert (recalled.concepts, recalled.src) == (["kettle", "tea"], None)
    assert (restored.concepts, restored.turns, restored.src) == (["tea"], ["t2"], 7)
    assert recalled.at == restored.at == NOW
    graph.live = False
    (imported, _) = events_of(decide(a_handler(state), arrival(reinforce(turns=["t2"]), offset=8)))
    assert isinstance(imported, ConceptsRecalled)
    assert imported.at == graph.clock < NOW, "of a graph that is not live, asking does not tell the time"


def test_what_a_reader_tells_counts_for_its_record_where_nothing_had_faded() -> None:
    (recalled,) = events_of(decide(a_handler(existing_state()), arrival(reinforce(), offset=7)))
    assert isinstance(recalled, ConceptsRecalled)
    assert recalled.src == 7


def test_what_a_reader_tells_of_a_graph_that_is_gone_is_rejected() -> None:
    empty = LogWriter(partitions=PARTITIONS).folded()
    assert "nothing to reinforce" in reason_of(decide(a_handler(empty), arrival(reinforce(), offset=7)))
