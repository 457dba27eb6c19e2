"""The archive: what fades leaves the active tier and can still be found; what is asked for comes back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from emgas import limits
from emgas.messages.filters import Filter
from emgas.messages.queries import Query, RecalledPassage
from emgas.times import DAY_MS as DAY
from emgas.times import HOUR_MS as HOUR
from emgas.times import MINUTE_MS as MINUTE
from lab.catalogue import POLICIES
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.decay.forgetting import requested
from processors.lifecycle.parts import parts
from processors.lifecycle.steps import in_one_go
from processors.lifecycle.windows import DueWindow, close, next_alarm
from processors.recall.answer.answer import Answer, Answerer
from state.events.events import ConsolidationWindowClosed, GraphEvent, MemoryArchived, TurnRecorded
from state.events.memory_settings import PRESETS
from state.graph.graph import Graph
from tests.support.builders import (
    concepts_recalled,
    consolidation_closed,
    folded,
    forgotten,
    graph_configured,
    memory_archived,
    memory_restored,
    refolded,
    topic_change,
    turn_recorded,
)
from tests.support.living import Life
from tests.support.stories import extracted, queried

EXTRACTOR = YakeExtractor(language="en")
MAY_2023 = 1_683_547_200_000  # 2023-05-08T12:00:00Z
NOVEMBER_2026 = 1_795_000_000_000
THINGS = (
    *("anchor", "basil", "canoe", "drum", "easel", "falcon", "glove", "hammock"),
    *("iris", "jigsaw", "kayak", "lantern", "mango", "needle", "olive", "piano"),
)
PRESETS_THAT_FADE = [name for name, settings in PRESETS.items() if settings.prune_below or settings.episode_life]


def a_turn(name: str, text: str, at: int, **more: Any) -> TurnRecorded:
    """Return a turn as a worker records it."""
    return extracted(text, id=name, at=at, by=EXTRACTOR, **more)


def answered(life: Life, text: str, **more: Any) -> Answer:
    """Answer a question from a life's graph."""
    turns = {event.id: event for event in life.events if isinstance(event, TurnRecorded)}
    query = Query(graph="ada", text=text, **more)
    return in_one_go(Answerer(EXTRACTOR, policies=POLICIES).answer(query, queried(life.graph, turns)))


def retrieve(life: Life, text: str, **more: Any) -> dict[str, RecalledPassage]:
    return {passage.id: passage for passage in answered(life, text, top_passages=100, **more).reply.passages}


def imported(preset: str) -> Life:
    """Return the memory of a chat of 2023, imported, in which somebody says hello today."""
    life = Life([graph_configured(preset=preset)])
    for n in range(60):
        text = f"We bought the {THINGS[n % 16]} number{n} at the market."
        life.tell(a_turn(f"t{n}", text, MAY_2023 + n * HOUR, session=f"s{n // 10}", live=False))
    life.tell(a_turn("hello", "Hello there, the lighthouse keeper is back.", NOVEMBER_2026, live=True))
    return life


@pytest.mark.parametrize("preset", PRESETS_THAT_FADE)
def test_every_turn_of_an_old_chat_is_found_after_one_hello_of_today(preset: str) -> None:
    life = imported(preset)
    assert sum(life.graph.passages.archived) == 60, "the active tier has let go of all of them"
    for n in range(60):
        assert f"t{n}" in retrieve(life, f"Where is number{n}?"), n


def test_every_day_of_a_diary_of_two_years_is_found() -> None:
    life = Life([graph_configured(preset="forgetful")])
    for day in range(0, 730, 5):
        text = f"Today I wrote page{day} about the {THINGS[day % 16]}."
        life.tell(a_turn(f"d{day}", text, MAY_2023 + day * DAY, session=f"{day}"))
    active = int(life.graph.passages.is_active().sum())
    assert active <= 14, "60 days of it are active"
    assert all(f"d{day}" in retrieve(life, f"What was page{day} about?") for day in range(0, 730, 5))


def test_of_29_coffee_mornings_each_is_a_turn_that_is_found() -> None:
    life = Life([graph_configured(least_turns=2)])
    for day in range(29):
        at = MAY_2023 + day * DAY + day % 3 * 10 * MINUTE
        life.tell(a_turn(f"m{day}", "I drank a strong black coffee with oat milk this morning.", at))
    life.tick(MAY_2023 + 30 * DAY)
    assert any(isinstance(window, ConsolidationWindowClosed) for window in life.windows)
    assert not any(life.graph.passages.archived)
    assert len(retrieve(life, "When did I drink coffee with oat milk?")) == 29


@pytest.mark.source("S22")
def test_what_is_said_twice_in_one_conversation_is_archived_and_linked_to_what_says_more() -> None:
    life = Life([graph_configured(least_turns=2)])
    life.tell(a_turn("t0", "The blue oven dish is in the cold cellar.", MAY_2023))
    life.tell(a_turn("t1", "The blue oven dish is in the cold cellar!", MAY_2023 + MINUTE))
    life.tick(MAY_2023 + HOUR)
    passages = life.graph.passages
    assert (passages.archived.tolist(), passages.repeats.tolist()) == ([0, 1], [-1, 0])
    assert set(retrieve(life, "Where is the oven dish?")) == {"t0", "t1"}
    refound = Graph.unpack(life.graph.pack())
    assert refound.digest() == life.graph.digest()
    assert refound.passages.repeats.tolist() == [-1, 0]


@pytest.mark.source("P23")
def test_a_link_to_a_turn_that_is_gone_is_none_and_others_are_renumbered() -> None:
    turns = [turn_recorded(id=f"t{n}", concepts=f"word{n}", at=MAY_2023 + n) for n in range(4)]
    pairs = [("t1", "t2"), ("t0", "t3")]
    graph = folded(*turns, consolidation_closed(at=MAY_2023 + 9, repeats=pairs), forgotten(turns="t0"))
    graph.compact()
    assert graph.passages.ids == ["t1", "t2", "t3"]
    assert graph.passages.repeats.tolist() == [-1, 0, -1]


# ranking


def a_faded_twin() -> Life:
    life = Life([graph_configured()])
    life.tell(a_turn("old", "The kettle stands beside the anchor.", MAY_2023, session="one"))
    life.tell(a_turn("new", "The kettle stands beside the anchor.", MAY_2023 + 1, session="two"))
    life.fold(memory_archived(at=MAY_2023 + 2, turns="old"))
    return life


@pytest.mark.source("P1")
@pytest.mark.parametrize("mode", ["default", "literal"])
def test_the_archive_ranks_behind_and_a_passage_says_that_it_comes_from_there(mode: str) -> None:
    passages = retrieve(a_faded_twin(), "Where is the kettle?", mode=mode)
    assert [(name, passage.archived) for name, passage in passages.items()] == [("new", False), ("old", True)]
    assert passages["old"].score < passages["new"].score


@pytest.mark.source("P24")
def test_the_archive_can_be_left_out() -> None:
    assert set(retrieve(a_faded_twin(), "Where is the kettle?", only=Filter(include_archive=False))) == {"new"}


def test_an_explanation_tells_what_the_archive_took_from_the_score() -> None:
    passages = retrieve(a_faded_twin(), "Where is the kettle?", explain=True)
    whys = {name: passage.why for name, passage in passages.items()}
    assert whys["old"] is not None
    assert whys["new"] is not None
    assert whys["old"].terms["archived"] < 0
    assert "archived" not in whys["new"].terms
    assert sum(whys["old"].terms.values()) == pytest.approx(passages["old"].score)


def test_a_concept_of_the_archive_is_a_seed_and_its_links_carry_energy() -> None:
    life = a_faded_twin()
    before = answered(life, "Where is the kettle?").reply
    life.fold(memory_archived(at=MAY_2023 + 2, concepts="kettle anchor"))
    after = answered(life, "Where is the kettle?").reply
    assert [seed.id for seed in after.seeds] == [seed.id for seed in before.seeds] == ["kettle"]
    assert [concept.energy for concept in after.concepts] == [concept.energy for concept in before.concepts]


# coming back


def test_a_turn_that_comes_back_lives_anew_and_one_that_is_not_archived_again_stays() -> None:
    settings = PRESETS["forgetful"]
    life = Life([graph_configured(preset="forgetful")])
    life.tell(turn_recorded(id="t0", at=MAY_2023, concepts="coffee", session="one"))
    later = MAY_2023 + 400 * DAY
    life.tick(later)
    assert life.graph.passages.archived.tolist() == [1]
    assert next_alarm(life.graph) > later + 10_000 * DAY, "nothing there is to fade"
    for event in (concepts_recalled(at=later, concepts="coffee"), memory_restored(at=later, turns="t0")):
        life.fold(event)
    assert life.graph.passages.archived.tolist() == [0]
    assert life.graph.concepts.archived.tolist() == [0]
    life.tick(later + 3 * DAY)
    assert life.graph.passages.archived.tolist() == [0]
    life.tick(later + settings.episode_life + 2 * DAY)
    assert life.graph.passages.archived.tolist() == [1]
    again = refolded(life.events, Graph("ada"))
    assert again.digest() == life.graph.digest() == Graph.unpack(life.graph.pack()).digest()


def test_a_faded_concept_that_is_mentioned_again_is_active_and_remembers_what_it_was() -> None:
    life = Life([graph_configured(preset="forgetful")])
    life.tell(turn_recorded(id="t0", at=MAY_2023, concepts="coffee tea"))
    life.tell(turn_recorded(id="t1", at=MAY_2023 + 400 * DAY, concepts="coffee"))
    life.graph.settle()
    concepts = life.graph.concepts
    assert {name: concepts.archived[number] for name, number in concepts.numbers.items()} == {"coffee": 0, "tea": 1}
    assert concepts.in_turns[concepts.numbers["coffee"]] == 2


@pytest.mark.source("P25")
def test_a_question_brings_back_what_it_needs_of_the_archive_and_only_if_it_reinforces() -> None:
    life = a_faded_twin()
    assert answered(life, "Where is the kettle?").restored == ()
    assert answered(life, "Where is the kettle?", reinforce=True).restored == ("old",)
    assert answered(life, "Where is the kettle?", reinforce=True, top_passages=1).restored == ("old",)


# themes


def test_a_theme_whose_words_have_all_faded_dies_with_the_window_that_archives_them() -> None:
    graph = folded(
        turn_recorded(id="t0", concepts="coffee tea milk piano"),
        consolidation_closed(topics=[topic_change("topic-0", "coffee tea milk")]),
        memory_archived(concepts="coffee tea"),
    )
    assert [graph.concepts.ids[number] for theme in graph.view().themes for number in theme.members] == ["milk"]
    graph.fold(memory_archived(concepts="milk"))
    assert graph.view().themes == ()
    assert graph.themes.themes == {}


def test_a_theme_whose_words_were_all_forgotten_is_not_shown() -> None:
    graph = folded(
        turn_recorded(id="t0", concepts="coffee tea milk piano"),
        consolidation_closed(topics=[topic_change("topic-0", "coffee tea milk")]),
        forgotten(concepts="coffee tea milk"),
    )
    assert graph.view().themes == ()


# only what somebody wants forgotten is gone


def test_what_is_in_the_archive_can_be_forgotten() -> None:
    life = imported("default")
    gone = requested(life.graph, [], ["t3"], ["s1"])
    assert gone.turns == ["t3", *(f"t{n}" for n in range(10, 20))]
    life.fold(forgotten(concepts=gone.concepts, turns=gone.turns))
    assert "t3" not in retrieve(life, "Where is number3?")
    assert "t30" in retrieve(life, "Where is number30?")


# parts


def cut(events: Iterable[GraphEvent], bound: int) -> Graph:
    """Fold events, each cut into parts."""
    graph = Graph("ada")
    for event in events:
        fields = [name for name in ("consolidated", "topics", "repeats", "concepts", "turns") if hasattr(event, name)]
        if isinstance(event, TurnRecorded):
            graph.fold(event)
            continue
        kind, there = type(event), {name: getattr(event, name) for name in event.__struct_fields__}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(limits, "EVENT_NAMES_BYTES", bound)
            pieces = list(parts({name: there[name] for name in fields}))
        assert bound > 1000 or len(pieces) > 1
        for piece in pieces:
            graph.fold(kind(**{**there, **piece}))
    return graph


def test_however_a_window_or_a_request_is_cut_the_graph_is_the_same() -> None:
    turns = [turn_recorded(id=f"t{n}", concepts=f"word{n} other{n} third{n}", at=MAY_2023 + n) for n in range(30)]
    topics = [topic_change(f"topic-{n}", f"word{n} other{n} third{n}") for n in range(9)]
    names = [f"word{n}" for n in range(30)]
    events: list[GraphEvent] = [
        *turns,
        consolidation_closed(
            at=MAY_2023 + DAY, consolidated=names, topics=topics, repeats=[("t0", f"t{n}") for n in range(1, 9)]
        ),
        memory_archived(at=MAY_2023 + 2 * DAY, concepts=names[:20], turns=[f"t{n}" for n in range(20)]),
        forgotten(concepts=names[10:], turns=[f"t{n}" for n in range(5, 25)]),
    ]
    whole = cut(events, 10**6)
    assert {cut(events, bound).digest() for bound in (1, 50, 200)} == {whole.digest()}


def test_a_window_after_a_large_import_is_several_events_that_each_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    life = imported("default")
    fresh = Graph("ada")
    for event in life.events:
        if isinstance(event, TurnRecorded):
            fresh.fold(event)
    monkeypatch.setattr(limits, "EVENT_NAMES_BYTES", 200)
    events = close(fresh, DueWindow("decay", NOVEMBER_2026 - NOVEMBER_2026 % DAY))
    assert len(events) > 3
    named = [name for event in events if isinstance(event, MemoryArchived) for name in (*event.concepts, *event.turns)]
    assert len(named) == len(set(named)) > 60
    assert all(sum(len(name) + 3 for name in (*e.concepts, *e.turns)) <= 200 for e in events)  # type: ignore[attr-defined]
    assert len({event.at for event in events}) == 1


def test_there_is_one_part_at_least_and_what_is_too_large_alone_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(parts({"concepts": [], "turns": []})) == [{"concepts": [], "turns": []}]
    monkeypatch.setattr(limits, "EVENT_NAMES_BYTES", 12)
    split = list(parts({"concepts": ["ab", "a" * 50, "c"], "turns": ["d"]}))
    assert split == [
        {"concepts": ["ab"], "turns": []},
        {"concepts": ["a" * 50], "turns": []},
        {"concepts": ["c"], "turns": ["d"]},
    ]
