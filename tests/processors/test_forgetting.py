"""What a decay window forgets, and what a request takes with it; by hand.  Laws: test_living.py."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.times import DAY_MS as DAY
from processors.lifecycle.decay.forgetting import Leaving, faded, requested
from state.events.memory_settings import PRESETS
from state.graph.graph import Graph
from state.graph.tables.decay import decayed, lifetime
from tests.support.builders import (
    concept,
    concepts_recalled,
    consolidation_closed,
    folded,
    forgotten,
    graph_configured,
    turn_recorded,
)
from tests.support.clocks import NOON

FORGETFUL = PRESETS["forgetful"]  # a week's half-life, threshold 0.1
FADED = NOON + lifetime(0.4, 0.1, FORGETFUL.half_life)  # two half-lives


def graph_with(*turns: str, weight: float = 0.4) -> Graph:
    """Return a forgetful graph of turns t0, t1, … at NOON with these concepts; all have faded at FADED."""
    concepts = [[concept(name, weight=weight) for name in names.split()] for names in turns]
    turns_ = (turn_recorded(id=f"t{n}", concepts=each, session=f"s{n % 2}") for n, each in enumerate(concepts))
    return folded(graph_configured(preset="forgetful"), *turns_)


# ExpiryQueue


@pytest.mark.source("E30")
def test_a_concept_fades_at_its_time_and_not_before() -> None:
    assert faded(graph_with("coffee"), FADED - 1) == Leaving([], [])
    assert faded(graph_with("coffee"), FADED) == Leaving(["coffee"], ["t0"])


def test_a_turn_stays_while_one_of_its_words_does() -> None:
    graph = graph_with("coffee tea", "milk")
    graph.fold(turn_recorded(id="more", concepts=[concept("tea")], at=NOON + DAY))
    assert faded(graph, FADED) == Leaving(["coffee", "milk"], ["t1"])
    graph.fold(forgotten(concepts="coffee milk", turns="t1"))
    assert faded(graph, FADED + 100 * DAY) == Leaving(["tea"], ["t0", "more"])


def test_a_mark_keeps_no_turn() -> None:
    graph = graph_with("coffee @speaker:ada")
    graph.fold(turn_recorded(id="more", concepts=[concept("@speaker:ada"), concept("tea")], at=NOON + 10 * DAY))
    assert faded(graph, FADED) == Leaving(["coffee"], ["t0"])


def test_a_turn_leaves_when_its_time_is_over_whatever_it_holds_and_its_words_stay_by_their_own_strength() -> None:
    over = NOON + FORGETFUL.episode_life
    graph = graph_with("", "@speaker:ada", "tea milk")
    graph.fold(turn_recorded(id="more", concepts=[concept("tea", weight=1.0)], at=over - DAY))
    assert faded(Graph.unpack(graph.pack()), over - 1) == Leaving(["@speaker:ada", "milk"], [])
    assert faded(graph, over) == Leaving(["@speaker:ada", "milk"], ["t0", "t1", "t2"])


def test_without_an_end_a_turn_stays_as_long_as_one_of_its_words() -> None:
    graph = folded(graph_configured(preset="forgetful", episode_life=0), turn_recorded(id="t0", concepts="tea"))
    graph.fold(turn_recorded(id="t1", concepts=""))
    assert faded(graph, NOON + 10_000 * DAY) == Leaving(["tea"], ["t0"])


def test_a_turn_that_comes_late_is_as_old_as_it_says() -> None:
    graph = graph_with("tea")
    graph.expiry_queue()
    graph.fold(turn_recorded(id="late", concepts="tea", at=NOON - FORGETFUL.episode_life))
    assert graph.expiry_queue().earliest() == NOON
    assert faded(graph, NOON) == Leaving([], ["late"])


def test_what_was_said_before_it_was_settled_how_long_turns_live_leaves_as_well() -> None:
    graph = graph_with("tea")
    graph.fold(graph_configured(preset="forgetful", episode_life=DAY))
    assert faded(graph, NOON + DAY) == Leaving([], ["t0"])


def test_what_was_looked_at_is_looked_at_again_only_when_it_may_have_faded() -> None:
    graph = graph_with("coffee")
    assert graph.expiry_queue().earliest() == FADED
    graph.fold(concepts_recalled(concepts="coffee", at=NOON + DAY))
    assert graph.expiry_queue().earliest() == FADED
    assert faded(graph, FADED) == Leaving([], [])
    later = graph.concepts.expiry(0, graph.settings)
    assert graph.expiry_queue().earliest() == later > FADED
    assert faded(graph, later) == Leaving(["coffee"], ["t0"])


@given(st.floats(0.2, 1.0), st.floats(0.01, 1.0), st.integers(1, 7 * DAY))
def test_a_boosted_concept_outlives_another_by_the_time_that_the_closed_form_says(
    weight: float, boost: float, after: int
) -> None:
    graph = graph_with("coffee tea", weight=weight)
    graph.fold(turn_recorded(id="boost", concepts=[concept("coffee", weight=boost)], at=NOON + after))
    half_life = FORGETFUL.half_life
    left = decayed(weight, after, half_life)
    unboosted = NOON + lifetime(weight, 0.1, half_life)
    boosted = NOON + after + lifetime(left + boost, 0.1, half_life)
    assert boosted > unboosted
    for at, gone in ((unboosted - 1, []), (unboosted, ["tea"]), (boosted - 1, ["tea"]), (boosted, ["coffee", "tea"])):
        assert faded(Graph.unpack(graph.pack()), at).concepts == gone


def test_a_long_term_concept_outlives_another() -> None:
    graph = graph_with("coffee tea")
    graph.fold(consolidation_closed(consolidated="coffee"))
    assert faded(graph, FADED) == Leaving(["tea"], [])
    expiry = graph.concepts.expiry(0, graph.settings)
    assert expiry - NOON == pytest.approx((4**2 - 1) * FORGETFUL.long_tau, rel=1e-5), "(1 + t/tau)^-½ = ¼"


# Requests


def test_a_forgotten_concept_takes_the_turns_that_said_nothing_else() -> None:
    assert requested(graph_with("coffee", "coffee tea"), ["coffee", "unheard-of"], [], []) == Leaving(
        ["coffee"], ["t0"]
    )


def test_a_forgotten_turn_takes_what_stands_nowhere_else() -> None:
    graph = graph_with("coffee tea @day:1 @speaker:ada", "tea @speaker:ada")
    assert requested(graph, [], ["t0", "unheard-of"], []) == Leaving(["coffee", "@day:1"], ["t0"])


def test_a_forgotten_session_is_its_turns() -> None:
    graph = graph_with("coffee", "tea", "milk")
    assert requested(graph, [], [], ["s0", "unheard-of"]) == Leaving(["coffee", "milk"], ["t0", "t2"])
    graph.fold(forgotten(concepts="coffee milk", turns="t0 t2"))
    assert requested(graph, [], [], ["s0"]) == Leaving([], [])


def test_nothing_is_forgotten_twice() -> None:
    graph = graph_with("coffee")
    assert requested(graph, ["coffee", "coffee"], ["t0", "t0"], ["s0"]) == Leaving(["coffee"], ["t0"])


def test_a_wish_is_only_a_wish_until_it_is_folded() -> None:
    graph = graph_with("coffee")
    digest = graph.digest()
    requested(graph, ["coffee"], ["t0"], ["s0"])
    assert graph.digest() == digest
