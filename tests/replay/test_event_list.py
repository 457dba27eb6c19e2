"""The last events of a graph, as a user counts them."""

from __future__ import annotations

import pytest

from replay.event_list import ListedEvent, as_far_back
from state.events.events import GraphEvent
from tests.support.builders import concepts_recalled, turn_embedded, turn_recorded

EVENTS: list[tuple[GraphEvent, bool]] = [
    (turn_recorded(id="t0"), True),
    (turn_embedded(id="t0"), True),
    (concepts_recalled(), False),
    (turn_recorded(id="t1"), True),
    (turn_embedded(id="t1"), True),
]


@pytest.mark.parametrize(("count", "first"), [(0, None), (1, 3), (2, 0), (9, 0)])
def test_a_turn_goes_with_its_vector_and_counts_as_one(count: int, first: int | None) -> None:
    events = [ListedEvent(ordinal, ordinal, 0, event, counts) for ordinal, (event, counts) in enumerate(EVENTS)]
    assert as_far_back(events, count) == first
