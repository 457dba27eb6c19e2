"""Running memory: for three turns, three passages, none said twice."""

from __future__ import annotations

import pytest

from emgas.client.running import ITEMS, TURNS, RunningMemory
from emgas.messages.queries import RecalledPassage

TEXTS = (
    "The vet prescribed ear drops.",
    "Grandmother repairs clocks.",
    "我们在海边吃了饼干。",
    "Onions are cheap this week.",
    "Who painted the lighthouse?",
)


def passage(text: str) -> RecalledPassage:
    return RecalledPassage(id=text, session="s", speaker="Ada", role=None, text=text, at=0, score=1.0)


def current_texts(running: RunningMemory, *texts: str) -> list[str]:
    return [each.text for each in running.turn(map(passage, texts))]


@pytest.mark.source("M12", "M10")
def test_what_was_brought_back_is_at_hand_for_three_turns() -> None:
    running = RunningMemory()
    assert current_texts(running, TEXTS[0]) == [TEXTS[0]]
    for _ in range(TURNS - 1):
        assert current_texts(running) == [TEXTS[0]]
    assert current_texts(running) == []


@pytest.mark.source("M12")
def test_of_more_than_three_the_latest_stay_and_of_one_answer_the_best() -> None:
    running = RunningMemory()
    assert current_texts(running, *TEXTS[:4]) == [TEXTS[2], TEXTS[1], TEXTS[0]]
    assert current_texts(running, TEXTS[4]) == [TEXTS[1], TEXTS[0], TEXTS[4]]
    assert len(current_texts(running, *TEXTS)) == ITEMS


@pytest.mark.source("M12")
def test_what_says_nearly_the_same_is_passed_over() -> None:
    running = RunningMemory()
    assert current_texts(running, TEXTS[0]) == [TEXTS[0]]
    assert current_texts(running, "The vet prescribed some ear drops!") == [TEXTS[0]]
    assert current_texts(running, "我们在海边吃了饼干", TEXTS[2]) == [TEXTS[0], TEXTS[2]]
