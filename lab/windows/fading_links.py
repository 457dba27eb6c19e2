"""Decide which links a decay window removes, and which concepts have none left.  The fold only applies it.

A link is what two concepts have that were said or recalled together; counting/link_queue.py says when it goes.
One that recall made, or whose turns were forgotten, counts as touched when the less recent of its ends was.  A link of
something pinned stays.  A word that has lost the last of its links leaves the active tier; one that never had any does
not.  Source: SEEDS S25, S27, M8.
"""

from __future__ import annotations

import numpy as np

from processors.lifecycle.policies import FadedLinks
from state.arrays import Integers, Mask
from state.graph.counting.link_queue import NOT_YET, lifetimes
from state.graph.graph import Graph
from state.graph.tables.decay import NEVER

NAMED_TOGETHER = 256  # ends of one concept's links in one list of an event
_LOW = 0xFFFFFFFF


def faded_links(graph: Graph, at: int) -> FadedLinks:
    """Find the links that have faded by `at` (ms), and whom they leave alone; note when the next will."""
    if not graph.settings.fades_links or graph.link_queue().earliest > at:
        return FadedLinks()
    keys, expiry = _expiries(graph)
    goes = expiry <= at
    graph.link_queue().earliest = int(expiry[~goes].min(initial=NEVER))
    return FadedLinks(_named(graph, keys[goes]), _alone(graph, keys[goes], keys[~goes])) if goes.any() else FadedLinks()


def _expiries(graph: Graph) -> tuple[Integers, Integers]:
    """List all links by their keys, ascending, and when each is gone, ms."""
    keys, strength, was_recalled = _links(graph)
    ends = keys >> 32, keys & _LOW
    concepts = graph.concepts
    accessed, is_long, pinned = (
        [np.array(getattr(concepts, name))[end] for end in ends] for name in ("accessed", "long_term", "pinned")
    )
    last = graph.link_queue().last(keys)
    last = np.where(was_recalled | (last == NOT_YET), np.maximum(last, np.minimum(*accessed)), last)
    expiry = last + lifetimes(strength, (is_long[0] & is_long[1]) == 1, graph.settings)
    return keys, np.where(pinned[0] | pinned[1], NEVER, np.minimum(expiry, NEVER))


def _links(graph: Graph) -> tuple[Integers, Integers, Mask]:
    """List keys, ascending, how often each pair was together, and whether it was recalled so."""
    exchanged, recalled = (graph.pairs[window].canonical() for window in ("exchange", "recall"))
    keys, inverse = np.unique(np.concatenate((exchanged[0], recalled[0])), return_inverse=True)
    strength = np.zeros(len(keys), np.int64)
    np.add.at(strength, inverse, np.concatenate((exchanged[1], recalled[1])))
    was_recalled = np.zeros(len(keys), np.bool_)
    was_recalled[inverse[len(exchanged[0]) :]] = True
    return keys, strength, was_recalled


def _named(graph: Graph, keys: Integers) -> list[list[str]]:
    """Return links by the ids of their ends: lists of a first end and its other ends."""
    ids, named = graph.concepts.ids, list[list[str]]()
    before = -1
    for one, other in zip((keys >> 32).tolist(), (keys & _LOW).tolist(), strict=True):
        if one != before or len(named[-1]) > NAMED_TOGETHER:
            named.append([ids[one]])
            before = one
        named[-1].append(ids[other])
    return named


def _alone(graph: Graph, gone: Integers, left: Integers) -> set[int]:
    """Find the active words that had links, and have none any more."""
    concepts = graph.concepts
    had, has = (np.unique(np.concatenate((keys >> 32, keys & _LOW))) for keys in (gone, left))
    alone = np.setdiff1d(had, has).tolist()
    return {n for n in alone if not (concepts.is_mark[n] or concepts.archived[n] or concepts.pinned[n])}
