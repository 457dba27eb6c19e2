"""What goes back to whoever asked: a reply, and what a partition holds; each with the position it was told at."""

from __future__ import annotations

from collections import Counter

from emgas import limits
from emgas.messages import Inspect, Inspection, Position, Query, Reply, Timing
from streams.answer import Recalled
from streams.owner import Owner


def position_of(owner: Owner) -> Position:
    """Return how far an owner's partition is."""
    head = owner.state.head
    return Position(partition=owner.number, watermark=head.watermark, source=head.source)


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


def inspection(owner: Owner, request: Inspect) -> Inspection:
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
