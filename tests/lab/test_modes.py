"""The modes' walks, each against an independent way to the same: hand, networkx, a linear solver, brute force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.messages.settings.modes import Mode, Weighting
from lab.catalogue import RETRIEVERS
from lab.retrievers import path, ppr, ppr_push, seam, steady_state, subtractive, vector
from lab.retrievers.matching import tfidf_cosine
from lab.retrievers.ppr import Walk, graph_of, restart_of
from lab.retrievers.seam import ModeInput, ModeResult
from lab.retrievers.steady_state import Network
from lab.retrievers.ways import likeliest
from processors.association import Edges, edges_out
from processors.recall.ranking.activation import SpreadingParameters, spread
from processors.recall.ranking.associations import associations
from state.arrays import Floats, Integers
from state.errors import TooMuchAskedError
from state.graph.view import GraphView
from tests.support.builders import folded, turn_recorded
from tests.support.memories import demo

FINDS: dict[Mode, Callable[[ModeInput], ModeResult]] = {
    "ppr": ppr.find,
    "ppr-push": ppr_push.find,
    "steady-state": steady_state.find,
    "subtractive": subtractive.find,
    "path": path.find,
    "vector": vector.find,
}


def view_of_turns(*concepts: str, **changes: Sequence[Any]) -> GraphView:
    """Return the view of turns with these concepts, each in a session of its own."""
    turns = [
        turn_recorded(
            id=f"t{number}",
            session=f"s{number}",
            concepts=names,
            **{name: values[number] for name, values in changes.items()},
        )
        for number, names in enumerate(concepts)
    ]
    return folded(*turns).view()


def mode_input(view: GraphView, mode: Mode, *seeds: str, **changes: Any) -> ModeInput:
    energy = np.zeros(view.concepts)
    energy[[view.numbers[seed] for seed in seeds]] = 1.0
    return ModeInput(view, energy, replace(RETRIEVERS[mode].spreading, **changes))


# Small random graphs: a turn is a set of words
WORDS = "abcdef"
talks = st.lists(
    st.sets(st.sampled_from(WORDS), min_size=1, max_size=4).map(lambda words: " ".join(sorted(words))),
    min_size=2,
    max_size=12,
)


def some_seeds(talk: Sequence[str], data: st.DataObject) -> list[str]:
    words = sorted({word for turn in talk for word in turn.split()})
    return sorted(data.draw(st.sets(st.sampled_from(words), min_size=1, max_size=3)))


# ppr


@pytest.mark.source("S4")
def test_the_walk_is_the_one_of_networkx() -> None:
    view = demo().memory.view
    inputs = mode_input(view, "ppr")
    n, walk = view.concepts, graph_of(inputs)
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(n + view.turns))
    edges = edges_out(view.windows["exchange"], np.arange(n), "ppmi")
    for source, target, weight in zip(*(column.tolist() for column in edges), strict=True):
        if weight > 0:
            graph.add_edge(source, target, weight=weight)
    for concept, passage in zip(view.posting_concept.tolist(), view.posting_passage.tolist(), strict=True):
        graph.add_edge(concept, n + passage, weight=1.0)
        graph.add_edge(n + passage, concept, weight=1.0)
    restart = np.zeros(n + view.turns)
    restart[[0, 3, 8]] = 0.5, 0.3, 0.2
    start = dict(enumerate(restart.tolist()))
    steps = networkx.google_matrix(graph, 0.5, personalization=start, nodelist=list(start))
    here, _ = walk.stationary(restart)
    assert here == pytest.approx(np.linalg.matrix_power(steps, 200)[0], abs=1e-8)


def test_a_walk_that_is_stuck_starts_again() -> None:
    walk = Walk(np.array([0]), np.array([1]), np.array([1.0]), 3)
    here, _ = walk.stationary(np.array([1.0, 0.0, 0.0]))
    assert here.sum() == pytest.approx(1.0)
    assert here == pytest.approx([2 / 3, 1 / 3, 0.0])


# ppr-push


@pytest.mark.source("S5")
@given(talks, st.data(), st.sampled_from([1e-2, 1e-3, 1e-5]), st.sampled_from([0.3, 0.5, 0.85]))
def test_forward_push_is_within_epsilon_of_the_exact_walk(
    talk: list[str], data: st.DataObject, epsilon: float, damping: float
) -> None:
    view = view_of_turns(*talk)
    inputs = mode_input(view, "ppr-push", *some_seeds(talk, data), delta=epsilon, propagation_decay=damping)
    restart = restart_of(inputs)
    exact, _ = graph_of(inputs).stationary(restart, damping, 1e-14)
    settled, left, _ = ppr_push.push(inputs, restart)
    near = ppr_push.Neighbourhood(inputs)
    near.look_at(np.arange(len(restart)))
    assert (settled <= exact + 1e-9).all(), "what is found is never too much"
    assert (exact - settled <= epsilon * near.strength + 1e-9).all(), "and lacks at most ε · strength"
    assert (left <= epsilon * near.strength + 1e-12).all()
    assert settled.sum() + left.sum() == pytest.approx(1.0)


@pytest.mark.source("S5")
def test_forward_push_looks_at_what_lies_near_and_at_nothing_else() -> None:
    far = [f"x{number} x{number + 1}" for number in range(300)]
    view = view_of_turns("tea milk", "milk cow", *far)
    inputs = mode_input(view, "ppr-push", "tea")
    pushed, _, looked_at = ppr_push.push(inputs, restart_of(inputs))
    assert looked_at == 5, "three words and two turns"
    assert np.count_nonzero(pushed) == 5


@pytest.mark.source("S5")
def test_a_heavier_edge_takes_more_of_the_walk() -> None:
    view = view_of_turns(*["tea milk"] * 4, "tea cow", "cow rain", "cow sun", "rain sun")
    energy = ppr_push.find(mode_input(view, "ppr-push", "tea")).energy
    assert energy[view.numbers["milk"]] > energy[view.numbers["cow"]]


# steady state


@pytest.mark.source("S13")
@given(talks, st.data(), st.sampled_from([0.2, 0.5, 0.9]))
def test_the_steady_state_solves_the_equation(talk: list[str], data: st.DataObject, decay: float) -> None:
    view = view_of_turns(*talk)
    inputs = mode_input(view, "steady-state", *some_seeds(talk, data), propagation_decay=decay)
    n = view.concepts
    edges = edges_out(view.windows["exchange"], np.arange(n), "ppmi")
    weights = np.zeros((n, n))
    weights[edges.source, edges.target] = edges.weight
    strength = np.sqrt(weights.sum(axis=1))
    normal = np.divide(weights, np.outer(strength, strength), out=np.zeros_like(weights), where=weights > 0)
    energy, _ = steady_state.energies(inputs)
    assert energy == pytest.approx(np.linalg.solve(np.eye(n) - decay * normal, inputs.put_in), abs=1e-5)


@pytest.mark.source("S13")
def test_a_graph_without_cycles_has_a_steady_state_that_is_not_nothing() -> None:
    view = view_of_turns("a b", "b c", "c d", "x y", "p q", "v w")
    energy, rounds = steady_state.energies(mode_input(view, "steady-state", "a"))
    energies = [float(energy[view.numbers[word]]) for word in "abcd"]
    assert energies == sorted(energies, reverse=True)
    assert min(energies) > 0
    assert energy[view.numbers["x"]] == 0
    assert rounds < steady_state.ROUNDS


@pytest.mark.source("S13")
def test_where_nothing_fades_there_is_no_rest_and_the_reply_says_so() -> None:
    view = demo().memory.view
    with_rest, without = (
        steady_state.find(mode_input(view, "steady-state", "vet", propagation_decay=decay)) for decay in (0.9, 1.0)
    )
    assert with_rest.stages[0].name.startswith("at rest after ")
    assert without.stages[0].name == f"not at rest after {steady_state.ROUNDS} rounds"


@pytest.mark.parametrize("weighting", ["fan", "ppmi", "npmi", "count", "max", "out_degree"])
def test_it_comes_to_rest_with_every_weighting(weighting: Weighting) -> None:
    inputs = mode_input(demo().memory.view, "steady-state", "vet", weighting=weighting)
    _, rounds = Network(inputs.all_edges(), inputs.view.concepts).steady(inputs.put_in)
    assert rounds < steady_state.ROUNDS


@given(talks, st.integers(1, 4))
def test_all_edges_are_those_of_all_concepts_however_many_are_looked_up_at_once(talk: list[str], at_once: int) -> None:
    inputs = mode_input(view_of_turns(*talk), "ppr")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(seam, "AT_ONCE", at_once)
        edges = inputs.all_edges()
    expected = inputs.edges(np.arange(inputs.view.concepts))
    assert [column.tolist() for column in edges] == [column.tolist() for column in expected]


@pytest.mark.parametrize("mode", ["ppr", "steady-state"])
def test_a_mode_that_looks_at_the_whole_graph_stops_where_there_are_too_many_links(
    mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, looked_at, edges = view_of_turns(*[f"a{n} b{n}" for n in range(50)]), 0, ModeInput.edges

    def counted(inputs: ModeInput, concepts: Integers) -> Edges:
        nonlocal looked_at
        looked_at += len(concepts)
        return edges(inputs, concepts)

    monkeypatch.setattr(ModeInput, "edges", counted)
    monkeypatch.setattr(seam, "AT_ONCE", 5)
    monkeypatch.setattr(seam, "MOST_EDGES", 12)
    with pytest.raises(TooMuchAskedError, match="has more than 12 links: ask in the mode default, or ppr-push"):
        FINDS[mode](mode_input(view, mode, "a1"))
    assert looked_at == 15, "of a hundred"


# subtractive


@pytest.mark.source("M16")
def test_subtractive_energy_by_hand() -> None:
    # tea–milk twice, milk–cow four times, cow–field twice, tea–cup once, field–barn four times
    view = view_of_turns(*["tea milk"] * 2, *["milk cow"] * 4, *["cow field"] * 2, "tea cup", *["field barn"] * 4)
    inputs = mode_input(view, "subtractive", "tea")
    energy = dict(zip(view.ids, subtractive.woken(inputs, view.numbers["tea"]).energy.tolist(), strict=True))
    assert energy["tea"] == 1
    assert energy["milk"] == 1 - 1 / 2
    assert energy["cow"] == 1 - 1 / 2 - 1 / 4
    assert energy["cup"] == 0, "an edge that was seen once passes nothing on"
    assert energy["field"] == 0, "1/4 − 1/2 is below nothing"
    assert energy["barn"] == 0


@pytest.mark.source("M16")
def test_subtractive_stops_after_three_edges_and_keeps_the_first_energy() -> None:
    view = view_of_turns(*["a b"] * 10, *["b c"] * 10, *["c d"] * 10, *["d e"] * 10, *["a c"] * 2)
    energy = dict(
        zip(view.ids, subtractive.woken(mode_input(view, "subtractive", "a"), 0).energy.tolist(), strict=True)
    )
    assert energy["c"] == pytest.approx(0.5), "reached over one edge, though two would give more"
    assert energy["d"] == pytest.approx(0.4)
    assert energy["e"] == pytest.approx(0.3)


@pytest.mark.source("M16")
@given(st.lists(st.sampled_from(["a b", "b c", "c d", "a d", "b d e"]), min_size=1, max_size=40), st.data())
def test_no_node_ever_gets_more_than_its_seeds_gave(talk: list[str], data: st.DataObject) -> None:
    view = view_of_turns(*talk)
    inputs = mode_input(view, "subtractive", *some_seeds(talk, data))
    energy = subtractive.energies(inputs).energy
    assert (energy >= 0).all()
    assert (energy <= inputs.put_in.sum() + 1e-12).all()
    one = inputs.seeds[:1]
    alone = subtractive.woken(inputs, int(one[0])).energy
    assert (np.delete(alone, one) < 1).all(), "every edge costs something"


@given(talks, st.data())
def test_subtractive_energy_is_what_each_seed_gives_over_all_edges_whatever_they_weigh(
    talk: list[str], data: st.DataObject
) -> None:
    inputs = mode_input(view_of_turns(*talk, *talk), "subtractive", *some_seeds(talk, data))
    expected = np.zeros(inputs.view.concepts)
    for seed in inputs.seeds.tolist():
        energy, front = {seed: 1.0}, [seed]
        for _ in range(3):
            out = inputs.edges(np.array(sorted(front), np.int64))
            edges = zip(out.source.tolist(), out.target.tolist(), out.weight.tolist(), strict=True)
            gifts = [(target, energy[source] - 1 / weight) for source, target, weight in edges]
            reached = {target: max(gift for to, gift in gifts if to == target) for target, _ in gifts}
            front = [target for target, gift in reached.items() if gift > 0 and target not in energy]
            energy |= {target: reached[target] for target in front}
        expected[list(energy)] += list(energy.values())
    assert subtractive.energies(inputs).energy == pytest.approx(expected)


def test_a_subtractive_question_looks_at_the_edges_of_a_node_once_however_many_seeds_lead_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = view_of_turns(*["a b c d e f g h"] * 3, *["h i j"] * 3, *["j k"] * 3)
    looked_at: list[int] = []
    edges = ModeInput.edges

    def noted(inputs: ModeInput, concepts: Integers) -> Edges:
        looked_at.extend(concepts.tolist())
        return edges(inputs, concepts)

    monkeypatch.setattr(ModeInput, "edges", noted)
    subtractive.energies(mode_input(view, "subtractive", *"abcdefg"))
    assert sorted(looked_at) == sorted(set(looked_at))
    assert {view.ids[node] for node in looked_at} >= set("abcdefghij")


@pytest.mark.source("S10")
def test_a_subtractive_way_is_the_one_that_gave_most() -> None:
    view = view_of_turns(*["a b"] * 4, *["b c"] * 4, *["x c"] * 4, *["c d"] * 9)
    way = subtractive.energies(mode_input(view, "subtractive", "a", "x")).before
    before = {name: view.ids[way[number]] for name, number in view.numbers.items() if way[number] >= 0}
    assert before == {"b": "a", "c": "x", "d": "c"}, "x gives c 3/4, a over b 1/2"


@pytest.mark.source("M17")
def test_a_node_that_many_turns_hold_has_up_to_three_times_its_energy() -> None:
    turn_counts = np.array([0, 1, 2, 11, 21, 500])
    assert subtractive.bonus(turn_counts) == pytest.approx([1.0, 1.0, 1.1, 2.0, 3.0, 3.0])


@pytest.mark.source("M18", "M20", "M19")
def test_three_nodes_with_two_turns_each_come_first_each_turn_once_with_its_topic() -> None:
    view = view_of_turns(*["tea milk"] * 4, *["milk cow"] * 4, *["cow field"] * 4, *["tea"] * 2)
    result = subtractive.find(mode_input(view, "subtractive", "tea"))
    topics = [view.ids[topic] for topic in (result.topic if result.topic is not None else [])]
    assert topics[:6] == ["tea", "tea", "milk", "milk", "cow", "cow"]
    assert len(set(result.passages.tolist())) == len(result.passages) == 14
    assert (np.diff(result.scores) <= 0).all()
    assert result.stages[-1].found == 6


# ways of what follows none


@pytest.mark.source("S10")
@pytest.mark.parametrize("mode", ["ppr", "ppr-push", "steady-state"])
@given(
    st.lists(st.sampled_from(["a b", "b c", "c d", "a d", "b d e", "e f", "f a"]), min_size=2, max_size=20), st.data()
)
def test_the_way_to_what_a_walk_woke_has_the_largest_product_of_shares(
    mode: Mode, talk: list[str], data: st.DataObject
) -> None:
    view = view_of_turns(*talk)
    inputs = mode_input(view, mode, *some_seeds(talk, data))
    energy = FINDS[mode](inputs).energy
    before = likeliest(inputs, energy)
    n, seeds, edges = view.concepts, inputs.seeds.tolist(), inputs.edges(np.arange(view.concepts))
    shares = np.zeros((n, n))
    shares[edges.source, edges.target] = edges.weight / np.bincount(edges.source, edges.weight, n)[edges.source]
    shares[:, (energy <= 0) | (inputs.put_in > 0)] = 0  # a way leads from a seed over what holds energy
    best = np.max([inputs.put_in[seed] * brute_force(shares, seed, 3, 1.0) for seed in seeds], axis=0)
    for number in range(n):
        way = [number]
        while before[way[-1]] >= 0:
            way.append(int(before[way[-1]]))
        if number in seeds or best[number] == 0:
            assert way == [number]
            continue
        assert way[-1] in seeds
        assert len(set(way)) == len(way)
        product_of = inputs.put_in[way[-1]] * np.prod([shares[one, other] for other, one in pairwise(way)])
        assert product_of >= best[number] * (1 - 1e-9), "a way may get better behind its first steps, and longer"


# path


def brute_force(weights: Floats, seed: int, hops: int, damping: float) -> Floats:
    """Try every way of up to `hops` edges: (n,) the best product of weights and dampings to each node."""
    n, best = len(weights), np.zeros(len(weights))
    best[seed] = 1.0
    for length in range(1, hops + 1):
        for way in product(range(n), repeat=length):
            nodes = (seed, *way)
            score = 1.0
            for hop, (here, there) in enumerate(zip(nodes, way, strict=False), start=1):
                score *= weights[here, there] * damping**hop
            best[way[-1]] = max(best[way[-1]], score)
    return best


@pytest.mark.source("M27")
@given(talks, st.data(), st.integers(1, 3), st.sampled_from([0.5, 0.85, 1.0]))
def test_the_best_ways_are_those_of_brute_force(
    talk: list[str], data: st.DataObject, hops: int, damping: float
) -> None:
    view = view_of_turns(*talk)
    inputs = mode_input(view, "path", *some_seeds(talk, data), max_iterations=hops, propagation_decay=damping)
    edges = inputs.edges(np.arange(view.concepts))
    weights = np.zeros((view.concepts, view.concepts))
    weights[edges.source, edges.target] = np.minimum(edges.weight, 1.0)
    seed = int(inputs.seeds[0])
    assert path.ways(inputs, seed, 1.0).score == pytest.approx(brute_force(weights, seed, hops, damping))


@pytest.mark.source("M27")
def test_a_weak_way_follows_few_branches_and_a_strong_one_many() -> None:
    spokes = [f"hub x{number:02}" for number in range(30) for _ in range(2)]
    view = view_of_turns(*spokes, *["rain sun"] * 30)
    inputs = mode_input(view, "path", "hub", max_iterations=1)
    for start, followed in ((1.0, 15), (0.6, 10), (0.3, 5)):
        score = path.ways(inputs, view.numbers["hub"], start).score
        assert np.count_nonzero(score) == 1 + followed


@pytest.mark.source("M27")
def test_where_two_ways_of_one_strength_meet_more_arrives() -> None:
    scores = np.array([[0.5, 0.5, 0.5, 0.0], [0.5, 0.46, 0.2, 0.3]])
    expected = [0.5 * 1.2, 1.2 * (0.5 * 0.46) ** 0.5, 0.5, 0.3]
    assert path.merged(scores) == pytest.approx(expected)
    assert path.merged(scores[:1]) == pytest.approx(scores[0])


@pytest.mark.source("M23", "M27")
def test_a_passage_has_half_from_its_ways_and_the_rest_from_what_it_matters_and_its_age() -> None:
    day = 86_400_000
    view = view_of_turns("tea", "tea", "tea", at=[0, 30 * day, 30 * day], importance=[None, 1.0, None])
    result = path.find(mode_input(view, "path", "tea"))
    assert result.passages.tolist() == [1, 2, 0]
    assert result.scores == pytest.approx([0.5 + 0.3 + 0.2, 0.5 + 0.15 + 0.2, 0.5 + 0.15 + 0.1])
    assert [sum(term[row] for term in result.terms.values()) for row in range(3)] == pytest.approx(result.scores)


def test_the_way_to_a_concept_can_be_followed_back() -> None:
    view = view_of_turns(*["tea milk"] * 2, *["milk cow"] * 2, "rain sun")
    result = path.find(mode_input(view, "path", "tea"))
    before = result.predecessor
    assert before is not None
    cow, milk, tea = (view.numbers[word] for word in ("cow", "milk", "tea"))
    assert (before[cow], before[milk], before[tea]) == (milk, tea, -1)


# vector


@pytest.mark.source("S3")
def test_the_cosine_of_words_is_the_cosine_of_tfidf_vectors() -> None:
    view = view_of_turns("tea milk", "milk", "rain", "tea")
    put_in = np.zeros(view.concepts)
    put_in[view.numbers["tea"]] = 1.0
    rarity = np.log(1 + (view.turns - view.passages_with + 0.5) / (view.passages_with + 0.5))
    tea, milk = rarity[view.numbers["tea"]], rarity[view.numbers["milk"]]
    assert tfidf_cosine(view, put_in) == pytest.approx([tea / np.hypot(tea, milk), 0.0, 0.0, 1.0])


@pytest.mark.source("S3")
def test_with_embeddings_their_cosine_alone_ranks() -> None:
    view = view_of_turns("tea", "rain", "sun")
    inputs = replace(mode_input(view, "vector", "tea"), cosine=np.array([-0.2, 0.3, 0.9]))
    result = vector.find(inputs)
    assert result.passages.tolist() == [2, 1]
    assert result.scores.tolist() == [0.9, 0.3]
    assert result.stages[0].name == "embeddings"


# every mode


@pytest.mark.source("S4", "S5", "S13", "M16", "M27", "S3")
@pytest.mark.parametrize("mode", FINDS)
@given(talks, st.data())
def test_every_mode_ranks_each_passage_once_best_first_and_says_why(
    mode: Mode, talk: list[str], data: st.DataObject
) -> None:
    view = view_of_turns(*talk)
    result = FINDS[mode](mode_input(view, mode, *some_seeds(talk, data)))
    passages = result.passages.tolist()
    assert passages
    assert len(set(passages)) == len(passages)
    assert set(passages) <= set(range(view.turns))
    assert (np.diff(result.scores) <= 0).all()
    assert (result.scores > 0).all()
    assert all(len(values) == len(passages) for values in result.terms.values())
    assert result.energy.shape == (view.concepts,)
    assert result.stages


@pytest.mark.parametrize("mode", FINDS)
def test_asked_twice_a_mode_answers_the_same(mode: Mode) -> None:
    view = demo().memory.view
    first, second = (FINDS[mode](mode_input(view, mode, "vet", "cat")) for _ in range(2))
    assert first.passages.tolist() == second.passages.tolist()
    assert first.scores.tolist() == second.scores.tolist()


# weightings


@given(talks, st.sampled_from(["npmi", "max", "out_degree"]))
def test_normed_weights_lie_between_0_and_1(talk: list[str], weighting: Weighting) -> None:
    view = view_of_turns(*talk)
    edges = edges_out(view.windows["exchange"], np.arange(view.concepts), weighting)
    assert (edges.weight >= 0).all()
    assert (edges.weight <= 1 + 1e-12).all()


@given(talks)
def test_max_gives_1_to_the_strongest_edge_and_out_degree_shares_1_among_all(talk: list[str]) -> None:
    view = view_of_turns(*talk)
    every = np.arange(view.concepts)
    ppmi = edges_out(view.windows["exchange"], every, "ppmi")
    has_edges = np.bincount(ppmi.source, ppmi.weight, view.concepts) > 0
    strongest = np.zeros(view.concepts)
    edges = edges_out(view.windows["exchange"], every, "max")
    np.maximum.at(strongest, edges.source, edges.weight)
    assert strongest[has_edges] == pytest.approx(1.0)
    edges = edges_out(view.windows["exchange"], every, "out_degree")
    assert np.bincount(edges.source, edges.weight, view.concepts)[has_edges] == pytest.approx(1.0)


@given(talks, st.data(), st.integers(1, 10), st.sampled_from([0.3, 0.8, 1.0]))
def test_with_out_degree_and_self_decay_energy_never_exceeds_what_was_put_in(
    talk: list[str], data: st.DataObject, rounds: int, decay: float
) -> None:
    view = view_of_turns(*talk)
    how: SpreadingParameters = replace(
        RETRIEVERS["literal"].spreading,
        weighting="out_degree",
        self_decay=True,
        max_iterations=rounds,
        propagation_decay=decay,
        firing_threshold=0.0,
    )
    seeds = np.array(sorted(view.numbers[word] for word in some_seeds(talk, data)))
    left = spread(seeds, view.concepts, associations(view, how), how)
    assert left.energy.sum() <= len(seeds) + 1e-9


def test_count_is_how_often_two_were_said_together() -> None:
    view = view_of_turns("tea milk", "tea milk", "tea rain")
    edges = edges_out(view.windows["turn"], np.array([view.numbers["tea"]]), "count")
    assert dict(zip((view.ids[each] for each in edges.target), edges.weight.tolist(), strict=True)) == {
        "milk": 2.0,
        "rain": 1.0,
    }


def test_ppr_gives_every_passage_its_share_of_the_walk() -> None:
    view = demo().memory.view
    result = ppr.find(mode_input(view, "ppr", "vet"))
    assert result.energy.sum() + result.scores.sum() == pytest.approx(1.0)
