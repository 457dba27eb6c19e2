"""Trends, on graphs folded from events: counted as by hand, whatever the period and the asker's clock."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from emgas.messages.fields import Position
from emgas.messages.views import Period, Trend, Trended
from emgas.times import DAY_MS, MINUTE_MS
from processors.extraction.yake_extractor import YakeExtractor
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.reports.trends import compute_trend
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from tests.support.builders import turn_recorded
from tests.support.clocks import NOON

EXTRACTOR = YakeExtractor()
times = some.lists(some.integers(-200 * DAY_MS, 400 * DAY_MS).map(lambda shift: NOON + shift), min_size=1, max_size=30)


def unread(graph: Graph, number: int) -> TurnRecorded:
    raise AssertionError(f"turn {number} of {graph.graph_id} need not be read")


def trend_of(graph: Graph, text: str, by: Period = "day", offset: int = 0) -> Trended:
    memory = QueriedGraph(graph, unread, Position(partition=0, watermark=0, source=0))
    return compute_trend(memory, Trend(graph="ada", text=text, by=by, offset=offset), EXTRACTOR)


def graph_of(*turns: tuple[int, str]) -> Graph:
    graph = Graph("ada")
    for number, (at, words) in enumerate(turns):
        graph.fold(turn_recorded(id=f"t{number}", concepts=words, at=at))
    return graph


def local(at: int, offset: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at + offset * MINUTE_MS)


def beginning(at: datetime, by: Period) -> datetime:
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if by == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if by == "month" else day


@pytest.mark.source("P39", "H8")
@given(times, some.sampled_from(["day", "week", "month"]), some.sampled_from([0, 480, -300, 345]))
def test_periods_hours_and_weekdays_are_those_of_the_askers_calendar(at: list[int], by: Period, offset: int) -> None:
    trend = trend_of(graph_of(*((each, "latte") for each in at), (NOON, "tea")), "latte", by, offset)
    moments = [local(each, offset) for each in at]
    expected = Counter(beginning(moment, by) for moment in moments)
    assert {local(period.since, offset): period.turns for period in trend.periods} == expected
    assert all(beginning(local(period.until, offset), by) == local(period.until, offset) for period in trend.periods)
    assert trend.hours == [sum(moment.hour == hour for moment in moments) for hour in range(24)]
    assert trend.weekdays == [sum(moment.weekday() == day for moment in moments) for day in range(7)]
    assert (trend.turns, trend.first, trend.last) == (len(at), min(at), max(at))
    assert trend.days == len({moment.date() for moment in moments})


@pytest.mark.source("P40")
@given(times)
def test_a_pause_is_more_than_twice_as_long_as_usual_and_nothing_was_said_in_it(at: list[int]) -> None:
    trend = trend_of(graph_of(*((each, "latte") for each in at)), "latte")
    for pause in trend.pauses:
        assert trend.every is not None
        assert (pause.until - pause.since) // DAY_MS + 1 > 2 * trend.every
        assert not any(pause.since <= each < pause.until for each in at)
    assert all(one.until <= other.since for one, other in pairwise(trend.pauses))


def test_what_holds_all_of_the_words_counts_and_some_of_them_where_nothing_does() -> None:
    graph = graph_of((NOON, "oat latte"), (NOON + DAY_MS, "latte"), (NOON + 2 * DAY_MS, "oat"))
    assert (trend_of(graph, "oat latte").turns, trend_of(graph, "oat latte").all) == (1, True)
    apart = graph_of((NOON, "latte"), (NOON + DAY_MS, "oat"))
    assert (trend_of(apart, "oat latte").turns, trend_of(apart, "oat latte").all) == (2, False)


@pytest.mark.parametrize(("question", "counted"), [("how often do I drink latte?", ["latte"]), ("drink", ["drink"])])
def test_everyday_verbs_count_only_where_nothing_else_is_named(question: str, counted: list[str]) -> None:
    graph = graph_of((NOON, "latte drink"), (NOON, "latte"), (NOON, "drink"))
    assert trend_of(graph, question).concepts == counted
