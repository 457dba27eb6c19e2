"""What a question leaves open, as its graph is set: where it is asked, in which mode, by whose formula.

A question that names a mode is answered in that, plainly; one that asks for a kind of memory, in the default mode,
which alone has kinds: its episodes are ordered by whose formula the graph's questions are, where that has one for them.
"""

from __future__ import annotations

from typing import cast, get_args

from emgas.messages.modes import Mode, Rerank
from emgas.messages.queries import Query
from processors.recall.rerank import EPISODES
from state.graph.graph import Graph


def mode_of(graph: Graph) -> Mode:
    """Give the mode of a graph's questions; one that this version does not know is the default."""
    return cast(Mode, graph.mode) if graph.mode in get_args(Mode) else "default"


def rerank_of(graph: Graph) -> Rerank | None:
    """Give whose formula orders what a graph's questions find, None for nobody's."""
    return cast(Rerank, graph.rerank) if graph.rerank in get_args(Rerank) else None


def by_graph(query: Query, graph: Graph) -> Query:
    """Let a question that names no mode, or no time zone, be answered as its graph is set."""
    known: dict[str, object] = {"timezone": graph.timezone} if query.timezone is None else {}
    rerank = rerank_of(graph) if query.rerank is None else query.rerank
    if query.mode is None and query.memory == "episodic":
        known["rerank"] = rerank if rerank in EPISODES else None
    elif query.mode is None and query.memory == "all":
        known |= {"mode": mode_of(graph), "rerank": rerank}
    return query.model_copy(update=known) if known else query
