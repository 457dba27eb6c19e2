"""Links fade by the law of their concepts: by hand, and against a look at every pair of every turn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas import limits
from emgas.times import DAY_MS as DAY
from lab.windows.fading_links import faded_links
from processors.lifecycle.decay.forgetting import Leaving, faded
from processors.lifecycle.parts import parts
from processors.lifecycle.windows import due_events
from state.events.events import GraphEvent, TurnRecorded, decode, encode
from state.events.memory_settings import PRESETS
from state.graph.counting.link_queue import lifetime_of
from state.graph.graph import Graph
from state.graph.tables.decay import NEVER, lifetime, lifetime_long
from tests.support.builders import (
    concepts_recalled,
    consolidation_closed,
    folded,
    forgotten,
    graph_configured,
    memory_archived,
    pinned,
    turn_recorded,
    unpinned,
)
from tests.support.clocks import NOON
from tests.support.graphs import pair_counts
from tests.support.lives import configurations, happenings
from tests.support.living import Happening, Life, live

WEEK = 7 * DAY
fading = {"half_life": WEEK, "links_below": 0.5, "prune_below": 0.0, "episode_life": 0}
ONCE = lifetime(1, 0.5, WEEK)  # a half-life


def linked(*turns: str, **changes: object) -> Graph:
    """Return a graph of turns t0, t1, … of one session each, a day apart, with these concepts, whose links fade."""
    turns_recorded = (
        turn_recorded(id=f"t{n}", session=f"s{n}", concepts=names, at=NOON + n * DAY) for n, names in enumerate(turns)
    )
    return folded(graph_configured(**{**fading, **changes}), *turns_recorded)


def closed(graph: Graph, at: int) -> Leaving:
    """Close the decay window that ends at `at` (ms), and return what faded."""
    event = faded(graph, at)
    graph.fold(memory_archived(**event._asdict(), at=at))
    return event


@pytest.mark.source("S27", "M8", "S25")
@pytest.mark.parametrize("words", ["coffee tea", "咖啡 茶"])
def test_a_link_goes_when_its_strength_has_fallen_below_the_threshold_and_takes_words_without_another(
    words: str,
) -> None:
    one, other = words.split()
    graph = linked(words)
    assert faded(graph, NOON + ONCE - 1) == Leaving([], [], ())
    assert faded(graph, NOON + ONCE) == Leaving([one, other], ["t0"], [[one, other]])


@pytest.mark.source("S27", "M2")
def test_what_is_said_together_again_holds_longer_and_counts_from_then() -> None:
    graph = linked("coffee tea", "coffee tea", "coffee milk")
    assert closed(graph, NOON + 2 * DAY + ONCE) == Leaving(["milk"], [], [["coffee", "milk"]])
    twice = NOON + DAY + lifetime(2, 0.5, WEEK)
    assert twice == pytest.approx(NOON + DAY + 2 * ONCE, abs=1)
    assert faded(graph, twice - 1) == Leaving([], [], ())
    assert faded(graph, twice).links == [["coffee", "tea"]]


@pytest.mark.source("M8")
def test_by_steps_a_link_loses_one_of_its_strength_in_each_and_goes_with_the_last() -> None:
    graph = linked("coffee tea", "coffee tea milk", links_below=0.0, links_step=DAY)
    assert closed(graph, NOON + 2 * DAY).links == [["coffee", "milk"], ["tea", "milk"]]
    assert faded(graph, NOON + DAY + 2 * DAY - 1).links == ()
    assert faded(graph, NOON + DAY + 2 * DAY).links == [["coffee", "tea"]]


def test_a_link_of_two_long_term_words_fades_by_the_slow_law() -> None:
    graph = linked("coffee tea milk")
    graph.fold(consolidation_closed(consolidated="coffee tea", at=NOON))
    assert closed(graph, NOON + ONCE) == Leaving(["milk"], [], [["coffee", "milk"], ["tea", "milk"]])
    how = graph.settings
    slow = NOON + lifetime_long(1, 0.5, tau=how.long_tau, beta=how.long_beta)
    assert faded(graph, slow - 1).links == ()
    assert faded(graph, slow).links == [["coffee", "tea"]]


def test_a_link_of_what_is_pinned_stays_until_it_is_unpinned() -> None:
    graph = linked("coffee tea milk")
    graph.fold(pinned(concepts="coffee", turns=""))
    assert closed(graph, NOON + ONCE) == Leaving([], [], [["tea", "milk"]])
    assert faded(graph, NOON + 100 * WEEK).links == ()
    graph.fold(unpinned(concepts="coffee", turns=""))
    assert faded(graph, NOON + ONCE).links == [["coffee", "tea", "milk"]]


def test_recalled_together_they_are_linked_and_stay_so_while_both_are_spoken_of() -> None:
    graph = linked("coffee", "tea")
    graph.fold(concepts_recalled(concepts="coffee tea", at=NOON + DAY))
    assert faded(graph, NOON + DAY + ONCE - 1).links == ()
    graph.fold(turn_recorded(id="later", session="later", concepts="coffee", at=NOON + 3 * DAY))
    assert faded(graph, NOON + DAY + ONCE).links == [["coffee", "tea"]], "tea was not spoken of since"


def test_a_word_that_never_had_a_link_stays() -> None:
    assert faded(linked("coffee"), NOON + 100 * WEEK) == Leaving([], [], ())


def test_without_the_setting_no_link_fades() -> None:
    graph = linked("coffee tea", links_below=0.0)
    assert faded(graph, NOON + 10_000 * DAY) == Leaving([], [], ())
    assert lifetime_of(1, PRESETS["default"], is_long=False) == NEVER


def test_a_link_that_was_cut_is_gone_from_all_counts_and_begins_anew() -> None:
    graph = linked("coffee tea milk", "coffee tea")
    graph.fold(concepts_recalled(concepts="coffee tea", at=NOON))
    graph.fold(memory_archived(concepts="", turns="", links=[["tea", "coffee", "unheard-of"], ["unheard-of", "milk"]]))
    for window in ("turn", "exchange", "recall"):
        assert "coffee tea" not in pair_counts(graph, window)  # type: ignore[arg-type]
    assert pair_counts(graph, "turn") == {"coffee milk": 1, "tea milk": 1}
    graph.fold(turn_recorded(id="again", session="again", concepts="tea coffee", at=NOON + 30 * DAY))
    assert pair_counts(graph, "turn") == {"coffee tea": 1, "coffee milk": 1, "tea milk": 1}
    assert faded(graph, NOON + 30 * DAY + ONCE - 1).links == [["coffee", "milk"], ["tea", "milk"]]


def test_what_was_forgotten_is_in_no_link() -> None:
    graph = linked("coffee tea milk")
    graph.link_queue()
    graph.fold(forgotten(concepts="tea", turns=""))
    assert faded(graph, NOON + ONCE).links == [["coffee", "milk"]]


def test_many_links_are_several_events_each_of_which_a_record_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [" ".join(f"a-word-with-a-long-name-{turn}-{n}" for n in range(60)) for turn in range(20)]
    graph = linked(*turns)
    events = faded(graph, NOON + 20 * DAY + ONCE)
    assert sum(len(each) - 1 for each in events.links) == 20 * 60 * 59 // 2
    monkeypatch.setattr(limits, "EVENT_NAMES_BYTES", 100_000)
    cut = list(parts(events._asdict()))
    assert len(cut) > 5
    for part in cut:
        graph.fold(memory_archived(**part))
    assert not len(graph.pairs["exchange"])


@pytest.mark.source("S27")
def test_the_event_names_the_links_and_is_written_as_ever_without_any() -> None:
    event = memory_archived(concepts="coffee", turns="", links=[["coffee", "tea", "milk"]], at=NOON)
    assert decode(encode(event)) == event
    assert b"links" not in encode(memory_archived(concepts="coffee", turns=""))


@given(happenings(), configurations(), st.integers(0, 2000))
def test_what_the_queue_finds_faded_is_what_a_look_at_every_pair_of_every_turn_finds(
    happened: list[Happening], configured: GraphEvent, days: int
) -> None:
    life = live(happened, [configured])
    graph, at = life.graph, NOON + days * DAY
    if not graph.settings.fades_links:
        return
    expected = scanned(life, at)
    links = faded_links(graph, at).links
    assert {(one, other) for one, *others in links for other in others} == expected


@given(happenings(), configurations())
def test_the_queue_is_never_too_late(happened: list[Happening], configured: GraphEvent) -> None:
    life = Life([configured])
    for event in happened:
        life.tell(event)
        if life.graph.settings.fades_links:
            earliest = life.graph.link_queue().earliest
            life.graph.settle()
            assert not scanned(life, earliest - 1)


def scanned(life: Life, at: int) -> set[tuple[str, str]]:
    """Return the pairs that have faded by `at`, by looking at all of them, one by one."""
    graph = life.graph
    graph.compact()
    counts = {window: pair_counts(graph, window) for window in ("exchange", "recall")}  # type: ignore[misc]
    concepts, gone = graph.concepts, set()
    for pair in {**counts["exchange"], **counts["recall"]}:  # type: ignore[index]
        one, other = pair.split()
        a, b = concepts.numbers[one], concepts.numbers[other]
        if concepts.pinned[a] or concepts.pinned[b]:
            continue
        text = together(life, one, other)
        if pair in counts["recall"] or not text:  # type: ignore[index]
            text.append(min(concepts.accessed[a], concepts.accessed[b]))
        strength = sum(each.get(pair, 0) for each in counts.values())
        is_long = bool(concepts.long_term[a] and concepts.long_term[b])
        if max(text) + lifetime_of(strength, graph.settings, is_long=is_long) <= at:
            gone.add((one, other))
    return gone


def together(life: Life, one: str, other: str) -> list[int]:
    """Return when two concepts were in a turn, or in one and the one before it in its session, that are here."""
    last: dict[str, set[str]] = {}
    events = []
    for event in life.events:
        if isinstance(event, TurnRecorded) and event.id in life.graph.passages.numbers:
            here = {concept.id for concept in event.concepts}
            if {one, other} <= here | last.get(event.session, set()):
                events.append(event.at)
            last[event.session] = here
    return events


@given(happenings(), configurations(links_below=0.9))
def test_a_replay_cuts_the_same_links_without_deciding_again(happened: list[Happening], configured: GraphEvent) -> None:
    life = live(happened, [configured], until=NOON + 3000 * DAY)
    replayed = folded(*life.events)
    assert replayed.digest() == life.graph.digest()
    assert np.array_equal(replayed.pairs["exchange"].canonical()[0], life.graph.pairs["exchange"].canonical()[0])
    assert not list(due_events(replayed, NOON + 3000 * DAY))
