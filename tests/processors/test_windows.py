"""Which window ends next: sessions, tumbling windows, grace, late turns; by hand."""

from __future__ import annotations

from typing import Any

import pytest

from emgas.times import DAY_MS as DAY
from emgas.times import MINUTE_MS as MINUTE
from processors.lifecycle.windows import (
    DueWindow,
    WindowForecast,
    WindowStuckError,
    close,
    closing,
    due_events,
    due_windows,
    next_alarm,
    next_due,
)
from state.events.events import ConsolidationWindowClosed, GraphEvent, MemoryArchived
from state.graph.graph import Graph
from state.graph.tables.decay import NEVER, lifetime
from tests.support.builders import concept, forgotten, graph_configured, ticked, turn_recorded
from tests.support.living import Life, live

MONDAY = 1_683_504_000_000  # 2023-05-08T00:00:00Z: a day begins; weeks begin on Thursday, as the epoch did
THURSDAY = MONDAY + 3 * DAY
GRACE = 5 * MINUTE


def configured(**changes: Any) -> Life:
    """Return a graph with a day's half-life, threshold 0.1 and daily decay; consolidation of two turns, weekly."""
    plain = {"half_life": DAY, "prune_below": 0.1, "least_turns": 2, "long_windows": 0, "long_recalls": 0}
    return Life([graph_configured(**{**plain, **changes})])


def turn(at: int, words: str = "coffee", weight: float = 0.4, **changes: Any) -> Any:
    """Return a turn whose words have lost all but a quarter after two days: then they have faded."""
    concepts = [concept(name, weight=weight) for name in words.split()]
    return turn_recorded(**{"id": f"{words} at {at}", "at": at, "concepts": concepts, **changes})


# Decay


def test_what_has_faded_goes_at_the_end_of_the_day_once_the_grace_is_over() -> None:
    life = configured()
    life.tell(turn(MONDAY + MINUTE))
    assert lifetime(0.4, 0.1, DAY) in (2 * DAY, 2 * DAY + 1)
    due = DueWindow("decay", MONDAY + 3 * DAY)
    assert next_alarm(life.graph) == due.at + GRACE
    assert next_due(life.graph, due.at + GRACE - 1) is None
    assert next_due(life.graph, due.at + GRACE) == due
    (event,) = close(life.graph, due)
    assert isinstance(event, MemoryArchived)
    assert (event.concepts, event.turns) == (["coffee"], [life.events[-1].id])  # type: ignore[union-attr]


@pytest.mark.source("M9")
def test_days_close_one_after_the_other_even_if_a_year_passes_at_once() -> None:
    life = configured()
    for day in range(3):
        life.tell(turn(MONDAY + day * DAY + MINUTE, f"word{day}", session=f"{day}"))
    life.tick(MONDAY + 400 * DAY)
    decays = [(w.at - MONDAY, w.concepts) for w in life.windows if isinstance(w, MemoryArchived)]
    assert decays == [((3 + day) * DAY, [f"word{day}"]) for day in range(3)]


def test_a_day_in_which_nothing_faded_leaves_no_event() -> None:
    life = configured(least_turns=100)
    life.tell(turn(MONDAY + MINUTE))
    life.tell(turn(MONDAY + 2 * DAY))
    assert life.graph.expiry_queue().earliest() < MONDAY + 3 * DAY, "the entry of the first mention: too early now"
    life.tick(MONDAY + 3 * DAY + GRACE)
    assert life.windows == []


def test_a_concept_that_is_mentioned_within_the_grace_is_not_forgotten() -> None:
    life = configured(least_turns=100)
    life.tell(turn(MONDAY + MINUTE))
    life.tell(turn(MONDAY + 3 * DAY + GRACE - 1))
    life.tick(MONDAY + 4 * DAY)
    assert life.windows == []


def test_an_elephant_has_no_alarm() -> None:
    life = configured(preset="elephant", least_turns=100, prune_below=0.0)
    life.tell(turn(MONDAY))
    assert next_alarm(life.graph) == NEVER
    assert next_due(life.graph, MONDAY + 10**12) is None


# Bringing a graph up to date


@pytest.mark.source("E32")
def test_each_window_is_decided_on_the_state_that_the_one_before_it_left() -> None:
    life = configured()
    for day in range(3):
        life.tell(turn(MONDAY + day * DAY, f"word{day}", session=f"{day}"))
    events = []
    for event in due_events(life.graph, MONDAY + 400 * DAY):
        life.graph.fold(event)
        events.append(event)
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert sum(isinstance(event, MemoryArchived) for event in events) == 3
    assert next(due_events(life.graph, MONDAY + 400 * DAY), None) is None, "nothing is left to close"


def test_what_ended_by_the_graphs_own_clock_is_closed_whatever_time_is_told() -> None:
    life = configured(least_turns=2)
    life.tell(turn(MONDAY))
    life.tell(turn(MONDAY + 1))
    life.fold(ticked(at=MONDAY + DAY))
    assert next(due_events(life.graph, MONDAY)).at == MONDAY + 1 + 30 * MINUTE


def long_conversation() -> Life:
    """Return a graph of many turns that say much of the same, some of which is forgotten, and its rows are there."""
    life = configured(habit_members=3, habit_days=2, least_turns=2)
    for number in range(300):
        words = f"word{number % 7} tea{number % 11} cake{number % 13} only{number} twice{number // 2}"
        life.fold(turn(MONDAY + number * 10 * MINUTE, words, session=f"{number // 50}"))
    life.fold(forgotten(concepts=["word3"], turns=[f"{words} at {MONDAY + 299 * 10 * MINUTE}"]))
    return life


def test_a_window_of_many_turns_is_decided_in_steps_between_which_others_come_in() -> None:
    life = long_conversation()
    due = next_due(life.graph, MONDAY + 30 * DAY)
    assert due is not None
    assert len(list(closing(life.graph, due))) > 300, "one for each new turn, at least"


@pytest.mark.parametrize("after", [1, 100, 400])
def test_a_window_is_decided_anew_if_its_graph_is_compacted_by_who_is_let_in(after: int) -> None:
    alone, waits = long_conversation().graph, long_conversation().graph
    alone.compact()
    result: list[GraphEvent] = []
    for place, events in enumerate(due_windows(waits, MONDAY + 30 * DAY)):
        if place == after:
            numbers = len(waits.concepts)
            waits.view()  # as a question does
            assert len(waits.concepts) < numbers
        if events:
            result = events
            break
    assert result == next(events for events in due_windows(alone, MONDAY + 30 * DAY) if events)


def test_a_window_event_that_nobody_folds_is_not_handed_out_again() -> None:
    life = configured()
    life.tell(turn(MONDAY + MINUTE))
    life.tell(turn(MONDAY + 2 * MINUTE))
    closing = due_events(life.graph, MONDAY + DAY)
    assert isinstance(next(closing), ConsolidationWindowClosed)
    with pytest.raises(WindowStuckError, match="is due again after it was closed"):
        next(closing)


# Late turns


def test_a_late_turn_that_has_faded_already_goes_with_the_next_window_and_no_closed_one_is_opened() -> None:
    life = configured(least_turns=100)
    life.tell(turn(MONDAY + 10 * DAY + GRACE, "tea", weight=1.0))
    life.tell(turn(MONDAY, "late"))
    assert next_due(life.graph, MONDAY + 11 * DAY) is None
    assert next_alarm(life.graph) == MONDAY + 11 * DAY + GRACE, "no alarm that would ring for ever"
    life.tick(MONDAY + 11 * DAY + GRACE)
    assert [(w.at, w.concepts) for w in life.windows] == [(MONDAY + 11 * DAY, ["late"])]  # type: ignore[union-attr]


def test_a_late_turn_boosts_what_is_there() -> None:
    life = configured(least_turns=100)
    life.tell(turn(MONDAY + 3 * DAY, "coffee"))
    life.graph.settle()
    before = life.graph.concepts.expiry(0, life.graph.settings)
    life.tell(turn(MONDAY, "coffee"))
    life.graph.settle()
    assert life.graph.concepts.expiry(0, life.graph.settings) == before + DAY, "twice the strength: a half-life more"


def test_a_late_turn_counts_as_new_for_the_next_consolidation() -> None:
    life = configured(prune_below=0.0)
    for minute in (0, 1, 120):
        life.tell(turn(MONDAY + minute * MINUTE))
    life.tell(turn(MONDAY + 2 * MINUTE))
    assert [w.at for w in life.windows] == [MONDAY + 31 * MINUTE]  # type: ignore[union-attr]
    assert life.graph.fresh_turns == 2
    life.tick(MONDAY + DAY)
    assert [w.at for w in life.windows] == [MONDAY + 31 * MINUTE, MONDAY + 150 * MINUTE]  # type: ignore[union-attr]


# Consolidation


def ends(life: Life) -> list[int]:
    return [window.at for window in life.windows if isinstance(window, ConsolidationWindowClosed)]


@pytest.mark.source("S1", "P46")
def test_a_session_is_consolidated_after_half_an_hour_of_silence_and_the_grace() -> None:
    life = configured()
    life.tell(turn(MONDAY))
    life.tell(turn(MONDAY + 20 * MINUTE))
    life.tick(MONDAY + 55 * MINUTE - 1)
    assert ends(life) == []
    life.tick(MONDAY + 55 * MINUTE)
    assert ends(life) == [MONDAY + 50 * MINUTE]
    life.tick(MONDAY + DAY)
    assert len(ends(life)) == 1, "once"


@pytest.mark.source("S15")
def test_a_session_that_does_not_end_is_consolidated_with_its_week() -> None:
    life = configured()
    for at in range(THURSDAY - DAY, THURSDAY + 30 * MINUTE, 20 * MINUTE):
        life.tell(turn(at))
    assert ends(life) == [THURSDAY]


def test_few_turns_are_not_consolidated_until_there_are_more() -> None:
    life = configured(least_turns=3)
    for day in (0, 1, 20):
        life.tell(turn(MONDAY + day * DAY))
    assert ends(life) == []
    life.tick(MONDAY + 20 * DAY + 35 * MINUTE - 1)
    assert ends(life) == [], "there are enough now, but the conversation goes on"
    life.tick(MONDAY + 20 * DAY + 35 * MINUTE)
    assert ends(life) == [MONDAY + 20 * DAY + 30 * MINUTE]


def test_a_late_turn_that_makes_enough_of_them_closes_a_window_that_has_ended() -> None:
    life = configured(least_turns=2)
    life.tell(turn(MONDAY))
    life.tick(MONDAY + 10 * DAY)
    assert [type(window) for window in life.windows] == [MemoryArchived]
    life.tell(turn(MONDAY + MINUTE, "late"))
    life.tick(MONDAY + 10 * DAY + 1)
    assert ends(life) == [MONDAY + 31 * MINUTE], "behind a decay window that ended later"
    assert life.graph.clock == MONDAY + 10 * DAY + 1


def test_windows_close_in_the_order_of_their_ends_and_at_the_same_time_decay_comes_first() -> None:
    life = configured(idle=3 * DAY, consolidate_every=100 * DAY, grace=0)
    life.tell(turn(MONDAY + MINUTE))
    life.tell(turn(MONDAY + DAY, "tea", weight=1.0, session="two"))
    life.tick(MONDAY + 9 * DAY)
    kinds = [(type(window), (window.at - MONDAY) // DAY) for window in life.windows]  # type: ignore[union-attr]
    decay, consolidation = MemoryArchived, ConsolidationWindowClosed
    assert kinds == [(decay, 3), (consolidation, 4), (decay, 5)]
    assert lifetime(1.0, 0.1, DAY) // DAY == 3


# WindowForecast


def test_turns_of_one_day_may_be_folded_together_and_the_next_day_asks_first() -> None:
    ahead = WindowForecast.of(live([turn(MONDAY + GRACE)]).graph)
    for at in (MONDAY + DAY, MONDAY, MONDAY - 40 * DAY):
        assert not ahead.may_close(at)
        ahead.add(at)
    assert not ahead.may_close(MONDAY + DAY + GRACE - 1)
    assert ahead.may_close(MONDAY + DAY + GRACE)


def test_a_conversation_that_fell_silent_asks_first() -> None:
    life = configured()
    ahead = WindowForecast.of(life.graph)
    ahead = WindowForecast(life.graph.settings, MONDAY + GRACE)
    for minute in (10, 20):
        assert not ahead.may_close(MONDAY + minute * MINUTE)
        ahead.add(MONDAY + minute * MINUTE)
    assert not ahead.may_close(MONDAY + 55 * MINUTE - 1)
    assert ahead.may_close(MONDAY + 55 * MINUTE)


def test_a_graph_without_events_has_no_windows() -> None:
    assert next_due(Graph("ada"), MONDAY) is None
    assert next_alarm(Graph("ada")) == NEVER
