"""A question in every mode, from the wire to the reply: filters, explanations, guidance, rounds, other formulas."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

import numpy as np
import pytest

from emgas.client.query_arguments import build_query
from emgas.errors import InvalidMessageError
from emgas.messages.fields import Position
from emgas.messages.queries import Query, Reply
from emgas.messages.settings.modes import Mode, Rerank, Weighting
from lab.catalogue import POLICIES
from lab.rerankers.formulas import FORMULAS
from lab.retrievers import staged
from lab.retrievers.staged import StageRanking
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.policies import UnknownPolicyError
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.ranking.kinds import recency
from processors.text.questions.answer_kinds import LEAST_DEPTH, MOST_DEPTH
from processors.text.questions.complexity import complexity, passages
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from tests.support.builders import turn_recorded
from tests.support.clocks import DAY, NOON

EXTRACTOR = YakeExtractor()
ANSWERER = Answerer(EXTRACTOR, policies=POLICIES)
HERE = Position(partition=0, watermark=7, source=3)
ALL: tuple[Mode, ...] = get_args(Mode)
OTHERS = [mode for mode in ALL if mode not in ("default", "inject", "literal")]
ENGLISH = (
    "Ada: The vet prescribed ear drops for Biscuit.",
    "Bob: Does the cat hate the ear drops?",
    "Ada: Biscuit hides from the vet under the sofa.",
    "Bob: I bought a copper kettle in Lisbon.",
    "Ada: The kettle from Lisbon whistles like a train.",
    "Bob: My sister works as a nurse in a hospital.",
    "Ada: The nurse at the hospital knows a good vet.",
    "Bob: We missed the train to Porto because of the rain.",
)
CHINESE = (
    "小明: 医生给猫开了耳药水。",
    "小红: 猫讨厌耳药水吗?",
    "小明: 猫躲在沙发下面，怕医生。",
    "小红: 我在里斯本买了一把铜水壶。",
    "小明: 水壶的声音像火车。",
    "小红: 我妹妹在医院当护士。",
    "小明: 医院的护士认识一个好医生。",
    "小红: 因为下雨我们错过了火车。",
)


@cache
def conversation(texts: tuple[str, ...]) -> tuple[Graph, tuple[TurnRecorded, ...]]:
    graph, turns = Graph("ada"), []
    for n, (speaker, words) in enumerate(line.split(": ", 1) for line in texts * 3):
        at, text = NOON + n * DAY, f"{words} ({n})"  # no two turns say the same: that would be listed once
        extraction = EXTRACTOR.of_turn(text, speaker=speaker, at=at)
        facts = {"concepts": list(extraction.concepts), "times": list(extraction.times), "tokens": extraction.tokens}
        where = {"id": f"t{n}", "speaker": speaker, "session": f"s{n // 4}", "at": at}
        turns.append(turn_recorded(text=text, **where, **facts, question=extraction.question))
        graph.fold(turns[-1])
    return graph, tuple(turns)


def ask(text: str, texts: tuple[str, ...] = ENGLISH, only: dict[str, Any] | None = None, **options: Any) -> Reply:
    graph, turns = conversation(texts)
    query = build_query(options.pop("spreading", None), only, {"graph": "ada", "text": text, **options})
    return in_one_go(ANSWERER.answer(query, QueriedGraph(graph, lambda _, number: turns[number], HERE))).reply


def test_without_the_lab_a_question_in_another_mode_is_refused_and_one_in_the_default_is_answered() -> None:
    graph, turns = conversation(ENGLISH)
    memory = QueriedGraph(graph, lambda _, number: turns[number], HERE)
    with pytest.raises(UnknownPolicyError, match="'path'"):
        in_one_go(Answerer(EXTRACTOR).answer(Query(graph="ada", text="the vet", mode="path"), memory))
    assert in_one_go(Answerer(EXTRACTOR).answer(Query(graph="ada", text="the vet"), memory)).reply.passages


def ids(reply: Reply) -> list[str]:
    return [each.id for each in reply.passages]


# every mode


@pytest.mark.source("S3", "S4", "S5", "S6", "S13", "M16", "M27")
@pytest.mark.parametrize("mode", ALL)
@pytest.mark.parametrize(
    ("texts", "question", "expected"),
    [(ENGLISH, "What did the vet prescribe?", "ear drops"), (CHINESE, "医生给猫开了什么?", "耳药水")],
    ids=["English", "Chinese"],
)
def test_every_mode_finds_what_answers(mode: Mode, texts: tuple[str, ...], question: str, expected: str) -> None:
    reply = ask(question, texts, mode=mode, top_passages=12)  # everything is said three times
    assert reply.matched
    assert any(expected in passage.text for passage in reply.passages)
    assert expected in reply.context
    assert reply.seeds
    assert reply.how is None, "nothing is told that nobody asked for"


@pytest.mark.parametrize("mode", ALL)
def test_of_what_nobody_said_no_mode_finds_anything(mode: Mode) -> None:
    assert not ask("xyzzyplugh", mode=mode).passages


@pytest.mark.parametrize("mode", [mode for mode in ALL if mode != "literal"])
def test_a_greeting_recalls_nothing_in_any_mode_but_the_literal(mode: Mode) -> None:
    assert not ask("Hello!", mode=mode).passages


@pytest.mark.parametrize("mode", [mode for mode in OTHERS if mode not in ("subtractive", "staged")])
def test_a_filtered_ranking_is_the_ranking_without_what_is_filtered_out(mode: Mode) -> None:
    whole = ask("the vet in the hospital", mode=mode, top_passages=100).passages
    assert ids(ask("the vet in the hospital", only={"speakers": ["Ada"]}, mode=mode, top_passages=100)) == [
        each.id for each in whole if each.speaker == "Ada"
    ]


@pytest.mark.parametrize("mode", OTHERS)
def test_a_filter_lets_nothing_else_through(mode: Mode) -> None:
    result = ask("the vet in the hospital", only={"speakers": ["Bob"]}, mode=mode, top_passages=100).passages
    assert {each.speaker for each in result} == {"Bob"}


@pytest.mark.source("M18", "M20")
def test_subtractive_brings_six_turns_two_of_each_topic_and_names_it() -> None:
    reply = ask("What about the kettle?", mode="subtractive")
    assert len(reply.passages) == 6
    assert [passage.topic for passage in reply.passages[:4]] == ["kettle", "kettle", "train", "train"]
    assert all(passage.topic for passage in reply.passages)
    assert len(set(ids(reply))) == 6
    assert "topic" not in ask("What about the kettle?").passages[0].model_dump()


# explained


@pytest.mark.source("E33", "S6")
@pytest.mark.parametrize("mode", ALL)
def test_an_explained_reply_says_its_mode_its_constants_and_what_each_stage_did(mode: Mode) -> None:
    reply = ask("What did the vet prescribe?", mode=mode, explain=True)
    how = reply.how
    assert how is not None
    ranker = "default" if mode == "inject" else mode  # it ranks as default does, and leaves out more
    assert (how.mode, how.source) == (ranker, POLICIES.retriever(ranker).source)
    assert set(how.constants) == set(POLICIES.retriever(ranker).fields)
    assert bool(how.stages) == (ranker not in ("default", "literal"))
    for passage in reply.passages:
        assert passage.why is not None
        assert passage.why.terms
        assert all(mention.turn == passage.id for mention in passage.why.mentions if mention.distance == 0)


@pytest.mark.parametrize("mode", ["default", "literal", "ppr", "ppr-push", "steady-state", "path", "vector", "staged"])
def test_the_terms_add_up_to_the_score(mode: Mode) -> None:
    for passage in ask("the vet in the hospital", mode=mode, explain=True).passages:
        assert passage.why is not None
        factor = np.prod([value for name, value in passage.why.terms.items() if name.startswith("times_")])
        terms = [value for name, value in passage.why.terms.items() if not name.startswith("times_")]
        assert sum(terms) * factor == pytest.approx(passage.score)


def test_a_changed_constant_is_told_and_changes_what_is_found() -> None:
    plain, far = (
        ask("the kettle", mode="ppr", explain=True, spreading=options) for options in ({}, {"propagation_decay": 0.9})
    )
    assert plain.how is not None
    assert far.how is not None
    assert (plain.how.constants["propagation_decay"], far.how.constants["propagation_decay"]) == (0.5, 0.9)
    assert [each.score for each in plain.passages] != [each.score for each in far.passages]


@pytest.mark.source("E15")
@pytest.mark.parametrize(
    ("options", "window"),
    [({}, "round"), ({"window": "turn"}, "turn"), ({"window": "session"}, "session"), ({"window_turns": 3}, "3 turns")],
)
def test_the_literal_mode_takes_a_round_of_dialogue_or_another_window(options: dict[str, Any], window: str) -> None:
    how = ask("the kettle", mode="literal", explain=True, spreading=options).how
    assert how is not None
    assert how.window == window


@pytest.mark.parametrize("mode", ["default", "literal", "ppr", "steady-state", "path"])
@pytest.mark.parametrize("weighting", get_args(Weighting))
def test_every_weighting_goes_with_every_mode_that_spreads(mode: Mode, weighting: Weighting) -> None:
    reply = ask("the vet in the hospital", mode=mode, weighting=weighting, explain=True)
    assert reply.passages
    assert reply.how is not None
    assert reply.how.weighting == weighting


# staged


@pytest.mark.source("S10")
@pytest.mark.parametrize(("texts", "question"), [(ENGLISH, "the vet"), (CHINESE, "水壶")])
@pytest.mark.parametrize("mode", ["default", "literal", "ppr", "ppr-push", "steady-state", "path"])
def test_what_woke_shows_its_way_from_what_was_asked(mode: Mode, texts: tuple[str, ...], question: str) -> None:
    reply = ask(question, texts, mode=mode, explain=True, top_passages=20)
    seeds = {seed.id for seed in reply.seeds}
    woken = [concept for concept in reply.concepts if concept.id not in seeds]
    assert woken
    assert all(len(each.path) > 1 and each.path[0] in seeds and each.path[-1] == each.id for each in woken)
    ways = [passage.why.associations for passage in reply.passages if passage.why and passage.why.associations]
    assert ways
    assert all(way[0].source in seeds for way in ways)


@pytest.mark.source("S6", "S12")
def test_a_simple_question_begins_with_what_holds_its_words_and_a_complex_one_further_on() -> None:
    assert staged.stages_of(0.1, None) == ("direct", "spread", "ppr", "exhaustive")
    assert staged.stages_of(0.5, None) == ("spread", "ppr", "exhaustive")
    assert staged.stages_of(0.9, None) == ("ppr", "exhaustive")
    assert staged.stages_of(0.1, 0.0) == ("direct",)
    assert staged.stages_of(0.9, 0.0) == ("direct",), "however complex: nobody wants more"
    assert staged.stages_of(0.1, 0.34) == ("direct", "spread")


@pytest.mark.source("S6")
def test_a_stage_that_is_enough_is_the_last() -> None:
    calls: list[str] = []

    def stage(name: str, *scores: float) -> tuple[str, Any]:
        def find() -> StageRanking:
            calls.append(name)
            return StageRanking(np.arange(len(scores)), np.array(scores))

        return name, find

    stages = [stage("one", 1.0, 1.0, 1.0, 1.0), stage("two", 3.0, 1.0), stage("three", 9.0)]
    ranking, reports = staged.staged(stages, lambda passages: 1.0, 1)
    assert calls == ["one", "two"]
    assert [each.enough for each in reports] == [False, True]
    assert [each.mass for each in reports] == pytest.approx([0.25, 0.9])
    assert ranking.passages.tolist()[0] == 0
    _, reports = staged.staged(stages, lambda passages: 0.5, 1)
    assert [each.enough for each in reports] == [False, False, False], "what is asked is not covered"


@pytest.mark.source("S6")
@pytest.mark.parametrize(
    ("texts", "question", "parts"),
    [
        (ENGLISH, "Who bought the kettle and who missed the train?", 2),
        (CHINESE, "谁买了水壶，以及谁错过了火车?", 2),
    ],
    ids=["English", "Chinese"],
)
def test_a_question_is_cut_into_parts_each_of_which_must_be_covered(
    texts: tuple[str, ...], question: str, parts: int
) -> None:
    assert len(staged.parts(EXTRACTOR.of_query(question), question)) == parts
    reply = ask(question, texts, mode="staged", explain=True)
    assert reply.how is not None
    coverage = [stage.coverage for stage in reply.how.stages]
    assert all(share is not None and 0 <= share <= 1 for share in coverage)


# guidance


@pytest.mark.source("S7")
@pytest.mark.parametrize(
    ("texts", "question", "role", "word"),
    [(ENGLISH, "Who knows whom?", "a nurse", "nurse"), (CHINESE, "谁认识谁?", "护士", "护士")],
    ids=["English", "Chinese"],
)
@pytest.mark.parametrize("mode", [mode for mode in ALL if mode != "literal"])
def test_a_role_is_sought_too_weakly_and_the_reply_says_so(
    mode: Mode, texts: tuple[str, ...], question: str, role: str, word: str
) -> None:
    reply = ask(question, texts, mode=mode, guidance={"role": role}, top_passages=100, min_likelihood=0.0)
    assert reply.how is not None
    assert reply.how.guidance is not None
    assert reply.how.guidance.words == [word]
    assert any(word in passage.text for passage in reply.passages)


@pytest.mark.source("S7")
@pytest.mark.parametrize(
    ("mood", "depth"),
    [("in a hurry", 0.0), ("不耐烦", 0.0), ("curious", 0.8), ("很好奇", 0.8), ("melancholy", None)],
)
def test_a_mood_says_how_thoroughly_to_search(mood: str, depth: float | None) -> None:
    reply = ask("Why does the vet know the nurse?", guidance={"mood": mood})
    assert reply.how is not None
    guided = reply.how.guidance
    assert guided is not None
    assert guided.depth == depth
    if depth is not None:
        assert guided.passages == len(reply.passages) == int(3 * (1 + 5.67 * depth))


@pytest.mark.source("S7")
def test_a_word_of_a_mood_that_the_graph_does_not_know_did_nothing_and_is_named() -> None:
    reply = ask("the vet", guidance={"mood": "melancholy"})
    assert reply.how is not None
    assert reply.how.guidance is not None
    assert (reply.how.guidance.words, reply.how.guidance.unknown) == ([], ["melancholy"])
    assert ids(reply) == ids(ask("the vet"))


@pytest.mark.source("S7")
@pytest.mark.parametrize("mode", ["default", "ppr", "ppr-push"])
def test_episodic_and_semantic_weights_change_the_ranking_and_are_told(mode: Mode) -> None:
    plain = ask("the vet in the hospital", mode=mode, top_passages=100)
    guided = ask("the vet in the hospital", mode=mode, top_passages=100, guidance={"kinds": {"semantic": 5.0}})
    assert [each.score for each in guided.passages] != [each.score for each in plain.passages]
    assert guided.how is not None
    assert guided.how.guidance is not None
    weights = guided.how.guidance.weights
    assert set(weights.values()) == {5.0}
    assert set(weights) == ({"association", "bridge", "kinds"} if mode == "default" else {"association"})


@pytest.mark.source("S7")
@pytest.mark.parametrize("mode", ALL)
def test_of_weights_only_those_that_did_something_are_told(mode: Mode) -> None:
    kinds = {"episodic": 3.0, "semantic": 0.2}
    plain, guided = (ask("the vet in the hospital", mode=mode, guidance=options) for options in ({}, {"kinds": kinds}))
    assert guided.how is not None
    assert guided.how.guidance is not None
    changed = [round(each.score, 9) for each in plain.passages] != [round(each.score, 9) for each in guided.passages]
    assert changed <= bool(guided.how.guidance.weights)


@pytest.mark.source("S7")
@pytest.mark.parametrize(
    ("texts", "question", "mode", "expected"),
    [
        (ENGLISH, "the vet", "staged", set()),  # at this depth the first stage is the last, and it has no edges
        (CHINESE, "医生", "staged", set()),
        (ENGLISH, "Why does the nurse compare Biscuit with trains?", "staged", {"mention", "association"}),
        (ENGLISH, "the vet", "vector", set()),
        (ENGLISH, "the vet", "path", {"association"}),
    ],
)
def test_weights_of_what_was_never_looked_at_are_not_told(
    texts: tuple[str, ...], question: str, mode: Mode, expected: set[str]
) -> None:
    guidance: dict[str, Any] = {"kinds": {"episodic": 2.0, "semantic": 3.0}, "type_weights": {"cause": 2.0}}
    guidance |= {} if expected else {"depth": 0.0}
    reply = ask(question, texts, mode=mode, guidance=guidance)
    assert reply.how is not None
    assert reply.how.guidance is not None
    weights = set(reply.how.guidance.weights)
    assert weights >= expected
    assert bool(weights) == bool(expected)
    assert "cause" not in weights, "nobody said what causes what"


@pytest.mark.source("S7")
def test_a_mood_that_said_how_thoroughly_to_search_did_something_whatever_its_words() -> None:
    hurried, replies = ask("the vet", guidance={"mood": "in a hurry"}), {"mood": "in a hurry", "depth": 0.5}
    for reply, unknown in ((hurried, []), (ask("the vet", guidance=replies), ["hurry"])):
        assert reply.how is not None
        assert reply.how.guidance is not None
        assert reply.how.guidance.unknown == unknown


def test_a_depth_says_how_many_come_back_and_passages_that_are_asked_for_come_first() -> None:
    assert len(ask("the vet", guidance={"depth": 0.0}).passages) == LEAST_DEPTH
    assert len(ask("the vet in the hospital", mode="ppr", guidance={"depth": 1.0}).passages) == MOST_DEPTH
    assert len(ask("the vet", top_passages=1, guidance={"depth": 1.0}).passages) == 1


@pytest.mark.source("P29")
def test_the_complexity_of_a_question_may_say_how_deep() -> None:
    easy, hard = "the vet", "Why did Ada and Bob compare the kettle with the train last year?"
    assert len(ask(easy, guidance={"by_complexity": True}).passages) == LEAST_DEPTH
    assert len(ask(hard, guidance={"by_complexity": True}).passages) >= 10


@pytest.mark.source("P32")
@pytest.mark.parametrize("mode", ["default", "ppr", "staged"])
def test_a_second_round_seeks_what_the_first_one_found(mode: Mode) -> None:
    reply = ask("Who whistles?", mode=mode, guidance={"rounds": 2}, top_passages=100)
    assert reply.how is not None
    assert reply.how.stages[-1].name == "second-round"
    assert {"lisbon", "kettle"} & {seed.id for seed in reply.seeds}


# other formulas


@pytest.mark.source("H10", "M23", "P33")
@pytest.mark.parametrize("mode", ["default", "vector", "ppr"])
@pytest.mark.parametrize("rerank", get_args(Rerank))
def test_the_best_may_be_ordered_by_another_formula(mode: Mode, rerank: Rerank) -> None:
    reply = ask("the vet in the hospital", mode=mode, rerank=rerank, explain=True, top_passages=5)
    assert reply.how is not None
    assert reply.how.stages[-1].name == f"rerank {rerank}"
    scores = [passage.score for passage in reply.passages]
    assert scores == sorted(scores, reverse=True)
    for passage in reply.passages:
        assert passage.why is not None
        terms = dict(passage.why.terms)
        factor = terms.pop("times_importance", 1.0)
        assert set(terms) == set(FORMULAS[rerank].weights)
        assert sum(terms.values()) * factor == pytest.approx(passage.score)
        assert 0 <= passage.score <= 1.2


def shares(reply: Reply) -> dict[str, dict[str, float]]:
    """Return the terms of every passage, by its id."""
    return {each.id: dict(each.why.terms) for each in reply.passages if each.why is not None}


@pytest.mark.source("H10", "M23")
def test_the_formulas_of_hello_agents_and_mofox_are_theirs_by_hand() -> None:
    query: dict[str, Any] = {"text": "the vet in the hospital", "top_passages": 50, "explain": True}
    plain = {each.id: each.score for each in ask(mode="vector", **query).passages}
    least, best = min(plain.values()), max(plain.values())
    of_mofox = {"cosine": 0.4, "graph": 0.2, "importance": 0.2, "recency": 0.2}
    graph, _ = conversation(ENGLISH)
    age = {each.id: (graph.clock - each.at) / DAY for each in ask(mode="vector", **query).passages}
    hello, mofox = (ask(mode="vector", rerank=name, **query) for name in ("hello-agents", "mofox"))
    assert {each.id for each in hello.passages} == {each.id for each in mofox.passages} == set(plain)
    for passage in hello.passages:
        cosine = plain[passage.id]
        expected = (0.7 * cosine + 0.3 * (cosine - least) / (best - least)) * (0.8 + 0.4 * 0.5)
        assert passage.score == pytest.approx(expected)
    for passage in mofox.passages:
        cosine, days = plain[passage.id], age[passage.id]
        values = {
            "cosine": cosine, "graph": (cosine - least) / (best - least), "importance": 0.5,
            "recency": 1 / (1 + days / 30),
        }  # fmt: skip
        assert passage.score == pytest.approx(sum(of_mofox[name] * value for name, value in values.items()))


@pytest.mark.source("H5", "H6")
def test_episodes_are_ordered_by_the_formula_of_hello_agents_where_that_is_asked_for() -> None:
    query: dict[str, Any] = {"text": "the vet in the hospital", "top_passages": 3, "explain": True}
    reply = ask(memory="episodic", rerank="hello-agents", **query)
    cosine = {each.id: each.score for each in ask(mode="vector", text=str(query["text"]), top_passages=50).passages}
    graph, _ = conversation(ENGLISH)
    assert len(reply.passages) == 3
    for passage in reply.passages:
        recent = max(0.1, np.exp(-0.05 * (graph.clock - passage.at) / DAY))
        assert passage.score == pytest.approx((0.8 * cosine[passage.id] + 0.2 * recent) * (0.8 + 0.4 * 0.5))
        assert set(shares(reply)[passage.id]) == {"cosine", "recent", "times_importance"}
    with pytest.raises(InvalidMessageError, match="kinds of memory"):
        ask(memory="episodic", rerank="mofox", **query)
    with pytest.raises(InvalidMessageError, match="kinds of memory"):
        ask(memory="working", rerank="hello-agents", **query)


@pytest.mark.source("H6")
def test_an_episode_fades_by_a_twentieth_a_day_and_never_below_a_tenth() -> None:
    ages = (0, 10, 46, 47, 1000)
    graph = Graph("ada")
    for number, days in enumerate(reversed(ages)):
        graph.fold(turn_recorded(id=f"t{number}", concepts="tea", at=NOON - days * DAY))
    left = np.exp(recency(graph.view(), np.arange(len(ages))))[::-1]
    assert left == pytest.approx([1.0, np.exp(-0.5), np.exp(-2.3), 0.1, 0.1])


@pytest.mark.source("P30")
@pytest.mark.parametrize(
    ("texts", "question"),
    [
        (ENGLISH, "Why did Ada and Bob compare the kettle with the train last year?"),
        (CHINESE, "对比一下我去年和今年的火车和水壶?"),
    ],
)
def test_simplemems_formula_brings_as_many_as_its_complexity_says(texts: tuple[str, ...], question: str) -> None:
    for text in (question, "the vet", "猫"):
        expected = passages(complexity(text))
        reply = ask(text, texts, rerank="simplemem")
        assert len(reply.passages) == min(expected, len(ask(text, texts, rerank="simplemem", top_passages=50).passages))
    assert passages(complexity(question)) > LEAST_DEPTH
    assert len(ask(question, texts, rerank="simplemem", guidance={"depth": 0.0}).passages) == LEAST_DEPTH


@pytest.mark.source("P33")
def test_the_weights_follow_what_the_question_is_like() -> None:
    def weights(text: str) -> dict[str, float]:
        reply = ask(text, rerank="simplemem", explain=True, top_passages=20)
        why = [passage.why for passage in reply.passages if passage.why is not None]
        return {name: max(each.terms[name] for each in why) for name in ("semantic", "bm25")}

    plain, technical = weights("the kettle from Lisbon"), weights("the kettle KX-200 from Lisbon")
    assert plain["semantic"] == pytest.approx(0.6 / 1.1)
    assert technical["bm25"] == pytest.approx(0.4 / 1.1)


def test_every_formula_weighs_1_in_all() -> None:
    for formula in FORMULAS.values():
        assert sum(formula.weights.values()) == pytest.approx(1.0)


# nothing for nobody


def test_the_default_is_as_it_was_where_nothing_of_this_is_asked() -> None:
    reply = ask("What did the vet prescribe?")
    assert set(reply.model_dump()) == {
        *("kind", "graph", "found", "seeds", "concepts", "passages", "context", "tokens", "position", "timing", "known")
    }
    assert reply == ask("What did the vet prescribe?", mode="default", guidance={})
