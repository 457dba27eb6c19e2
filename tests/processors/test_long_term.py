"""Long-term memory emerges: over a simulated year, what recurs stays and what was said once is gone.

The bundled conversation is stretched over a year, and a sentence of our own is said every Monday.  Source: SEEDS E31.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from emgas.messages.turns import Turn
from emgas.times import DAY_MS as DAY
from processors.extraction.yake_extractor import YakeExtractor
from state.events.events import ConsolidationWindowClosed, TurnRecorded
from state.graph.graph import Graph
from tests.support.builders import graph_configured, refolded
from tests.support.living import Life, live
from tests.support.stories import extracted

DEMO = Path(__file__).parents[2] / "streams" / "cli" / "memory" / "demo_data" / "conversation.jsonl"
MONDAY = 1_704_067_200_000  # 2024-01-01T00:00:00Z
YEAR = 366 * DAY
WEEKLY = "My piano lesson with Odile went well, we practised the mazurka."
WEEKLY_WORDS = {"piano", "lesson", "odile", "mazurka"}


@pytest.fixture(scope="module")
def turns() -> list[TurnRecorded]:
    """Yield the year's turns as they are recorded, by time."""
    lines = DEMO.read_text().splitlines()
    turns = [turn for turn in map(Turn.model_validate_json, lines) if turn.graph == "demo"]
    first, last = (pick(turn.at or 0 for turn in turns) for pick in (min, max))
    weeks = range(YEAR // (7 * DAY))
    listed = [(MONDAY + week * 7 * DAY, f"weekly-{week}", f"lesson-{week}", "Mei", WEEKLY) for week in weeks]
    for turn in turns:
        at = MONDAY + (YEAR - 1) * ((turn.at or 0) - first) // (last - first)
        listed += [(at, turn.id, turn.session, turn.speaker, turn.text)]
    extractor = YakeExtractor()
    return [recorded(extractor, *each) for each in sorted(listed)]


def recorded(extractor: YakeExtractor, at: int, name: str, session: str, speaker: str, text: str) -> TurnRecorded:
    return extracted(text, id=name, session=session, speaker=speaker, at=at, by=extractor)


@pytest.fixture(scope="module")
def year(turns: list[TurnRecorded]) -> Life:
    """Live a forgetful graph's year, and a month of silence."""
    return live(turns, [graph_configured(preset="forgetful")], until=MONDAY + YEAR + 30 * DAY)


def words(graph: Graph) -> set[str]:
    """Name the words of the active tier: what faded is archived."""
    graph.settle()
    table = graph.concepts
    return {name for name, number in table.numbers.items() if not name.startswith("@") and not table.archived[number]}


def long_term(graph: Graph) -> set[str]:
    return {name for name in words(graph) if graph.concepts.long_term[graph.concepts.numbers[name]]}


def mentions(text: list[TurnRecorded]) -> dict[str, int]:
    concepts = [concept.id for turn in text for concept in turn.concepts if not concept.id.startswith("@")]
    return {name: concepts.count(name) for name in concepts}


@pytest.mark.source("E31")
def test_what_was_said_every_week_is_long_term_and_still_there(year: Life) -> None:
    assert long_term(year.graph) >= WEEKLY_WORDS


def test_it_became_so_in_the_eighth_week_and_not_before(year: Life) -> None:
    closed = [event for event in year.windows if isinstance(event, ConsolidationWindowClosed)]
    (when,) = {event.at for event in closed if WEEKLY_WORDS & set(event.consolidated)}
    assert when > MONDAY + 7 * 7 * DAY


@pytest.mark.source("E31")
def test_what_was_said_once_is_gone(year: Life, turns: list[TurnRecorded]) -> None:
    once = {name for name, count in mentions(turns).items() if count == 1}
    assert len(once) > 100
    assert not once & words(year.graph)


def test_what_is_left_is_a_small_part_and_was_said_more_than_once(year: Life, turns: list[TurnRecorded]) -> None:
    counted = mentions(turns)
    assert all(counted[name] > 1 for name in words(year.graph))
    assert len(words(year.graph)) < len(counted) / 5


def test_turns_went_with_the_last_of_their_words(year: Life, turns: list[TurnRecorded]) -> None:
    graph = year.graph
    graph.compact()
    kept = {turn.id: {concept.id for concept in turn.concepts} & words(graph) for turn in turns}
    active = {turn for turn, is_active in zip(graph.passages.ids, graph.passages.is_active(), strict=True) if is_active}
    assert {turn for turn, concepts in kept.items() if concepts} >= active
    assert 0 < len(active) < len(graph.passages) == len(turns)


def test_an_elephant_still_has_every_word(turns: list[TurnRecorded]) -> None:
    life = live(turns, [graph_configured(preset="elephant")], until=MONDAY + YEAR + 30 * DAY)
    assert words(life.graph) == set(mentions(turns))


@pytest.mark.source("E31")
def test_without_the_weekly_mention_it_would_be_gone_too(turns: list[TurnRecorded]) -> None:
    once = [turn for turn in turns if not turn.id.startswith("weekly-") or turn.id == "weekly-0"]
    life = live(once, [graph_configured(preset="forgetful")], until=MONDAY + YEAR + 30 * DAY)
    assert not WEEKLY_WORDS & words(life.graph)


def test_the_year_is_replayed_from_its_events(year: Life) -> None:
    assert refolded(year.events, Graph("ada")).digest() == year.graph.digest()
