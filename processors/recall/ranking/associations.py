"""The edges between concepts that energy spreads over: pairs that were said together, and links."""

from __future__ import annotations

from collections.abc import Callable

from processors.association import Edges, edges_out
from processors.recall.ranking.activation import SpreadingParameters
from processors.recall.ranking.links import rated, recall_links, relation_links, theme_links
from state.arrays import Integers
from state.graph.view import GraphView


def associations(view: GraphView, how: SpreadingParameters) -> Callable[[Integers], Edges]:
    """Make what finds the edges out of ascending concepts (k,), ordered by (source, target)."""
    counts = view.window(how.window)

    def edges(firing: Integers) -> Edges:
        firing = firing if how.marks else firing[~view.marks(firing)]
        out = edges_out(counts, firing, how.weighting)
        if view.rated:
            out = rated(view, out)
        if how.recall_links and view.windows["recall"].pairs:
            out = out.joined(recall_links(view, firing, how.recall_links))
        if how.topic_links:
            out = out.joined(theme_links(view, firing, how.topic_links))
        if how.type_weights:
            out = out.joined(relation_links(view, firing, how.type_weights))
        return out if how.marks else out.where(~view.marks(out.target))

    return edges
