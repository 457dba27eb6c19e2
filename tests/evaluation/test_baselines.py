"""The peers, each against an independent way to the same numbers: hand, networkx, a linear solver."""

from __future__ import annotations

import math

import networkx
import numpy as np
import pytest

from evaluation.baselines.bm25 import Index, bm25
from evaluation.baselines.ppr import DAMPING, Walk, graph_of
from evaluation.baselines.seeds import put_in
from evaluation.baselines.steady_state import DECAY, Network
from evaluation.baselines.structured import columns, lasting, matched
from evaluation.baselines.subtractive import woken
from evaluation.fitting import features
from evaluation.memory import Memory
from processors.association import edges_out
from processors.lexicon.query_expansion import SYNONYM
from processors.recall.query_terms import asked
from processors.recall.weights import FEATURES
from state.graph.view import GraphView
from tests.support.builders import folded, turn_recorded
from tests.support.memories import demo, extractor, memory_of, said


def view_of_turns(*concepts: str) -> GraphView:
    """Return the view of turns with these concepts, each in a session of its own."""
    turns = [
        turn_recorded(id=f"t{number}", session=f"s{number}", concepts=names) for number, names in enumerate(concepts)
    ]
    return folded(*turns).view()


# bm25


@pytest.mark.source("M19", "P15")
def test_bm25_by_hand() -> None:
    # documents: "tea tea milk", "milk", "rain sun rain sun rain"; words: tea 0, milk 1, rain 2, sun 3
    word, document, count = (np.array(column) for column in ([0, 1, 1, 2, 3], [0, 0, 1, 2, 2], [2, 1, 1, 3, 2]))
    scores = Index(word, document, count, 4, 3).scores(np.array([0, 1]))
    idf_tea, idf_milk = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)
    long, short = 0.9 * (0.6 + 0.4 * 3 / 3), 0.9 * (0.6 + 0.4 * 1 / 3)  # mean length 3
    first = idf_tea * 1.9 * 2 / (2 + long) + idf_milk * 1.9 / (1 + long)
    assert scores == pytest.approx([first, idf_milk * 1.9 / (1 + short), 0.0])


def test_a_word_asked_twice_counts_twice_and_an_unknown_index_is_empty() -> None:
    index = Index(*(np.array(column) for column in ([0, 1], [0, 1], [1, 1])), 2, 2)
    assert index.scores(np.array([0, 0]))[0] == pytest.approx(2 * index.scores(np.array([0]))[0])
    nothing = np.zeros(0, np.int64)
    assert index.scores(nothing).tolist() == [0, 0]
    assert len(Index(nothing, nothing, nothing, 0, 0).scores(nothing)) == 0


def test_bm25_knows_the_words_of_a_turn_and_its_speaker_but_no_marks() -> None:
    turns = [*said("The kettle broke."), *said("The kettle works.", speaker="Ben")]
    memory = memory_of([turns[0], turns[1].model_copy(update={"id": "t1"})])
    rank = bm25(memory)
    assert rank(extractor().of_query("the kettle of Ben?"), "the kettle of Ben?").listed.tolist() == [1, 0]
    assert rank(extractor().of_query("When?"), "When?").listed.tolist() == [], "@time is no word"


# ppr


@pytest.mark.source("S4")
def test_the_walk_is_the_one_of_networkx() -> None:
    view = demo().memory.view
    n, walk = len(view.ids), graph_of(view)
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(n + len(view.passage_at)))
    edges = edges_out(view.windows["exchange"], np.arange(n), "ppmi")
    for source, target, weight in zip(*(column.tolist() for column in edges), strict=True):
        if weight > 0:
            graph.add_edge(source, target, weight=weight)
    for concept, passage in zip(view.posting_concept.tolist(), view.posting_passage.tolist(), strict=True):
        graph.add_edge(concept, n + passage, weight=1.0)
        graph.add_edge(n + passage, concept, weight=1.0)
    restart = np.zeros(n + len(view.passage_at))
    restart[[0, 3, 8]] = 0.5, 0.3, 0.2
    start = dict(enumerate(restart.tolist()))
    steps = networkx.google_matrix(graph, DAMPING, personalization=start, nodelist=list(start))
    assert walk.stationary(restart) == pytest.approx(np.linalg.matrix_power(steps, 200)[0], abs=1e-8)


def test_a_walk_that_is_stuck_starts_again() -> None:
    walk = Walk(np.array([0]), np.array([1]), np.array([1.0]), 3)
    here = walk.stationary(np.array([1.0, 0.0, 0.0]))
    assert here.sum() == pytest.approx(1.0)
    assert here == pytest.approx([2 / 3, 1 / 3, 0.0])


# subtractive


@pytest.mark.source("M16")
def test_subtractive_energy_by_hand() -> None:
    # tea–milk twice, milk–cow four times, cow–field twice, tea–cup once, field–barn four times
    view = view_of_turns(*["tea milk"] * 2, *["milk cow"] * 4, *["cow field"] * 2, "tea cup", *["field barn"] * 4)
    energy = dict(zip(view.ids, woken(view, view.numbers["tea"]).tolist(), strict=True))
    assert energy["tea"] == 1
    assert energy["milk"] == 1 - 1 / 2
    assert energy["cow"] == 1 - 1 / 2 - 1 / 4
    assert energy["cup"] == 0, "an edge that was seen once passes nothing on"
    assert energy["field"] == 0, "1/4 − 1/2 is below nothing"
    assert energy["barn"] == 0


@pytest.mark.source("M18")
def test_subtractive_stops_after_three_edges_and_keeps_the_first_energy() -> None:
    view = view_of_turns(*["a b"] * 10, *["b c"] * 10, *["c d"] * 10, *["d e"] * 10, *["a c"] * 2)
    energy = dict(zip(view.ids, woken(view, view.numbers["a"]).tolist(), strict=True))
    assert energy["c"] == pytest.approx(0.5), "reached over one edge, though two would give more"
    assert energy["d"] == pytest.approx(0.4)
    assert energy["e"] == pytest.approx(0.3)


# steady state


@pytest.mark.source("S13")
def test_the_steady_state_is_the_solution_of_the_equation() -> None:
    view = demo().memory.view
    n, seeds = len(view.ids), np.array([2, 5])
    edges = edges_out(view.windows["exchange"], np.arange(n), "ppmi")
    weights = np.zeros((n, n))
    weights[edges.source, edges.target] = edges.weight
    strength = np.sqrt(weights.sum(axis=1))
    normal = np.divide(weights, np.outer(strength, strength), out=np.zeros_like(weights), where=weights > 0)
    put_in = np.zeros(n)
    put_in[seeds] = 1.0
    assert Network(view).steady(put_in) == pytest.approx(np.linalg.solve(np.eye(n) - DECAY * normal, put_in), abs=1e-7)


# the structure that peers get


def two_sessions() -> GraphView:
    """Return the view of two sessions of two turns: the first of each asks, Ada and Ben take turns."""
    speakers, concepts = ("Ada", "Ben"), ("tea", "milk", "rain", "tea")
    return folded(
        *(
            turn_recorded(
                id=f"t{at}",
                session=f"s{at // 2}",
                speaker=speakers[at % 2],
                question=at % 2 == 0,
                concepts=concepts[at],
            )
            for at in range(4)
        )
    ).view()


def test_a_walk_lasts_within_its_session_as_a_mention_does() -> None:
    order = two_sessions().session_order
    assert lasting(order, np.array([2.0, 1.0, 0.0, 4.0])) == pytest.approx([2.35, 2.4, 1.4, 4.0])


def test_a_peer_has_its_walk_where_recall_has_its_flow_and_all_else_as_recall_has_it() -> None:
    view = two_sessions()
    memory = Memory(view, [""] * 4, extractor())
    scores = np.array([2.0, 1.0, 0.0, 4.0])
    question, text = extractor().of_query("What did Ben say about tea?"), "What did Ben say about tea?"
    found = dict(zip(FEATURES, columns(lambda _: lambda _: scores, memory)(question, text).T.tolist(), strict=True))
    ours = dict(zip(FEATURES, features(view, question, text).T.tolist(), strict=True))
    assert found["match"] == pytest.approx([0.5, 0.25, 0, 1])
    assert found["inherited"] == pytest.approx(np.log1p(10 * np.array([2.35, 2.4, 1.4, 4.0]) / 4))
    assert found["session"] == pytest.approx(np.log1p(10 * np.array([3.0, 3.0, 4.0, 4.0]) / 4))
    assert found["association"] == [0, 0, 0, 0]
    replaced = {"match", "inherited", "session", "association"}
    assert {name: found[name] for name in FEATURES if name not in replaced} == {
        name: ours[name] for name in FEATURES if name not in replaced
    }


def test_every_walk_starts_where_recall_does_relatives_included() -> None:
    view = view_of_turns("purchase", "tea", "rain")
    question = extractor().of_query("Who did buy the tea?")
    energy = put_in(view, question, asked(view, question, "Who did buy the tea?"))
    assert dict(zip(view.ids, energy.tolist(), strict=True)) == {"purchase": SYNONYM, "tea": 1, "rain": 0}


def test_concepts_match_passages_like_bm25() -> None:
    view = view_of_turns("tea milk", "milk", "rain")
    energy = np.zeros(len(view.ids))
    energy[view.numbers["tea"]], energy[view.numbers["milk"]] = 1.0, 0.5
    per_hit = 1.9 / (1 + 0.9)  # all turns are as long as the mean
    tea, milk = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)
    assert matched(view, energy) == pytest.approx([per_hit * (tea + milk / 2), per_hit * milk / 2, 0])
