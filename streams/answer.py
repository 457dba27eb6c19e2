"""From a wire query and a graph, as it is or was, to what a reply holds: maps messages to processors and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from emgas.messages import ActivatedConcept, Description, Position, Query, RecalledPassage, Theme
from processors.activation import Spreading
from processors.context import Context, Passage, assemble, most_lines
from processors.dense import Embedder, likeness
from processors.extractor import Extractor
from processors.recall import SPREADING, Ranked, RecallOptions, Recollection, Woken, recall, reinforced
from state.events import TurnRecorded
from state.graph import Graph
from state.partition import Partition
from state.topic_table import Topic

NAMED_BY = 3  # concepts that a theme is named by
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
    if graph is None:
        return Recalled()
    question = extractor.of_query(query.text, graph.clock)  # "last week" is seen from the end of what is known
    cosine = likeness(graph.view(), embedder, query.text) if embedder and query.mode == "default" else None
    recollection = recall(graph.view(), question, query.text, _options(query), cosine)
    texts = _Texts(text_of, graph)
    context = _context(recollection, texts, query.budget)
    return Recalled(
        found=True,
        seeds=[_concept(woken) for woken in recollection.seeds],
        concepts=[_concept(woken) for woken in recollection.concepts],
        passages=[texts.passage(ranked) for ranked in recollection.passages[: query.top_passages]],
        context=context.text,
        tokens=context.tokens,
        reinforced=reinforced(recollection, REINFORCE_ABOVE) if query.reinforce else [],
    )


def _options(query: Query) -> RecallOptions:
    passages = max(query.top_passages, most_lines(query.budget))
    return RecallOptions(query.mode, _spreading(query), concepts=query.top_concepts, passages=passages)


def _spreading(query: Query) -> Spreading:
    return replace(SPREADING[query.mode], **query.spreading.model_dump(exclude_none=True))


def description(state: Partition, name: str, position: Position) -> Description:
    """Return what a graph holds, and how it lives."""
    graph = state.graph(name)
    if graph is None:
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
    """Reads each recalled turn once, whether it is listed, packed into the context, or both."""

    def __init__(self, text_of: TextOf, graph: Graph) -> None:
        self._text_of = text_of
        self._graph = graph
        self._read: dict[int, TurnRecorded] = {}

    def turn(self, number: int) -> TurnRecorded:
        if number not in self._read:
            self._read[number] = self._text_of(self._graph, number)
        return self._read[number]

    def passage(self, ranked: Ranked) -> RecalledPassage:
        turn = self.turn(ranked.number)
        return RecalledPassage(
            id=turn.id,
            session=turn.session,
            speaker=turn.speaker,
            role=turn.role,
            text=turn.text,
            at=turn.at,
            score=ranked.score,
        )


def _context(recollection: Recollection, texts: _Texts, budget: int) -> Context:
    def passages() -> Iterator[Passage]:
        for ranked in recollection.passages:
            turn = texts.turn(ranked.number)
            yield Passage(ranked.number, turn.at, turn.speaker, turn.text)

    return assemble(passages(), budget)


def _concept(woken: Woken) -> ActivatedConcept:
    return ActivatedConcept(id=woken.id, label=woken.label, energy=woken.energy, path=list(woken.path))
