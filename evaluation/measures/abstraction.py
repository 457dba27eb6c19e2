"""Measure whether abstracts cover recurring events without hiding the details.

coverage  share of the turns that a habit holds          turns_of_one   turns that one habit stands for
detail    recall of the questions whose evidence a habit holds: what an abstract covers must still be found
rest      recall of all others
balance   harmonic mean of the recall of patterns (patterns.py) and of detail: None where either is unknown
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluation.questions.labelled import LabelledQuestion
from state.arrays import Floats
from state.graph.graph import Graph


def abstraction(
    memories: Sequence[tuple[Graph, Sequence[LabelledQuestion]]], recalled: Floats, extracted: float | None
) -> dict[str, Any]:
    """Measure graphs with their questions; `recalled` (q,) is recall of each in [0, 1], in their order.

    extracted  recall of patterns, None where a data set names none
    """
    covered = [_is_covered(graph, question) for graph, questions in memories for question in questions]
    is_covered = np.array(covered, np.bool_)
    turns = sum(int(np.array(graph.passages.kept, np.bool_).sum()) for graph, _ in memories)
    members = sum(len(graph.habits.of_turn) for graph, _ in memories)
    habits = sum(len(graph.habits.habits) for graph, _ in memories)
    detail = float(recalled[is_covered].mean()) if is_covered.any() else None
    return {
        "coverage": members / max(turns, 1),
        "turns_of_one": members / habits if habits else None,
        "questions_of_habits": int(is_covered.sum()),
        "detail": detail,
        "rest": float(recalled[~is_covered].mean()) if (~is_covered).any() else None,
        "balance": None if detail is None or extracted is None else _harmonic(detail, extracted),
    }


def _is_covered(graph: Graph, question: LabelledQuestion) -> bool:
    return not question.evidence.isdisjoint(graph.habits.of_turn)


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0
