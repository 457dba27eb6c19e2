"""Dreams: what windows go through again by random walks, the same for everybody; off by default."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.times import DAY_MS as DAY
from emgas.times import HOUR_MS as HOUR
from lab.windows.dreams import DREAM, HOT, dreamt
from processors.lifecycle.windows import DueWindow, next_alarm, next_due
from state.events.events import MemoryArchived, MemoryReplayed, decode, encode
from state.graph.graph import Graph
from state.retraction import surviving
from tests.support.builders import UNLINKED, concepts_recalled, graph_configured, refolded, retracted, turn_recorded
from tests.support.clocks import NOON
from tests.support.lives import configurations, happenings
from tests.support.living import Happening, Life, live

MIDNIGHT = NOON - NOON % DAY
CHAIN = {
    "en": ("ferry island", "island volcano", "volcano ash", "ash garden", "garden rose"),
    "zh": ("渡轮 海岛", "海岛 火山", "火山 火山灰", "火山灰 花园", "花园 玫瑰"),
}


def life(language: str = "en", **settings: Any) -> Life:
    """Return a life in which a chain of words was said on one afternoon."""
    lived = Life([graph_configured(dream_every=DAY, dream_at=3 * HOUR, grace=0, **settings)])
    for number, words in enumerate(CHAIN[language]):
        lived.tell(
            turn_recorded(id=f"t{number}", session=f"s{number}", concepts=words, at=MIDNIGHT + 15 * HOUR + number)
        )
    return lived


def dreams(lived: Life) -> list[MemoryReplayed]:
    return [event for event in lived.events if isinstance(event, MemoryReplayed)]


@pytest.mark.source("P46")
def test_at_three_in_the_night_after_a_talk_the_graph_dreams_once() -> None:
    lived = life()
    night = MIDNIGHT + 27 * HOUR
    assert next_alarm(lived.graph) <= night
    lived.tick(night - 1)
    assert dreams(lived) == []
    lived.tick(night + 30 * DAY)
    assert [event.at for event in dreams(lived)] == [night], "nothing was said since: nothing is dreamt of"


@pytest.mark.source("P46")
def test_a_night_in_which_something_fades_is_dreamt_of_all_the_same() -> None:
    """Both windows end at midnight: neither takes the other's turn."""
    happened: list[Happening] = [graph_configured(dream_every=DAY, half_life=DAY, prune_below=0.4, least_turns=99)]
    happened += [
        turn_recorded(id=f"t{day}", concepts=f"word{day} other{day}", at=MIDNIGHT + day * DAY + HOUR)
        for day in range(5)
    ]
    lived = live(happened[1:], happened[:1])
    archived = [event.at for event in lived.events if isinstance(event, MemoryArchived)]
    assert archived == [MIDNIGHT + day * DAY for day in range(1, 5)]
    assert [event.at for event in dreams(lived)] == [MIDNIGHT + day * DAY + 1 for day in range(1, 5)]


@pytest.mark.source("S23", "P46")
@pytest.mark.parametrize("language", CHAIN)
def test_what_a_dream_comes_by_is_stronger_and_the_distant_is_linked(language: str) -> None:
    lived = life(language, dream_walks=20, dream_steps=3)
    before = Graph.unpack(lived.graph.pack())
    lived.tick(MIDNIGHT + 28 * HOUR)
    (dream,) = dreams(lived)
    turn_words = [set(each.split()) for each in CHAIN[language]]
    assert dream.concepts
    assert dream.links, "a walk of three steps ends where nobody went"
    assert all(set(link) not in turn_words for link in dream.links)
    concepts = lived.graph.concepts
    for name in dream.concepts:
        number = concepts.numbers[name]
        asleep = before.concepts.strength_of(before.concepts.numbers[name], dream.at, before.settings)
        assert concepts.strength_of(number, dream.at, lived.graph.settings) == pytest.approx(asleep + 0.1)
        assert concepts.recalls[number] == 0, "nobody asked for it"
    assert len(lived.graph.pairs["recall"]) == len(dream.links)


@pytest.mark.source("S23")
def test_a_dream_is_the_same_on_every_machine_and_is_not_dreamt_again_in_a_replay() -> None:
    first, second = life(), life()
    for lived in (first, second):
        lived.tick(MIDNIGHT + 28 * HOUR)
    assert dreams(first) == dreams(second)
    assert refolded(first.events, Graph("ada")).digest() == first.graph.digest()


def test_a_dream_stands_in_the_log_and_can_be_taken_back() -> None:
    lived = life()
    awake = Graph.unpack(lived.graph.pack())
    lived.tick(MIDNIGHT + 28 * HOUR)
    (dream,) = dreams(lived)
    linked = dream.__class__(**{**_fields(dream), **UNLINKED})
    assert decode(encode(linked)) == linked
    at = lived.events.index(dream)
    log = [*lived.events, retracted(first=at, last=at)]
    again = refolded([event for event, counts in zip(log, surviving(log), strict=True) if counts][:-1], Graph("ada"))
    assert len(again.pairs["recall"]) == 0
    assert again.concepts.strength == awake.concepts.strength


def _fields(event: MemoryReplayed) -> dict[str, Any]:
    return {name: getattr(event, name) for name in event.__struct_fields__}


@pytest.mark.source("S23")
def test_only_what_was_touched_since_the_last_dream_is_gone_through() -> None:
    lived = life()
    lived.tell(turn_recorded(id="old", concepts="cellar damp", at=MIDNIGHT - 10 * DAY))
    lived.tell(concepts_recalled(concepts="damp", at=MIDNIGHT + 16 * HOUR))
    dream = dreamt(lived.graph, MIDNIGHT + 27 * HOUR)
    assert "cellar" not in dream.concepts
    many = Life([graph_configured(dream_every=DAY, dream_walks=100, dream_steps=10)])
    for number in range(2 * HOT):
        words = f"word{number} word{number + 1}"
        many.tell(turn_recorded(id=f"t{number}", session=str(number), concepts=words, at=NOON + number))
    assert len(dreamt(many.graph, MIDNIGHT + DAY).concepts) <= HOT


def test_what_is_in_the_archive_by_then_stays_there() -> None:
    lived = life()
    lived.tick(MIDNIGHT + 28 * HOUR)
    (dream,) = dreams(lived)
    graph = Graph("ada")
    for event in lived.events[: lived.events.index(dream)]:
        graph.fold(event)
    graph.settle()
    graph.concepts.archive(graph.concepts.numbers[dream.concepts[0]], archived=True)
    graph.fold(dream)
    assert graph.concepts.archived[graph.concepts.numbers[dream.concepts[0]]]


def test_a_link_that_a_dream_made_fades_as_others_do_where_links_fade() -> None:
    lived = life(dream_walks=20, dream_steps=3, links_below=0.5, half_life=DAY, prune_below=0.0)
    lived.tick(MIDNIGHT + 28 * HOUR)
    assert len(lived.graph.pairs["recall"]) > 0
    lived.tick(MIDNIGHT + 90 * DAY)
    assert len(lived.graph.pairs["recall"]) == 0
    assert refolded(lived.events, Graph("ada")).digest() == lived.graph.digest()


def test_by_default_nobody_dreams() -> None:
    lived = Life([graph_configured()])
    lived.tell(turn_recorded(id="t0", at=NOON))
    assert DREAM.next_end(lived.graph) is None


def test_a_dream_comes_in_its_turn_among_the_windows() -> None:
    lived = life(half_life=HOUR, prune_below=0.1, decay_every=DAY, least_turns=1, idle=HOUR)
    ends: list[tuple[str, int]] = []
    while (due := next_due(lived.graph, MIDNIGHT + 3 * DAY)) is not None:
        assert isinstance(due, DueWindow)
        ends.append((due.kind, due.at))
        lived.close_due(due.at)
    assert ends == sorted(ends, key=lambda end: end[1])
    assert ("dream", MIDNIGHT + 27 * HOUR) in ends


@given(
    happenings(),
    configurations(dream_every=DAY, dream_at=3 * HOUR),
    st.lists(st.integers(NOON, NOON + 90 * DAY), max_size=8),
)
def test_however_often_time_is_told_the_same_is_dreamt(
    happened: list[Happening], configured: Any, ticks: list[int]
) -> None:
    plain = live(happened, [configured], until=NOON + 300 * DAY)
    ticked = live(happened, [configured], ticks=ticks, until=NOON + 300 * DAY)
    assert dreams(ticked) == dreams(plain)
    assert ticked.graph.digest() == plain.graph.digest()
    assert refolded(plain.events, Graph("ada")).digest() == plain.graph.digest()


@given(happenings(), configurations(dream_every=DAY), st.randoms(use_true_random=False))
def test_turns_that_are_folded_together_miss_no_dream(happened: list[Happening], configured: Any, seeded: Any) -> None:
    plain = live(happened, [configured], until=NOON + 300 * DAY)
    batched = live(happened, [configured], batches=seeded, until=NOON + 300 * DAY)
    assert dreams(batched) == dreams(plain)
