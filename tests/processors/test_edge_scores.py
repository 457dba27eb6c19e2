"""Flow over each edge type on graphs small enough to work out by hand, and what a question puts in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from emgas.messages.explanations import Why
from processors.extraction.extractor import Extraction
from processors.recall.answer.explanation import explanations
from processors.recall.ranking.edge_scores import HEIR
from processors.recall.ranking.features import features
from processors.recall.ranking.query_terms import COMPOUND, SPEAKER, find_query_terms
from processors.recall.ranking.weights import DEFAULT_FLOW, FEATURES, FLOW_EDGES, NO_FLOW
from processors.recall.retrieval.recall import RecallOptions, activate, recall, seeds_of
from state.events.extraction_types import Concept
from state.graph.graph import Graph
from state.graph.view import GraphView
from tests.support.builders import turn_recorded


def concepts(text: str) -> tuple[Concept, ...]:
    return tuple(Concept(word, word, 0.5, 1) for word in dict.fromkeys(text.split()))


def talk(*turns: str) -> GraphView:
    """Fold turns written "session speaker: concepts", those that ask with a "?" at the end."""
    graph = Graph("g")
    for number, turn in enumerate(turns):
        head, _, text = turn.partition(":")
        session, speaker = head.split()
        words = text.replace("?", "").split()
        extraction = concepts(" ".join([*words, f"@speaker:{speaker.casefold()}"]))
        facts = {"question": text.endswith("?"), "tokens": len(words), "concepts": list(extraction)}
        fields = {"id": f"t{number}", "session": session, "speaker": speaker, "text": text, "at": 1_000_000 + number}
        graph.fold(turn_recorded(**fields, **facts, graph="g", role=None, extractor="by hand"))
    return graph.view()


def question(text: str) -> Extraction:
    return Extraction(concepts(text), True, len(text.split()))


def explain(view: GraphView, words: Extraction, text: str, passage: int, options: RecallOptions | None = None) -> Why:
    return next(explanations(view, words, text, passages=[passage], options=options or RecallOptions()))


def columns(view: GraphView, words: str, text: str = "") -> dict[str, list[float]]:
    """Return every feature by passage number."""
    meant = find_query_terms(view, question(words), text or words)
    energy = activate(view, seeds_of(view, meant), RecallOptions().spreading).energy
    values = features(view, meant, energy)[:, view.session_order.place]
    return {name: values[row].tolist() for row, name in enumerate(FEATURES)}


def bm25(count: float) -> float:
    return count * 1.9 / (count + 0.9)  # all turns of these graphs are of equal length


def idf(turns: int, holding: int) -> float:
    return math.log(1 + (turns - holding + 0.5) / (holding + 0.5))


TEA = ("s Ada: tea", "s Ben: cup", "s Ada: pot", "t Ben: sun", "t Ada: sea")


def heir(words: int) -> float:
    return 1 / (1 + (words / HEIR) ** 2)


@pytest.mark.source("P10")
def test_a_mention_is_inherited_by_the_turns_around_it_and_less_by_those_before() -> None:
    values = columns(talk("s Ada: sun", "s Ben: tea", "s Ada: cup", "s Ben: pot", "t Ada: sea"), "tea")
    weight = idf(5, 1) / math.sqrt(idf(5, 1))
    assert values["match"] == pytest.approx([0, weight, 0, 0, 0])
    assert values["inherited"] == pytest.approx([weight * bm25(c * heir(1)) for c in (0.35, 0, 0.7, 0.49, 0)])


def test_nothing_is_inherited_across_sessions_even_where_they_alternate() -> None:
    values = columns(talk("s Ada: tea", "t Ben: sun", "s Ada: cup", "t Ben: sea"), "tea")
    assert values["inherited"] == pytest.approx([0, 0, math.sqrt(idf(4, 1)) * bm25(0.7 * heir(1)), 0])


def test_who_says_much_inherits_little() -> None:
    much = " ".join(f"w{number}" for number in range(2 * int(HEIR)))
    short, long = columns(talk("s Ada: tea", "s Ben: cup", "t Ada: tea", f"t Ben: {much}"), "tea")["inherited"][1::2]
    assert 0 < long < short / 4


def test_a_session_gives_all_its_turns_what_is_mentioned_in_it() -> None:
    values = columns(talk(*TEA), "tea")["session"]
    assert values[0] == values[1] == values[2] > 0
    assert values[3] == values[4] == 0


def test_seeds_that_are_said_in_a_turn_or_near_it_cover_more_of_the_question() -> None:
    values = columns(talk(*TEA), "tea pot")["coverage"]
    assert values == pytest.approx([(1 + 0.3) / 2, (0.6 + 0.6) / 2, (0.3 + 1) / 2, 0, 0])


def test_who_says_a_word_ranks_before_those_who_stand_beside() -> None:
    words = "kettle harbour violin dentist passport meadow lantern yeast"
    view = talk(*(f"s Ada: {word} break" for word in words.split()))
    for number, word in enumerate(words.split()):
        values = recall(view, question(f"{word} break"), f"The {word} broke.", RecallOptions())
        assert values.passages[0].number == number, word


def test_who_answers_speaks_of_the_date_that_was_asked_for() -> None:
    view = talk("s Ada: @day:2023-05-07 hike?", "s Ben: lake", "s Ada: tea", "t Ben: @day:2023-05-07 sun", "t Ben: sea")
    values = columns(view, "@day:2023-05-07")["match"]
    assert values[0] == values[3] > values[1] > 0, "less than to name it"
    assert values[2] == values[4] == 0, "no further than the answer, and only from a question"


def replies(*turns: str) -> list[float]:
    graph = Graph("g")
    for number, turn in enumerate(turns):
        role, _, text = turn.partition(":")
        facts = {"question": False, "tokens": len(text.split()), "concepts": list(concepts(text))}
        named = {"id": f"t{number}", "session": "s", "speaker": role, "text": text, "at": 1_000_000 + number}
        graph.fold(turn_recorded(**named, **facts, graph="g", role=role, extractor="by hand"))
    return columns(graph.view(), "cat vet")["echo"]


def test_an_assistant_that_only_takes_up_what_a_user_says_is_an_echo() -> None:
    assert replies("user: cat", "assistant: cat nice", "user: cat", "assistant: cat vet") == [0, 1, 0, 0]
    assert replies("assistant: cat", "assistant: cat", "user: cat", "user: cat", "assistant: sun") == [0] * 5


def test_a_lone_turn_has_its_match_and_what_concepts_tell_of_each_other_and_nothing_twice() -> None:
    values = columns(talk("s Ada: tea cup", "t Ben: cup pot", "u Ada: sun"), "tea")
    assert values["match"][0] > 0
    for name in ("inherited", "session", "coverage", "reply", "first"):
        assert values[name] == [0, 0, 0]


def test_a_lone_turn_among_others_in_company_is_not_put_last_for_being_alone() -> None:
    values = columns(talk("s Ada: tea cup", "t Ben: tea cup", "t Ada: sun", "u Ada: sea", "u Ben: sky"), "tea")
    for name in ("session", "coverage"):
        alone, in_company = values[name][:2]
        assert 0 < alone < in_company * 1.5
    assert values["coverage"][0] == pytest.approx(0.8 * values["coverage"][1])  # four of five turns are in company
    assert values["inherited"][0] == 0


def test_who_asks_and_says_much_besides_asks_less_unless_it_is_an_assistant() -> None:
    graph = Graph("g")
    for number, (role, words) in enumerate((("user", 60), ("user", 6), ("assistant", 60))):
        facts = {"question": True, "tokens": words, "concepts": list(concepts("tea")), "speaker": "x"}
        graph.fold(turn_recorded(id=f"t{number}", session="s", graph="g", role=role, **facts))
    asks = columns(graph.view(), "tea")["asks"]
    assert asks == pytest.approx([1 / 2, 1 / 1.1, 1])


def test_a_bridge_leads_from_the_best_match_to_the_lone_turn_that_shares_its_rarest_concept() -> None:
    notes = ("a Ada: tea cup", "b Ben: cup", "c Ada: sun", "d Ben: sea")
    values = columns(talk(*notes), "tea")["bridge"]
    assert values[1] > values[0] == values[2] == values[3] == 0
    in_company = columns(talk(*notes, "b Ada: sky"), "tea")["bridge"]
    assert in_company == [0] * 5


def test_what_is_associated_counts_more_for_a_lone_turn() -> None:
    others = ("d Ada: sun", "e Ben: rain", "f Ada: wind")
    lone = columns(talk("a Ada: tea cup", "b Ben: cup", "c Ada: sea", *others), "tea")["association"][1]
    in_company = columns(talk("a Ada: tea cup", "b Ben: cup", "b Ada: sea", *others), "tea")["association"][1]
    assert lone > in_company > 0


def test_length_counts_up_to_a_bound_and_brevity_without_end() -> None:
    turns = [f"s{words} Ada: {' '.join(f'w{number}' for number in range(words))}" for words in (1, 64, 128)]
    values = columns(talk(*turns), "w0")
    assert values["length"] == pytest.approx([0, math.log(64), math.log(64)])
    assert values["brevity"] == pytest.approx([0, -math.log(64), -math.log(128)])


@pytest.mark.source("S8", "S24")
def test_a_turn_that_was_never_near_the_question_is_reached_by_association() -> None:
    view = talk("s Ada: tea cup", "t Ben: sun", "u Ada: cup pot", "v Ben: sea", "w Ada: rain")
    values = columns(view, "tea")
    assert values["association"][2] > 0
    assert values["association"][1] == values["match"][2] == 0
    assert 2 in [passage.number for passage in recall(view, question("tea"), "tea", RecallOptions()).passages]
    control = recall(view, question("tea"), "tea", RecallOptions(flow=NO_FLOW)).passages
    assert [passage.number for passage in control] == [0]


def test_a_kind_reaches_its_members_in_either_language() -> None:
    view = talk("s Ada: pizza", "t Ben: 钢琴", "u Ada: sun")
    rarity = idf(3, 1)  # of the member; the asking words stand nowhere
    assert columns(view, "food")["kinds"] == pytest.approx([rarity, 0, 0])
    assert columns(view, "instrument")["kinds"] == pytest.approx([0, rarity, 0])
    assert columns(view, "乐器")["kinds"] == pytest.approx([0, rarity, 0])
    assert columns(view, "sun")["kinds"] == [0, 0, 0]


def test_a_question_is_answered_by_the_speaker_who_is_asked_about() -> None:
    view = talk("s Ada: tea?", "s Ben: cup", "t Ada: sun?", "t Ada: sea", "u Ben: rain")
    assert columns(view, "tea", "Ben's tea?")["reply"] == [0, 1, 0, 0, 0]
    assert columns(view, "tea", "tea?")["reply"] == [0] * 5
    assert columns(view, "tea", "Ada's and Ben's tea?")["speaker"] == [0] * 5
    assert columns(view, "tea", "Ben's tea?")["speaker"] == [0, 1, 0, 0, 1]


def test_a_kind_of_answer_that_is_wanted_counts_where_a_turn_holds_it() -> None:
    view = talk("s Ada: tea @time", "s Ben: tea @number @name", "t Ada: tea")
    assert columns(view, "tea @time")["time"] == [1, 0, 0]
    assert columns(view, "tea @number")["number"] == [0, 1, 0]
    assert columns(view, "tea")["time"] == [0, 0, 0]
    assert columns(view, "tea")["names"] == [0, 1, 0]


@pytest.mark.source("H11")
def test_a_chinese_word_finds_its_parts_and_the_words_that_hold_it() -> None:
    view = talk("s Ada: 咖啡", "t Ben: 腰椎间盘", "u Ada: 生日")
    for word, part, overlap in (("喝咖啡", "咖啡", 2 / 3), ("腰椎", "腰椎间盘", 2 / 4), ("生日礼物", "生日", 2 / 4)):
        meant = find_query_terms(view, question(word), word)
        assert [view.ids[number] for number in meant.words] == [part]
        assert meant.weights.tolist() == pytest.approx([COMPOUND * overlap])


def test_a_name_is_a_speaker_and_no_word() -> None:
    view = talk("s Ada: ben tea", "s Ben: cup")
    meant = find_query_terms(view, question("ben tea"), "What tea did Ben drink?")
    assert [view.ids[number] for number in meant.seeds] == ["tea", "@speaker:ben"]
    assert meant.weights.tolist() == [1, SPEAKER]


def test_the_control_has_no_edge_over_which_anything_flows() -> None:
    assert all(NO_FLOW[name] == 0 for name in FLOW_EDGES)
    assert all(DEFAULT_FLOW[name] > 0 for name in FLOW_EDGES)


@pytest.mark.source("E37")
@pytest.mark.parametrize("name", FEATURES)
def test_a_weight_of_zero_switches_its_term_off(name: str) -> None:
    view = talk(*TEA)
    options = RecallOptions(flow=DEFAULT_FLOW.replace(**{name: 0.0}))
    for passage in recall(view, question("tea"), "Ada's tea", options).passages:
        assert name not in explain(view, question("tea"), "Ada's tea", passage.number, options).terms


def test_an_explanation_adds_up_to_the_score_and_names_the_edges() -> None:
    view = talk("s Ada: tea cup", "s Ben: sun", "u Ada: cup pizza", "v Ben: sea")
    words, text = question("tea food"), "Which food has Ada with tea?"
    for passage in recall(view, words, text, RecallOptions()).passages:
        explained = explain(view, words, text, passage.number)
        assert sum(explained.terms.values()) == pytest.approx(passage.score)
    beside, far = explain(view, words, text, 1), explain(view, words, text, 2)
    assert [(m.concept, m.turn, m.distance, m.times) for m in beside.mentions] == [("tea", "t0", -1, 1)]
    assert [(hop.source, hop.target, hop.times) for hop in far.associations] == [("tea", "cup", 2)]  # of two exchanges
    assert far.associations[0].weight > 0
    assert [(kind.asked, kind.member) for kind in far.kinds] == [("food", "pizza")]


def test_turns_without_any_concept_are_passed_over() -> None:
    view = talk("s Ada: tea", "s Ben:", "s Ada:")
    values = columns(view, "tea")
    assert np.isfinite(list(values.values())).all()
    assert values["association"] == [0, 0, 0]
