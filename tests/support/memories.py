"""Memories as `emgas eval` measures on, folded without a log: of the demo's conversation, or of turns given by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from emgas.importers.registry import read
from emgas.messages.turns import Turn
from evaluation.measure import Examined
from evaluation.memory import EvaluatedMemory
from evaluation.questions.labelled import LabelledQuestion
from processors.extraction.extractor import Extraction
from processors.extraction.yake_extractor import YakeExtractor
from state.graph.graph import Graph
from tests.support.builders import turn_recorded
from tests.support.cli import ROOT
from tests.support.clocks import NOON

DEMO = ROOT / "streams" / "cli" / "memory" / "demo_data"


@cache
def extractor() -> YakeExtractor:
    return YakeExtractor()


def memory_of(turns: Sequence[Turn]) -> EvaluatedMemory:
    """Return the memory of these turns, whatever their graph."""
    graph = Graph("eval")
    for turn in turns:
        extraction = extractor().of_turn(turn.text, speaker=turn.speaker, at=turn.at or NOON)
        graph.fold(turn_recorded(**{**turn.model_dump(), **_facts(extraction), "graph": "eval", "at": turn.at or NOON}))
    return EvaluatedMemory(graph.view(), [turn.text for turn in turns], extractor())


def _facts(extraction: Extraction) -> dict[str, Any]:
    """Return what extraction found, under the names that an event has for it."""
    values = {each.name: getattr(extraction, each.name) for each in fields(extraction)}
    values["concepts"] += values.pop("phrases")
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def turns_of(*texts: str, session: str = "s", speaker: str = "Ada") -> list[Turn]:
    """Return turns t0, t1, … with these texts."""
    return [
        Turn(id=f"t{number}", graph="eval", session=session, speaker=speaker, text=text, at=NOON + number)
        for number, text in enumerate(texts)
    ]


@cache
def demo() -> Examined:
    """Return the demo's bilingual conversation with its questions."""
    with (DEMO / "conversation.jsonl").open("rb") as stream:
        turns = [item for item in read(stream, "conversation.jsonl") if isinstance(item, Turn) and item.graph == "demo"]
    entries = [each for each in json.loads((DEMO / "questions.json").read_text()) if each["graph"] == "demo"]
    questions = [
        LabelledQuestion(each["question"], each["kind"], frozenset(each["answers"]), "demo") for each in entries
    ]
    return Examined(memory_of(turns), questions)
