"""How close two turns are: what they hold in common, and when they were said.  SEEDS P18-P21.

    affinity   γ · cos + (1 − γ) · e^(−Δt / τ)
    cos        of their words, each weighing  ln(1 + N / n) · ln n,  n turns of N hold it: the rarer, the more it tells;
               what was said once recurs nowhere, and weighs nothing
    γ, τ       settings of the graph: γ 0.5 by default, τ 30 days, as habits live by weeks and months; others, if it
               says so, between turns that tell a time: a log of events hangs together by when, knowledge by what

What reaches a threshold is near, and what hangs together so is one cluster (transitive: a habit of a year is near
itself day by day, not from end to end).  Turns that hold a word are compared with the NEIGHBOURS before them that hold
it, so that the work grows with the turns and not with their pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import exp, log, log1p, sqrt
from typing import Final

import numpy as np

from state.arrays import Integers
from state.graph.graph import Graph
from state.graph.passage_table import ROLES

PEOPLE: Final = (ROLES.index(None), ROLES.index("user"))  # an assistant repeats itself, and has no habits
TIME: Final = "@time"  # the mark of turns that tell a time
NEIGHBOURS: Final = 8  # turns before it that a turn is compared with


class Affinities:
    """The affinities between the turns of a graph, which has settled, as it is now."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._settings = graph, graph.settings
        self._vectors: dict[int, dict[int, float]] = {}

    def vector(self, passage: int) -> Mapping[int, float]:
        """Weigh the words of a passage, by their numbers; normed to length 1, {} where nothing of it recurs."""
        found = self._vectors.get(passage)
        if found is None:
            found = self._vectors[passage] = self._weighed(passage)
        return found

    def _weighed(self, passage: int) -> dict[int, float]:
        concepts, turns = self._graph.concepts, len(self._graph.passages)
        alive, is_mark, in_turns = concepts.alive, concepts.is_mark, concepts.in_turns
        words = [
            n for n in self._graph.passages.concepts_of(passage) if alive[n] and not is_mark[n] and in_turns[n] > 1
        ]
        weights = {word: log1p(turns / in_turns[word]) * log(in_turns[word]) for word in words}
        length = sqrt(sum(weight * weight for weight in weights.values()))
        return {word: weight / length for word, weight in weights.items()}

    def between(self, left: int, right: int) -> float:
        """Compute the affinity of two passages, in [0, 1]."""
        one, other = sorted((self.vector(left), self.vector(right)), key=len)
        cosine = sum(weight * other.get(word, 0.0) for word, weight in one.items())
        at, (gamma, tau) = self._graph.passages.at, self._constants(left, right)
        return gamma * cosine + (1 - gamma) * exp(-abs(at[left] - at[right]) / tau)

    def _constants(self, left: int, right: int) -> tuple[float, int]:
        """Give γ and τ of two passages: others where both tell a time (SEEDS P41)."""
        settings = self._settings
        gamma, tau = settings.affinity_gamma, settings.affinity_tau
        own = settings.affinity_dated != 1 or settings.affinity_tau_dated
        if own and self.tells_time(left) and self.tells_time(right):
            return min(1.0, gamma * settings.affinity_dated), settings.affinity_tau_dated or tau
        return gamma, tau

    def tells_time(self, passage: int) -> bool:
        """Tell whether a passage says when something is or was, as entries of a log do."""
        mark = self._graph.concepts.numbers.get(TIME)
        return mark is not None and mark in self._graph.passages.concepts_of(passage)

    def joined(self, passages: Sequence[int], above: float) -> Iterator[tuple[int, int]]:
        """Yield the pairs of ascending passages that reach a threshold, each with NEIGHBOURS before it."""
        for place, passage in enumerate(passages):
            for other in passages[max(0, place - NEIGHBOURS) : place]:
                if self.between(passage, other) >= above:
                    yield other, passage

    def holders(self, word: int, speaker: int) -> Integers:
        """List the kept passages of a speaker that hold a word and ask nothing, ascending."""
        return self._of_speaker.get((word, speaker), np.zeros(0, np.int64))

    @cached_property
    def _of_speaker(self) -> dict[tuple[int, int], Integers]:
        """Map (word, speaker) to the passages in which it says the word: one pass over the postings."""
        passages = self._graph.passages
        tells = np.array(passages.kept, np.bool_) & ~np.array(passages.question, np.bool_)
        tells &= np.isin(np.array(passages.role), PEOPLE)
        of_posting = np.repeat(np.arange(len(passages)), passages.lengths())
        concept = np.array(passages.posting_concept, np.int64)
        recurs = np.array(self._graph.concepts.in_turns)[concept] > 1
        stays = recurs & tells[of_posting] & ~np.array(self._graph.concepts.is_mark, np.bool_)[concept]
        speaker = np.array(passages.speaker, np.int64)[of_posting[stays]]
        keys = concept[stays] << 32 | speaker
        order = np.argsort(keys, kind="stable")
        found, starts = np.unique(keys[order], return_index=True)
        lists = np.split(of_posting[stays][order], starts[1:])
        return {(key >> 32, key & 0xFFFFFFFF): each for key, each in zip(found.tolist(), lists, strict=True)}


def clusters(edges: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """Yield what hangs together, ascending, by its least member."""
    root: dict[int, int] = {}

    def find(node: int) -> int:
        while root.setdefault(node, node) != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for left, right in edges:
        low, high = sorted((find(left), find(right)))
        root[high] = low
    members: dict[int, list[int]] = {}
    for node in sorted(root):
        members.setdefault(find(node), []).append(node)
    yield from members.values()
