"""How the likeness of vectors joins a score of passages, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from emgas.messages.fields import Position
from emgas.messages.queries import Query, Reply
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.ranking.dense import WEIGHT, Vectors, cosines, fused, likeness, unit
from state.graph.graph import Graph
from state.graph.view import GraphView
from tests.support.builders import folded, turn_embedded, turn_recorded
from tests.support.clocks import DAY, NOON
from tests.support.stories import extracted

EXTRACTOR = YakeExtractor(language="en")


class Tiny:
    """A model of two words."""

    name = "tiny"

    def __init__(self, version: str = "1", width: int = 2) -> None:
        self.version = version
        self._width = width

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = {"cat": 0, "dog": 1}
        return np.array([[vectors.get(text) == place for place in range(self._width)] for text in texts], np.float32)


def embedded() -> GraphView:
    """Return a view of four turns, of which the third has no vector."""
    vectors = {"t0": [1.0, 0.0], "t1": [0.6, 0.8], "t3": [0.0, 1.0]}
    turns = [turn_recorded(id=f"t{number}") for number in range(4)]
    return folded(*turns, *(turn_embedded(id=id, model="tiny 1", vector=vectors[id]) for id in vectors)).view()


def test_vectors_get_length_one_and_nothing_stays_nothing() -> None:
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)).tolist() == [pytest.approx([0.6, 0.8]), [0, 0]]


@pytest.mark.source("S3")
def test_cosines_are_those_of_the_passages_with_the_question() -> None:
    passages = unit(np.array([[1, 0], [1, 1], [-1, 0]], np.float32))
    assert cosines(passages, unit(np.array([[2, 0]], np.float32))) == pytest.approx([1, 2**-0.5, -1])


def test_likeness_joins_a_score_by_hand() -> None:
    # mean 0.4, so only the third is above it; it takes the whole weight whatever the deviation
    assert fused(np.array([4.0, 2.0, 0.0]), np.array([0.2, 0.2, 0.8])) == pytest.approx([1.0, 0.5, WEIGHT])


def test_likeness_is_measured_in_deviations_above_the_mean() -> None:
    cosine = np.array([0.1, 0.2, 0.3, 0.6])
    above = np.maximum(0, cosine - 0.3)
    assert fused(np.zeros(4), cosine) == pytest.approx(WEIGHT * above / above.max())
    assert fused(np.zeros(4), 0.5 + cosine / 10) == pytest.approx(fused(np.zeros(4), cosine)), "whatever the range"


def test_where_all_are_alike_only_the_scores_count() -> None:
    assert fused(np.array([2.0, 1.0]), np.array([0.5, 0.5])).tolist() == [1.0, 0.5]
    assert fused(np.zeros(2), np.zeros(2)).tolist() == [0, 0]
    assert fused(np.zeros(0), np.zeros(0)).tolist() == []


def test_a_question_is_as_like_a_passage_as_their_vectors_and_the_mean_where_there_is_none() -> None:
    assert likeness(embedded(), Tiny(), "cat") == pytest.approx([1, 0.6, 1.6 / 3, 0], abs=1e-3)
    assert likeness(embedded(), Tiny(), "dog") == pytest.approx([0, 0.8, 1.8 / 3, 1], abs=1e-3)


@pytest.mark.source("S32")
@pytest.mark.parametrize("model", [Tiny(version="2"), Tiny(width=3)])
def test_vectors_of_another_model_are_not_compared(model: Tiny) -> None:
    assert likeness(embedded(), model, "cat") is None


def test_without_a_vector_on_either_side_there_is_no_likeness() -> None:
    assert likeness(embedded(), Tiny(), "volcano") is None
    assert likeness(folded(turn_recorded()).view(), Tiny(), "cat") is None


def asked(text: str, *vectors: list[float], **options: Any) -> Reply:
    """Ask a graph whose turns have these vectors, and share no word with the question."""
    graph, turns = Graph("ada"), []
    for number, vector in enumerate(vectors):
        there = {"id": f"t{number}", "session": "s", "at": NOON + number * DAY}
        turns.append(extracted(f"The kettle whistles in kitchen {number}.", **there, by=EXTRACTOR))
        graph.fold(turns[-1])
        graph.fold(turn_embedded(id=f"t{number}", model="tiny 1", vector=vector))
    memory = QueriedGraph(graph, lambda _, number: turns[number], Position(partition=0, watermark=1, source=1))
    query = Query.model_validate({"graph": "ada", "text": text, **options})
    return in_one_go(Answerer(EXTRACTOR, Tiny()).answer(query, memory)).reply


def test_what_is_said_in_other_words_is_known_where_a_vector_is_like_the_question() -> None:
    reply = asked("cat", [1.0, 0.0], [0.0, 1.0])
    assert reply.matched
    assert reply.passages[0].id == "t0"


def test_with_vectors_too_nothing_answers_where_none_is_like_the_question() -> None:
    near = [0.4, 0.9165]
    assert not asked("cat", near, near, [0.0, 1.0]).matched
    assert asked("cat", near, near, [0.0, 1.0], min_likelihood=0.0).passages


def test_a_prompt_is_filled_by_words_alone_however_alike_vectors_are() -> None:
    assert not asked("cat", [1.0, 0.0], [0.0, 1.0], mode="inject").passages
