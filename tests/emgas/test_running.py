"""Running memory: for three turns, three passages, none said twice."""

from __future__ import annotations

import pytest

from emgas.client.running import ITEMS, TURNS, RunningMemory
from emgas.messages.queries import RecalledPassage

SAID = (
    "The vet prescribed ear drops.",
    "Grandmother repairs clocks.",
    "我们在海边吃了饼干。",
    "Onions are cheap this week.",
    "Who painted the lighthouse?",
)


def passage(text: str) -> RecalledPassage:
    return RecalledPassage(id=text, session="s", speaker="Ada", role=None, text=text, at=0, score=1.0)


def held(running: RunningMemory, *texts: str) -> list[str]:
    return [each.text for each in running.turn(map(passage, texts))]


@pytest.mark.source("M12", "M10")
def test_what_was_brought_back_is_at_hand_for_three_turns() -> None:
    running = RunningMemory()
    assert held(running, SAID[0]) == [SAID[0]]
    for _ in range(TURNS - 1):
        assert held(running) == [SAID[0]]
    assert held(running) == []


@pytest.mark.source("M12")
def test_of_more_than_three_the_latest_stay_and_of_one_answer_the_best() -> None:
    running = RunningMemory()
    assert held(running, *SAID[:4]) == [SAID[2], SAID[1], SAID[0]]
    assert held(running, SAID[4]) == [SAID[1], SAID[0], SAID[4]]
    assert len(held(running, *SAID)) == ITEMS


@pytest.mark.source("M12")
def test_what_says_nearly_the_same_is_passed_over() -> None:
    running = RunningMemory()
    assert held(running, SAID[0]) == [SAID[0]]
    assert held(running, "The vet prescribed some ear drops!") == [SAID[0]]
    assert held(running, "我们在海边吃了饼干", SAID[2]) == [SAID[0], SAID[2]]
