"""The peers, each against an independent way to the same numbers; their walks are in tests/processors/test_modes.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.baselines.bm25 import Index, bm25
from evaluation.baselines.structured import columns, lasting
from evaluation.fit.fitting import features
from evaluation.memory import EvaluatedMemory
from lab.retrievers.matching import matched
from lab.retrievers.seeds import put_in
from processors.lexicon.query_expansion import SYNONYM
from processors.recall.ranking.query_terms import find_query_terms
from processors.recall.ranking.weights import FEATURES
from state.graph.view import GraphView
from tests.support.builders import folded, turn_recorded
from tests.support.memories import extractor, memory_of, turns_of


def view_of_turns(*concepts: str) -> GraphView:
    """Return the view of turns with these concepts, each in a session of its own."""
    turns = [
        turn_recorded(id=f"t{number}", session=f"s{number}", concepts=names) for number, names in enumerate(concepts)
    ]
    return folded(*turns).view()


# bm25


@pytest.mark.source("P15")
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
    turns = [*turns_of("The kettle broke."), *turns_of("The kettle works.", speaker="Ben")]
    memory = memory_of([turns[0], turns[1].model_copy(update={"id": "t1"})])
    rank = bm25(memory)
    assert rank(extractor().of_query("the kettle of Ben?"), "the kettle of Ben?").listed.tolist() == [1, 0]
    assert rank(extractor().of_query("When?"), "When?").listed.tolist() == [], "@time is no word"


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
    memory = EvaluatedMemory(view, [""] * 4, extractor())
    scores = np.array([2.0, 1.0, 0.0, 4.0])
    question, text = extractor().of_query("What did Ben say about tea?"), "What did Ben say about tea?"
    by_feature = dict(
        zip(FEATURES, columns(lambda _: lambda _: scores, memory)(question, text).T.tolist(), strict=True)
    )
    ours = dict(zip(FEATURES, features(view, question, text).T.tolist(), strict=True))
    assert by_feature["match"] == pytest.approx([0.5, 0.25, 0, 1])
    assert by_feature["inherited"] == pytest.approx(np.log1p(10 * np.array([2.35, 2.4, 1.4, 4.0]) / 4))
    assert by_feature["session"] == pytest.approx(np.log1p(10 * np.array([3.0, 3.0, 4.0, 4.0]) / 4))
    assert by_feature["association"] == [0, 0, 0, 0]
    replaced = {"match", "inherited", "session", "association"}
    assert {name: by_feature[name] for name in FEATURES if name not in replaced} == {
        name: ours[name] for name in FEATURES if name not in replaced
    }


def test_every_walk_starts_where_recall_does_relatives_included() -> None:
    view = view_of_turns("purchase", "tea", "rain")
    question = extractor().of_query("Who did buy the tea?")
    energy = put_in(view, question, find_query_terms(view, question, "Who did buy the tea?"))
    assert dict(zip(view.ids, energy.tolist(), strict=True)) == {"purchase": SYNONYM, "tea": 1, "rain": 0}


def test_concepts_match_passages_like_bm25() -> None:
    view = view_of_turns("tea milk", "milk", "rain")
    energy = np.zeros(len(view.ids))
    energy[view.numbers["tea"]], energy[view.numbers["milk"]] = 1.0, 0.5
    per_hit = 1.9 / (1 + 0.9)  # all turns are as long as the mean
    tea, milk = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)
    assert matched(view, energy) == pytest.approx([per_hit * (tea + milk / 2), per_hit * milk / 2, 0])
