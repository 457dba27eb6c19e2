"""What a memory weighs and how it hangs together; and windows that keep it steady, by what is in their events."""

from __future__ import annotations

import random

import pytest

from emgas.times import DAY_MS
from processors.lifecycle.homeostasis import measures, path_length
from state.events.events import ConsolidationWindowClosed, decode, encode
from state.events.memory_settings import MemorySettings
from state.graph.graph import Graph
from tests.support.builders import folded, graph_configured, memory_archived, turn_recorded
from tests.support.clocks import NOON
from tests.support.living import Life, live


def chain(*pairs: str) -> Graph:
    """Return a graph in which the words of each pair were said together."""
    return folded(*(turn_recorded(id=f"t{n}", at=NOON + n, concepts=pair) for n, pair in enumerate(pairs)))


@pytest.mark.source("P27")
def test_the_path_length_of_a_chain_is_the_mean_of_its_distances() -> None:
    # a-b-c-d: distances 1 2 3, 1 1 2, 2 1 1, 3 2 1: 20 of 12
    assert path_length(chain("a b", "b c", "c d")) == (pytest.approx(20 / 12), 1.0)
    assert path_length(chain("a b c d")) == (1.0, 1.0)
    apart, reached = path_length(chain("a b", "c d"))
    assert (apart, reached) == (1.0, pytest.approx(1 / 3)), "what is not linked is not reached"
    assert path_length(Graph("ada")) == (0.0, 0.0)


def test_what_is_archived_is_no_longer_a_part_of_what_is_measured() -> None:
    turns = [turn_recorded(id=f"t{n}", at=NOON + n * DAY_MS, concepts=f"w{n} x", tokens=10) for n in range(4)]
    before = measures(folded(*turns))
    after = measures(folded(*turns, memory_archived(at=NOON + 4 * DAY_MS, turns="t0 t1 t2", concepts="w0 w1 w2")))
    assert (before.active, before.archived, before.compression) == (4, 0, 1.0)
    assert (after.active, after.archived) == (1, 3)
    assert (after.words, after.active_words, after.compression) == (40, 10, 0.25)


@pytest.mark.source("P35")
def test_growth_counts_the_last_month_and_compression_what_is_left_of_what_was_said() -> None:
    old = [turn_recorded(id=f"o{n}", at=NOON - 200 * DAY_MS + n, concepts="x", tokens=5) for n in range(8)]
    new = [turn_recorded(id=f"n{n}", at=NOON + n, concepts="x", tokens=5) for n in range(4)]
    assert measures(folded(*old, *new)).growth == 0.5
    gone = memory_archived(at=NOON + 9, turns=" ".join(f"o{n}" for n in range(8)))
    assert measures(folded(*old, *new, gone)).compression == pytest.approx(20 / 60)


def test_measuring_changes_nothing_and_says_the_same_again() -> None:
    graph = chain("a b", "b c", "c d")
    digest, first = graph.digest(), measures(graph)
    assert measures(graph) == first
    assert measures(Graph.unpack(graph.pack())) == first
    assert graph.digest() == digest


def busy(each_day: list[int], **settings: float) -> Life:
    """Live through days with so many turns, in windows that adapt if `settings` say so."""
    birth = graph_configured(least_turns=8, consolidate_every=DAY_MS, prune_below=0.0, episode_life=0, **settings)
    turns = [
        turn_recorded(id=f"d{day}-{n}", at=NOON + day * DAY_MS + n * 60_000, concepts=f"w{day} v{n}", session=f"s{day}")
        for day, count in enumerate(each_day)
        for n in range(count)
    ]
    return live(turns, [birth], until=NOON + (len(each_day) + 2) * DAY_MS)


def closed(life: Life) -> list[ConsolidationWindowClosed]:
    return [event for event in life.events if isinstance(event, ConsolidationWindowClosed)]


@pytest.mark.source("P27")
def test_a_memory_that_grows_too_fast_consolidates_sooner_and_one_that_does_not_waits_longer() -> None:
    doubling = [8, 8, 16, 32, 64]
    fast, steady = busy(doubling, steady_growth=0.1), busy([8] * 60, steady_growth=2.0)
    assert [event.pace for event in closed(fast)][:3] == [0, 1, 2]
    assert closed(steady)[-1].pace < 0
    assert [event.active for event in closed(fast)][:3] == [8, 16, 32]
    assert fast.graph.rhythm.least_turns < 8 < steady.graph.rhythm.least_turns


def test_windows_that_do_not_adapt_say_nothing_of_it() -> None:
    life = busy([8, 8, 16, 32])
    assert {(event.pace, event.active) for event in closed(life)} == {(0, 0)}
    assert b'"pace"' not in b"".join(encode_of(event) for event in closed(life))


def encode_of(event: ConsolidationWindowClosed) -> bytes:
    from msgspec.structs import replace

    return encode(replace(event, epoch=1, claim="c", seq=1, chain="x"))


def test_the_pace_is_in_the_log_and_a_replay_has_it_without_deciding() -> None:
    life = busy([8, 8, 16, 32, 64], steady_growth=0.1)
    again = Graph("ada")
    for event in life.events:
        again.fold(event)
    assert (again.pace, again.active_before) == (life.graph.pace, life.graph.active_before)
    assert again.digest() == life.graph.digest()
    assert Graph.unpack(life.graph.pack()).pace == life.graph.pace
    read = decode(encode_of(closed(life)[-1]))
    assert isinstance(read, ConsolidationWindowClosed)
    assert read.pace == closed(life)[-1].pace != 0


def test_who_no_longer_wants_it_steady_has_windows_as_they_are_set_at_once() -> None:
    life = busy([8, 8, 16, 32, 64], steady_growth=0.1)
    life.fold(graph_configured(least_turns=8))
    assert (life.graph.pace, life.graph.active_before, life.graph.rhythm.least_turns) == (0, 0, 8)


def test_turns_in_batches_close_the_same_windows() -> None:
    each_day = [8, 8, 16, 32, 5, 40]
    one_by_one = busy(each_day, steady_growth=0.1)
    birth = one_by_one.events[:1]
    expected = [event for event in one_by_one.events if type(event).__name__ == "TurnRecorded"]
    together = live(expected, birth, batches=random.Random(3), until=NOON + (len(each_day) + 2) * DAY_MS)
    assert together.windows == one_by_one.windows


@pytest.mark.parametrize("pace", range(-3, 4))
def test_a_pace_keeps_every_setting_within_its_bounds(pace: int) -> None:
    for least, above in ((1, 0.0), (2**53, 2.0), (12, 0.75)):
        settings = MemorySettings(least_turns=least, affinity_above=above).paced(pace)
        assert settings.affinity_above >= 0
        assert settings.least_turns >= 1
    assert MemorySettings().paced(0) == MemorySettings()
    assert MemorySettings().paced(1).consolidate_every * 2 == MemorySettings().consolidate_every
