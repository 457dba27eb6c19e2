"""What goes back to whoever asked: a reply, what a graph is, what a partition holds; each with the position of then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from emgas import limits
from emgas.messages.fields import Position
from emgas.messages.operator import Inspect, Inspection
from emgas.messages.queries import Description, Query, Reply, Theme, Timing
from state.graph.theme_table import Topic
from state.partition import Partition
from streams.ingest.partition_writer import PartitionWriter
from streams.query.answer import Recalled

NAMED_BY = 3  # concepts that a theme is named by


def position_of(owner: PartitionWriter) -> Position:
    """Return how far an owner's partition is."""
    head = owner.state.head
    return Position(partition=owner.partition, watermark=head.watermark, source=head.source)


def reply_to(query: Query, recalled: Recalled, position: Position, timing: Timing) -> Reply:
    """Return the reply to a query."""
    return Reply(
        graph=query.graph,
        found=recalled.found,
        seeds=recalled.seeds,
        concepts=recalled.concepts,
        passages=recalled.passages,
        context=recalled.context,
        tokens=recalled.tokens,
        position=position,
        timing=timing,
    )


def inspection(owner: PartitionWriter, request: Inspect) -> Inspection:
    """Return what is held; of a page of graphs, only what those hold is counted.  They are loaded one by one."""
    after, state = request.graphs_after, owner.state
    page = None if after is None else [name for name in state.names() if name > after][: limits.INSPECTED_GRAPHS]
    held: Counter[str] = Counter()
    digests: dict[str, str] = {}
    for graph in state.graphs() if page is None else filter(None, map(state.graph, page)):
        graph.compact()  # pairs of what was forgotten are no pairs
        held["concepts"] += len(graph.concepts)
        held["pairs"] += len(graph.pairs["exchange"])
        held["topics"] += len(graph.topics.topics)
        held["forgotten"] += graph.forgotten + len(graph.passages.archived)
        if page is not None:
            digests[graph.name] = graph.digest()
    return Inspection(
        position=position_of(owner),
        digest=state.digest() if request.digest else None,
        graphs=state.head.graphs,
        turns=state.head.turns,
        concepts=held["concepts"],
        pairs=held["pairs"],
        topics=held["topics"],
        forgotten=held["forgotten"],
        digests=digests,
    )


def description(state: Partition, name: str, position: Position) -> Description:
    """Return what a graph holds, and how it lives."""
    graph = state.graph(name)
    if graph is None or graph.is_blank:  # what was taken back entirely never was
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
