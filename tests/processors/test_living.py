"""Laws of a graph that lives: neither ticks nor batches change what a window closes, and replaying forgets the same."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emgas.limits import EARLIEST_MS
from lab.windows.fading_links import faded_links
from processors.lifecycle.decay.forgetting import faded
from state.events.events import (
    ConsolidationWindowClosed,
    GraphEvent,
    MemoryArchived,
    SessionEnded,
    TurnRecorded,
    WindowEvent,
)
from state.graph.graph import Graph
from state.graph.tables.decay import NEVER
from tests.support.builders import concepts_recalled, graph_configured, refolded, turn_recorded
from tests.support.clocks import DAY, NOON
from tests.support.graphs import assert_same_view
from tests.support.lives import configurations, happenings, long_life, ticks
from tests.support.living import ForgetRequest, Happening, Life, live

END = NOON + 3000 * DAY
seeds = st.randoms(use_true_random=False)


@given(happenings(), configurations(), ticks())
def test_extra_ticks_change_neither_windows_nor_content(
    happened: list[Happening], configured: GraphEvent, extra: list[int]
) -> None:
    plain = live(happened, [configured], until=END)
    ticked = live(happened, [configured], ticks=extra, until=END)
    assert ticked.windows == plain.windows
    assert ticked.graph.digest() == plain.graph.digest()


@given(happenings(), configurations(), seeds, st.sampled_from([1, 3]))
def test_batches_change_neither_windows_nor_content_and_none_misses_a_window(
    happened: list[Happening], configured: GraphEvent, seeded: random.Random, few: int
) -> None:
    plain = live(happened, [configured], until=END)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("state.graph.turn_counting.FEW", few)  # turns that are counted one by one, and not at once
        batched = live(happened, [configured], batches=seeded, until=END)
    assert batched.windows == plain.windows
    assert batched.graph.digest() == plain.graph.digest()


@given(happenings(), configurations(), st.lists(st.integers(0, 30), max_size=5))
def test_a_worker_that_dies_and_loads_its_graph_again_closes_the_same_windows(
    happened: list[Happening], configured: GraphEvent, deaths: list[int]
) -> None:
    plain, mortal = live(happened, [configured], until=END), Life([configured])
    for number, event in enumerate(happened):
        mortal.tell(event)
        for _ in range(deaths.count(number)):
            mortal.graph = Graph.unpack(mortal.graph.pack())
    mortal.tick(END)
    assert mortal.windows == plain.windows
    assert mortal.graph.digest() == plain.graph.digest()


@given(happenings(), configurations(), st.integers(0, 60))
def test_what_was_forgotten_stays_forgotten_when_the_log_is_replayed(
    happened: list[Happening], configured: GraphEvent, cut: int
) -> None:
    life = live(happened, [configured], until=END)
    replayed = refolded(life.events, Graph("ada"))
    assert replayed.digest() == life.graph.digest()
    assert_same_view(replayed, life.graph)
    resumed = Graph.unpack(refolded(life.events[:cut], Graph("ada")).pack())
    assert refolded(life.events[cut:], resumed).digest() == life.graph.digest()


@pytest.mark.source("M8")
@given(happenings(), configurations(), st.integers(0, 2000))
def test_what_the_heap_finds_faded_is_what_a_full_scan_finds(
    happened: list[Happening], configured: GraphEvent, days: int
) -> None:
    graph, at = live(happened, [configured]).graph, NOON + days * DAY
    concepts, turns = scanned(graph, at)
    gone = faded(graph, at)
    assert (gone.concepts, gone.turns) == (concepts, turns)


def scanned(graph: Graph, at: int) -> tuple[list[str], list[str]]:
    """Return what has faded by `at`, by looking at everything."""
    graph.compact()  # as who looks for faded links does: numbers must not change in between
    concepts, passages, how = graph.concepts, graph.passages, graph.settings
    active, (_, alone) = concepts.is_active(), faded_links(graph, at)
    gone = {number for number in concepts.numbers.values() if active[number] and concepts.expiry(number, how) <= at}
    gone |= alone  # test_fading_links.py looks at all links
    if how.fades_links:
        graph.link_queue().look_again()
    turns = []
    for turn, number in passages.numbers.items():
        if passages.archived[number] or passages.stays(number):
            continue
        words = {n for n in passages.concepts_of(number) if not concepts.is_mark[n] and active[n]}
        is_over = how.episode_life > 0 and passages.over_at(number, how.episode_life) <= at
        if is_over or (words and words <= gone):
            turns.append(turn)
    return [concepts.ids[number] for number in sorted(gone)], turns


@given(happenings(), configurations())
def test_an_entry_of_the_heap_is_never_too_late(happened: list[Happening], configured: GraphEvent) -> None:
    life = Life([configured])
    for event in happened:
        life.tell(event)
        graph = life.graph
        graph.settle()
        active, concepts_now = graph.concepts.is_active(), graph.passages.is_active()
        expiries = [graph.concepts.expiry(n, graph.settings) for n in np.flatnonzero(active).tolist()]
        if life_of_turns := graph.settings.episode_life:
            ending = [n for n in np.flatnonzero(concepts_now).tolist() if not graph.passages.stays(n)]
            expiries += [graph.passages.over_at(n, life_of_turns) for n in ending]
        assert graph.expiry_queue().earliest() <= min(expiries, default=NEVER)


@given(happenings(), configurations())
def test_what_a_decay_window_names_was_there(happened: list[Happening], configured: GraphEvent) -> None:
    graph = Graph("ada")
    for event in live(happened, [configured], until=END).events:
        if isinstance(event, MemoryArchived):
            assert set(event.concepts) <= graph.concepts.numbers.keys()
            assert set(event.turns) <= graph.passages.numbers.keys()
        graph.fold(event)


@given(happenings(), configurations())
def test_windows_close_in_the_order_of_their_ends_and_none_is_opened_again(
    happened: list[Happening], configured: GraphEvent
) -> None:
    life = live(happened, [configured], until=END)
    ends = [window.at for window in life.windows if isinstance(window, MemoryArchived)]
    assert ends == sorted(set(ends))
    every = life.graph.settings.decay_every
    assert all(end % every == 0 for end in ends)


# a week is consolidated, and what was said in it dreamt of, at different times before one and the same recall
WEEK_AND_DREAM: list[Happening] = [turn_recorded(id="t0", at=NOON), concepts_recalled(at=NOON + 3 * DAY)]


@given(happenings(), configurations())
@example(WEEK_AND_DREAM, graph_configured(preset="soulmem", grace=2 * DAY))
def test_no_window_closes_before_its_end_and_the_grace(happened: list[Happening], configured: GraphEvent) -> None:
    life = live(happened, [configured])
    clock = EARLIEST_MS
    pending: list[int] = []
    for event in life.events:
        at = getattr(event, "at", EARLIEST_MS)
        if isinstance(event, WindowEvent) or (isinstance(event, SessionEnded) and event.reason == "idle"):
            pending.append(at)
        elif not isinstance(event, SessionEnded):  # by its size or by another topic: no silence is waited for
            clock = max(clock, at)
            assert all(end + life.graph.settings.grace <= clock for end in pending)
            pending.clear()


@given(happenings(), configurations(prune_below=0.0, episode_life=0, links_below=0.0, links_step=0))
def test_an_elephant_never_forgets(happened: list[Happening], configured: GraphEvent) -> None:
    life = live(happened, [configured], until=END)
    assert not any(isinstance(window, MemoryArchived) for window in life.windows)
    if not any(isinstance(event, ForgetRequest) for event in happened):
        turns = [event for event in happened if isinstance(event, TurnRecorded)]
        assert set(life.graph.concepts.numbers) == {concept.id for turn in turns for concept in turn.concepts}
        assert len(life.graph.passages.numbers) == len(turns)
        archived = sum(len(repeats_in(window)) for window in life.windows)
        assert sum(life.graph.passages.archived) == archived


def repeats_in(window: GraphEvent) -> list[tuple[str, str]]:
    return window.repeats if isinstance(window, ConsolidationWindowClosed) else []


@pytest.mark.source("S25")
@given(happenings(), configurations(long_windows=0, long_recalls=0, prune_below=0.1, episode_life=60 * DAY))
@settings(max_examples=50)
def test_without_long_term_memory_everything_fades_in_the_end(
    happened: list[Happening], configured: GraphEvent
) -> None:
    life = live(happened, [configured], until=NOON + 200_000 * DAY)
    view, concepts, passages = life.graph.view(), life.graph.concepts, life.graph.passages
    assert [bool(each) for each in concepts.archived] == [not each for each in concepts.pinned]
    assert [bool(each) for each in passages.archived] == [not passages.stays(n) for n in range(len(passages))]
    if not any(isinstance(event, ForgetRequest) for event in happened):
        assert set(view.passage_id) == {event.id for event in happened if isinstance(event, TurnRecorded)}
        assert not view.themes or any(concepts.pinned)


@given(happenings(), configurations())
def test_only_what_somebody_wanted_forgotten_is_gone(happened: list[Happening], configured: GraphEvent) -> None:
    life = live([event for event in happened if not isinstance(event, ForgetRequest)], [configured], until=END)
    assert set(life.graph.view().passage_id) == {event.id for event in happened if isinstance(event, TurnRecorded)}
    assert not life.graph.passages.gone
    assert life.graph.forgotten == 0


@pytest.mark.parametrize("seed", range(12))
def test_in_a_long_life_nothing_that_happens_to_the_worker_changes_what_is_remembered(seed: int) -> None:
    configured, happened = long_life(seed)
    seeded = random.Random(seed)
    plain = live(happened, [configured], until=END)
    undisturbed = live(happened, [configured], ticks=[seeded.randint(NOON, END) for _ in range(100)], until=END)
    batched = live(happened, [configured], batches=seeded, until=END)
    mortal = Life([configured])
    for event in happened:
        mortal.tell(event)
        if seeded.random() < 0.1:
            mortal.graph = Graph.unpack(mortal.graph.pack())
    mortal.tick(END)
    replayed = refolded(plain.events, Graph("ada"))
    assert undisturbed.windows == batched.windows == mortal.windows == plain.windows
    digests = {graph.digest() for graph in (plain.graph, undisturbed.graph, batched.graph, mortal.graph, replayed)}
    assert len(digests) == 1
    assert {type(window) for window in plain.windows} >= {ConsolidationWindowClosed}
