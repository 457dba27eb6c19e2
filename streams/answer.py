"""From a wire query and a graph, as it is or was, to what a reply holds: maps messages to processors and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from emgas.explanations import Hop, Kind, Mention, Why
from emgas.fields import MetadataValue
from emgas.messages import ActivatedConcept, Description, Position, Query, RecalledPassage, Theme
from processors.activation import Spreading
from processors.answer_types import MOST_DEPTH
from processors.context import Context, Passage, assemble, most_lines
from processors.dense import Embedder, likeness
from processors.explanation import Explanation, explanations
from processors.extractor import Extraction, Extractor
from processors.filters import Filter
from processors.recall import SPREADING, Ranked, RecallOptions, Recollection, Woken, recall, reinforced
from state.events import TurnRecorded
from state.graph import Graph
from state.partition import Partition
from state.topic_table import Topic
from state.view import Floats

NAMED_BY = 3  # concepts that a theme is named by
METADATA_READ = 1000  # turns of which the metadata is read for one query, in the order of the ranking
REINFORCE_ABOVE = 0.1  # energy, as a share of a seed's 1.0, that a listed concept needs to be strengthened
TextOf = Callable[[Graph, int], TurnRecorded]


@dataclass(frozen=True)
class Recalled:
    """The parts of a reply that come from the graph; empty for a graph that nobody wrote to."""

    found: bool = False
    seeds: list[ActivatedConcept] = field(default_factory=list)
    concepts: list[ActivatedConcept] = field(default_factory=list)
    passages: list[RecalledPassage] = field(default_factory=list)
    context: str = ""
    tokens: int = 0
    reinforced: list[str] = field(default_factory=list)


def recall_from(
    graph: Graph | None, text_of: TextOf, query: Query, extractor: Extractor, embedder: Embedder | None = None
) -> Recalled:
    """Answer `query` from `graph`, which it reads only; `text_of` finds the event that recorded a passage of it."""
    if graph is None or graph.is_blank:  # what was taken back entirely never was
        return Recalled()
    question = extractor.of_query(query.text, graph.clock)  # "last week" is seen from the end of what is known
    options = _options(query, graph, extractor)
    cosine = likeness(graph.view(), embedder, query.text) if embedder and query.mode == "default" else None
    recollection = recall(graph.view(), question, query.text, options, cosine)
    texts = _Texts(text_of, graph, query.only.metadata)
    listed = recollection.depth if query.top_passages is None else query.top_passages
    passages = list(islice(texts.passing(recollection), listed))
    numbers = [ranked.number for ranked in passages]
    whys = _whys(graph, question, query.text, numbers, options, cosine) if query.explain else [None] * len(numbers)
    context = _context(recollection, texts, query.budget)
    return Recalled(
        found=True,
        seeds=[_concept(woken) for woken in recollection.seeds],
        concepts=[_concept(woken) for woken in recollection.concepts],
        passages=[texts.passage(ranked, why) for ranked, why in zip(passages, whys, strict=True)],
        context=context.text,
        tokens=context.tokens,
        reinforced=reinforced(recollection, REINFORCE_ABOVE) if query.reinforce else [],
    )


def _options(query: Query, graph: Graph, extractor: Extractor) -> RecallOptions:
    listed = MOST_DEPTH if query.top_passages is None else query.top_passages
    passages = METADATA_READ if query.only.metadata else max(listed, most_lines(query.budget))
    only = _filter(query, graph, extractor)
    return RecallOptions(query.mode, _spreading(query), concepts=query.top_concepts, passages=passages, only=only)


def _filter(query: Query, graph: Graph, extractor: Extractor) -> Filter:
    """Return the filter as processors know it: all of it but the metadata, which is not in the view."""
    only = query.only
    concepts = {concept for name in only.concepts for concept in _ids(name, graph, extractor)}
    return Filter(
        sessions=frozenset(only.sessions) if only.sessions else None,
        speakers=frozenset(only.speakers) if only.speakers else None,
        since=only.since,
        until=only.until,
        concepts=frozenset(concepts) if only.concepts else None,
        exclude=frozenset(only.exclude),
    )


def _ids(name: str, graph: Graph, extractor: Extractor) -> list[str]:
    """Return the concepts that a name means: the one of this id, or those found in it."""
    if name in graph.concepts.numbers:
        return [name]
    return [concept.id for concept in extractor.of_query(name).concepts]


def _spreading(query: Query) -> Spreading:
    return replace(SPREADING[query.mode], **query.spreading.model_dump(exclude_none=True))


def description(state: Partition, name: str, position: Position) -> Description:
    """Return what a graph holds, and how it lives."""
    graph = state.graph(name)
    if graph is None or graph.is_blank:
        return Description(graph=name, found=False, position=position)
    view, long_term = graph.view(), sum(graph.concepts.long_term)
    return Description(
        graph=name,
        found=True,
        preset=graph.preset,
        settings=graph.settings.model_dump(),
        clock=graph.clock,
        turns=len(graph.passages),
        archived=len(graph.passages.archived),
        concepts=len(graph.concepts),
        long_term=long_term,
        themes=[_theme(topic, view.labels) for topic in view.topics],
        position=position,
    )


def _theme(topic: Topic, labels: Sequence[str]) -> Theme:
    concepts = [labels[number] for number in topic.members]
    # The recorded label may name a concept that was forgotten since: what is shown names the living only.
    return Theme(id=topic.id, label=", ".join(concepts[:NAMED_BY]), concepts=concepts, born=topic.born)


class _Texts:
    """Reads each recalled turn once, whether it is listed, packed into the context, or both.

    metadata   what a turn must have to come back
    """

    def __init__(self, text_of: TextOf, graph: Graph, metadata: Mapping[str, MetadataValue]) -> None:
        self._text_of = text_of
        self._graph = graph
        self._metadata = metadata
        self._read: dict[int, TurnRecorded] = {}

    def turn(self, number: int) -> TurnRecorded:
        if number not in self._read:
            self._read[number] = self._text_of(self._graph, number)
        return self._read[number]

    def passing(self, recollection: Recollection) -> Iterator[Ranked]:
        """Yield the passages that have the metadata, best first; reads no more of them than are taken."""
        for ranked in recollection.passages:
            if not self._metadata or _holds(self.turn(ranked.number).metadata, self._metadata):
                yield ranked

    def passage(self, ranked: Ranked, why: Why | None) -> RecalledPassage:
        turn = self.turn(ranked.number)
        return RecalledPassage(
            id=turn.id,
            session=turn.session,
            speaker=turn.speaker,
            role=turn.role,
            text=turn.text,
            at=turn.at,
            score=ranked.score,
            why=why,
        )


def _holds(metadata: Mapping[str, MetadataValue], wanted: Mapping[str, MetadataValue]) -> bool:
    """Return whether all of `wanted` is there; as in JSON, true is not 1, and 1 is 1.0."""
    return all(
        name in metadata and metadata[name] == value and isinstance(metadata[name], bool) == isinstance(value, bool)
        for name, value in wanted.items()
    )


def _context(recollection: Recollection, texts: _Texts, budget: int) -> Context:
    def passages() -> Iterator[Passage]:
        for ranked in islice(texts.passing(recollection), most_lines(budget)):
            turn = texts.turn(ranked.number)
            yield Passage(ranked.number, turn.at, turn.speaker, turn.text, tuple(turn.times))

    return assemble(passages(), budget)


def _whys(
    graph: Graph,
    question: Extraction,
    text: str,
    passages: Sequence[int],
    options: RecallOptions,
    cosine: Floats | None,
) -> list[Why | None]:
    return [_why(told) for told in explanations(graph.view(), question, text, passages, options, cosine)]


def _why(told: Explanation) -> Why:
    return Why(
        terms=told.terms,
        mentions=[Mention(**mention._asdict()) for mention in told.mentions],
        associations=[Hop(**hop._asdict()) for hop in told.associations],
        kinds=[Kind(**kind._asdict()) for kind in told.kinds],
    )


def _concept(woken: Woken) -> ActivatedConcept:
    return ActivatedConcept(id=woken.id, label=woken.label, energy=woken.energy, path=list(woken.path))
