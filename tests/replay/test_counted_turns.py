"""Which turns count is told the same by the ids alone as by the graph that is folded."""

from __future__ import annotations

from hypothesis import given

from replay.counted_turns import CountedTurns
from replay.verify import Audit
from tests.support.events import retracted, turn_recorded
from tests.support.graphs import events_of
from tests.support.logs import LogWriter
from tests.support.strategies import GRAPHS, Step, steps_taken_back, written


@given(steps_taken_back())
def test_as_many_turns_count_as_the_fold_holds(happened: list[Step]) -> None:
    log = written(happened)
    partition = LogWriter(claimed=False).folded()
    audit = Audit()
    for offset, value in log.records:
        audit.observe(partition.fold(offset, value))
    assert len(audit.turns) == partition.head.turns
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
