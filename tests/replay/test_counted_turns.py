"""Which turns count is told the same by the ids as by the graph that is folded, and as by the plain definition."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from replay.verify.counted_turns import CountedTurns
from replay.verify.verify import Audit
from state.events.events import GraphEvent, TurnRecorded
from state.retraction import surviving
from tests.support.builders import retracted, ticked, turn_recorded
from tests.support.logs import LogWriter, events_of
from tests.support.strategies import GRAPHS, Step, steps_taken_back, written

# A turn of one of few ids, an event that is no turn, or an undo of (how far back it ends, how many events).
_happened = st.one_of(
    st.sampled_from("abc"),
    st.none(),
    st.tuples(st.integers(-2, 12), st.integers(0, 12)),
    st.tuples(st.integers(0, 1), st.integers(0, 1)),  # the newest: an undo of an undo of an undo
)


def events_from(happened: list[Any]) -> list[GraphEvent]:
    made: list[GraphEvent] = []
    for each in happened:
        if isinstance(each, str):
            made.append(turn_recorded(id=each))
        elif each is None:
            made.append(ticked())
        else:
            last = len(made) - 1 - each[0]
            made.append(retracted(first=max(0, last - each[1]), last=max(0, last)))
    return made


def ids_of(events: list[GraphEvent]) -> set[str]:
    """Return the ids that count, by the definition: each time over all events."""
    counts = zip(events, surviving(events), strict=True)
    return {event.id for event, counted in counts if counted and isinstance(event, TurnRecorded)}


@given(st.lists(_happened, max_size=40))
def test_the_ids_are_those_of_the_definition_after_every_event(happened: list[Any]) -> None:
    events, counted = events_from(happened), CountedTurns()
    for number, event in enumerate(events):
        existing = ids_of(events[:number])
        repeated = event.id if isinstance(event, TurnRecorded) and event.id in existing else None
        assert counted.observe(event) == repeated
        assert counted.ids == ids_of(events[: number + 1])


@given(steps_taken_back())
def test_as_many_turns_count_as_the_fold_holds(happened: list[Step]) -> None:
    log = written(happened)
    partition = LogWriter(claimed=False).folded()
    audit = Audit()
    for offset, value in log.records:
        audit.observe(partition.fold(offset, value))
    assert len(audit.turns) == partition.position.turns
    for name in GRAPHS:
        counted = CountedTurns()
        for event in events_of(log, name):
            counted.observe(event)
        assert {(name, turn) for turn in counted.ids} == {each for each in audit.turns if each[0] == name}


def test_a_turn_may_come_again_once_it_was_taken_back_and_not_before() -> None:
    counted = CountedTurns()
    assert counted.observe(turn_recorded(id="a")) is None
    assert counted.observe(turn_recorded(id="a")) == "a"
    assert counted.observe(retracted(first=0, last=1)) is None
    assert counted.ids == set()
    assert counted.observe(turn_recorded(id="a")) is None
