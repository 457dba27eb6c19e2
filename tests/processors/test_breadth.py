"""How broadly a context shows what was found: what was said around it, and shorter, where an account is asked for."""

from __future__ import annotations

import pytest

from emgas.messages.filters import Filter
from processors.extraction.yake_extractor import YakeExtractor
from processors.recall.context.context import LONG_TURN, ContextPacker, ContextPassage, tokens
from processors.recall.context.sentences import QueryWord
from processors.recall.ranking.filters import Allowed
from processors.recall.retrieval.breadth import ACCOUNT, ANSWER, breadth_of, with_neighbours
from processors.recall.retrieval.recall import Ranked
from state.graph.graph import Graph
from tests.support.clocks import NOON
from tests.support.stories import extracted

EXTRACTOR = YakeExtractor(language="en")
BESIDE = (0.5, 1.0)


def meeting(*speakers: str, sessions: tuple[int, ...] = (6,)) -> Graph:
    graph, number = Graph("team"), 0
    for session, turns in enumerate(sessions):
        for _ in range(turns):
            speaker = speakers[number % len(speakers)]
            there = {"id": f"t{number}", "speaker": speaker, "session": f"s{session}", "at": NOON + number * 60_000}
            graph.fold(extracted(f"We might paint fence number {number}.", **there, by=EXTRACTOR))
            number += 1
    return graph


@pytest.mark.parametrize(
    "text",
    [
        "What did they discuss about the budget?",
        "What did Ada think about the new fence?",
        "Summarise the debate on the early start.",
        "How did Bob respond to the offer?",
        "What was the team's opinion of the colour?",
        "What has Cleo said so far?",
        "大家对预算怎么看？",
        "会上讨论了哪些问题？",
        "老王的意见是什么？",
        "总结一下昨天的会",
        "Worüber haben sie diskutiert?",
        "¿Qué opinan del presupuesto?",
        "Quel est leur avis sur le budget ?",
        "予算について議論しましたか",
        "예산에 대한 의견은?",
    ],
)
def test_a_question_for_what_was_said_about_something_is_answered_broadly(text: str) -> None:
    assert breadth_of(text) is ACCOUNT


@pytest.mark.parametrize(
    "text",
    [
        "Where does Ada live?",
        "How many cats has Bob?",
        "When did they paint the fence?",
        "Who is Cleo's sister?",
        "What does she drink in the morning?",
        "她住在哪里？",
        "他什么时候去看病？",
        "妈妈的生日是哪天？",
        "Wann ist der Termin?",
    ],
)
def test_a_question_for_a_fact_is_not(text: str) -> None:
    assert breadth_of(text) is ANSWER


def test_turns_beside_those_found_come_too_and_count_less_the_farther_they_are() -> None:
    view = meeting("Ada", "Bob").view()
    near = with_neighbours(view, [Ranked(2, 5.0)], BESIDE, Allowed(view, Filter()))
    assert near[0] == Ranked(2, 5.0)
    assert {each.number: each.score for each in near} == {2: 5.0, 1: 4.5, 3: 4.5, 0: 4.0, 4: 4.0}


def test_a_turn_that_was_found_never_falls_and_may_be_raised() -> None:
    view = meeting("Ada", "Bob").view()
    near = with_neighbours(view, [Ranked(2, 5.0), Ranked(1, 4.8), Ranked(3, 1.0)], BESIDE, Allowed(view, Filter()))
    scores = {each.number: each.score for each in near}
    assert (scores[1], scores[3]) == (4.8, 4.5)
    assert near == sorted(near, key=lambda each: -each.score)


def test_no_turn_of_another_session_is_beside_one() -> None:
    view = meeting("Ada", sessions=(3, 3)).view()
    near = with_neighbours(view, [Ranked(2, 5.0)], BESIDE, Allowed(view, Filter()))
    assert {each.number for each in near} == {0, 1, 2}


def test_a_filter_holds_for_what_is_beside_too() -> None:
    view = meeting("Ada", "Bob").view()
    near = with_neighbours(view, [Ranked(2, 5.0)], BESIDE, Allowed(view, Filter(speakers=["Ada"])))
    assert {each.number for each in near} == {0, 2, 4}


def test_an_account_quotes_long_turns_shorter_so_that_more_of_them_fit() -> None:
    filler = "Nothing of note was added by anyone at the table. "
    text = filler * 12 + "The budget is nine thousand euros. " + filler * 12
    assert tokens(text) > LONG_TURN
    words = (QueryWord(("budget",), 1.0),)

    def packed(longest: int) -> tuple[int, str]:
        packer = ContextPacker(600, longest)
        for number in range(6):
            said = text.replace("nine", f"{number + 11}")
            packer.add(ContextPassage(number, NOON, "Ada", said, query_words=words))
        context = packer.context()
        return len(context.passages), context.text

    fewer, _ = packed(ANSWER.longest)
    more, shown = packed(ACCOUNT.longest)
    assert more > fewer
    assert all(f"The budget is {number + 11} thousand euros." in shown for number in range(more))
    assert "[…]" in shown
