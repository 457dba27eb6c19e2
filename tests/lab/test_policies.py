"""Policies by name: what is registered, what a policy must be, and what an asker reads of one that is not installed."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import get_args

import numpy as np
import pytest
from msgspec.structs import replace

from emgas.messages.settings.modes import Mode, Rerank
from lab.catalogue import GATES, KINDS, POLICIES
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.gates import GATES as SETTINGS
from processors.lifecycle.gates import Gate, gated
from processors.lifecycle.policies import UnknownPolicyError
from processors.recall.ranking.activation import SpreadingParameters
from processors.recall.retrieval.policies import RecallRequest, Reranker, Retriever
from processors.recall.retrieval.recall import RecallOptions
from state.graph.graph import Graph
from state.graph.view import GraphView
from streams.plugins.policies import load
from tests.support.builders import graph_configured, refolded, turn_recorded
from tests.support.memories import demo

EXTRACTOR = YakeExtractor(language="en")
TEXT = "What did the vet prescribe?"
RETRIEVERS: tuple[Mode, ...] = get_args(Mode)
RERANKERS: tuple[Rerank, ...] = get_args(Rerank)


class RetrieverContract:
    """What every retriever keeps to; a package that brings one can subclass this."""

    def retriever(self, name: Mode) -> Retriever:
        return POLICIES.retriever(name)

    def request(self, view: GraphView, name: Mode, text: str = TEXT) -> RecallRequest:
        options = RecallOptions(name, self.retriever(name).spreading)
        return RecallRequest(view, EXTRACTOR.of_query(text), text, options)

    @pytest.mark.parametrize("name", RETRIEVERS)
    def test_it_has_the_name_by_which_it_is_called(self, name: Mode) -> None:
        ranks_as: Mode = "default" if name == "inject" else name  # which only leaves out more of what default ranks
        assert self.retriever(name).name == ranks_as

    @pytest.mark.parametrize("name", RETRIEVERS)
    def test_the_constants_that_it_shows_are_constants_of_spreading(self, name: Mode) -> None:
        assert set(self.retriever(name).fields) <= set(SpreadingParameters.__dataclass_fields__)

    @pytest.mark.parametrize("name", RETRIEVERS)
    def test_it_ranks_each_passage_once_and_never_raises_a_score(self, name: Mode) -> None:
        result = self.retriever(name).retrieve(self.request(demo().memory.view, name))
        numbers = [each.number for each in result.passages]
        assert numbers
        assert len(numbers) == len(set(numbers))
        scores = [each.score for each in result.passages]
        assert scores == sorted(scores, reverse=True)

    @pytest.mark.parametrize("name", RETRIEVERS)
    def test_the_same_request_has_the_same_result(self, name: Mode) -> None:
        request = self.request(demo().memory.view, name)
        assert self.retriever(name).retrieve(request) == self.retriever(name).retrieve(request)

    @pytest.mark.parametrize("name", RETRIEVERS)
    def test_a_question_of_unknown_words_brings_nothing_back(self, name: Mode) -> None:
        request = self.request(demo().memory.view, name, "zyzzyva quokkas")
        assert self.retriever(name).retrieve(request).passages == ()


class TestRetrievers(RetrieverContract):
    pass


class RerankerContract:
    """What every reranker keeps to."""

    def reranker(self, name: Rerank) -> Reranker:
        return POLICIES.reranker(name)

    @pytest.mark.parametrize("name", RERANKERS)
    def test_it_orders_some_of_the_passages_best_first_and_says_why(self, name: Rerank) -> None:
        view = demo().memory.view
        request = RecallRequest(view, EXTRACTOR.of_query(TEXT), TEXT, RecallOptions())
        result = POLICIES.retriever("default").retrieve(request).passages
        numbers, scores = np.array([each.number for each in result]), np.array([each.score for each in result])
        order, graded, terms = self.reranker(name).reorder(request, numbers, scores)
        assert len(set(order.tolist())) == len(order) <= len(numbers)
        assert graded.tolist() == sorted(graded.tolist(), reverse=True)
        assert terms
        assert all(len(values) == len(order) for values in terms.values())

    @pytest.mark.parametrize("name", RERANKERS)
    def test_it_has_the_name_by_which_it_is_called(self, name: Rerank) -> None:
        assert self.reranker(name).name == name


class TestRerankers(RerankerContract):
    pass


class GateContract:
    """What every gate keeps to."""

    def gate(self, name: str) -> Gate:
        return GATES[name]

    @pytest.mark.parametrize("name", GATES)
    def test_it_changes_nothing_of_a_turn_but_what_gates_may_say(self, name: str) -> None:
        turn = turn_recorded(id="t1", concepts="kettle train")
        looked_at = self.gate(name)(turn, self.graph(name))
        assert replace(looked_at, uncounted=turn.uncounted, novelty=turn.novelty) == turn

    @pytest.mark.parametrize("name", GATES)
    def test_it_leaves_out_a_turn_without_a_word(self, name: str) -> None:
        assert self.gate(name)(turn_recorded(id="t1", concepts=""), self.graph(name)).uncounted

    @pytest.mark.parametrize("name", GATES)
    def test_a_graph_turns_it_on_by_its_setting(self, name: str) -> None:
        turn = turn_recorded(id="t1", concepts="")
        assert gated(turn, self.graph(name), GATES.__getitem__).uncounted
        assert gated(turn, refolded([graph_configured()], Graph("ada")), GATES.__getitem__) == turn

    def graph(self, name: str) -> Graph:
        """Return a graph that has this gate on."""
        return refolded([graph_configured(**{SETTINGS[name]: 1})], Graph("ada"))


class TestGates(GateContract):
    pass


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in KINDS.items() for name in names])
def test_a_policy_of_the_lab_is_found_by_its_entry_point(kind: str, name: str) -> None:
    assert load(kind, name) is KINDS[kind][name]


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_point_of_the_lab_is_in_its_catalogue(kind: str) -> None:
    assert {entry.name for entry in entry_points(group=f"emgas.{kind}")} == set(KINDS[kind])


def test_a_policy_that_is_not_installed_is_named_with_those_that_are() -> None:
    with pytest.raises(UnknownPolicyError, match=r"no 'telepathy' among the rerankers .* mofox, simplemem"):
        load("rerankers", "telepathy")
