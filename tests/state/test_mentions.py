"""A turn's mentions are folded in one loop, which does to each concept what the laws of boosting say, bit by bit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from state.concept_table import ConceptTable
from state.decay import decayed
from state.presets import PRESETS, MemorySettings
from tests.support.events import DAY, NOON, concept

times = st.integers(NOON - 90 * DAY, NOON + 400 * DAY)
weights = st.integers(0, 10**6).map(lambda millionths: millionths / 10**6)
ways = st.builds(
    lambda half_life, stability: MemorySettings(half_life=half_life, stability=stability),
    st.integers(1, 400 * DAY),
    st.sampled_from([0, 0, 7, 100]),
)


@given(st.lists(st.tuples(times, weights), min_size=1, max_size=8), ways)
def test_each_mention_adds_to_what_was_left_by_then(said: list[tuple[int, float]], settings: MemorySettings) -> None:
    table = ConceptTable()
    (strength, at, accessed) = said[0][1], said[0][0], said[0][0]
    for number, (time, weight) in enumerate(said):
        assert table.mention([concept("tea", weight=weight)], time, settings) == [0]
        if number:
            left = decayed(strength, time - at, settings.half_life * (100 + settings.stability * (number - 1)) // 100)
            strength, at, accessed = left + weight, max(at, time), max(accessed, time)
    assert (table.strength[0], table.strength_at[0], table.accessed[0]) == (strength, at, accessed)
    assert table.in_turns[0] == len(said)


@given(st.lists(st.tuples(times, weights), min_size=1, max_size=6), st.integers(0, 6), times)
def test_a_long_term_concept_is_mentioned_as_it_is_boosted(
    said: list[tuple[int, float]], long_from: int, since: int
) -> None:
    mentioned, boosted = ConceptTable(), ConceptTable()
    settings = PRESETS["default"]
    for table in (mentioned, boosted):
        table.mention([concept("tea")], said[0][0], settings)
    for number, (time, weight) in enumerate(said):
        if number == long_from:
            mentioned.consolidate(0, since, settings)
            boosted.consolidate(0, since, settings)
        mentioned.mention([concept("tea", weight=weight)], time, settings)
        boosted.boost(0, weight, time, settings)
    columns = [[table.strength[0], table.strength_at[0], table.accessed[0]] for table in (mentioned, boosted)]
    assert columns[0] == columns[1]
