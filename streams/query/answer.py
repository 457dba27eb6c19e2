"""From a wire query and a graph, as it is or was, to what a reply holds: maps messages to processors and back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

from emgas.messages.explanations import Hop, Kind, Mention, Why
from emgas.messages.fields import MetadataValue, Position
from emgas.messages.queries import ActivatedConcept, Query, RecalledPassage
from processors.extraction.extractor import Extractor
from processors.recall.activation import Spreading
from processors.recall.context import Context, Passage, assemble, most_lines
from processors.recall.dense import Embedder, likeness
from processors.recall.explanation import Explanation, explanations
from processors.recall.filters import Filter
from processors.recall.recall import (
    SPREADING,
    Ranked,
    RecallOptions,
    RecallResult,
    recall,
    reinforced,
)
from processors.recall.recall import ActivatedConcept as Woken
from processors.text.question_types import MOST_DEPTH
from state.errors import StoreCorruptError
from state.events.events import TurnRecorded
from state.graph.graph import Graph

LONG_BUDGET = 2000  # tokens: what is packed into more takes longer than the rest of an answer
SHORT_LINE = 8  # tokens: lines are mostly longer
READ_AT_ONCE = 100  # turns read without letting others in: a millisecond or two
EXPLAINED_AT_ONCE = 20  # passages, likewise: some five
METADATA_READ = 1000  # turns of which the metadata is read for one query, in the order of the ranking
REINFORCE_ABOVE = 0.1  # energy, as a share of a seed's 1.0, that a listed concept needs to be strengthened
TextOf = Callable[[Graph, int], TurnRecorded]


class Seen(NamedTuple):
    """A graph at one moment, how to find the event that recorded a passage of it, and when that is."""

    graph: Graph | None
    text_of: TextOf
    position: Position


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

    def with_context(self, context: Context) -> Recalled:
        """Return the same with a context."""
        return replace(self, context=context.text, tokens=context.tokens)


def recall_from(
    graph: Graph | None, text_of: TextOf, query: Query, extractor: Extractor, embedder: Embedder | None = None
) -> Recalled:
    """Answer `query` from `graph`, which it reads only; `text_of` finds the event that recorded a passage of it."""
    return Asking(query, extractor, embedder).answer(graph, text_of)


class Asking:
    """One question while it is answered: what it brings back, and the turns that were read for it.

    Most are answered in one go.  A long one reads and packs many turns: `read_ahead` reads while it lets others in,
    `find` then has them at hand, whatever has become of the graph meanwhile, and `packed` packs in a thread.
    """

    def __init__(self, query: Query, extractor: Extractor, embedder: Embedder | None = None) -> None:
        self.query = query
        explains = query.explain and (query.top_passages or 0) > EXPLAINED_AT_ONCE
        self.is_long = bool(query.only.metadata) or query.budget > LONG_BUDGET or explains
        self._extractor, self._embedder = extractor, embedder
        self._read: dict[int, TurnRecorded] = {}  # by ordinal of the event: that stays, passage numbers do not
        self._recalling: _Recalling | None = None

    def answer(self, graph: Graph | None, text_of: TextOf) -> Recalled:
        """Answer in one go."""
        recalled, lines = self.find(graph, text_of)
        return recalled.with_context(assemble(lines, self.query.budget))

    async def read_ahead(self, graph: Graph | None, text_of: TextOf) -> None:
        """Read what `find` will need if the question is a long one, a few turns at a time, and explain it likewise."""
        if graph is None or not self.is_long:
            return
        recalling = self._recalled(graph)
        ranked = recalling.recollection.passages
        then = Graph(graph.name)  # as it is now: a compaction gives the graph other tables, and leaves this one alone
        then.passages = graph.passages
        texts, wanted = _Texts(text_of, then, self.query.only.metadata, self._read), self._wanted()
        with suppress(
            StoreCorruptError
        ):  # forgotten meanwhile, and its text with it: if it is damage, `find` comes upon it
            for count, each in enumerate(ranked, 1):
                texts.turn(each.number)
                wanted -= texts.passes(each.number)
                if not wanted:
                    break
                if count % READ_AT_ONCE == 0:
                    await asyncio.sleep(0)
            if self.query.explain:
                await self._explain_ahead(recalling, self._listed(recalling.recollection, texts), graph)

    async def _explain_ahead(self, recalling: _Recalling, passages: list[Ranked], graph: Graph) -> None:
        """Explain passages for as long as the graph stays what it was."""
        numbers = [ranked.number for ranked in passages]
        for start in range(0, len(numbers), EXPLAINED_AT_ONCE):
            await asyncio.sleep(0)
            if not recalling.is_of(graph):
                return
            recalling.whys(numbers[start : start + EXPLAINED_AT_ONCE])

    def _listed(self, recollection: RecallResult, texts: _Texts) -> list[Ranked]:
        """Return the passages that the reply lists."""
        top = self.query.top_passages
        return list(islice(texts.passing(recollection), recollection.depth if top is None else top))

    def _wanted(self) -> int:
        """Return how many passages `find` may list or pack, roughly; no fewer where it has to search for them."""
        lines = most_lines(self.query.budget) if self.query.only.metadata else self.query.budget // SHORT_LINE
        return max(lines, self.query.top_passages or MOST_DEPTH)

    def find(self, graph: Graph | None, text_of: TextOf) -> tuple[Recalled, Iterator[Passage]]:
        """Return the answer, but for its context, and what the context is to be packed of, best first."""
        if graph is None or graph.is_blank:  # what was taken back entirely never was
            return Recalled(), iter(())
        query, found = self.query, self._recalled(graph)
        texts = _Texts(text_of, graph, query.only.metadata, self._read)
        passages = self._listed(found.recollection, texts)
        whys = found.whys([ranked.number for ranked in passages]) if query.explain else [None] * len(passages)
        return Recalled(
            found=True,
            seeds=[_concept(woken) for woken in found.recollection.seeds],
            concepts=[_concept(woken) for woken in found.recollection.concepts],
            passages=[texts.passage(ranked, why) for ranked, why in zip(passages, whys, strict=True)],
            reinforced=reinforced(found.recollection, REINFORCE_ABOVE) if query.reinforce else [],
        ), texts.lines(found.recollection, most_lines(query.budget))

    async def packed(self, lines: Iterator[Passage]) -> Context | None:
        """Return the context of what `find` returned; None if it takes more lines than expected: then find them again.

        Meanwhile the graph may become another.
        """
        if self.query.budget <= LONG_BUDGET:
            return assemble(lines, self.query.budget)
        wanted = self._wanted()
        at_hand = list(islice(lines, wanted))
        left = iter(at_hand)
        context = await asyncio.to_thread(assemble, left, self.query.budget)
        return None if len(at_hand) == wanted and next(left, None) is None else context

    def _recalled(self, graph: Graph) -> _Recalling:
        """Return what the question brings back from a graph as it is now."""
        if self._recalling is None or not self._recalling.is_of(graph):
            self._recalling = _Recalling(graph, self.query, self._extractor, self._embedder)
        return self._recalling


class _Recalling:
    """What a question brings back from a graph at one moment, and why."""

    def __init__(self, graph: Graph, query: Query, extractor: Extractor, embedder: Embedder | None) -> None:
        self._graph, self._events, self._text = graph, graph.events, query.text
        self._question = extractor.of_query(query.text, graph.clock)  # "last week" is seen from the end of the known
        self._options = _options(query, graph, extractor)
        self._cosine = likeness(graph.view(), embedder, query.text) if embedder and query.mode == "default" else None
        self.recollection = recall(graph.view(), self._question, query.text, self._options, self._cosine)
        self._whys: dict[int, Why] = {}

    def is_of(self, graph: Graph) -> bool:
        """Return whether it is of this graph as it is now."""
        return graph is self._graph and graph.events == self._events

    def whys(self, passages: Sequence[int]) -> list[Why]:
        """Return why each of these passages was recalled."""
        new = [number for number in passages if number not in self._whys]
        if new:
            means = self._question, self._text, new, self._options, self._cosine
            told = explanations(self._graph.view(), *means)
            self._whys.update(zip(new, map(_why, told), strict=True))
        return [self._whys[number] for number in passages]


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


class _Texts:
    """Reads each recalled turn once, whether it is listed, packed into the context, or both.

    metadata   what a turn must have to come back          read   what was read, by ordinal of the event
    """

    def __init__(
        self, text_of: TextOf, graph: Graph, metadata: Mapping[str, MetadataValue], read: dict[int, TurnRecorded]
    ) -> None:
        self._text_of = text_of
        self._graph = graph
        self._metadata = metadata
        self._read = read

    def turn(self, number: int) -> TurnRecorded:
        ordinal = self._graph.passages.event[number]
        turn = self._read.get(ordinal)
        if turn is None:
            turn = self._read[ordinal] = self._text_of(self._graph, number)
        return turn

    def passes(self, number: int) -> bool:
        """Return whether a turn has the metadata."""
        if not self._metadata:
            return True
        return _holds(self.turn(number).metadata, self._metadata)

    def passing(self, recollection: RecallResult) -> Iterator[Ranked]:
        """Yield the passages that have the metadata, best first; reads no more of them than are taken."""
        return (ranked for ranked in recollection.passages if self.passes(ranked.number))

    def lines(self, recollection: RecallResult, most: int) -> Iterator[Passage]:
        """Yield what a context may be packed of, best first, and `most` at most."""
        for ranked in islice(self.passing(recollection), most):
            turn = self.turn(ranked.number)
            yield Passage(ranked.number, turn.at, turn.speaker, turn.text, tuple(turn.times))

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


def _why(told: Explanation) -> Why:
    return Why(
        terms=told.terms,
        mentions=[Mention(**mention._asdict()) for mention in told.mentions],
        associations=[Hop(**hop._asdict()) for hop in told.associations],
        kinds=[Kind(**kind._asdict()) for kind in told.kinds],
    )


def _concept(woken: Woken) -> ActivatedConcept:
    return ActivatedConcept(id=woken.id, label=woken.label, energy=woken.energy, path=list(woken.path))
