"""Read the facts of turns that no query has read yet, for filters that need them.

The first question of a graph reads all its turns in steps, and other tasks run in between; the next question reads only
the turns that have arrived since (state/graph/tables/turn_facts.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from processors.lifecycle.steps import Steps
from state.events.events import TurnRecorded
from state.graph.graph import Graph

READ_AT_ONCE: Final = 100  # turns that are read without letting others in: a millisecond or two


class GraphChangedError(Exception):
    """The graph has changed, and the remaining steps need its former state.  Caller: begin again with the new state."""


class GraphMoment:
    """A graph at one moment, which lasts until an event is folded or a compaction renumbers its turns and concepts."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._events, self._passages = graph, graph.events, graph.passages

    @property
    def is_renumbered(self) -> bool:
        """Return whether a compaction gave turns and concepts other numbers; it is no event, and changes no answer."""
        return self._graph.passages is not self._passages

    @property
    def is_over(self) -> bool:
        """Return whether anything of the graph is no longer as it was."""
        return self.is_renumbered or self._graph.events != self._events

    def let_others_in(self) -> Steps[None]:
        """Yield.  Raises GraphChangedError if the moment is over then."""
        yield
        if self.is_over:
            raise GraphChangedError


def read_turn_facts(graph: Graph, text_of: Callable[[Graph, int], TurnRecorded]) -> Steps[None]:
    """Read the turns of a graph that are not known yet; what was read stays known, whatever happens.

    Raises GraphChangedError, and what `text_of` raises.
    """
    moment, ordinals, kept = GraphMoment(graph), np.array(graph.passages.event), graph.passages.kept
    for count, number in enumerate(graph.facts.missing(ordinals).tolist()):
        if count and count % READ_AT_ONCE == 0:
            yield from moment.let_others_in()
        if kept[number]:
            graph.facts.add(int(ordinals[number]), text_of(graph, number))
