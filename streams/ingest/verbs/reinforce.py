"""Reinforcing what a question recalled, as events: the same whether a reader or the partition's owner answered it.

answered by the owner of the partition   recalled_events, appended at once       (streams/query/reinforcement.py)
answered by a reader                     the command Reinforce in `turns`, which the owner decides as any other
"""

from __future__ import annotations

from collections.abc import Sequence

from emgas.messages.turns import Reinforce
from processors.lifecycle.policies import Neighbours, policy
from state.events.events import UNSTAMPED, ConceptsRecalled, DataEvent, MemoryRestored
from state.graph.graph import Graph
from state.graph.tables.concept_table import ConceptTable
from streams.ingest.verbs.deciding import Deciding, decides
from streams.ingest.verbs.refusals import existing

RecallEvent = ConceptsRecalled | MemoryRestored


@decides(Reinforce)
def reinforce(request: Reinforce, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Record what a question recalled; the windows that end before it was asked must be closed."""
    graph = existing(request, graph)
    at = question_time(request, graph, context.shared.latest(context.arrival))
    return [*recalled_events(request.graph, graph, concepts=request.concepts, turns=request.turns, at=at)]


def question_time(request: Reinforce, graph: Graph | None, latest: int) -> int:
    """Return when a question was asked, ms, at most `latest`; in a graph that is not live, by the graph's own clock.

    By the present, all windows of an imported memory would close, and nearly everything in it would fade at once.
    """
    if graph is not None and not graph.live:
        return graph.clock
    return min(request.at, latest)


def recalled_events(
    graph_id: str, graph: Graph | None, *, concepts: Sequence[str], turns: Sequence[str], at: int
) -> list[RecallEvent]:
    """Make the events that record what a question at `at` (ms) recalled, and restored from the archive.

    graph  as it is once the windows that end before `at` are closed
    """
    if graph is not None:
        graph.settle()  # there may have been no question since the last turns
    table = graph.concepts if graph else ConceptTable()
    faded = [id for id in concepts if id in table.numbers and table.archived[table.numbers[id]]]
    neighbours = _neighbours(graph, concepts) if graph and graph.settings.recall_spread else []
    recalled = ConceptsRecalled(**UNSTAMPED, graph=graph_id, at=at, concepts=list(concepts), related=neighbours)
    events: list[RecallEvent] = [recalled]
    if faded or turns:
        events.append(MemoryRestored(**UNSTAMPED, graph=graph_id, at=at, concepts=faded, turns=list(turns)))
    return events


def _neighbours(graph: Graph, concepts: Sequence[str]) -> list[str]:
    related: Neighbours = policy("decisions", "neighbours")
    return related(graph, concepts)
