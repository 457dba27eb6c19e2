"""Time, long-term memory, recalls, settings: what each event does to one graph, computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from state.events.extraction_types import Anchor
from state.events.memory_settings import PRESETS, MemorySettings
from state.graph.graph import Graph
from state.graph.tables.decay import NEVER, decayed, lifetime, lifetime_long
from tests.support.builders import (
    concept,
    concepts_recalled,
    consolidation_closed,
    decay_closed,
    folded,
    forgotten,
    graph_configured,
    ticked,
    turn_recorded,
)
from tests.support.clocks import DAY, NOON
from tests.support.graphs import pair_counts

DEFAULT = PRESETS["default"]


def graph_with(*turns: str, session: str = "main") -> Graph:
    """Return the graph of turns t0, t1, … with these concepts."""
    return folded(*(turn_recorded(id=f"t{n}", concepts=concepts, session=session) for n, concepts in enumerate(turns)))


def coffee(graph: Graph) -> int:
    return graph.concepts.numbers["coffee"]


# Time


def test_only_time_passes_with_a_tick() -> None:
    graph, silent = graph_with("coffee"), graph_with("coffee")
    assert graph.fold(ticked(at=NOON + DAY))
    assert graph.clock == NOON + DAY
    graph.clock = silent.clock
    assert graph.digest() == silent.digest()


@pytest.mark.parametrize("closed", [decay_closed, consolidation_closed])
def test_a_window_is_closed_when_its_grace_is_over_and_the_clock_has_passed_it(closed: Any) -> None:
    graph = graph_with("coffee")
    graph.fold(closed(at=NOON + DAY))
    assert graph.clock == NOON + DAY + graph.settings.grace
    graph.fold(closed(at=NOON))
    assert graph.clock == NOON + DAY + graph.settings.grace, "no way back"


def test_new_turns_are_counted_until_a_consolidation() -> None:
    graph = folded(graph_configured(least_turns=2), turn_recorded(id="a", at=NOON + DAY))
    assert (graph.fresh_turns, graph.enough_at, graph.last_turn_at) == (1, NEVER, NOON + DAY)
    graph.fold(turn_recorded(id="b", at=NOON))
    graph.fold(turn_recorded(id="a", at=NOON + 2 * DAY))
    assert (graph.fresh_turns, graph.enough_at, graph.last_turn_at) == (2, NOON + DAY, NOON + DAY)
    graph.fold(turn_recorded(id="c", at=NOON + 2 * DAY))
    assert graph.enough_at == NOON + DAY, "when they first were"
    graph.fold(consolidation_closed(at=NOON + 2 * DAY))
    assert (graph.fresh_turns, graph.enough_at, graph.last_turn_at) == (0, NEVER, NOON + 2 * DAY)


@pytest.mark.parametrize(("ever", "enough"), [(0, 12), (129, 12), (130, 13), (600, 60), (10**6, 60)])
def test_a_large_graph_waits_for_more_new_turns(ever: int, enough: int) -> None:
    assert PRESETS["default"].enough_turns(ever) == enough


def test_a_graph_is_live_if_its_last_turn_was_recorded_as_it_was_said() -> None:
    graph = folded(turn_recorded(id="a"))
    assert graph.live
    graph.fold(turn_recorded(id="b", live=False))
    graph.fold(concepts_recalled())
    assert not graph.live
    assert not Graph.unpack(graph.pack()).live


# Long-term


def long_term() -> Graph:
    """Return a graph in which "coffee" was mentioned at NOON with weight 0.8 and consolidated a half-life later."""
    mentioned = turn_recorded(concepts=[concept("coffee", weight=0.8), "tea"])
    return folded(mentioned, consolidation_closed(consolidated="coffee unheard-of", at=NOON + DEFAULT.half_life))


@pytest.mark.source("E38")
def test_what_a_concept_has_faded_to_is_the_start_of_the_slower_curve() -> None:
    graph, at = long_term(), NOON + DEFAULT.half_life
    concepts, number = graph.concepts, coffee(graph)
    assert (concepts.strength[number], concepts.strength_at[number], concepts.long_term[number]) == (0.4, at, 1)
    assert concepts.strength_of(number, at + 3 * DEFAULT.long_tau, DEFAULT) == pytest.approx(0.4 / 2, rel=1e-6)
    assert concepts.expiry(number, DEFAULT) == at + lifetime_long(
        0.4, 0.03, tau=DEFAULT.long_tau, beta=DEFAULT.long_beta
    )


def test_being_consolidated_is_no_access() -> None:
    assert long_term().view().accessed.tolist() == [NOON, NOON]


def test_being_consolidated_twice_is_being_consolidated_once() -> None:
    graph, once = long_term(), long_term()
    graph.fold(consolidation_closed(consolidated="coffee", at=NOON + 2 * DEFAULT.half_life))
    once.fold(consolidation_closed(at=NOON + 2 * DEFAULT.half_life))
    assert graph.digest() == once.digest()


def test_a_mention_of_a_long_term_concept_adds_to_the_curve_and_does_not_begin_it_anew() -> None:
    graph, silent = long_term(), long_term()
    number = coffee(graph)
    before = graph.concepts.expiry(number, DEFAULT)
    at = NOON + 400 * DAY
    graph.fold(turn_recorded(id="b", concepts=[concept("coffee", weight=0.001)], at=at))
    graph.settle()
    assert graph.concepts.expiry(number, DEFAULT) > before
    for later in (at, at + DAY, at + 1000 * DAY):
        without = silent.concepts.strength_of(number, later, DEFAULT)
        assert graph.concepts.strength_of(number, later, DEFAULT) == pytest.approx(without + 0.001, abs=0.0006)
        assert graph.concepts.strength_of(number, later, DEFAULT) > without


def test_the_heap_is_not_too_late_for_a_concept_that_is_touched_without_being_boosted() -> None:
    """Rounding may let it fade a little sooner; a graph that is loaded again would know."""
    for day in range(1, 100):
        graph = long_term()
        graph.fold(forgotten(concepts="tea"))
        graph.fold(graph_configured(recall_boost=0.0, long_beta=5.0))
        assert graph.expiry_queue().earliest() == graph.concepts.expiry(coffee(graph), graph.settings)
        graph.fold(concepts_recalled(concepts="coffee", at=NOON + DEFAULT.half_life + day * DAY))
        assert graph.expiry_queue().earliest() <= graph.concepts.expiry(coffee(graph), graph.settings)


def test_a_concept_that_was_forgotten_and_comes_back_is_not_long_term() -> None:
    graph = long_term()
    graph.fold(decay_closed(concepts="coffee"))
    graph.fold(turn_recorded(id="b", concepts="coffee"))
    graph.settle()
    assert graph.concepts.long_term[coffee(graph)] == 0


def test_consolidation_windows_with_a_mention_are_counted_once_each() -> None:
    week = DEFAULT.consolidate_every
    times = [NOON, NOON + DAY, NOON + week, NOON, NOON + 3 * week]
    graph = folded(*(turn_recorded(id=f"t{n}", concepts="coffee", at=at) for n, at in enumerate(times)))
    assert graph.concepts.seen_windows.tolist() == [3]


def test_longer_consolidation_windows_go_on_being_counted() -> None:
    hour = 3_600_000
    graph = folded(graph_configured(consolidate_every=hour), turn_recorded(id="a", concepts="coffee"))
    graph.fold(graph_configured(consolidate_every=7 * DAY))
    graph.fold(turn_recorded(id="b", concepts="coffee", at=NOON + 7 * DAY))
    graph.settle()
    assert graph.concepts.seen_windows.tolist() == [2]


# Recall


@pytest.mark.source("S17")
def test_recalls_are_counted_from_the_first_one_on() -> None:
    graph = graph_with("coffee tea")
    graph.fold(concepts_recalled(concepts="coffee unheard-of", at=NOON + DAY))
    graph.fold(concepts_recalled(concepts="coffee tea", at=NOON + 2 * DAY))
    graph.fold(concepts_recalled(concepts="unheard-of", at=NOON + 3 * DAY))
    assert graph.concepts.recalls.tolist() == [2, 1]
    assert graph.concepts.first_recall.tolist() == [NOON + DAY, NOON + 2 * DAY]
    recalls = graph.view().windows["recall"]
    assert (recalls.total, recalls.concept.tolist()) == (2, [2, 1])
    assert pair_counts(graph, "recall") == {"coffee tea": 1}


def test_a_recall_that_names_a_concept_twice_does_not_link_it_with_itself() -> None:
    graph = graph_with("coffee tea")
    graph.fold(concepts_recalled(concepts="coffee coffee"))
    assert graph.concepts.recalls.tolist() == [1, 0]
    assert graph.view().windows["recall"].fan.tolist() == [0, 0]


def test_a_recall_links_words_only_and_only_the_strongest() -> None:
    names = ["@speaker:ada", *(f"word{n}" for n in range(10))]
    graph = folded(turn_recorded(concepts=names), concepts_recalled(concepts=names))
    assert len(pair_counts(graph, "recall")) == 8 * 7 // 2
    assert not any("@" in pair or "word8" in pair for pair in pair_counts(graph, "recall"))


# Settings


def test_settings_are_what_the_last_configuration_says() -> None:
    graph = folded(graph_configured(preset="forgetful", recall_boost=0.25), turn_recorded(concepts="coffee"))
    assert (graph.preset, graph.settings.recall_boost) == ("forgetful", 0.25)
    again = Graph.unpack(graph.pack())
    assert (again.preset, again.settings, again.digest()) == ("forgetful", graph.settings, graph.digest())
    graph.fold(graph_configured(preset="elephant"))
    assert graph.settings == PRESETS["elephant"]
    assert graph.digest() != again.digest()


def test_new_settings_count_from_now_on_and_do_not_fade_the_past_anew() -> None:
    """Half a year under a slow law, then a fast one: at that moment nothing changes, and only then it fades faster."""
    slow, fast = PRESETS["default"], PRESETS["forgetful"]
    graph = folded(turn_recorded(concepts="tea", at=NOON), ticked(at=NOON + 180 * DAY))
    before = graph.concepts.strength_of(0, graph.clock, slow)
    graph.fold(graph_configured(preset="forgetful"))
    assert graph.concepts.strength_of(0, graph.clock, fast) == before
    assert graph.concepts.strength_of(0, graph.clock + fast.half_life, fast) == before / 2


def test_an_elephant_has_nothing_that_fades_until_it_is_told_otherwise() -> None:
    graph = folded(graph_configured(preset="elephant"), turn_recorded(concepts="coffee @day:1"), turn_recorded(id="b"))
    assert graph.expiry_queue().earliest() == NEVER
    graph.fold(graph_configured(preset="default"))
    assert graph.expiry_queue().earliest() == NOON + lifetime(0.5, 0.03, DEFAULT.half_life)


@pytest.mark.source("S26")
def test_with_stability_every_mention_and_recall_makes_the_half_life_longer_from_then_on() -> None:
    settings, day = PRESETS["memorybank"], DAY
    events = [
        graph_configured(preset="memorybank"),
        turn_recorded(id="a", concepts=[concept("coffee", weight=1.0)]),
        turn_recorded(id="b", concepts=[concept("coffee", weight=1.0)], at=NOON + day),
        concepts_recalled(concepts="coffee", at=NOON + 2 * day),
    ]
    one = 1.0
    two = decayed(one, day, settings.half_life) + 1.0
    three = decayed(two, day, 2 * settings.half_life) + settings.recall_boost
    for number, (strength, half_life) in enumerate([(one, 1), (two, 2), (three, 3)]):
        concepts = folded(*events[: number + 2]).concepts
        assert concepts.strength.tolist() == [strength]
        later = NOON + number * day + 5 * day
        assert concepts.strength_of(0, later, settings) == decayed(strength, 5 * day, half_life * settings.half_life)


@pytest.mark.source("S26")
def test_memorybank_is_ebbinghaus_with_a_strength_in_days() -> None:
    assert decayed(1.0, DAY, PRESETS["memorybank"].half_life) == pytest.approx(2.718281828**-1, rel=1e-6)


@pytest.mark.source("M24")
def test_mofox_loses_a_tenth_a_day() -> None:
    assert decayed(1.0, DAY, PRESETS["mofox"].half_life) == pytest.approx(0.9, rel=1e-6)


@pytest.mark.parametrize("preset", PRESETS)
def test_in_every_preset_with_long_term_memory_it_fades_more_slowly_from_the_first_moment_on(preset: str) -> None:
    settings = PRESETS[preset]
    if settings.long_windows or settings.long_recalls:
        assert settings.long_tau * 0.6931 >= settings.half_life * settings.long_beta


def test_settings_are_checked() -> None:
    for wrong in ({"half_life": 0}, {"prune_below": -0.1}, {"grace": -1}, {"unknown": 1}, {"idle": "1"}):
        with pytest.raises(ValueError, match="validation error"):
            MemorySettings(**wrong)  # type: ignore[arg-type]


# Anchors


def anchored(kind: str | None) -> Graph:
    """Return a graph in which "coffee" was mentioned once, with weight 0.5, in a turn with such an anchor."""
    anchor = None if kind is None else Anchor("any", kind)  # type: ignore[arg-type]
    return folded(turn_recorded(id="t0", concepts="coffee @day:2023-05-08", anchor=anchor))


@pytest.mark.source("S28")
def test_what_people_keep_unasked_fades_far_slower_and_what_they_ask_to_keep_is_strong_then_falls_fast() -> None:
    """SEEDS S28: spontaneous anchors hold; forced ones are strong at first, and fade by the law of all others."""
    plain, forced, unasked = anchored(None), anchored("forced"), anchored("spontaneous")
    for graph in (plain, forced, unasked):
        graph.settle()

    def left(graph: Graph, half_lives: int) -> float:
        return graph.concepts.strength_of(coffee(graph), NOON + half_lives * DEFAULT.half_life, DEFAULT)

    assert [left(graph, 0) for graph in (plain, forced, unasked)] == [0.5, 1.5, 0.5]
    assert [left(graph, 4) for graph in (plain, forced, unasked)] == [0.5 / 16, 1.5 / 16, 0.25]
    lives = [graph.concepts.expiry(coffee(graph), DEFAULT) - NOON for graph in (plain, forced, unasked)]
    assert lives == sorted(lives)
    assert lives[2] == lifetime(0.5, DEFAULT.prune_below, 4 * DEFAULT.half_life)


@pytest.mark.source("S28")
def test_an_anchor_holds_on_through_mentions_long_term_and_a_snapshot_and_marks_have_none() -> None:
    graph = anchored("spontaneous")
    graph.fold(turn_recorded(id="t1", concepts="coffee", at=NOON + 4 * DEFAULT.half_life))
    graph.settle()
    assert graph.concepts.strength[coffee(graph)] == 0.25 + 0.5, "what was left by the slower law, and a mention"
    assert graph.concepts.anchored[graph.concepts.numbers["@day:2023-05-08"]] == 0
    again = Graph.unpack(graph.pack())
    assert again.concepts.anchored[coffee(again)] == 1
    assert again.digest() == graph.digest() != anchored(None).digest()
    graph.fold(consolidation_closed(consolidated="coffee", at=NOON + 4 * DEFAULT.half_life))
    later = NOON + 4 * DEFAULT.half_life + 12 * DEFAULT.long_tau
    assert graph.concepts.strength_of(coffee(graph), later, DEFAULT) == pytest.approx(0.75 / 2, rel=1e-6)


@pytest.mark.source("S28")
def test_a_turn_that_people_keep_unasked_lives_four_times_as_long() -> None:
    plain, forced, unasked = anchored(None), anchored("forced"), anchored("spontaneous")
    ends = [graph.passages.over_at(0, DAY) - NOON for graph in (plain, forced, unasked)]
    assert ends == [DAY, DAY, 4 * DAY]


def test_what_was_said_before_an_anchor_fades_as_it_would_have_up_to_it() -> None:
    mention, later = turn_recorded(id="t0", concepts="coffee"), NOON + DEFAULT.half_life
    graph = folded(
        mention, turn_recorded(id="t1", concepts="coffee", at=later, anchor=Anchor("promise", "spontaneous"))
    )
    graph.settle()
    assert graph.concepts.strength[coffee(graph)] == 0.25 + 0.5
    assert graph.concepts.strength_of(coffee(graph), later + 4 * DEFAULT.half_life, DEFAULT) == 0.75 / 2
