"""Gates: what a graph that asks for it counts of what comes; decided as it comes, in English and in Chinese."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from emgas.messages.queries import Mode
from emgas.times import DAY_MS as DAY
from lab.catalogue import GATES
from lab.gates.novelty import LAST, is_redundant, novelty
from processors.lifecycle.gates import Gate, gated
from state.events.events import GraphEvent, TurnRecorded
from state.graph.graph import Graph
from tests.support.builders import concepts, forgotten, graph_configured, refolded, turn_recorded
from tests.support.clocks import NOON
from tests.support.gated import Gated, why
from tests.support.living import Life

SAME = {
    "en": ("The kettle in the kitchen broke again.", "Again the kitchen kettle broke."),
    "zh": ("厨房的水壶坏了。", "水壶坏了，厨房的水壶。"),
}
NEW = {"en": "Bob repaired the kettle with a soldering iron.", "zh": "小明用电烙铁修好了水壶。"}
TALK = {"en": "haha ok, see you", "zh": "哈哈好的"}


# Novelty


@pytest.mark.source("P5", "P8")
@pytest.mark.parametrize("language", SAME)
def test_what_says_nothing_new_goes_to_the_archive_as_it_comes(language: str) -> None:
    memory = Gated(novelty_above=0.35)
    first, again = SAME[language]
    turns = memory.say(first, again, NEW[language])
    assert why(turns) == ["", "redundant", ""]
    assert turns[1].novelty is not None
    assert turns[1].novelty < 0.35 <= min(turns[0].novelty or 0, turns[2].novelty or 0)
    assert turns[1].text == again, "the log has all of it"
    kettle = {"en": "kettle", "zh": "水壶"}[language]
    memory.graph.settle()
    assert memory.graph.concepts.in_turns[memory.graph.concepts.numbers[kettle]] == 3
    question = {"en": "what about the kettle?", "zh": "水壶怎么了？"}[language]
    active = memory.ask(question, top_passages=10, only={"include_archive": False})
    assert {passage.id for passage in active.passages} == {"t0", "t2"}
    assert {passage.id for passage in memory.ask(question, top_passages=10).passages} == {"t0", "t1", "t2"}


@pytest.mark.source("P5")
def test_the_score_is_the_sources_formula_by_hand() -> None:
    graph = Gated(novelty_above=0.35).graph
    assert novelty(graph, "s", concepts("tea"), 3) == (1.0, 1), "all is new, and far from nothing"
    graph.fold(turn_recorded(id="t0", concepts="coffee milk"))
    assert novelty(graph, "s", concepts("coffee milk"), 3) == (0.0, 0)
    assert novelty(graph, "s", concepts("coffee tea"), 3) == (round(0.5 * 1 / 2 + 0.5 * (1 - 0.5), 4), 1)
    assert novelty(graph, "s", concepts("@day:2023-05-08"), 3) == (0.0, 0), "without a word it says nothing"


@pytest.mark.source("P7")
def test_what_was_said_lately_is_an_average_in_which_the_last_turn_has_a_tenth() -> None:
    graph = Gated(novelty_above=0.35, novelty_alpha=0.0).graph
    for number, words in enumerate(("coffee", "tea")):
        graph.fold(turn_recorded(id=f"t{number}", concepts=words))
    tea, coffee = 0.1, 0.1 * 0.9
    average = (0.5**0.5 * tea + 0.5**0.5 * coffee) / (tea**2 + coffee**2) ** 0.5
    assert average > 0.5**0.5, "nearer than either turn"
    assert novelty(graph, "s", concepts("tea coffee"), 1).score == round(1 - average, 4)


@pytest.mark.source("P5", "P8")
def test_what_was_said_some_turns_ago_is_near_however_far_the_average_is() -> None:
    graph = Gated(novelty_above=0.35, novelty_alpha=0.0).graph
    for number, words in enumerate(("tea", *["coffee"] * 20)):
        graph.fold(turn_recorded(id=f"t{number}", concepts=words))
    assert novelty(graph, "s", concepts("tea"), 1).score == 0.0
    for number in range(LAST):
        graph.fold(turn_recorded(id=f"u{number}", concepts="milk"))
    assert novelty(graph, "s", concepts("tea"), 1).score == 1.0, "what is older than the last turns is over"


@pytest.mark.source("P6")
def test_a_high_alpha_asks_for_new_names_and_a_low_one_for_another_subject() -> None:
    history = ("The garden has roses and tulips.", "Alice paints the old harbour.")
    back = "Alice waters roses."  # every word is known, and it is not what was said last
    scores = {}
    for alpha in (0.2, 0.5, 0.8):
        memory = Gated(novelty_above=0.35, novelty_alpha=alpha)
        memory.say("Alice waters the lawn.", *history)
        scores[alpha] = memory.say(back)[0].novelty or 0.0
    assert scores[0.2] > scores[0.5] > scores[0.8]


@pytest.mark.source("P5", "P6")
def test_by_the_literal_form_two_new_names_of_many_words_are_worth_nothing() -> None:
    graph = Gated(novelty_above=0.35, novelty_alpha=1.0, novelty_literal=1).graph
    graph.fold(turn_recorded(id="t0", concepts="coffee"))
    assert novelty(graph, "s", concepts("tea milk"), 512).score == round(2 / 512, 4)
    graph.settings = graph.settings.model_copy(update={"novelty_literal": 0})
    assert novelty(graph, "s", concepts("tea milk"), 512).score == 1.0


@pytest.mark.source("P2", "P8")
@pytest.mark.parametrize(
    ("visits", "questions"),
    [
        (("Dinner with Alice at the harbour restaurant.", "Dinner with Walter at the harbour restaurant."), "Walter"),
        (("周末和小红去海边餐厅吃晚饭。", "周末和老王去海边餐厅吃晚饭。"), "老王"),
    ],
)
def test_two_events_that_are_alike_but_not_the_same_are_kept_apart(visits: tuple[str, str], questions: str) -> None:
    memory = Gated(novelty_above=0.35)
    assert why(memory.say(*visits, visits[0])) == ["", "", "redundant"]
    assert memory.ask(questions).passages[0].text == visits[1]


@pytest.mark.source("P8", "M11")
@pytest.mark.parametrize("mode", get_args(Mode))
def test_every_mode_finds_what_a_gate_set_aside(mode: str) -> None:
    memory = Gated(worth_words=20)
    memory.say("the harbour was foggy", "ferry horns all night")
    assert why(memory.turns) == ["unworthy", "unworthy"]
    assert "t1" in {passage.id for passage in memory.ask("ferry horns", mode=mode, top_passages=10).passages}


def test_on_the_border_only_what_names_something_new_is_kept() -> None:
    graph = Gated(novelty_above=0.35, novelty_border=0.1).graph
    for score, new, redundant in ((0.3, 1, False), (0.3, 0, True), (0.2, 3, True), (0.35, 0, False)):
        assert is_redundant(graph, novelty(graph, "s", concepts("tea"), 1)._replace(score=score, new=new)) == redundant


def test_what_was_forgotten_is_new_again() -> None:
    memory = Gated(novelty_above=0.35)
    memory.say(SAME["en"][0])
    memory.graph.fold(forgotten(concepts="kettle kitchen break", turns="t0"))
    assert why(memory.say(SAME["en"][0])) == [""]


@pytest.mark.parametrize(
    "text",
    [
        "Remember that the kettle in the kitchen broke again.",
        "请记住：厨房的水壶坏了。",
        "I live in Lisbon now.",
    ],
)
def test_what_must_not_be_lost_is_counted_however_often_it_was_said(text: str) -> None:
    memory = Gated(novelty_above=0.9, worth_words=20)
    assert why(memory.say(text, text)) == ["", ""]


def test_a_graph_without_gates_decides_and_records_nothing() -> None:
    memory = Gated()
    turns = memory.say(*SAME["en"], TALK["en"])
    assert [(turn.novelty, turn.uncounted, turn.units) for turn in turns] == [(None, "", [])] * 3
    assert memory.graph.uncounted == 0


# Worth


@pytest.mark.source("M11")
@pytest.mark.parametrize("language", TALK)
def test_small_talk_is_not_worth_remembering(language: str) -> None:
    memory = Gated(worth_words=3)
    short = {"en": ("I was born in Porto.", "See you on Friday!"), "zh": ("我在波尔图出生。", "星期五见！")}[language]
    assert why(memory.say(TALK[language], *short, NEW[language])) == ["unworthy", "", "", ""]


@pytest.mark.source("M11")
@pytest.mark.parametrize(
    "text",
    [
        *("I am pregnant.", "We broke up.", "He died.", "She got fired.", "I don't smoke.", "not any more, sadly"),
        *("Mum has cancer.", "我怀孕了", "爷爷去世了", "他们离婚了", "我不抽烟", "爸爸住院了", "我辞职了", "被裁了"),
    ],
)
def test_what_changes_a_life_or_is_denied_is_worth_it_however_short(text: str) -> None:
    assert why(Gated(worth_words=9).say(text)) == [""]


@pytest.mark.source("M11")
def test_an_answer_is_worth_what_its_question_is() -> None:
    graph = Gated(worth_words=4).graph
    graph.fold(turn_recorded(id="q", text="Which colour?", speaker="Bob", session="s", question=True))
    answer = turn_recorded(id="a", text="green", concepts="green", speaker="Ada", session="s")
    assert gated(answer, graph, GATES.__getitem__).uncounted == ""
    assert gated(replace(answer, session="other"), graph, GATES.__getitem__).uncounted == "unworthy"
    assert gated(replace(answer, speaker="Bob"), graph, GATES.__getitem__).uncounted == "unworthy"


def test_of_two_reasons_the_plainer_one_is_told() -> None:
    memory = Gated(worth_words=2, novelty_above=0.35)
    assert why(memory.say(NEW["en"], TALK["en"], NEW["en"])) == ["", "unworthy", "redundant"]


def test_another_judge_may_decide_what_is_worth_remembering() -> None:
    memory = Gated(worth_words=3)
    (turn,) = memory.say(NEW["en"])
    gates: dict[str, Gate] = {"worth": lambda turn, graph: replace(turn, uncounted="unworthy")}
    assert gated(turn, memory.graph, gates.__getitem__).uncounted == "unworthy"


@pytest.mark.source("P3")
def test_a_turn_comes_in_is_sifted_digested_and_goes_to_the_archive() -> None:
    life = Life([graph_configured(worth_words=2, half_life=DAY, prune_below=0.1, least_turns=2, long_windows=0)])
    for number, words in enumerate(("coffee milk", "coffee milk sugar", "")):
        event = turn_recorded(id=f"t{number}", concepts=words, at=NOON + number)
        life.tell(gated(event, life.graph, GATES.__getitem__))
    assert why([each for each in life.events if isinstance(each, TurnRecorded)]) == ["", "", "unworthy"]
    life.tick(NOON + 60 * DAY)
    kinds = [type(event).__name__ for event in life.windows]
    assert "ConsolidationWindowClosed" in kinds
    assert "MemoryArchived" in kinds
    assert life.graph.knows("t2"), "nothing is lost"


# Laws

sayings = st.lists(st.sampled_from(["coffee milk", "coffee tea", "tea", "", "milk sugar honey"]), max_size=20)


@given(sayings, st.sampled_from([0.0, 0.2, 0.35, 0.9]), st.sampled_from([0, 2]), st.sampled_from([0, 4, 40]))
def test_replaying_what_gates_decided_gives_the_same_graph_and_decides_nothing(
    texts: list[str], above: float, worth: int, window: int
) -> None:
    configured = graph_configured(novelty_above=above, worth_words=worth, window_tokens=window)
    graph, events = refolded([configured], Graph("ada")), list[GraphEvent]([configured])
    for number, words in enumerate(texts):
        event = gated(turn_recorded(id=f"t{number}", concepts=words, session=str(number % 2)), graph, GATES.__getitem__)
        graph.fold(event)
        events.append(event)
    replayed = refolded(events, Graph("ada"))
    assert replayed.digest() == graph.digest()
    assert Graph.unpack(graph.pack()).digest() == graph.digest()
    assert replayed.view().windows["turn"].total == len(texts)


@given(sayings)
def test_a_score_lies_between_nothing_and_all(texts: list[str]) -> None:
    graph = Gated(novelty_above=0.35).graph
    for number, words in enumerate(texts):
        assert 0.0 <= novelty(graph, "main", concepts(words), 3).score <= 1.0
        graph.fold(turn_recorded(id=f"t{number}", concepts=words))
