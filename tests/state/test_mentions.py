"""Mentions are folded many at once, which does to each concept what the laws of boosting say, bit by bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from emgas.limits import EARLIEST_MS, LATEST_MS
from state.events.memory_settings import PRESETS, MemorySettings
from state.graph.counting import mentions
from state.graph.counting.mentions import Mentions
from state.graph.tables.concept_table import ConceptTable
from state.graph.tables.decay import decayed, factors
from tests.support.builders import concept
from tests.support.clocks import DAY, NOON

times = st.integers(NOON - 90 * DAY, NOON + 400 * DAY)
weights = st.integers(0, 10**6).map(lambda millionths: millionths / 10**6)
half_lives = st.one_of(st.integers(1, 400 * DAY), st.just(100 * 366 * DAY))
ways = st.builds(
    lambda half_life, stability: MemorySettings(half_life=half_life, stability=stability),
    half_lives,
    st.sampled_from([0, 0, 7, 100]),
)
Mention = tuple[int, int, float]  # concept, time, weight


def tell(table: ConceptTable, spoken: Sequence[Mention], settings: MemorySettings, *, at_once: bool = True) -> None:
    """Mention concepts."""
    for number, time, _ in spoken:
        table.numbers_of([concept(f"c{number}")], time)
    table.grow()
    rows = [(table.numbers[f"c{number}"], time, weight) for number, time, weight in spoken]
    if at_once:
        numbers, at = (np.array([one[column] for one in rows], np.int64) for column in (0, 1))
        mentions.fold(table, Mentions(numbers, at, np.array([weight for _, _, weight in rows])), settings)
        return
    for number, time, weight in rows:
        table.mention(number, weight, at=time, settings=settings)


def columns_of(table: ConceptTable) -> dict[str, list[float]]:
    return {name: column.tolist() for name, column in table.arrays().items()}


@given(st.lists(st.tuples(times, weights), min_size=1, max_size=8), ways)
def test_each_mention_adds_to_what_was_left_by_then(spoken: list[tuple[int, float]], settings: MemorySettings) -> None:
    table = ConceptTable()
    (strength, at, accessed) = spoken[0][1], spoken[0][0], spoken[0][0]
    for number, (time, weight) in enumerate(spoken[1:], 1):
        left = decayed(strength, time - at, settings.half_life * (100 + settings.stability * (number - 1)) // 100)
        strength, at, accessed = left + weight, max(at, time), max(accessed, time)
    tell(table, [(0, time, weight) for time, weight in spoken], settings)
    assert (table.strength[0], table.strength_at[0], table.accessed[0]) == (strength, at, accessed)
    assert table.in_turns[0] == len(spoken)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.one_of(times, st.sampled_from([EARLIEST_MS, LATEST_MS])), weights)),
    st.sets(st.integers(0, 4)),
    st.integers(0, 20),
    ways,
)
def test_mentions_that_are_folded_at_once_do_what_they_do_one_by_one(
    spoken: list[Mention], long_term: set[int], cut: int, settings: MemorySettings
) -> None:
    at_once, one_by_one = ConceptTable(), ConceptTable()
    for table in (at_once, one_by_one):
        tell(table, spoken[:cut], settings, at_once=table is at_once)
        for number in long_term & set(range(len(table))):
            table.consolidate(number, NOON, settings)
        tell(table, spoken[cut:], settings, at_once=table is at_once)
    assert columns_of(at_once) == columns_of(one_by_one)


@given(st.lists(st.tuples(times, weights), min_size=1, max_size=6), st.integers(0, 6), times)
def test_a_long_term_concept_is_mentioned_as_it_is_boosted(
    spoken: list[tuple[int, float]], long_from: int, since: int
) -> None:
    mentioned, boosted = ConceptTable(), ConceptTable()
    settings = PRESETS["default"]
    for table in (mentioned, boosted):
        tell(table, [(0, spoken[0][0], 1.0)], settings)
    for number, (time, weight) in enumerate(spoken):
        if number == long_from:
            mentioned.consolidate(0, since, settings)
            boosted.consolidate(0, since, settings)
        tell(mentioned, [(0, time, weight)], settings)
        boosted.boost(0, weight, at=time, settings=settings)
    columns = [[table.strength[0], table.strength_at[0], table.accessed[0]] for table in (mentioned, boosted)]
    assert columns[0] == columns[1]


@given(weights, st.lists(st.integers(0, LATEST_MS - EARLIEST_MS), max_size=5), half_lives)
def test_decay_of_many_is_the_decay_of_each(strength: float, elapsed: list[int], half_life: int) -> None:
    left = [
        np.ldexp(strength * coarse * fine, max(power, -9999))
        for coarse, fine, power in zip(*factors(np.array(elapsed, np.int64), half_life), strict=True)
    ]
    assert left == [decayed(strength, ms, half_life) for ms in elapsed]
