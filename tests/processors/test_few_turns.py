"""Memories of a few turns (data/few_turns.tsv): most questions that one does not answer get nothing.

The rules decide on no word of this file alone: it was written before them, and some of its questions still fail.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from emgas.client.query_arguments import build_query
from emgas.messages.fields import Position
from lab.catalogue import POLICIES
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from tests.support.clocks import DAY, NOON
from tests.support.stories import extracted

FILE = Path(__file__).parent / "data" / "few_turns.tsv"
EXTRACTOR = YakeExtractor(language="en")
ANSWERER = Answerer(EXTRACTOR, policies=POLICIES)


@cache
def memories() -> dict[str, dict[str, list[str]]]:
    """Read the memories: turns, questions that they answer (yes), and those that they do not (no)."""
    read: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for line in FILE.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            memory, kind, text = line.split("\t")
            read[memory][kind].append(text)
    return read


def answered(memory: str, kind: str) -> list[str]:
    """Return the questions of a kind that get a context."""
    graph, turns = Graph(memory), list[TurnRecorded]()
    for n, turn in enumerate(memories()[memory]["turn"]):
        speaker, text = turn.split(": ", 1)
        turns.append(extracted(text, id=f"t{n}", speaker=speaker, session="s", at=NOON + n * DAY // 4, by=EXTRACTOR))
        graph.fold(turns[-1])
    position = Position(partition=0, watermark=len(turns), source=len(turns))
    asker = {"asker": memories()[memory]["turn"][0].split(": ")[0]} if memory.startswith("notes") else {}

    def ask(text: str) -> bool:
        query = build_query(None, None, {"graph": memory, "text": text, **asker})
        return in_one_go(ANSWERER.answer(query, QueriedGraph(graph, lambda _, n: turns[n], position))).reply.matched

    return [text for text in memories()[memory][kind] if ask(text)]


@pytest.mark.parametrize(("memory", "most"), [("notes-en", 4), ("notes-zh", 4), ("team-en", 6), ("team-zh", 6)])
def test_most_questions_that_a_memory_of_few_turns_does_not_answer_get_nothing(memory: str, most: int) -> None:
    assert len(answered(memory, "no")) <= most, answered(memory, "no")


@pytest.mark.parametrize(("memory", "lost"), [("notes-en", 0), ("notes-zh", 0), ("team-en", 0), ("team-zh", 1)])
def test_what_a_memory_of_few_turns_answers_is_not_withheld(memory: str, lost: int) -> None:
    assert len(memories()[memory]["yes"]) - len(answered(memory, "yes")) <= lost
