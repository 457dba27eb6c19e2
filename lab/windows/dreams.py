"""Dreams: what was touched since the last one is gone through again, by random walks.  SEEDS S23, P46.

    dream_every 1d, dream_at 3h   ──▶  every night at three (UTC), if anything was said since the night before

    hot        the HOT strongest words that were mentioned or recalled since, and are not in the archive
    a walk     begins at one of them, the stronger the likelier, and goes `dream_steps` times to another of them that it
               is linked with, by how much more often the two were said together than by chance
    it leaves  each word by which any walk came a little stronger (`dream_boost`), and where a walk ended at a word that
               was never said together with the one where it began, these two linked, as two that were recalled
               together are: few, distant and never asked for, as dreams are

The walks are random, and the same for everybody: their seed is a hash of the graph's name and the window's end, and is
recorded.  What they did is an event, so no replay dreams again.  Only the region that was touched is looked at, never
the whole graph.  Weights are quotients of counts, without a logarithm: they are the same on every machine.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

import numpy as np

from emgas.limits import EARLIEST_MS
from processors.lifecycle.steps import in_one_step
from processors.lifecycle.window import Timekeeping, Window, WindowEnd
from state.events.events import UNSTAMPED, GraphEvent, MemoryReplayed
from state.events.memory_settings import MemorySettings
from state.graph.graph import Graph

HOT: Final = 200  # words

Region = Mapping[int, tuple[Sequence[int], Sequence[float]]]  # word → its neighbours in the region, summed weights


def _next_end(graph: Graph) -> WindowEnd | None:
    """Find the end of the first open window in which anything was said."""
    settings = graph.settings
    if not settings.dream_every or graph.last_turn_at == EARLIEST_MS:
        return None
    end = dream_after(graph.clock - settings.grace, settings.dream_every, dreams_at(settings))
    return WindowEnd(end) if graph.last_turn_at > end - settings.dream_every else None


def _may_end(graph: Timekeeping, now: int) -> bool:
    every, offset, grace = graph.settings.dream_every, dreams_at(graph.settings), graph.settings.grace
    return bool(every) and dream_after(now - grace, every, offset) != dream_after(graph.clock - grace, every, offset)


def _closing(graph: Graph, at: int) -> list[GraphEvent]:
    return [dreamt(graph, at)]


DREAM = Window("dream", _next_end, in_one_step(_closing), _may_end)


def dreams_at(settings: MemorySettings) -> int:
    """Return how long after the beginning of a stretch dreams are, ms: one later than a decay window that ends there.

    Of two windows that end at once, the one that closed first would take the other its turn: both say how late it is.
    """
    return settings.dream_at + (settings.dream_at % settings.decay_every == 0)


def dream_after(at: int, every: int, offset: int) -> int:
    """Return when the first stretch ending later than `at` (ms) does: they are `every` long, and begin at `offset`."""
    return at + every - (at - offset) % every


def dreamt(graph: Graph, at: int) -> MemoryReplayed:
    """Dream at the end of a window, `at` (ms): one event, however little there is to dream of."""
    graph.settle()
    seed = _seed(graph, at)
    hot = _hot(graph, at)
    walks = list(_walks(graph, hot, seed, at)) if len(hot) > 1 else []
    came_by = list(dict.fromkeys(word for walk in walks for word in walk))
    ids = graph.concepts.ids
    return MemoryReplayed(
        graph=graph.graph_id,
        at=at,
        seed=seed,
        concepts=[ids[word] for word in came_by],
        links=[(ids[one], ids[other]) for one, other in _distant(graph, walks)],
        **UNSTAMPED,
    )


def _seed(graph: Graph, at: int) -> int:
    digest = hashlib.blake2b(f"{at} {graph.graph_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def _hot(graph: Graph, at: int) -> list[int]:
    """List the strongest words that were touched in the window, ascending by number."""
    concepts, since = graph.concepts, at - graph.settings.dream_every
    touched = concepts.is_active() & (np.array(concepts.accessed) > since) & ~np.array(concepts.is_mark, np.bool_)
    words = np.flatnonzero(touched).tolist()
    return sorted(sorted(words, key=lambda word: (-concepts.strength_of(word, at, graph.settings), word))[:HOT])


def _walks(graph: Graph, hot: Sequence[int], seed: int, at: int) -> Iterator[list[int]]:
    region, chance = _region(graph, hot), _chances(seed)
    starts = list(accumulate(graph.concepts.strength_of(word, at, graph.settings) for word in hot))
    for _ in range(graph.settings.dream_walks):
        path = [_drawn(hot, starts, next(chance))]
        for _ in range(graph.settings.dream_steps):
            neighbours, weights = region.get(path[-1], ((), ()))
            if not neighbours:
                break
            path.append(_drawn(neighbours, weights, next(chance)))
        if len(path) > 1:
            yield path


def _region(graph: Graph, hot: Sequence[int]) -> Region:
    """Lay out the links between hot words: of those said together more often than by chance."""
    region: dict[int, tuple[list[int], list[float]]] = {}
    words = np.array(hot, np.int64)
    position, target, together = graph.pairs["exchange"].neighbours(words)
    is_hot = np.isin(target, words)
    in_exchanges, total = graph.concepts.in_exchanges, graph.turns
    for place, other, times in zip(
        position[is_hot].tolist(), target[is_hot].tolist(), together[is_hot].tolist(), strict=True
    ):
        word = hot[place]
        lift = times * total / (in_exchanges[word] * in_exchanges[other])
        if lift > 1:
            neighbours, weights = region.setdefault(word, ([], []))
            neighbours.append(other)
            weights.append((weights[-1] if weights else 0.0) + lift)
    return region


def _drawn(among: Sequence[int], sums: Sequence[float], chance: float) -> int:
    """Draw one of `among`, each as likely as its weight, given the running sums of those and a chance in [0, 1)."""
    return among[min(bisect_right(sums, chance * sums[-1]), len(among) - 1)]


def _chances(seed: int) -> Iterator[float]:
    """Yield numbers in [0, 1), the same for a seed on every machine and in every version of Python."""
    count = 0
    while True:
        drawn = hashlib.blake2b(count.to_bytes(8, "big"), digest_size=8, key=seed.to_bytes(8, "big")).digest()
        yield (int.from_bytes(drawn, "big") >> 11) / (1 << 53)
        count += 1


def _distant(graph: Graph, walks: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """List where walks began and ended, each pair once, of words that were never said together."""
    ends = dict.fromkeys((min(walk[0], walk[-1]), max(walk[0], walk[-1])) for walk in walks if walk[0] != walk[-1])
    pairs = []
    for one, other in ends:
        _, neighbours, _ = graph.pairs["exchange"].neighbours(np.array([one], np.int64))
        if other not in neighbours:
            pairs.append((one, other))
    return pairs
