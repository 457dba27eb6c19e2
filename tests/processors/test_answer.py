"""From a query to an answer: filters against the ranking, explanations, and how much comes back if nobody says."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.client.query_arguments import build_query
from emgas.errors import InvalidMessageError
from emgas.messages.fields import Position
from emgas.messages.queries import RecalledPassage, Reply
from lab.catalogue import POLICIES
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.closer_look import TERM as CLOSER
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.retrieval.recall import DROP, EVEN, MASS
from processors.text.questions.answer_kinds import LEAST_DEPTH, MOST_DEPTH
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from state.graph.tables.turn_facts import TurnFacts
from tests.support.clocks import DAY, NOON
from tests.support.stories import extracted

EXTRACTOR = YakeExtractor(language="en")
ANSWERER = Answerer(EXTRACTOR, policies=POLICIES)
HERE = Position(partition=0, watermark=7, source=3)
WHO, WHERE = ("Ada", "Bob", "Cleo"), ("one", "two")
TEXTS = (
    "The kettle broke yesterday, and the tea went cold.",
    "Did you buy another kettle in Lisbon?",
    "My cat sleeps beside the kettle.",
    "The cat caught a mouse in the garden.",
    "I repaired the garden fence and drank tea.",
    "A copper kettle costs forty euros.",
)
TURNS = 36
HEAD: Final = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d\]")  # of the lines of one time
EASY, HARD = "the kettle", "Why do Ada and Bob like the kettle, the garden, and all kinds of tea?"


@cache
def conversation() -> tuple[Graph, tuple[TurnRecorded, ...]]:
    graph, turns = Graph("ada"), []
    for n in range(TURNS):
        text, speaker, at = f"{TEXTS[n % len(TEXTS)]} That was number {n}.", WHO[n % 3], NOON + n * DAY // 3
        metadata = {"even": n % 2 == 0, "n": n, "app": "chat" if n < 20 else "mail"}
        there = {"id": f"t{n}", "speaker": speaker, "session": WHERE[n // 18], "at": at}
        turns.append(extracted(text, **there, metadata=metadata, by=EXTRACTOR))
        graph.fold(turns[-1])
    return graph, tuple(turns)


def ask(text: str = "the kettle", only: dict[str, Any] | None = None, **options: Any) -> Reply:
    graph, turns = conversation()
    query = build_query(None, only, {"graph": "ada", "text": text, **options})
    return in_one_go(ANSWERER.answer(query, QueriedGraph(graph, lambda _, number: turns[number], HERE))).reply


def passages(only: dict[str, Any] | None = None, **options: Any) -> list[RecalledPassage]:
    """List what comes back, without what depends on all that was found: likelihood, and whether a context quotes it."""
    found = ask(only=only, top_passages=100, **options).passages
    return [each.model_copy(update={"likelihood": None, "in_context": False}) for each in found]


def turn(passage: RecalledPassage) -> TurnRecorded:
    return conversation()[1][int(passage.id[1:])]


MIDDLE, THIRD = NOON + 5 * DAY, NOON + 3 * DAY // 2
FILTERS: dict[str, tuple[dict[str, Any], Callable[[TurnRecorded], bool]]] = {
    "session": ({"sessions": ["two"]}, lambda text: text.session == "two"),
    "sessions": ({"sessions": {"two", "one", "three"}}, lambda text: True),
    "speaker": ({"speakers": ["Bob", "Cleo"]}, lambda text: text.speaker != "Ada"),
    "since": ({"since": MIDDLE}, lambda text: text.at >= MIDDLE),
    "until": ({"until": MIDDLE + DAY}, lambda text: text.at < MIDDLE + DAY),
    "a day as written": ({"since": "2023-05-10", "until": "2023-05-11"}, lambda text: THIRD <= text.at < THIRD + DAY),
    "concept": ({"concepts": ["cat"]}, lambda text: "cat" in text.text),
    "concept as written": ({"concepts": ["Cats"]}, lambda text: "cat" in text.text),
    "a concept of two": ({"concepts": ["cat", "Lisbon"]}, lambda text: "cat" in text.text or "Lisbon" in text.text),
    "metadata": ({"metadata": {"app": "mail"}}, lambda text: text.metadata["app"] == "mail"),
    "two entries": ({"metadata": {"app": "mail", "even": True}}, lambda text: int(text.id[1:]) in range(20, 36, 2)),
    "true is not 1": ({"metadata": {"even": 1}}, lambda text: False),
    "1 is 1.0": ({"metadata": {"n": 2.0}}, lambda text: text.id == "t2"),
    "exclude": ({"exclude": ("t0", "t7", "nothing")}, lambda text: text.id not in ("t0", "t7")),
    "both": ({"speakers": ["Ada"], "sessions": ["one"]}, lambda text: text.speaker == "Ada" and text.session == "one"),
    "no such session": ({"sessions": ["three"]}, lambda text: False),
    "no such speaker": ({"speakers": ["ada"]}, lambda text: False),
    "no such concept": ({"concepts": ["zebra"]}, lambda text: False),
    "time spoken of": (
        {"spoken_since": NOON - 2 * DAY, "spoken_until": NOON + DAY},
        lambda text: any(span.until > NOON - 2 * DAY and span.since < NOON + DAY for span in text.times),
    ),
    "long ago": ({"spoken_until": NOON - 900 * DAY}, lambda text: False),
    "no such metadata": ({"metadata": {"mood": None}}, lambda text: False),
}  # fmt: skip


@pytest.mark.source("P17")
@pytest.mark.parametrize("mode", ["default", "literal"])
@pytest.mark.parametrize("name", FILTERS)
def test_a_filtered_ranking_is_the_ranking_without_what_is_filtered_out(name: str, mode: str) -> None:
    only, passes = FILTERS[name]
    left = [each.id for each in passages(mode=mode) if passes(turn(each))]
    assert [each.id for each in passages(only, mode=mode)] == left


@pytest.mark.source("P16")
@given(data=st.data())
def test_filters_together_leave_what_each_of_them_leaves(data: st.DataObject) -> None:
    names = ["session", "speaker", "since", "until", "concept", "metadata", "exclude", "time spoken of"]
    chosen = data.draw(st.lists(st.sampled_from(names), unique=True))
    only = {field: value for name in chosen for field, value in FILTERS[name][0].items()}
    left = [each.id for each in passages() if all(FILTERS[name][1](turn(each)) for name in chosen)]
    assert [each.id for each in passages(only)] == left
    top = data.draw(st.integers(0, 10))
    assert [each.id for each in ask(only=only, top_passages=top).passages] == left[:top]


@pytest.mark.parametrize("name", FILTERS)
def test_the_context_holds_nothing_that_is_filtered_out(name: str) -> None:
    only, passes = FILTERS[name]
    texts = {text.text for text in conversation()[1] if passes(text)}
    shown = [line.partition(": ")[2] for line in lines(ask(only=only, budget=4000))]
    assert all(any(line.startswith(text) for text in texts) for line in shown)
    assert bool(shown) == bool(passages(only))


@pytest.mark.source("P16", "P17")
def test_what_turns_tell_of_themselves_is_read_once_however_often_it_is_asked() -> None:
    graph, turns = conversation()
    read: list[int] = []

    def text_of(_: Graph, number: int) -> TurnRecorded:
        read.append(number)
        return turns[number]

    graph.facts = TurnFacts()  # as in a worker that has just started
    fields = {"graph": "ada", "text": "the kettle", "top_passages": 1, "budget": 0}
    for number in (7, 3):
        query = build_query(None, {"metadata": {"n": number}}, fields)
        steps = ANSWERER.answer(query, QueriedGraph(graph, text_of, HERE))
        in_one_go(steps)
        query = build_query(None, {"spoken_since": NOON - DAY}, fields)
        in_one_go(ANSWERER.answer(query, QueriedGraph(graph, text_of, HERE)))
    assert sorted(read[: len(turns)]) == list(range(len(turns)))
    assert len(read) <= len(turns) + 4, "then only what is shown"


def test_a_time_range_that_ends_before_it_begins_is_refused() -> None:
    for until in (MIDDLE, MIDDLE - 1):
        with pytest.raises(InvalidMessageError, match="`until` must be later than `since`"):
            ask(only={"since": MIDDLE, "until": until})


def test_a_misspelt_filter_is_refused() -> None:
    with pytest.raises(InvalidMessageError, match="speaker: is not a known field"):
        ask(only={"speaker": ["Ada"]})


# explanations


@pytest.mark.source("M22", "P33")
@pytest.mark.parametrize("text", ["the kettle", "What did Ada say about the cat yesterday?", "Who drank tea in 2023?"])
def test_the_terms_of_every_explanation_add_up_to_the_score(text: str) -> None:
    explained = ask(text, explain=True, top_passages=100).passages
    assert explained
    for passage in explained:
        assert passage.why is not None
        assert sum(passage.why.terms.values()) == pytest.approx(passage.score)
        assert all(passage.why.terms.values())


@pytest.mark.source("E17")
def test_an_explanation_names_the_seeds_the_neighbours_and_the_hops() -> None:
    explanations = {each.id: each.why for each in passages(explain=True)}
    own = [mention for mention in explanations["t5"].mentions if mention.distance == 0]  # type: ignore[union-attr]
    assert [(mention.concept, mention.weight, mention.turn, mention.times) for mention in own] == [
        ("kettle", 1.0, "t5", 1)
    ]
    near = {(mention.turn, mention.distance) for mention in explanations["t3"].mentions}  # type: ignore[union-attr]
    assert {("t2", -1), ("t5", 2)} <= near
    hops = [hop for why in explanations.values() if why is not None for hop in why.associations]
    assert hops
    assert all(hop.source != hop.target and hop.times > 0 and hop.weight > 0 for hop in hops)


def test_nothing_is_explained_unasked_and_an_explanation_changes_no_ranking() -> None:
    plain, explained = passages(), passages(explain=True)
    assert [each.model_copy(update={"why": None}) for each in explained] == plain
    assert "why" not in plain[0].model_dump()


def test_a_filter_changes_no_explanation_but_for_the_scores_that_a_closer_look_deals_out() -> None:
    whole = {each.id: terms_of(each) for each in passages(explain=True)}
    assert all(whole[each.id] == terms_of(each) for each in passages({"speakers": ["Bob"]}, explain=True))


def terms_of(passage: RecalledPassage) -> dict[str, float]:
    """Return the terms of a passage's score, without what a closer look made of it."""
    assert passage.why is not None
    return {name: worth for name, worth in passage.why.terms.items() if name != CLOSER}


def test_kinds_of_memory_are_of_the_default_mode() -> None:
    with pytest.raises(InvalidMessageError, match="kinds of memory need the default mode"):
        ask(mode="literal", memory="working")


# how much comes back


@pytest.mark.source("P47")
@pytest.mark.parametrize("text", [EASY, HARD])
def test_as_many_passages_come_back_as_a_question_needs(text: str) -> None:
    matches = ask(text).passages
    assert LEAST_DEPTH <= len(matches) <= MOST_DEPTH
    assert matches == ask(text, top_passages=len(matches)).passages


@pytest.mark.source("P32")
def test_a_harder_question_brings_back_more() -> None:
    assert len(ask(EASY).passages) < len(ask(HARD).passages)


def lines(reply: Reply) -> list[str]:
    """Return all that a context says, without the times that its lines stand below."""
    return [line for line in reply.context.splitlines() if line and not HEAD.fullmatch(line)]


def test_how_many_passages_are_listed_changes_no_context() -> None:
    contexts = {ask(top_passages=top, budget=300).context for top in (None, 0, 1, 100)}
    assert len(contexts) == 1
    assert len(lines(ask(budget=300))) > len(ask().passages)


def test_a_context_holds_as_many_turns_as_are_wanted_and_the_best_of_them() -> None:
    best = ask(context_passages=2, top_passages=2)
    assert sorted(line.split(": ", 1)[1][:40] for line in lines(best)) == sorted(
        each.text[:40] for each in best.passages
    )
    assert lines(ask(context_passages=0)) == []
    assert len(lines(ask(context_passages=100, budget=100))) < 10, "the budget holds all the same"


def test_a_budget_is_an_upper_bound_where_scores_drop() -> None:
    sure = ask("Did Cleo say that a copper kettle costs forty euros, number 23?", budget=32_000, top_passages=100)
    worst = min(each.score for each in sure.passages[:LEAST_DEPTH]) - DROP
    near = [each for each in sure.passages if each.score >= worst]
    shown = {line.split(": ", 1)[1].split(" [")[0] for line in lines(sure)}
    assert LEAST_DEPTH <= len(shown) < len(near) < len(sure.passages)
    assert shown == {each.text for each in near[: len(shown)]}, "the best of them"
    promised = [math.exp((each.score - near[0].score) / EVEN) for each in near]
    assert sum(promised[: len(shown)]) >= MASS * sum(promised) > sum(promised[: len(shown) - 1])


@pytest.mark.source("P31")
@pytest.mark.parametrize("text", ["Good morning!", "Thanks, Ada!", "你好"])
def test_a_greeting_brings_back_nothing(text: str) -> None:
    reply = ask(text)
    assert (reply.found, reply.passages, reply.context, reply.tokens) == (True, [], "", 0)


def test_the_context_says_which_day_yesterday_was() -> None:
    lines = ask(budget=4000).context.splitlines()
    assert any(line.endswith("That was number 0. [yesterday = 2023-05-07]") for line in lines)


def test_where_nothing_is_found_the_reply_says_so_and_nothing_comes_back() -> None:
    assert ask("the kettle").matched
    reply = ask("xyzzy frobnicate")
    assert (reply.found, reply.matched, reply.passages, reply.context) == (True, False, [], "")


@pytest.mark.parametrize("text", ["xyzzy frobnicate", "hi"])
def test_where_nothing_is_found_the_latest_turns_may_come_back_newest_first(text: str) -> None:
    reply = ask(text, fallback="recent", top_passages=3, explain=True)
    newest = sorted(conversation()[1], key=lambda turn: turn.at)[::-1][:3]
    assert not reply.matched
    assert [passage.id for passage in reply.passages] == [turn.id for turn in newest]
    assert {passage.score for passage in reply.passages} == {0.0}
    assert newest[0].text in reply.context


def test_the_latest_turns_pass_the_filter_too() -> None:
    speaker = conversation()[1][0].speaker
    reply = ask("xyzzy", {"speakers": [speaker]}, fallback="recent")
    assert {passage.speaker for passage in reply.passages} == {speaker}


def test_what_is_found_needs_no_other() -> None:
    assert ask("the kettle", fallback="recent") == ask("the kettle")


@pytest.mark.source("S22", "M20")
def test_what_one_speaker_said_twice_in_the_same_words_is_listed_once() -> None:
    graph, turns = Graph("ada"), list[TurnRecorded]()
    for number, text in enumerate(["The gate code is on the calendar", "we painted the gate"] * 2):
        turns.append(extracted(text, id=f"t{number}", session=f"s{number}", at=NOON + number))
        graph.fold(turns[-1])
    memory = QueriedGraph(graph, lambda _, number: turns[number], HERE)
    query = build_query(None, {}, {"graph": "ada", "text": "Where is the gate code?"})
    reply = in_one_go(ANSWERER.answer(query, memory)).reply
    texts = [each.text for each in reply.passages]
    assert texts[0] == "The gate code is on the calendar"
    assert len(texts) == len(set(texts))


def test_a_reply_tells_which_of_its_passages_the_context_quotes() -> None:
    reply = ask(budget=40, top_passages=100)
    quoted = [each.text for each in reply.passages if each.in_context]
    assert 0 < len(quoted) < len(reply.passages)
    assert all(text in reply.context for text in quoted)
    assert not any(each.text in reply.context for each in reply.passages if not each.in_context)
    assert not any(each.in_context for each in ask(budget=0).passages)
