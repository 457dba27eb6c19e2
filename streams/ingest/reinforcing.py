"""What a question woke, as events: whether the worker that answered it also writes, or a reader told its writer.

answered by the owner of the partition   recalled_events, appended at once       (streams/query/reinforcement.py)
answered by a reader                     the command Reinforce in `turns`, which the owner reads as any other
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from emgas.messages.turns import Reinforce
from processors.recall.ranking.propagation import related
from state.events.events import UNSTAMPED, ConceptsRecalled, MemoryRestored
from state.graph.graph import Graph
from state.graph.tables.concept_table import ConceptTable

RecallEvent = ConceptsRecalled | MemoryRestored


def recalled_events(
    graph_id: str, graph: Graph | None, *, concepts: Sequence[str], turns: Sequence[str], at: int
) -> list[RecallEvent]:
    """Make the events that record what a question woke at `at` (ms), and brought back from the archive.

    graph  as it is once the windows that end before `at` are closed
    """
    if graph is not None:
        graph.settle()  # nobody may have asked it here since turns came
    known = graph.concepts if graph else ConceptTable()
    faded = [id for id in concepts if id in known.numbers and known.archived[known.numbers[id]]]
    near = related(graph, concepts) if graph else []
    recalled = ConceptsRecalled(**UNSTAMPED, graph=graph_id, at=at, concepts=list(concepts), related=near)
    events: list[RecallEvent] = [recalled]
    if faded or turns:
        events.append(MemoryRestored(**UNSTAMPED, graph=graph_id, at=at, concepts=faded, turns=list(turns)))
    return events


def commanded(request: Reinforce, graph: Graph, *, at: int, source: int) -> list[RecallEvent]:
    """Make the same events of what a reader told; the last one accounts for its record, at offset `source`."""
    *before, last = recalled_events(request.graph, graph, concepts=request.concepts, turns=request.turns, at=at)
    return [*before, replace(last, src=source)]
