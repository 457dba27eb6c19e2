"""Gauges of the structure of the graphs in a worker's memory: SEEDS P27, P35.

Of each partition, over those of its graphs that are in memory:

    emgas_active_turns, emgas_archived_turns        turns in each tier
    emgas_active_words_ratio                        share of what was said that is active: compression
    emgas_abstraction_coverage                      share of the turns that a habit holds
    emgas_mean_path_length                          links between two concepts, the mean over graphs
    emgas_active_growth_ratio                       turns of the last 30 days for each older active one

A graph is measured again once it has MORE events than at its last measurement, and AT_ONCE are for one scrape at most:
nothing is measured while turns are folded, and a scrape stays short however many graphs there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from processors.lifecycle.homeostasis import Measures, measures
from state.graph.graph import Graph

AT_ONCE: Final = 4
MORE: Final = 200


class _Measured(NamedTuple):
    events: int
    measures: Measures


class GraphGauges:
    """Measures graphs little by little: `look` before a scrape, `values` at it."""

    def __init__(self) -> None:
        self._measured: dict[int, dict[str, _Measured]] = {}

    def look(self, graphs: Iterable[tuple[int, Graph]]) -> None:
        """Measure a few of the graphs (each with its partition) that are not measured yet, or have grown since."""
        left, before = AT_ONCE, self._measured
        self._measured = {}
        for partition, graph in graphs:
            measured = before.get(partition, {}).get(graph.graph_id)
            if left and (measured is None or not measured.events <= graph.events < measured.events + MORE):
                measured, left = _Measured(graph.events, measures(graph)), left - 1
            if measured is not None:
                self._measured.setdefault(partition, {})[graph.graph_id] = measured

    def values(self) -> Iterator[tuple[str, str, dict[int, float]]]:
        """Yield name, help and the value of each partition."""
        by_partition = {partition: [each.measures for each in of.values()] for partition, of in self._measured.items()}
        for name, description, value in _GAUGES:
            yield name, description, {partition: value(of) for partition, of in by_partition.items()}


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


_GAUGES: Final = (
    ("active_turns", "Turns that are active, of graphs in memory.", lambda of: sum(each.active for each in of)),
    ("archived_turns", "Turns in the archive, of graphs in memory.", lambda of: sum(each.archived for each in of)),
    (
        "active_words_ratio",
        "Share of what was said that is active.",
        lambda of: sum(each.active_words for each in of) / max(sum(each.words for each in of), 1),
    ),
    (
        "abstraction_coverage",
        "Share of the turns that a habit holds.",
        lambda of: (
            sum(each.covered * (each.active + each.archived) for each in of)
            / max(sum(each.active + each.archived for each in of), 1)
        ),
    ),
    (
        "mean_path_length",
        "Links between two concepts, on average.",
        lambda of: _mean(each.path_length for each in of if each.path_length),
    ),
    (
        "active_growth_ratio",
        "Turns of the last 30 days for each older active one.",
        lambda of: _mean(each.growth for each in of),
    ),
)
