"""The policies that a question may name: the default is here, any other is loaded when it is first named.

Retriever   a way from a question to its passages       RecallRequest ─▶ RecallResult
Reranker    a formula that orders the best of them again
Renderer    a way to show a turn other than by its own text
Guide       what the guidance of a question does
Policies    all of them, by name; the loader of others is an argument (streams/plugins/policies.py): no I/O here
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal, NamedTuple, cast

from emgas.messages.queries import MemoryKind, Query, Render
from emgas.messages.settings.modes import Guidance, Mode, Rerank
from processors.extraction.extractor import Extraction, Extractor
from processors.lifecycle.policies import load_nothing
from processors.recall.ranking.activation import DEFAULT, Activation, SpreadingParameters
from processors.recall.ranking.query_terms import QueryTerms
from processors.recall.retrieval.recall import RecallOptions, RecallResult, recall
from state.arrays import Floats, Integers
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from state.graph.view import GraphView

EdgeGroup = Literal["flow", "mentions", "associations", "relations"]


@dataclass(frozen=True)
class RecallRequest:
    """One question to one graph.

    cosine  (p,) of each passage with the question, None without a model of text embeddings
    """

    view: GraphView
    question: Extraction
    text: str
    options: RecallOptions
    cosine: Floats | None = None

    @cached_property
    def meant(self) -> QueryTerms:
        """Return the question's terms in the graph."""
        return self.options.terms(self.view, self.question, self.text)


@dataclass(frozen=True)
class Retriever:
    """One way from a question to its passages.

    source     the system that it is of
    spreading  its constants, which a question may change
    fields     which of them it has
    retrieve   how it answers, in one round; a pure function
    edges      groups of edges that may count more or less in it, as guidance says
    edges_of_stage   the same of its stages, by name, where it comes to some of them only
    by_vectors       whether it makes use of embeddings
    seeks_weak_words whether it seeks weakly what a mood or a role says
    limits_stages    whether the depth of a question says how far it goes, beside how many passages come back
    explain    what the score of a passage is made of, where the result does not hold it
    """

    name: Mode
    source: str
    spreading: SpreadingParameters
    fields: tuple[str, ...]
    retrieve: Callable[[RecallRequest], RecallResult]
    edges: frozenset[EdgeGroup] = frozenset()
    edges_of_stage: Mapping[str, frozenset[EdgeGroup]] = field(default_factory=dict)
    by_vectors: bool = False
    seeks_weak_words: bool = True
    limits_stages: bool = False
    explain: Callable[[GraphView, Activation, int], dict[str, float]] | None = None

    def edges_used(self, result: RecallResult) -> frozenset[EdgeGroup]:
        """Return the groups of edges that may have counted more or less in a result."""
        return self.edges.union(*(self.edges_of_stage.get(stage.name, frozenset()) for stage in result.stages))


class Reordering(NamedTuple):
    """Passages in another order: (m,) positions among those before, best first, (m,) scores, and the terms of each."""

    order: Integers
    scores: Floats
    terms: dict[str, Floats]


@dataclass(frozen=True)
class Reranker:
    """A formula that orders the best passages again.

    reorder    the request, (k,) numbers of passages and (k,) their scores, to another order; a pure function
    fetched    how many times as many passages it orders as come back
    fetched_episodes     the same for a question for episodes, None if it has no formula for them
    depth_by_complexity  whether the complexity of a question decides how many passages come back
    """

    name: Rerank
    reorder: Callable[[RecallRequest, Integers, Floats], Reordering]
    fetched: int = 2
    fetched_episodes: int | None = None
    depth_by_complexity: bool = False

    def fetches(self, memory: MemoryKind) -> int:
        """Return how many times as many passages as are wanted are ordered, of a kind of memory."""
        return self.fetched_episodes or self.fetched if memory == "episodic" else self.fetched


@dataclass(frozen=True)
class GuidanceWords:
    """The words of a mood and a role: those that the graph knows, and those that it does not."""

    existing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class Guide(NamedTuple):
    """What the guidance of a question does, which says how to search: pure functions.

    words         find the concepts of mood and role
    options       change the options of a recall
    second_round  search again with the words of what was found
    """

    words: Callable[[Guidance, GraphView, Extractor], GuidanceWords]
    options: Callable[[RecallOptions, Query, GuidanceWords, Retriever], RecallOptions]
    second_round: Callable[[RecallRequest, Retriever, RecallResult], RecallResult]


# A graph, the time in it (ms) and a query → what returns the text of a turn as it is to be shown.
Renderer = Callable[[Graph, int, Query], Callable[[TurnRecorded], str]]


def _recall(request: RecallRequest) -> RecallResult:
    return recall(request.view, request.question, request.text, request.options, request.cosine)


DEFAULT_RETRIEVER: Final = Retriever(
    name="default",
    source="EMGAS",
    spreading=DEFAULT,
    fields=("firing_threshold", "propagation_decay", "max_iterations", "delta", "convergence", "recall_links"),
    retrieve=_recall,
    edges=frozenset({"flow", "relations"}),
    by_vectors=True,
)


class Policies:
    """The policies that a question may name.  load: called with (kind, name) at the first use of a name."""

    def __init__(self, load: Callable[[str, str], object] = load_nothing) -> None:
        self._load = load
        self._retrievers: dict[Mode, Retriever] = {"default": DEFAULT_RETRIEVER, "inject": DEFAULT_RETRIEVER}
        self._rerankers: dict[Rerank, Reranker] = {}
        self._renderers: dict[str, Renderer] = {}

    def retriever(self, name: Mode) -> Retriever:
        """Return the retriever of this name.  Raises UnknownPolicyError."""
        if name not in self._retrievers:
            loaded = self._load("retrievers", name)
            assert isinstance(loaded, Retriever)  # noqa: S101 - who registers it, tests it by the contract
            self._retrievers[name] = loaded
        return self._retrievers[name]

    def reranker(self, name: Rerank) -> Reranker:
        """Return the reranker of this name.  Raises UnknownPolicyError."""
        if name not in self._rerankers:
            loaded = self._load("rerankers", name)
            assert isinstance(loaded, Reranker)  # noqa: S101 - as above
            self._rerankers[name] = loaded
        return self._rerankers[name]

    def renderer(self, name: Render) -> Renderer:
        """Return the renderer of this name.  Raises UnknownPolicyError."""
        if name not in self._renderers:
            self._renderers[name] = cast(Renderer, self._load("renderers", name))
        return self._renderers[name]

    @cached_property
    def guide(self) -> Guide:
        """Return what follows guidance.  Raises UnknownPolicyError."""
        return cast(Guide, self._load("guides", "guidance"))


CORE: Final = Policies()
