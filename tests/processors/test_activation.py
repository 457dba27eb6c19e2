"""Spreading activation, against the seed's pseudo-code on plain dictionaries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lab.retrievers.literal import LITERAL
from processors.association import Edges
from processors.recall.ranking.activation import CEILING, DEFAULT, Activation, SpreadingParameters, spread

Weights = dict[int, dict[int, float]]  # node → neighbour → weight
PLAIN = replace(LITERAL, firing_threshold=0.0, propagation_decay=0.5, max_iterations=1, delta=0.0)


def edges_of(weights: Weights, firing: np.ndarray) -> Edges:
    out = [(i, j, weights[i][j]) for i in firing.tolist() for j in sorted(weights.get(i, {}))]
    source, target, weight = zip(*out, strict=True) if out else ((), (), ())
    return Edges(np.array(source, np.int64), np.array(target, np.int64), np.array(weight, np.float64))


def spread_over(weights: Weights, seeds: list[int], how: SpreadingParameters, nodes: int = 8) -> Activation:
    return spread(np.array(seeds, np.int64), nodes, lambda firing: edges_of(weights, firing), how)


def symmetric(*edges: tuple[int, int, float]) -> Weights:
    weights: Weights = {}
    for i, j, weight in edges:
        weights.setdefault(i, {})[j] = weights.setdefault(j, {})[i] = weight
    return weights


@dataclass
class Reference:
    """The seed's `retrieveContext` (000 §6.2), double-buffered as trap T3 asks, one node and one edge at a time."""

    weights: Weights
    how: SpreadingParameters
    rounds: int = 0
    knife_edge: bool = False  # some comparison was so close that the last bit decides

    def exceeds(self, value: float, bound: float) -> bool:
        self.knife_edge |= 0 < abs(value - bound) < 1e-9 * max(1.0, abs(value))
        return value > bound

    def energies(self, seeds: list[int], nodes: int) -> dict[int, float]:
        energy = {node: 1.0 if node in seeds else 0.0 for node in range(nodes)}
        for _ in range(self.how.max_iterations):
            fired = [node for node in energy if self.exceeds(energy[node], self.how.firing_threshold)]
            if not fired:
                break
            new = self.step(energy, fired)
            change = sum(abs(new[node] - energy[node]) for node in energy)
            energy, self.rounds = new, self.rounds + 1
            if self.exceeds(self.how.delta, change):
                break
        return energy

    def step(self, energy: dict[int, float], fired: list[int]) -> dict[int, float]:
        keep = 1 - self.how.propagation_decay if self.how.self_decay else 1.0
        new = {node: energy[node] * (keep if node in fired else 1.0) for node in energy}
        for node in fired:
            for neighbour, weight in self.weights.get(node, {}).items():
                new[neighbour] += energy[node] * weight * self.how.propagation_decay
        return new


node = st.integers(0, 7)
shares = st.floats(0, 1).map(lambda share: round(share, 6))
graphs = st.lists(st.tuples(node, node, st.floats(0, 5)).filter(lambda edge: edge[0] != edge[1]), max_size=20).map(
    lambda edges: symmetric(*edges)
)
some_seeds = st.lists(node, unique=True, max_size=4)
manners = st.builds(
    SpreadingParameters,
    firing_threshold=shares,
    propagation_decay=shares,
    max_iterations=st.integers(0, 10),
    delta=st.sampled_from([0.0, 1e-6, 1e-3, 0.1, 1.0, 10.0]),
    self_decay=st.booleans(),
    convergence=st.just(1.0),
    recall_links=st.just(0.0),
    topic_links=st.just(0.0),
    window=st.just("turn"),
    weighting=st.just("ppmi"),
    marks=st.just(False),
)


@pytest.mark.source("E19", "E21", "E22")
@settings(max_examples=500)
@given(weights=graphs, seeds=some_seeds, how=manners)
def test_energies_are_those_of_the_seeds_pseudo_code(
    weights: Weights, seeds: list[int], how: SpreadingParameters
) -> None:
    reference = Reference(weights, how)
    expected = reference.energies(seeds, 8)
    assume(not reference.knife_edge)
    activation = spread_over(weights, seeds, how)
    assert activation.energy.tolist() == pytest.approx(list(expected.values()), rel=1e-12, abs=1e-12)
    assert activation.rounds == reference.rounds
    assert not activation.clamped


@pytest.mark.source("E21")
@given(weights=graphs, seeds=some_seeds, how=manners, order=st.permutations(range(8)))
def test_the_order_of_nodes_does_not_matter(
    weights: Weights, seeds: list[int], how: SpreadingParameters, order: list[int]
) -> None:
    reference = Reference(weights, how)
    reference.energies(seeds, 8)
    assume(not reference.knife_edge)
    renamed = {order[i]: {order[j]: weight for j, weight in out.items()} for i, out in weights.items()}
    here = spread_over(weights, seeds, how).energy
    there = spread_over(renamed, [order[seed] for seed in seeds], how).energy
    assert there[order].tolist() == pytest.approx(here.tolist(), rel=1e-12, abs=1e-12)


@pytest.mark.source("E23")
def test_self_decay_keeps_what_a_firing_node_received_in_the_same_round() -> None:
    """Trap T3: the seed's own loop would leave one of two seeds that fire at each other with nothing received."""
    how = replace(PLAIN, self_decay=True)
    assert spread_over(symmetric((0, 1, 1.0)), [0, 1], how, 2).energy.tolist() == [1.0, 1.0]


@pytest.mark.source("E20")
def test_a_node_at_the_threshold_does_not_fire() -> None:
    still = spread_over(symmetric((0, 1, 1.0)), [0], replace(PLAIN, firing_threshold=1.0), 2)
    assert (still.energy.tolist(), still.rounds) == ([1.0, 0.0], 0)
    assert spread_over(symmetric((0, 1, 1.0)), [0], replace(PLAIN, firing_threshold=0.999), 2).rounds == 1


@pytest.mark.source("E24")
def test_no_iteration_leaves_the_seeds_alone() -> None:
    activation = spread_over(symmetric((0, 1, 1.0)), [0], replace(PLAIN, max_iterations=0), 2)
    assert (activation.energy.tolist(), activation.rounds) == ([1.0, 0.0], 0)


@pytest.mark.source("E24")
@pytest.mark.parametrize("rounds", [1, 3, 10])
def test_energy_goes_as_many_edges_far_as_there_are_iterations(rounds: int) -> None:
    chain = symmetric(*((number, number + 1, 1.0) for number in range(12)))
    how = replace(PLAIN, firing_threshold=0.0, max_iterations=rounds, delta=0.0)
    activation = spread_over(chain, [0], how, 13)
    assert activation.rounds == rounds
    assert np.flatnonzero(activation.energy > 0).tolist() == list(range(rounds + 1))


@pytest.mark.source("E25")
def test_a_round_that_changes_less_than_delta_is_the_last() -> None:
    pair = symmetric((0, 1, 0.25))  # its first round changes exactly 0.125, every later one more
    how = replace(PLAIN, max_iterations=10)
    assert spread_over(pair, [0], replace(how, delta=0.126), 2).rounds == 1
    assert spread_over(pair, [0], replace(how, delta=0.125), 2).rounds == 10
    assert spread_over(pair, [0], replace(how, delta=0.0), 2).rounds == 10


@pytest.mark.source("P2")
def test_a_node_tied_to_two_seeds_gathers_from_both() -> None:
    energy = spread_over(symmetric((0, 2, 1.0), (1, 2, 1.0), (1, 3, 1.0)), [0, 1], PLAIN, 4).energy
    assert energy.tolist() == [1.0, 1.0, 1.0, 0.5]


@pytest.mark.source("E22")
def test_without_propagation_nothing_wakes() -> None:
    activation = spread_over(symmetric((0, 1, 5.0)), [0], replace(PLAIN, propagation_decay=0.0, max_iterations=5), 2)
    assert activation.energy.tolist() == [1.0, 0.0]
    assert activation.hops.tolist() == [0, -1]


@given(weights=graphs, seeds=some_seeds, how=manners)
def test_a_path_leads_from_a_seed_to_the_node_over_edges_without_a_cycle(
    weights: Weights, seeds: list[int], how: SpreadingParameters
) -> None:
    activation = spread_over(weights, seeds, how)
    for woken in np.flatnonzero(activation.energy).tolist():
        path = activation.path(woken)
        assert path[0] in seeds
        assert path[-1] == woken
        assert len(set(path)) == len(path) == activation.hops[woken] + 1
        assert all(weights[i][j] > 0 for i, j in pairwise(path))


@pytest.mark.source("S10")
def test_a_path_follows_the_largest_contribution() -> None:
    activation = spread_over(symmetric((0, 2, 0.5), (1, 2, 0.6), (2, 3, 1.0)), [0, 1], replace(PLAIN, max_iterations=2))
    assert activation.path(3) == (1, 2, 3)
    assert activation.hops[:4].tolist() == [0, 0, 1, 2]


def test_of_equal_contributions_the_lower_number_makes_the_path() -> None:
    assert spread_over(symmetric((0, 2, 0.5), (1, 2, 0.5)), [1, 0], PLAIN).path(2) == (0, 2)


def test_energy_that_explodes_is_cut_off_and_reported() -> None:
    """Trap T4: with weights over 1 nothing settles."""
    activation = spread_over(symmetric((0, 1, 1e30)), [0], replace(PLAIN, max_iterations=10), 2)
    assert activation.clamped
    assert activation.energy.tolist() == [CEILING, CEILING]


@pytest.mark.source("E33")
def test_the_literal_mode_keeps_to_the_ranges_of_the_seed() -> None:
    assert 0 < LITERAL.firing_threshold < 1
    assert 0 < LITERAL.propagation_decay < 1
    assert 3 <= LITERAL.max_iterations <= 10
    assert (LITERAL.window, LITERAL.weighting, LITERAL.marks) == ("round", "ppmi", False)


def test_the_default_mode_is_the_one_that_was_measured() -> None:
    assert (DEFAULT.propagation_decay, DEFAULT.max_iterations) == (0.8, 1)
    assert (DEFAULT.window, DEFAULT.weighting, DEFAULT.marks) == ("exchange", "fan", False)


def test_with_convergence_a_node_that_two_seeds_share_beats_one_that_a_single_seed_gives_as_much() -> None:
    """Node 2 is given 0.2 by either seed, node 3 is given 0.4 by one: equal sums, but 0.8 and 0.4 as squared roots."""
    weights = symmetric((0, 2, 0.2), (1, 2, 0.2), (0, 3, 0.4))
    plain = replace(LITERAL, propagation_decay=1.0, max_iterations=1)
    added = spread_over(weights, [0, 1], plain).energy
    converged = spread_over(weights, [0, 1], replace(plain, convergence=0.5)).energy
    assert added[2] == pytest.approx(added[3])
    assert (converged[2], converged[3]) == (pytest.approx(0.8), pytest.approx(0.4))
