"""What a memory does not know: nothing comes back, and `known` says how likely it holds an answer."""

from __future__ import annotations

import numpy as np
import pytest

from emgas.client.query_arguments import build_query
from emgas.messages.fields import Position
from emgas.messages.queries import NOTHING_ANSWERS, Reply
from evaluation.questions.unanswerable import read_unanswerable
from lab.catalogue import POLICIES
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.ranking.inquiry import Inquiry
from processors.recall.ranking.query_terms import as_named_here, find_query_terms
from processors.recall.ranking.silence.evidence import EVIDENCE, find_evidence
from processors.recall.ranking.silence.known import WEIGHTS, Baselines, likelihoods, passage_likelihoods, rounded
from processors.text.questions.owned import asks_owned
from state.arrays import Floats
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from tests.support.clocks import DAY, NOON
from tests.support.stories import extracted

EXTRACTOR = YakeExtractor(language="en")
TALK = (
    ("Ada", "My dentist in Lisbon moved my appointment to Thursday."),
    ("Bob", "I sold the old canoe to a fisherman for two hundred euros."),
    ("Ada", "We planted three cherry trees behind the greenhouse."),
    ("Bob", "The choir rehearses Bach's cantata in the church every week."),
    ("Ada", "Our cat Pepper had an operation on her left paw."),
    ("Bob", "I bought a telescope, and saw the rings of Saturn from the balcony."),
    ("Ada", "The greenhouse lost two windows in the storm."),
    ("Bob", "My brother teaches physics at a school in Porto."),
)
ANSWERED = {
    "What happened to Pepper's paw?": "t4",
    "Whom did Bob sell the canoe to?": "t1",
    "Where does Bob's brother teach physics?": "t7",
    "Which trees did Ada plant behind the greenhouse?": "t2",
}


def remembered() -> tuple[Graph, tuple[TurnRecorded, ...]]:
    graph, turns = Graph("ada"), []
    for n, (speaker, text) in enumerate(TALK):
        there = {"id": f"t{n}", "speaker": speaker, "session": f"s{n // 4}", "at": NOON + n * DAY}
        turns.append(extracted(text, **there, by=EXTRACTOR))
        graph.fold(turns[-1])
    return graph, tuple(turns)


GRAPH, TURNS = remembered()
ANSWERER = Answerer(EXTRACTOR, policies=POLICIES)


def ask(text: str, **options: object) -> Reply:
    query = build_query(None, None, {"graph": "ada", "text": text, **options})
    memory = QueriedGraph(GRAPH, lambda _, number: TURNS[number], Position(partition=0, watermark=8, source=8))
    return in_one_go(ANSWERER.answer(query, memory)).reply


@pytest.mark.parametrize("question", ANSWERED)
def test_what_was_said_comes_back_first_and_is_known(question: str) -> None:
    reply = ask(question)
    assert reply.matched
    assert reply.note is None
    assert reply.passages[0].id == ANSWERED[question]
    assert reply.known > WEIGHTS.silent


@pytest.mark.parametrize("question", read_unanswerable()["en"][:40])
def test_a_general_question_gets_nothing_or_is_hardly_known(question: str) -> None:
    reply = ask(question)
    least = min(ask(each).known for each in ANSWERED)
    assert reply.known < least, "no general question is as well known as one that was answered"
    assert reply.matched == bool(reply.passages)


@pytest.mark.parametrize("question", ["Who wrote Hamlet?", "When was I born?", "What is the capital of Peru?"])
def test_a_reply_without_evidence_is_empty_and_says_so(question: str) -> None:
    reply = ask(question)
    assert (reply.matched, reply.passages, reply.context, reply.tokens) == (False, [], "", 0)
    assert reply.note == NOTHING_ANSWERS


def test_the_nearest_turns_come_back_on_request_and_do_not_match() -> None:
    question = "Which school did my grandfather attend?"
    assert not ask(question, min_likelihood=0.6).passages
    nearest = ask(question, min_likelihood=0.6, fallback="nearest")
    assert not nearest.matched
    assert nearest.note == NOTHING_ANSWERS
    assert "t7" in [each.id for each in nearest.passages]


def test_min_likelihood_0_returns_whatever_is_nearest_and_1_nothing() -> None:
    question = "Which school did my grandfather attend?"
    assert ask(question, min_likelihood=0).matched
    assert not ask(next(iter(ANSWERED)), min_likelihood=1).matched


def test_inject_is_silent_where_the_default_is_and_repeats_nothing_of_the_session() -> None:
    question = "Which trees did Ada plant behind the greenhouse?"
    assert "t2" in [each.id for each in ask(question, mode="inject").passages]
    again = ask(question, mode="inject", session="s0")
    assert {each.session for each in again.passages} <= {"s1"}
    assert not ask("Who wrote Hamlet?", mode="inject").passages


def test_likelihoods_of_passages_share_what_is_known() -> None:
    reply = ask("What happened to Pepper's paw?", top_passages=100)
    likelihoods = [each.likelihood or 0.0 for each in reply.passages]
    assert sorted(likelihoods, reverse=True) == likelihoods
    assert sum(likelihoods) == pytest.approx(reply.known)
    assert passage_likelihoods(np.zeros(0), 0.5).tolist() == []


def test_evidence_counts_words_that_meet_and_the_share_that_nobody_said() -> None:
    def evidence(text: str) -> dict[str, float]:
        view, question = GRAPH.view(), EXTRACTOR.of_query(text)
        inquiry = Inquiry(view, find_query_terms(view, question, text), np.zeros(view.concepts))
        return dict(zip(EVIDENCE, find_evidence(inquiry, question, text, view.turns).tolist(), strict=True))

    near, far = evidence("Which cherry trees are behind the greenhouse?"), evidence("Which zeppelin crossed the fjord?")
    assert near["pair"] >= 3
    assert near["unknown"] == 0
    assert far["pair"] == 0
    assert far["covered"] == 0
    assert far["unknown"] == 1
    assert (near["strange"], far["strange"]) == (0, 1)
    assert evidence("什么时候开花？")["strange"] == 0, "a word of another script says nothing"
    assert evidence("What did Bob sell?")["named"] == 1
    by_bob = evidence("Did Bob plant cherry trees?")
    assert by_bob["covered"] < near["covered"], "only what the named speaker said counts"


def test_a_baseline_is_kept_until_the_graph_has_grown_by_a_sixteenth() -> None:
    assert [rounded(turns) for turns in (5, 16, 31, 32, 33, 100, 1000)] == [5, 16, 31, 32, 32, 100, 992]
    first = Baselines(EXTRACTOR).of(GRAPH)
    np.testing.assert_array_equal(Baselines(EXTRACTOR).of(GRAPH), first)
    nothing, more = np.zeros((1, len(EVIDENCE))), np.eye(len(EVIDENCE))[0]
    assert likelihoods(nothing, more) < likelihoods(nothing, nothing[0]) < likelihoods(nothing, -more)


@pytest.mark.parametrize(
    ("question", "owned"),
    [
        ("What is my brother's name?", ("my brother", "name")),
        ("What's Ruben's phone number?", ("Ruben", "phone number")),
        ("What was the name of my brother?", ("my brother", "name")),
        ("How old is my niece?", ("my niece", "")),
        ("What is my brother-in-law's name?", ("my brother-in-law", "name")),
        ("How old is my mother-in-law?", ("my mother-in-law", "")),
        ("How many dogs does my sister-in-law have?", ("my sister-in-law", "dogs")),
        ("What is my blood type?", ("my", "blood type")),
        ("老周的电话是多少？", ("老周", "电话")),
        ("我弟弟叫什么名字？", ("我弟弟", "")),
        ("How old is Mrs Okafor?", ("Mrs Okafor", "")),
        ("Which school did Hana go to?", ("Hana", "school")),
        ("How many children does Hana have?", ("Hana", "children")),
        ("老吴多大年纪？", ("老吴", "")),
        ("欧阳老师今年多大？", ("欧阳老师", "")),
        ("老吴有几个孩子？", ("老吴", "孩子")),
        ("How old is my niece now?", ("my niece", "")),
        ("When is our anniversary?", ("our", "anniversary")),
        ("我弟弟今年多大？", ("我弟弟", "")),
        ("姥姥今年多大岁数？", ("姥姥", "")),
        ("老周的电话现在是多少？", ("老周", "电话")),
        ("我们的纪念日是哪天？", ("我们", "纪念日")),
        (" ".join(["I walked home with Leo and we talked for hours."] * 2) + " What is my brother's name?", None),
        ("Where does my sister live?", None),
        ("What's the wifi password?", None),
    ],
)
def test_a_question_may_ask_for_something_of_a_person(question: str, owned: tuple[str, str] | None) -> None:
    assert asks_owned(question) == owned


def test_what_a_memory_says_nothing_of_is_missing() -> None:
    def missing(text: str) -> float:
        view, question = GRAPH.view(), EXTRACTOR.of_query(text)
        inquiry = Inquiry(view, find_query_terms(view, question, text), np.zeros(view.concepts))
        return float(dict(zip(EVIDENCE, find_evidence(inquiry, question, text, view.turns), strict=True))["missing"])

    assert missing("What is Ruben's zeppelin?") == missing("What is Pepper's zeppelin?") == 1
    assert missing("What is our zeppelin?") == 1
    assert missing("What is our greenhouse?") == 0
    assert missing("What is Pepper's paw?") == missing("What is a zeppelin?") == 0


def test_how_old_somebody_is_takes_a_number_where_they_are_spoken_of() -> None:
    talk = (
        ("阿珍", "热水器漏水，是老吴来修好的。"),
        ("大林", "那就好。"),
        ("阿珍", "欧阳老师上周末过生日。"),
        ("大林", "六十岁，真看不出来。"),
    )
    graph, turns = Graph("zh"), list[TurnRecorded]()
    by = YakeExtractor(language="zh")
    for n, (speaker, text) in enumerate(talk):
        turns.append(extracted(text, id=f"t{n}", speaker=speaker, session=f"s{n // 2}", at=NOON + n, by=by))
        graph.fold(turns[-1])

    def matched(text: str) -> bool:
        query = build_query(None, None, {"graph": "zh", "text": text})
        memory = QueriedGraph(graph, lambda _, number: turns[number], Position(partition=0, watermark=0, source=0))
        return in_one_go(ANSWERER.answer(query, memory)).reply.matched

    assert not matched("老吴多大年纪？")
    assert matched("欧阳老师多大年纪？"), "the next turn says it"


def test_a_person_may_be_written_in_another_script() -> None:
    by, graph = YakeExtractor(language="zh"), Graph("zh")
    graph.fold(extracted("欧阳老师上周末过生日。", id="t0", speaker="阿珍", session="s", at=NOON, by=by))
    view, text = graph.view(), "What is Ouyang's zeppelin?"
    question = by.of_query(text)
    inquiry = Inquiry(view, find_query_terms(view, question, text), np.zeros(view.concepts))
    evidence = dict(zip(EVIDENCE, find_evidence(inquiry, question, text, view.turns), strict=True))
    assert evidence["missing"] == 0


def test_unknown_words_that_overlap_a_known_one_are_not_strange() -> None:
    by, graph = YakeExtractor(language="zh"), Graph("zh")
    for n, text in enumerate(("张总明天来上海。", "他要见李经理。", "那个项目很重要。")):
        graph.fold(extracted(text, id=f"t{n}", speaker="小雅", session="s", at=NOON + n, by=by))
    view, text = graph.view(), "张总要见谁？"
    question = by.of_query(text)
    assert {"张总", "张总要"} <= {each.id for each in question.concepts}, "the segmenter is not sure"
    inquiry = Inquiry(view, find_query_terms(view, question, text), np.zeros(view.concepts))
    evidence = dict(zip(EVIDENCE, find_evidence(inquiry, question, text, view.turns), strict=True))
    assert (evidence["strange"], evidence["unknown"]) == (0, 0)


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("What did Ada plant behind the greenhouse in May 2023?", "What did Ada plant behind the greenhouse?"),
        ("What did Bob Marsh buy in May 2023?", "What did Bob buy?"),
        ("What did Ada describe as lost in the storm?", "What did Ada lose in the storm?"),
    ],
)
def test_a_known_date_a_full_name_and_words_of_form_are_not_unknown(question: str, plain: str) -> None:
    unknown = EVIDENCE.index("unknown")
    assert _evidence(question)[unknown] == _evidence(plain)[unknown] == 0.0


def test_a_kind_is_not_unknown_if_a_member_was_said_unless_it_ends_a_compound() -> None:
    """A cat is an animal, but no zeppelin animal."""
    unknown = EVIDENCE.index("unknown")
    assert _evidence("Which animal had an operation?")[unknown] == 0.0
    assert _evidence("What is the zeppelin animal?")[unknown] == 1.0


def test_the_name_of_a_month_without_a_turn_is_unknown() -> None:
    assert _evidence("What did Ada plant behind the greenhouse in March 2019?")[EVIDENCE.index("unknown")] > 0.0


def _evidence(question: str) -> Floats:
    view, extraction = GRAPH.view(), EXTRACTOR.of_query(question, NOON)
    terms = find_query_terms(view, extraction, question)
    return find_evidence(Inquiry(view, terms, np.zeros(view.concepts)), extraction, question, view.turns)


@pytest.mark.parametrize(
    ("speaker", "question", "answered"),
    [
        ("user", "What happened to the paw of Deirdre's cat?", True),
        ("user", "Where did Deirdre plant the cherry trees?", True),
        ("用户", "赵敏把樱桃树种在哪里了？", True),
        ("user", "Did Deirdre introduce Rodrigo to Wilhelmina?", False),  # only one of them may be the user
        ("user", "What does Deirdre's accountant charge?", False),  # no turn mentions an accountant
        ("Ada", "What happened to the paw of Deirdre's cat?", False),  # the only speaker has another name
    ],
)
def test_a_name_that_nobody_said_may_be_that_of_a_user_without_a_name(
    speaker: str, question: str, *, answered: bool
) -> None:
    graph, turns = beside_an_assistant(speaker)
    memory = QueriedGraph(graph, lambda _, number: turns[number], Position(partition=0, watermark=0, source=0))
    reply = in_one_go(ANSWERER.answer(build_query(None, None, {"graph": "ada", "text": question}), memory)).reply
    assert reply.matched == answered


def beside_an_assistant(*speakers: str) -> tuple[Graph, list[TurnRecorded]]:
    """Return a memory of what these people say by turns, each answered by an assistant."""
    graph, turns = Graph("ada"), list[TurnRecorded]()
    said = [text for name, text in TALK if name == "Ada"]
    for n, text in enumerate([*said, "我把樱桃树种在温室后面了。"]):
        by = speakers[n % len(speakers)]
        for role, speaker, words in (("user", by, text), ("assistant", "AI", "Thank you for telling me.")):
            there = {"id": f"{role}{n}", "speaker": speaker, "role": role, "session": f"s{n}", "at": NOON + n * DAY}
            turns.append(extracted(words, **there, by=EXTRACTOR))
            graph.fold(turns[-1])
    return graph, turns


@pytest.mark.parametrize(
    ("speakers", "question", "asker", "named"),
    [
        (["Ada"], "What did I plant behind the greenhouse?", "", ["Ada"]),
        (["Ada"], "我在温室后面种了什么？", "", ["Ada"]),
        (["user"], "Where are my cherry trees?", "", ["user"]),
        (["Ada"], "What did you tell me of my cherry trees?", "", []),  # the assistant is asked for its own words
        (["Ada"], "Which trees grow behind the greenhouse?", "", []),
        (["Ada", "Bob"], "Where are my cherry trees?", "", []),
        (["Ada", "Bob"], "Where are my cherry trees?", "Bob", ["Bob"]),
    ],
)
def test_my_means_the_only_person_beside_an_assistant(
    speakers: list[str], question: str, asker: str, named: list[str]
) -> None:
    view = beside_an_assistant(*speakers)[0].view()
    terms = find_query_terms(view, EXTRACTOR.of_query(question, NOON), question, asker)
    assert [view.speakers[number] for number in terms.named.tolist()] == named


def test_a_slot_of_the_card_of_a_user_without_a_name_is_asked_for_by_any_name() -> None:
    view = beside_an_assistant("user")[0].view()
    for question, asked in (
        ("What is Deirdre's job?", "What is user's job?"),
        ("What does the greenhouse need?", "What does the greenhouse need?"),
    ):
        assert as_named_here(view, EXTRACTOR.of_query(question, NOON), question) == asked


def test_what_is_said_of_somebody_after_another_has_asked_is_near_the_name() -> None:
    graph, turns = Graph("tess"), list[TurnRecorded]()
    talk = (("Tess", "Gareth phoned from the hospital."), ("AI", "Oh no, why?"), ("Tess", "He broke his collarbone."))
    for n, (speaker, text) in enumerate(talk):
        turns.append(extracted(text, id=f"t{n}", speaker=speaker, session="s", at=NOON + n, by=EXTRACTOR))
        graph.fold(turns[-1])
    memory = QueriedGraph(graph, lambda _, number: turns[number], Position(partition=0, watermark=0, source=0))
    query = build_query(None, None, {"graph": "tess", "text": "What did Gareth break?"})
    assert in_one_go(ANSWERER.answer(query, memory)).reply.passages[0].id == "t2"


@pytest.mark.parametrize(
    ("talk", "asker", "is_known"),
    [
        (("Tess: My sister had the baby!", "Una: Lovely!", "Tess: A girl, they called her Ines."), "Tess", True),
        (("Tess: My sister had the baby!", "Una: Lovely!", "Tess: A girl, they called her Ines."), "Una", False),
        (("Tess: My sister called me.", "Una: Lovely!", "Tess: She sold the house."), "Tess", False),
        (("Tess: The baby next door cried.", "Una: Oh no.", "Tess: They called a doctor."), "Tess", False),
    ],
)
def test_a_relative_may_be_told_in_two_steps(talk: tuple[str, ...], asker: str, is_known: bool) -> None:
    graph, turns = Graph("tess"), list[TurnRecorded]()
    for n, (speaker, text) in enumerate(turn.split(": ", 1) for turn in talk):
        turns.append(extracted(text, id=f"t{n}", speaker=speaker, session="s", at=NOON + n, by=EXTRACTOR))
        graph.fold(turns[-1])
    memory = QueriedGraph(graph, lambda _, number: turns[number], Position(partition=0, watermark=0, source=0))
    query = build_query(None, None, {"graph": "tess", "text": "What is my niece called?", "asker": asker})
    assert in_one_go(ANSWERER.answer(query, memory)).reply.matched == is_known
