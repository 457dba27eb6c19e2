"""What a partition holds and what a graph is, told to whoever asked; each with the position of then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from emgas import limits
from emgas.messages.fields import Position
from emgas.messages.memory_settings import AllSettings
from emgas.messages.operator import Inspect, Inspection
from emgas.messages.queries import Description, Theme
from processors.lifecycle.homeostasis import measures
from processors.lifecycle.steps import Steps
from processors.recall.answer.answer import mode_of, rerank_of
from processors.text.shown import Shown
from state.errors import GraphUnavailableError
from state.graph.graph import Graph
from state.graph.tables import theme_table
from state.partition import Partition
from streams.query.held import HeldPartition

NAMED_BY = 3  # concepts that a theme is named by


def position_of(writer: HeldPartition) -> Position:
    """Tell how far the partition of a writer is."""
    head = writer.state.position
    return Position(partition=writer.partition, watermark=head.watermark, source=head.source)


def inspection(writer: HeldPartition, request: Inspect) -> Steps[Inspection]:
    """Count what a partition holds; of a page of graphs, only what those hold.

    They are loaded one by one, each a step.  Between steps the partition may grow: digests want all of them in one go.
    """
    after, state = request.graphs_after, writer.state
    page = None if after is None else [name for name in state.graph_ids() if name > after][: limits.INSPECTED_GRAPHS]
    held: Counter[str] = Counter()
    digests: dict[str, str] = {}
    for graph in readable(state, state.graph_ids() if page is None else page):
        graph.compact()  # pairs of what was forgotten are no pairs
        held["concepts"] += len(graph.concepts)
        held["archived"] += sum(graph.passages.archived)
        held["pairs"] += len(graph.pairs["exchange"])
        held["topics"] += sum(bool(theme.members) for theme in graph.themes.themes.values())
        held["forgotten"] += graph.forgotten + len(graph.passages.gone)
        if page is not None:
            digests[graph.graph_id] = graph.digest()
        yield
    return Inspection(
        position=position_of(writer),
        digest=state.digest() if request.digest else None,
        graphs=state.position.graphs,
        turns=state.position.turns,
        concepts=held["concepts"],
        pairs=held["pairs"],
        topics=held["topics"],
        forgotten=held["forgotten"],
        archived=held["archived"],
        digests=digests,
        unavailable=dict(state.unavailable),
    )


def readable(state: Partition, names: Iterable[str]) -> Iterator[Graph]:
    """Yield the graphs of these names that can be read."""
    for name in names:
        with suppress(GraphUnavailableError):  # it is listed as such
            graph = state.graph(name)
            if graph is not None:
                yield graph


def description(state: Partition, graph_id: str, position: Position, *, measured: bool = False) -> Description:
    """Tell what a graph holds, and how it lives; if it is to be `measured`, how it hangs together."""
    graph = state.graph(graph_id)
    if graph is None or graph.is_blank:  # what was taken back entirely never was
        return Description(graph=graph_id, found=False, position=position)
    view = graph.view()
    shown = Shown(view.known)
    archived, archived_concepts = sum(graph.passages.archived), sum(graph.concepts.archived)
    return Description(
        graph=graph_id,
        found=True,
        preset=graph.preset,
        settings={name: getattr(graph.settings, name) for name in AllSettings.model_fields},
        mode=mode_of(graph),
        rerank=rerank_of(graph),
        weights=graph.weights,
        timezone=graph.timezone,
        clock=graph.clock,
        turns=len(graph.passages) - archived,
        archived=archived,
        forgotten=len(graph.passages.gone),
        concepts=len(graph.concepts) - archived_concepts,
        archived_concepts=archived_concepts,
        pinned=int(view.passage_pinned.sum()),
        pinned_concepts=graph.concepts.pinned.count(1),
        long_term=sum(graph.concepts.long_term),
        themes=[theme for topic in view.themes if (theme := _theme(topic, shown)) is not None],
        unrecorded=graph.unrecorded,
        uncounted=graph.uncounted,
        access={subject: list(rights) for subject, rights in graph.access.items()},
        measures=measures(graph)._asdict() if measured else {},
        position=position,
    )


def _theme(topic: theme_table.Theme, shown: Shown) -> Theme | None:
    """Show a theme, None for one of words that nobody would say."""
    concepts = [label for _, label in shown.labels(topic.members)]
    if not concepts:
        return None
    # The recorded label may name a concept that was forgotten since: what is shown names the living only.
    return Theme(
        id=topic.id,
        label=", ".join(concepts[:NAMED_BY]),
        concepts=concepts,
        born=topic.born,
        name=topic.name or None,
        by=topic.by or None,
    )
