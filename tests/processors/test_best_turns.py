"""The best turns, found by looking at few, are bit by bit those of a search that lays out every turn.

The reference is plain: all turns laid out, every feature computed of each, all of them weighed and sorted, filters
asked turn by turn.  Graphs are random: sessions that interleave, lone turns, archived ones, words that were forgotten
or never known, dates, speakers, kinds of answers, pins, feedback, vectors, both before and after more is said.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emgas.messages.filters import Filter
from processors.extraction.extractor import Extraction
from processors.recall.ranking import best_turns, inquiry
from processors.recall.ranking.archive import BEHIND
from processors.recall.ranking.features import values
from processors.recall.ranking.filters import Allowed
from processors.recall.ranking.inquiry import Inquiry
from processors.recall.ranking.passage_scores import weighed
from processors.recall.ranking.query_terms import find_query_terms
from processors.recall.ranking.weights import DEFAULT_FLOW, FlowWeights
from processors.recall.retrieval.recall import RecallOptions, activate, recall, seeds_of
from state.events.extraction_types import Concept
from state.graph.graph import Graph
from state.graph.view import GraphView
from tests.support.builders import (
    concept,
    feedback_given,
    forgotten,
    memory_archived,
    pinned,
    turn_recorded,
)
from tests.support.clocks import NOON

WORDS = ("buy", "purchase", "dessert", "cake", "paint", "painter", "喝咖啡", "咖啡", "tea", "cup", "sun", "sea")
MARKS = ("@time", "@name", "@number", "@day:2023-05-08", "@month:2023-05")
PEOPLE = ("Ada", "Ben", "Cyd")


def turn_fields(drawn: np.random.Generator, number: int, sessions: int) -> dict[str, Any]:
    """Make up a turn: what it holds by chance, words of the front more often."""
    chances = 1 / (np.arange(len(WORDS)) + 2)
    words = [word for word, chance in zip(WORDS, chances, strict=True) if drawn.random() < chance]
    marks = [mark for mark in MARKS if drawn.random() < 0.2]
    speaker = PEOPLE[int(drawn.integers(3))]
    concepts = [
        *words,
        *marks,
        f"@speaker:{speaker.casefold()}",
        *(["rare" + str(number % 7)] if number % 3 == 0 else []),
    ]
    lone = drawn.random() < 0.2
    return {
        "id": f"t{number}",
        "graph": "g",
        "session": f"lone{number}" if lone else f"s{int(drawn.integers(sessions))}",
        "speaker": speaker,
        "role": [None, "user", "assistant"][int(drawn.integers(3))],
        "at": NOON + int(drawn.integers(1000)) * 60_000,
        "tokens": int(drawn.integers(0, 90)),
        "question": bool(drawn.random() < 0.3),
        "importance": [None, 0.1, 0.9][int(drawn.integers(3))],
        "concepts": [concept(name, count=int(drawn.integers(1, 4))) for name in concepts],
    }


def talk(seed: int, turns: int) -> Graph:
    """Fold made-up turns, and some of all else that can befall them."""
    drawn, graph = np.random.default_rng(seed), Graph("g")
    for number in range(turns):
        graph.fold(turn_recorded(**turn_fields(drawn, number, sessions=max(turns // 6, 1))))
    some = [f"t{number}" for number in drawn.permutation(turns).tolist()]
    graph.fold(memory_archived(graph="g", turns=some[: turns // 8], concepts=[WORDS[int(drawn.integers(12))]]))
    graph.fold(pinned(graph="g", turns=some[2:4]))
    graph.fold(feedback_given(graph="g", turns=some[4:8], value=float(drawn.choice([-1.0, 1.0]))))
    if drawn.random() < 0.5:
        graph.fold(forgotten(graph="g", turns=some[8:10], concepts=[WORDS[int(drawn.integers(12))]]))
    return graph


def exhaustive(looked_at: Inquiry, weights: FlowWeights, only: Filter, limit: int) -> list[tuple[int, float]]:
    """Score every turn, and sort."""
    view, laid = looked_at.view, looked_at.on(np.arange(len(looked_at.view.sessions)))
    scores, reached = weighed(values(laid), weights)
    scores = np.where(view.passage_archived[laid.turn], scores - BEHIND, scores)
    ranking = [
        (turn, score)
        for turn, score, is_reached in zip(laid.turn.tolist(), scores.tolist(), reached.tolist(), strict=True)
        if is_reached and passes(view, only, turn)
    ]
    return sorted(ranking, key=lambda each: (-each[1], -each[0]))[:limit]


def passes(view: GraphView, only: Filter, turn: int) -> bool:
    concepts = {view.ids[number] for number in view.posting_concept[view.posting_passage == turn].tolist()}
    matters = 1.0 if view.passage_pinned[turn] else view.importance[turn]
    return (
        (not only.sessions or view.sessions[view.passage_session[turn]] in only.sessions)
        and (not only.speakers or view.speakers[view.passage_speaker[turn]] in only.speakers)
        and (only.since is None or view.passage_at[turn] >= only.since)
        and (only.until is None or view.passage_at[turn] < only.until)
        and (not only.concepts or bool(concepts.intersection(only.concepts)))
        and (only.include_archive or not view.passage_archived[turn])
        and (not only.roles or view.passage_role[turn] in only.roles)
        and (only.min_importance is None or matters >= only.min_importance)
        and (only.pinned is None or bool(view.passage_pinned[turn]) == only.pinned)
        and view.passage_id[turn] not in only.exclude
    )


filters = st.sampled_from(
    [
        *[Filter()] * 4,
        Filter(sessions=["s1", "s2", "unknown"]),
        Filter(speakers=["Ada"]),
        Filter(since=NOON + 200 * 60_000, until=NOON + 700 * 60_000),
        Filter(concepts=["tea", "unknown"]),
        Filter(concepts=["sun"], sessions=["s1", "s0"]),
        Filter(roles=["user"], min_importance=0.5),
        Filter(pinned=False, min_importance=0.2),
        Filter(include_archive=False, exclude=["t1", "t5", "unknown"]),
    ]
)
questions = st.tuples(
    st.lists(st.sampled_from([*WORDS, "unknown", "rare1", "rare2"]), unique=True, max_size=4),
    st.lists(st.sampled_from(MARKS), unique=True, max_size=2),
    st.sampled_from(["?", "Ada?", "Which dessert did Ben buy?", "Ada and Ben?", "What does Ada buy now?"]),
)
weighted = st.sampled_from(
    [
        *[DEFAULT_FLOW] * 4,
        DEFAULT_FLOW.replace(length=-0.5, brevity=-0.2, speaker=-1.0, first=-0.4, importance=-1.0, feedback=-1.0),
        DEFAULT_FLOW.replace(association=3.0, bridge=2.0, brevity=0.0, length=0.0),
        DEFAULT_FLOW.replace(match=0.2, inherited=0.0, session=-1.0, coverage=0.0, reply=3.0),
        DEFAULT_FLOW.replace(bridge=-1.0, association=0.0, latest=-1.0, echo=1.0),
        DEFAULT_FLOW.replace(association=-2.0, names=3.0),
        DEFAULT_FLOW.replace(names=-3.0),
    ]
)


@pytest.fixture(params=[(2, 1, 0), (8, 9, 25), (64, 512, 20_000)])
def _of_another_scale(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small graphs be large ones: what is common there, and how much is looked up at once."""
    common, fewest, original = request.param
    monkeypatch.setattr(inquiry, "COMMON", common)
    monkeypatch.setattr(inquiry, "FEWEST_COMMON", fewest)
    monkeypatch.setattr(best_turns, "LOOKED_UP", original)
    monkeypatch.setattr(best_turns, "AT_ONCE", min(original, 500) // 5 + 1)
    monkeypatch.setattr(best_turns, "SOON_DONE", original // 5)


def extraction(words: list[str], marks: list[str]) -> Extraction:
    return Extraction(tuple(Concept(name, name, 0.5, 1) for name in [*words, *marks]), True, len(words))


def inquiry_of(view: GraphView, question: Extraction, text: str, cosine: bool) -> Inquiry:
    meant = find_query_terms(view, question, text)
    activation = activate(view, seeds_of(view, meant), RecallOptions().spreading)
    return Inquiry(view, meant, activation.energy, np.cos(np.arange(view.turns)) if cosine else None)


@pytest.mark.usefixtures("_of_another_scale")
@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    turns=st.sampled_from([1, 3, 40, 90]),
    question=questions,
    only=filters,
    weights=weighted,
    limit=st.sampled_from([1, 5, 20, 200]),
    cosine=st.booleans(),
)
def test_the_best_turns_are_those_of_an_exhaustive_search(
    seed: int,
    turns: int,
    question: tuple[list[str], list[str], str],
    only: Filter,
    weights: FlowWeights,
    limit: int,
    cosine: bool,
) -> None:
    graph, (words, marks, text) = talk(seed, turns), question
    for more in range(2):
        view = graph.view()
        looked_at = inquiry_of(view, extraction(words, marks), text, cosine)
        result = best_turns.best_turns(looked_at, weights, Allowed(view, only), limit, few=0)
        expected = exhaustive(inquiry_of(view, extraction(words, marks), text, cosine), weights, only, limit)
        assert list(zip(*(column.tolist() for column in result), strict=True)) == expected
        graph.fold(turn_recorded(**turn_fields(np.random.default_rng(seed + more), turns + more, sessions=3)))


def test_a_question_lays_out_the_sessions_that_it_names_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, laid_out = Graph("g"), list[int]()
    for number in range(600):
        words = ["kettle"] if number % 50 == 0 else [f"v{number % 90}", f"w{number % 70}"]
        graph.fold(turn_recorded(graph="g", id=f"t{number}", session=f"s{number // 10}", concepts=words))
    view = graph.view()
    whole = exhaustive(inquiry_of(view, extraction(["kettle"], []), "?", cosine=False), DEFAULT_FLOW, Filter(), 12)
    excerpt = GraphView.excerpt
    monkeypatch.setattr(GraphView, "excerpt", lambda self, laid: laid_out.extend(laid) or excerpt(self, laid))
    result = recall(view, extraction(["kettle"], []), "?", RecallOptions(passages=12, few=0))
    assert list(result.passages) == whole
    assert sorted(laid_out) == list(range(0, 60, 5))
