"""Count the contents of a partition or a graph, with the position of the count; and write snapshots on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from emgas import limits
from emgas.messages.fields import Position
from emgas.messages.operator import Checkpoint, Checkpointed, Inspect, Inspection
from emgas.messages.queries import Describe, Description, Theme
from emgas.messages.settings.memory_settings import AllSettings
from processors.lifecycle.homeostasis import measures
from processors.lifecycle.steps import Steps, in_one_go
from processors.recall.answer.prepared_query import mode_of, rerank_of
from processors.text.shown import Shown
from replay.errors import SnapshotRefusedError, SnapshotsUnreachableError
from state.errors import GraphUnavailableError
from state.graph.graph import Graph
from state.graph.tables import theme_table
from state.partition import Partition
from streams.errors import RefusedError
from streams.query.answers.context import AnswerContext, QueryablePartition, position_of
from streams.query.answers.registry import answers
from streams.query.scheduling import run_cooperatively

NAMED_BY = 3  # concepts that a theme is named by


@answers(Inspect)
async def inspect(request: Inspect, context: AnswerContext) -> Inspection:
    """Count what a partition holds; in one go where the result is compared with a fold of the same moment."""
    is_exact = request.digest or request.graphs_after is not None
    counting = inspection(context.partition, request)
    return in_one_go(counting) if is_exact else await run_cooperatively(counting)


@answers(Describe, reads_pairs=True)
async def describe(request: Describe, context: AnswerContext) -> Description:
    """Describe what a graph holds and how it is configured."""
    return description(context.state, request.graph, context.position, measured=request.measures)


@answers(Checkpoint)
async def checkpoint(request: Checkpoint, context: AnswerContext) -> Checkpointed:
    """Take a snapshot of a partition, if this worker keeps snapshots."""
    snapshots = context.worker.snapshots
    if not snapshots.is_enabled:
        raise RefusedError("invalid", "this worker keeps no snapshots: start it with EMGAS_SNAPSHOTS=directory or URL")
    try:
        taken = await snapshots.take(context.partition.partition)
    except (SnapshotRefusedError, SnapshotsUnreachableError) as error:
        raise RefusedError("internal", str(error)) from None
    position = Position(partition=context.partition.partition, watermark=taken.watermark, source=taken.source)
    return Checkpointed(snapshot=taken.name, position=position, bytes=taken.bytes)


def inspection(partition: QueryablePartition, request: Inspect) -> Steps[Inspection]:
    """Count what a partition holds; of a page of graphs, only what those hold.

    Graphs are loaded one by one, each a step.  The partition may grow between steps, so digests need one go.
    """
    after, state = request.graphs_after, partition.state
    page = None if after is None else [name for name in state.graph_ids() if name > after][: limits.INSPECTED_GRAPHS]
    counts: Counter[str] = Counter()
    digests: dict[str, str] = {}
    for graph in readable(state, state.graph_ids() if page is None else page):
        graph.compact()  # pairs of what was forgotten are no pairs
        counts["concepts"] += len(graph.concepts)
        counts["archived"] += sum(graph.passages.archived)
        counts["pairs"] += len(graph.pairs["exchange"])
        counts["topics"] += sum(bool(theme.members) for theme in graph.themes.themes.values())
        counts["forgotten"] += graph.forgotten + len(graph.passages.gone)
        if page is not None:
            digests[graph.graph_id] = graph.digest()
        yield
    return Inspection(
        position=position_of(partition),
        digest=state.digest() if request.digest else None,
        graphs=state.position.graphs,
        turns=state.position.turns,
        concepts=counts["concepts"],
        pairs=counts["pairs"],
        topics=counts["topics"],
        forgotten=counts["forgotten"],
        archived=counts["archived"],
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
    """Describe what a graph holds and how it is configured; with `measured`, also how it is connected."""
    graph = state.graph(graph_id)
    if graph is None or graph.is_blank:  # all of it was taken back
        return Description(graph=graph_id, found=False, position=position)
    view = graph.view()
    shown = Shown(view.concept_table)
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


def _theme(topic: theme_table.ThemeRow, shown: Shown) -> Theme | None:
    """Convert a theme for display; None if none of its words may be shown."""
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
