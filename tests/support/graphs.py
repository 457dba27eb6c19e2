"""Looking into graphs: compared by all that recall may see, and their pairs in words."""

from __future__ import annotations

import numpy as np

from state.graph.graph import Graph
from state.graph.graph_tables import Window

SEEN = (
    *("graph_id", "turns", "concepts", "tokens", "clock", "settings", "ids", "labels", "numbers", "themes"),
    *("is_archived", "is_mark", "passages_with", "strength", "strength_at", "created", "accessed", "first_recall"),
    *("posting_concept", "posting_passage", "posting_count", "passage_id", "passage_at", "passage_tokens"),
    *("passage_session", "passage_speaker", "passage_question", "passage_archived", "role", "sessions", "speakers"),
)


def assert_same_view(one: Graph, other: Graph) -> None:
    """Assert that all that recall may see is equal, labels and neighbours included."""
    left, right = one.view(), other.view()
    for name in SEEN:
        assert np.array_equal(getattr(left, name), getattr(right, name)), name
    assert left.embeddings.keys() == right.embeddings.keys()
    for model, (passages, vectors) in left.embeddings.items():
        assert passages.tolist() == right.embeddings[model].passage.tolist()
        assert vectors.tobytes() == right.embeddings[model].vector.tobytes()
    everything = np.arange(len(left.ids))
    for window in left.windows:
        here, there = left.windows[window], right.windows[window]
        assert (here.total, here.fan.tolist()) == (there.total, there.fan.tolist())
        edges = zip(here.pairs.neighbours(everything), there.pairs.neighbours(everything), strict=True)
        assert all(np.array_equal(column, other_column) for column, other_column in edges)


def pair_counts(graph: Graph, window: Window) -> dict[str, int]:
    """Count {"coffee tea": 2, …}, in the order of concept numbers, without what was forgotten."""
    graph.compact()
    keys, counts = graph.pairs[window].canonical()
    ids = graph.concepts.ids
    return {f"{ids[key >> 32]} {ids[key & 0xFFFFFFFF]}": int(n) for key, n in zip(keys, counts, strict=True)}
