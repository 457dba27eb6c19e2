"""Find concepts that a consolidation links as if they had been recalled together.

    frequent   the `frequent_linked` words of the highest frequency f = n / T of recalls, with as many of the strongest
               words that are new: what is often in mind goes with what is new, however little the two have to do with
               each other (Hebb).  T is the span from the first recall to the last      SEEDS S18, S19, trap T9
    alike      of each new turn that matters enough, the `link_candidates` nearest turns whose words are alike enough
               (cosine from `link_above`, affinity from `link_confidence`): what tells most of one, and of the
               other.  The source has a model say whether a link is right; here the affinity does        SEEDS M26

A new turn is one of those that the window compares (processors/lifecycle/consolidation/consolidation.py, `batch`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

import numpy as np

from emgas.times import DAY_MS
from processors.lifecycle.consolidation.consolidation import matters
from processors.lifecycle.habits.affinity import Affinities
from state.graph.graph import Graph

T_MIN: Final = DAY_MS  # recalls within a day count as at one time
LOOKED_AT: Final = 64  # turns that hold a word, the latest, among which candidates are looked for

Link = tuple[str, str]


def linked(graph: Graph, fresh: Sequence[int]) -> list[Link]:
    """Decide what a window that found the new passages `fresh` links, each pair once."""
    settings = graph.settings
    links: list[Link] = []
    if settings.frequent_linked:
        links += _frequent(graph, fresh)
    if settings.link_candidates:
        links += _alike(graph, fresh)
    return list(dict.fromkeys((min(link), max(link)) for link in links))


def frequencies(graph: Graph) -> dict[int, float]:
    """Compute f, recalls a day, of each active word that was ever recalled."""
    concepts = graph.concepts
    recalled = (np.array(concepts.recalls) > 0) & concepts.is_active() & ~np.array(concepts.is_mark, np.bool_)
    first, last, times = concepts.first_recall, concepts.last_recall, concepts.recalls
    return {n: times[n] * DAY_MS / max(last[n] - first[n], T_MIN) for n in np.flatnonzero(recalled).tolist()}


def _frequent(graph: Graph, fresh: Sequence[int]) -> Iterator[Link]:
    concepts, most = graph.concepts, graph.settings.frequent_linked
    often = frequencies(graph)
    top = sorted(often, key=lambda number: (-often[number], number))[:most]
    contents = {number for passage in fresh for number in graph.passages.concepts_of(passage)} - set(top)
    new = [number for number in contents if _is_word(graph, number) and _only_in(graph, number, fresh)]
    strongest = sorted(new, key=lambda number: (-concepts.strength[number], number))[:most]
    for one in top:
        yield from ((concepts.ids[one], concepts.ids[other]) for other in strongest)


def _only_in(graph: Graph, word: int, fresh: Sequence[int]) -> bool:
    """Return whether a word was first said in one of `fresh`."""
    holding = sum(word in graph.passages.concepts_of(passage) for passage in fresh)
    return graph.concepts.in_turns[word] <= holding


def _alike(graph: Graph, fresh: Sequence[int]) -> Iterator[Link]:
    settings, near = graph.settings, Affinities(graph)
    holders = _holders(graph, {word for passage in fresh for word in near.vector(passage)})
    for passage in fresh:
        if matters(graph, passage) < 100 * settings.link_importance:
            continue
        others = {other for word in near.vector(passage) for other in holders.get(word, ())} - {passage}
        alike = ((_cosine(near, passage, other), other) for other in others)
        nearest = sorted((-cosine, other) for cosine, other in alike if cosine >= settings.link_above)
        for _, other in nearest[: settings.link_candidates]:
            if near.between(passage, other) >= settings.link_confidence:
                yield from _telling(graph, passage, other)


def _cosine(near: Affinities, one: int, other: int) -> float:
    left, right = near.vector(one), near.vector(other)
    return sum(weight * right.get(word, 0.0) for word, weight in left.items())


def _holders(graph: Graph, words: Collection[int]) -> dict[int, list[int]]:
    """Read the latest active passages that hold each of `words`."""
    holders: dict[int, list[int]] = {word: [] for word in words}
    passages = graph.passages
    active = passages.is_active()
    for passage in range(len(passages) - 1, -1, -1):
        if active[passage]:
            for word in passages.concepts_of(passage):
                if word in holders and len(holders[word]) < LOOKED_AT:
                    holders[word].append(passage)
    return holders


def _telling(graph: Graph, one: int, other: int) -> Iterator[Link]:
    """Yield the rarest word that one passage has for itself, with that of the other; nothing where one has none."""
    words = [{n for n in graph.passages.concepts_of(each) if _is_word(graph, n)} for each in (one, other)]
    own = [words[0] - words[1], words[1] - words[0]]
    if all(own):
        rarest = (min(each, key=lambda number: (graph.concepts.in_turns[number], number)) for each in own)
        left, right = rarest
        yield graph.concepts.ids[left], graph.concepts.ids[right]


def _is_word(graph: Graph, number: int) -> bool:
    concepts = graph.concepts
    return bool(concepts.alive[number]) and not concepts.archived[number] and not concepts.is_mark[number]
