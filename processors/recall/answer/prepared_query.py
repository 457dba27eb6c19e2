"""Prepare a question: all that is decided before its graph is searched, as its graph is set.

    Query, QueriedGraph ──▶ prepare ──▶ PreparedQuery ──▶ search.py

A question that leaves its mode, reranker or time zone open gets those of its graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, cast, get_args

from emgas.limits import EARLIEST_MS
from emgas.messages.fields import Position
from emgas.messages.filters import Filter
from emgas.messages.queries import Query
from emgas.messages.settings.modes import Mode, Rerank
from emgas.times import wall_clock
from processors.extraction.extractor import Extraction, Extractor
from processors.extraction.known_people import with_known_people
from processors.recall.answer.provenance import UNGUIDED
from processors.recall.context.context import most_lines
from processors.recall.ranking.activation import SpreadingParameters
from processors.recall.ranking.dense import Embedder, likeness
from processors.recall.ranking.kinds import KINDS
from processors.recall.ranking.query_terms import asker_of
from processors.recall.ranking.weights import of_graph
from processors.recall.ranking.working_memory import latest_session
from processors.recall.retrieval.policies import GuidanceWords, Policies, Retriever
from processors.recall.retrieval.recall import RecallOptions
from processors.text.language import clean
from processors.text.questions.answer_kinds import MOST_DEPTH
from processors.text.questions.complexity import complexity
from processors.text.questions.continuations import continuation
from state.arrays import Floats
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from state.graph.view import GraphView

# How many items a reader can take in: an answer has 7 ± 2, depending on the reader's load.  SEEDS P47.
#
#     load 0     nothing else to do: 9        load 0.5   7        load 1   busy: 5
#
# Miller 1956: working memory holds seven chunks, plus or minus two.  Off unless a question tells a load: a prompt for a
# model is no reader, and takes as much as the question needs.

SPAN: Final = 7
SPREAD: Final = 2


def items(load: float) -> int:
    """Return how many items a reader with a load in [0, 1] takes in."""
    return round(SPAN + SPREAD * (1 - 2 * load))


def limit_by_load(query: Query) -> Query:
    """Return a query that asks for no more than its reader can take in; a query without a load is unchanged."""
    if query.load is None:
        return query
    most = items(query.load)
    limits = (query.top_passages, query.context_passages)
    listed, packed = (None if number is None else min(number, most) for number in limits)
    return query.model_copy(update={"top_passages": listed, "context_passages": most if packed is None else packed})


# What a question leaves open, as its graph is set: where it is asked, in which mode, by whose formula.
#
# A question that names a mode is answered in that, plainly; one that asks for a kind of memory, in the default mode,
# which alone has kinds: its episodes are ordered by whose formula the graph's questions are, where that has one for
# them.


def mode_of(graph: Graph) -> Mode:
    """Return the mode of a graph's questions; one that this version does not know is the default."""
    return cast(Mode, graph.mode) if graph.mode in get_args(Mode) else "default"


def rerank_of(graph: Graph) -> Rerank | None:
    """Return the graph's reranker, None if it has none."""
    return cast(Rerank, graph.rerank) if graph.rerank in get_args(Rerank) else None


def with_graph_defaults(query: Query, graph: Graph, policies: Policies) -> Query:
    """Return a query with the graph's mode, reranker and time zone where it names none."""
    defaults: dict[str, object] = {"timezone": graph.timezone} if query.timezone is None else {}
    rerank = rerank_of(graph) if query.rerank is None else query.rerank
    if query.mode is None and query.memory == "episodic":
        defaults["rerank"] = rerank if rerank and policies.reranker(rerank).fetched_episodes else None
    elif query.mode is None and query.memory == "all":
        defaults |= {"mode": mode_of(graph), "rerank": rerank}
    return query.model_copy(update=defaults) if defaults else query


ALIKE: Final = 0.45  # cosine with a turn from which a question is about it: general ones reach 0.43 in 97 of 100
UNTRUSTED: Final = ("tool", "web")  # origins whose texts anyone may have written: mode inject leaves them out


class QueriedGraph(NamedTuple):
    """The graph that a query reads, None if it has no events; how to read a turn of it; how far its log is folded.

    now  time of the query, in the graph's own time (ms); None: the graph's clock
    """

    graph: Graph | None
    text_of: Callable[[Graph, int], TurnRecorded]  # passage number → the event that recorded it
    position: Position
    now: int | None = None

    @property
    def time(self) -> int:
        """Return when it is asked, ms: never before the last thing that happened in the graph."""
        clock = EARLIEST_MS if self.graph is None else self.graph.clock
        return max(clock, clock if self.now is None else self.now)


class TurnReader:
    """Reads turns of a graph by the numbers of their passages, each once."""

    def __init__(self, memory: QueriedGraph, graph: Graph, read: dict[int, TurnRecorded]) -> None:
        self._memory, self._graph, self._read, self._event = memory, graph, read, graph.passages.event

    def __call__(self, number: int) -> TurnRecorded:
        """Read a turn."""
        ordinal = self._event[number]
        turn = self._read.get(ordinal)
        if turn is None:
            turn = self._read[ordinal] = self._memory.text_of(self._graph, number)
        return turn


@dataclass(frozen=True)
class PreparedQuery:
    """A query as its graph is set: everything that is decided before the graph is searched.

    concepts   what its text names           guiding  what its mood and role name
    goes_on    whether it only asks for more of the conversation ("go on")
    baseline   what its graph shows of general questions (ranking/known.py)
    """

    query: Query
    memory: QueriedGraph
    graph: Graph
    view: GraphView
    zone: str
    concepts: Extraction
    guiding: GuidanceWords
    options: RecallOptions
    cosine: Floats | None
    goes_on: bool
    policies: Policies
    retriever: Retriever
    baseline: Floats

    @property
    def perceives(self) -> bool:
        """Return whether the question searches attachments, such as images."""
        return self.query.memory == "perceptual"

    @property
    def is_ranked(self) -> bool:
        """Return whether turns are ranked by how well they answer, not by time or by attachments."""
        return not (self.goes_on or self.perceives)

    @property
    def has_odds(self) -> bool:
        """Return whether scores of turns are log-odds."""
        return self.is_ranked and not self.options.kind.in_mind and self.options.rerank is None

    @property
    def is_of_turns(self) -> bool:
        """Return whether the default retriever ranks turns for it, by the default formula or another."""
        return self.is_ranked and not self.options.kind.in_mind and self.query.retriever == "default"

    @property
    def is_judged(self) -> bool:
        """Return whether `known` decides for it: not if it goes on, or asks for working memory."""
        goes_on = self.options.session is not None and continuation(self.query.text) is not None
        return self.is_ranked and not (self.options.kind.in_mind or goes_on)

    @property
    def is_alike(self) -> bool:
        """Return whether vectors find a turn that means the same in other words; in mode inject, words alone tell."""
        by_default = self.query.mode != "inject" and self.query.min_likelihood is None
        return by_default and self.cosine is not None and float(self.cosine.max(initial=0.0)) >= ALIKE


def prepare(
    query: Query,
    memory: QueriedGraph,
    graph: Graph,
    *,
    extractor: Extractor,
    embedder: Embedder | None,
    policies: Policies,
    baseline: Floats,
) -> PreparedQuery:
    """Decide all that a question leaves open.

    baseline  what its graph shows of general questions (ranking/silence/known.py)
    """
    query = limit_by_load(with_graph_defaults(query, graph, policies))
    view, zone, retriever = graph.view(), query.timezone or "UTC", policies.retriever(query.retriever)
    now = wall_clock(graph.clock, zone)  # "last week": seen from the end of what is known
    options = _options(query, graph, extractor, memory.time, retriever)
    options, guiding = replace(options, depth=_depth_of(query, policies, retriever)), GuidanceWords()
    if query.guidance != UNGUIDED:
        guiding = policies.guide.words(query.guidance, view, extractor)
        options = policies.guide.options(options, query, guiding, retriever)
    return PreparedQuery(
        query=query,
        memory=memory,
        graph=graph,
        view=view,
        zone=zone,
        concepts=_with_people(extractor.of_query(query.text, now), query.text, graph),
        guiding=guiding,
        options=options,
        cosine=likeness(view, embedder, query.text) if embedder and retriever.by_vectors else None,
        goes_on=query.retriever == "default" and continuation(query.text) == "alone",
        policies=policies,
        retriever=retriever,
        baseline=baseline,
    )


def _with_people(question: Extraction, text: str, graph: Graph) -> Extraction:
    """Add the Chinese names that the graph knows and a rule missed in a question: 沈知夏 of 沈知|夏掉了."""
    concepts = tuple(with_known_people(text, question.concepts, graph))
    return question if len(concepts) == len(question.concepts) else replace(question, concepts=concepts)


def _options(query: Query, graph: Graph, extractor: Extractor, now: int, retriever: Retriever) -> RecallOptions:
    view = graph.view()
    only = _trusted(query, _by_id(query.only, view, extractor))
    goes_on = KINDS[query.memory].in_mind or continuation(query.text) == "alone"
    listed = MOST_DEPTH if query.top_passages is None else query.top_passages
    return RecallOptions(
        mode=query.retriever,
        spreading=_spreading(query, retriever.spreading),
        rerank=query.rerank or KINDS[query.memory].rerank,
        concepts=query.top_concepts,
        asker=asker_of(view, clean(query.text), query.asker or ""),
        passages=max(listed, most_lines(query.budget), 1),  # by the best is judged whether anything answers
        only=only,
        flow=of_graph(graph.weights),
        memory=query.memory,
        session=_session(query, view) if goes_on else query.session,
        now=now,
    )


def _trusted(query: Query, only: Filter) -> Filter:
    """Leave out, in mode inject, what anyone may have written; a query that names origins has those."""
    if query.mode != "inject" or only.origins or only.without_origins:
        return only
    return only.model_copy(update={"without_origins": list(UNTRUSTED)})


def _depth_of(query: Query, policies: Policies, retriever: Retriever) -> float | None:
    """Return how deep a formula looks that goes by complexity; a retriever of stages says itself how far it goes."""
    if query.rerank is None or retriever.limits_stages or not policies.reranker(query.rerank).depth_by_complexity:
        return None
    return complexity(query.text)


def _spreading(query: Query, own: SpreadingParameters) -> SpreadingParameters:
    """Take the retriever's own constants, but for what the query changes."""
    if not query.spreading.model_fields_set and query.weighting is None:
        return own
    overrides = query.spreading.model_dump(exclude_none=True)
    if (turns := overrides.pop("window_turns", None)) is not None:
        overrides["window"] = turns
    if query.weighting is not None:
        overrides["weighting"] = query.weighting
    return replace(own, **overrides)


def _session(query: Query, view: GraphView) -> str | None:
    """Return the conversation that a query continues: the one it names, else that of its filter, else the latest."""
    if query.session is None and len(query.only.sessions) == 1:
        return query.only.sessions[0]
    return latest_session(view) if query.session is None else query.session


def _by_id(only: Filter, view: GraphView, extractor: Extractor) -> Filter:
    """Return a filter whose concepts are replaced by their ids."""
    if not only.concepts:
        return only
    return only.model_copy(update={"concepts": concept_ids(only.concepts, view, extractor)})


def concept_ids(names: Iterable[str], view: GraphView, extractor: Extractor) -> list[str]:
    """List the concepts that are meant: a name means the concept of this id, or those that are found in it."""
    ids: list[str] = []
    for name in names:
        concepts = (
            [] if view.number(name) is not None else [concept.id for concept in extractor.of_query(name).concepts]
        )
        ids.extend(concepts or [name])  # in which nothing is found stays, and matches nothing
    return ids
