"""Compute how close two turns are: by common concepts, and by time.  SEEDS P18-P21.

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
from math import exp, log, log1p, sqrt
from typing import Final

import numpy as np

from processors.lifecycle.steps import Steps
from state.arrays import Floats, Integers
from state.graph.graph import Graph
from state.graph.tables.passage_table import ROLES

PEOPLE: Final = (ROLES.index(None), ROLES.index("user"))  # an assistant repeats itself, and has no habits
TIME: Final = "@time"  # the mark of turns that tell a time
LOOKED_THROUGH: Final = 1 << 13  # turns, in one step
NEIGHBOURS: Final = 8  # turns before it that a turn is compared with
SURE: Final = 1e-9  # by which an affinity that was estimated may be wrong: sums in another order differ by 1e-15


class Affinities:
    """The affinities between the turns of a graph, which has settled, as it is now."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._settings = graph, graph.settings
        self._vectors: dict[int, dict[int, float]] = {}
        self._postings: dict[int, list[int]] = {}  # word << 32 | speaker → passages, ascending
        self._columns: dict[int, tuple[Integers, Floats]] = {}  # the same as arrays: words, and what each weighs

    def vector(self, passage: int) -> Mapping[int, float]:
        """Weigh the words of a passage, by their numbers; normed to length 1, {} where nothing of it recurs."""
        cached = self._vectors.get(passage)
        if cached is None:
            cached = self._vectors[passage] = self._weighed(passage)
        return cached

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
        """Return γ and τ of two passages, which differ if both mention a time (SEEDS P41)."""
        settings = self._settings
        gamma, tau = settings.affinity_gamma, settings.affinity_tau
        if self._has_dated and self.tells_time(left) and self.tells_time(right):
            return min(1.0, gamma * settings.affinity_dated), settings.affinity_tau_dated or tau
        return gamma, tau

    @property
    def _has_dated(self) -> bool:
        """Return whether γ and τ differ for pairs of turns that both mention a time."""
        return bool(self._settings.affinity_dated != 1 or self._settings.affinity_tau_dated)

    def tells_time(self, passage: int) -> bool:
        """Return whether a passage says when something is or was, as entries of a log do."""
        mark = self._graph.concepts.numbers.get(TIME)
        return mark is not None and mark in self._graph.passages.concepts_of(passage)

    def estimated(self, passages: Sequence[int]) -> Floats:
        """Estimate the affinities of passages (k,) and the NEIGHBOURS before each, the nearest first: (k, NEIGHBOURS).

        Each is within SURE of what `between` computes, for all of them at once; -1 where there is none.
        """
        if not passages:
            return np.zeros((0, NEIGHBOURS))
        before = np.arange(len(passages))[:, None] - np.arange(1, NEIGHBOURS + 1)
        there, before = before >= 0, np.maximum(before, 0)
        at = np.array([self._graph.passages.at[passage] for passage in passages], np.int64)
        gamma, tau = self._constants_of(passages, before)
        near = gamma * self._cosines(passages) + (1 - gamma) * np.exp(-np.abs(at[:, None] - at[before]) / tau)
        return np.where(there, near, -1.0)

    def _cosines(self, passages: Sequence[int]) -> Floats:
        """Compute the cosines of passages (k,) and the NEIGHBOURS before each, (k, NEIGHBOURS)."""
        columns = [self._column(passage) for passage in passages]
        words, place = np.unique(np.concatenate([words for words, _ in columns]), return_inverse=True)
        rows = np.zeros((len(passages), len(words)))
        of = np.repeat(np.arange(len(passages)), [len(words) for words, _ in columns])
        rows[of, place] = np.concatenate([weights for _, weights in columns])
        alike = np.zeros((len(passages), NEIGHBOURS))
        for back in range(1, min(NEIGHBOURS + 1, len(passages))):
            alike[back:, back - 1] = np.einsum("ij,ij->i", rows[back:], rows[:-back])
        return alike

    def _column(self, passage: int) -> tuple[Integers, Floats]:
        cached = self._columns.get(passage)
        if cached is None:
            vector = self.vector(passage)
            words, weights = (
                np.fromiter(vector, np.int64, len(vector)),
                np.fromiter(vector.values(), float, len(vector)),
            )
            cached = self._columns[passage] = words, weights
        return cached

    def _constants_of(self, passages: Sequence[int], before: Integers) -> tuple[Floats | float, Floats | float]:
        """Return γ and τ of many pairs, as `_constants` does of one: (k, NEIGHBOURS) each, or one for all of them."""
        settings = self._settings
        if not self._has_dated:
            return settings.affinity_gamma, settings.affinity_tau
        tells = np.array([self.tells_time(passage) for passage in passages], np.bool_)
        both = tells[:, None] & tells[before]
        dated = min(1.0, settings.affinity_gamma * settings.affinity_dated), settings.affinity_tau_dated
        gamma = np.where(both, dated[0], settings.affinity_gamma)
        return gamma, np.where(both, dated[1] or settings.affinity_tau, settings.affinity_tau)

    def joined(self, passages: Sequence[int], above: float, near: Floats | None = None) -> Iterator[tuple[int, int]]:
        """Yield the pairs of ascending passages that reach a threshold, each with NEIGHBOURS before it.

        near  what `estimated` gives of them: those that it leaves in doubt are computed
        """
        near = self.estimated(passages) if near is None else near
        reach = near >= above - SURE
        for place, back, affinity in zip(
            *(each.tolist() for each in np.nonzero(reach)), near[reach].tolist(), strict=True
        ):
            passage, other = passages[place], passages[place - back - 1]
            if affinity > above + SURE or self.between(passage, other) >= above:
                yield other, passage

    def look_for(self, words: Iterable[int], latest: int) -> Steps[None]:
        """Find, in steps, the `latest` turns of each speaker that hold each of `words`, for `holders` to list."""
        passages = self._graph.passages
        tells = np.array(passages.kept, np.bool_) & ~np.array(passages.question, np.bool_)
        tells &= np.isin(np.array(passages.role), PEOPLE)
        speaker = np.array(passages.speaker, np.int64)
        is_missing, missing = (
            np.zeros(len(self._graph.concepts), np.bool_),
            np.zeros(len(self._graph.concepts), np.int64),
        )
        is_missing[list(words)] = True
        missing[is_missing] = len(np.unique(speaker[tells]))  # speakers of whom not enough turns were found yet
        for end in range(len(passages), 0, -LOOKED_THROUGH):
            concept, holder = passages.holding(is_missing, max(0, end - LOOKED_THROUGH), end)
            is_statement = tells[holder]
            for key, grouped in _grouped(
                concept[is_statement].astype(np.int64) << 32 | speaker[holder[is_statement]], holder[is_statement]
            ):
                existing = self._postings.get(key, [])
                if len(existing) < latest:
                    self._postings[key] = existing = [*grouped[len(existing) - latest :].tolist(), *existing]
                    missing[key >> 32] -= len(existing) == latest
            is_missing &= missing > 0
            yield

    def holders(self, word: int, speaker: int) -> Sequence[int]:
        """List the kept passages of a speaker that were found to hold a word and ask nothing, ascending."""
        return self._postings.get(word << 32 | speaker, ())


def _grouped(keys: Integers, values: Integers) -> Iterator[tuple[int, Integers]]:
    """Yield each distinct key with its values, in their order."""
    order = np.argsort(keys, kind="stable")
    unique, starts = np.unique(keys[order], return_index=True)
    yield from zip(unique.tolist(), np.split(values[order], starts[1:]), strict=True) if len(unique) else ()


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
