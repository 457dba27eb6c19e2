"""Typed relations and phrases in a graph's fold: counted, forgotten, packed, and no trace where there are none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emgas.messages.relations import RELATION_TYPES
from state.events.events import decode, encode
from state.events.extraction_types import Concept, Relation
from state.graph.graph import Graph
from tests.support.builders import concept, folded, forgotten, turn_recorded
from tests.support.graphs import pair_counts

YORK = Concept("new york", "New York", 0.9, 1, "place")
LIVES = Relation("ada", "lives-in", "new york", 0, 8)


def lives(id: str, *others: str) -> object:
    words = [concept("ada"), concept("york"), *map(concept, others)]
    return turn_recorded(id=id, concepts=[*words, YORK], relations=[LIVES])


def relations_of(graph: Graph) -> list[tuple[str, str, str, list[str]]]:
    view = graph.view()
    return [
        (view.ids[each.source], each.type, view.ids[each.target], [view.passage_id[n] for n in each.passages])
        for each in view.relations.all()
    ]


def test_a_relation_is_counted_by_the_turns_that_say_it() -> None:
    graph = folded(lives("a"), turn_recorded(id="b"), lives("c"))
    assert relations_of(graph) == [("ada", "lives-in", "new york", ["a", "c"])]


def test_a_relation_goes_with_its_turn_and_with_either_concept() -> None:
    assert relations_of(folded(lives("a"), lives("b"), forgotten(turns=["a"]))) == [
        ("ada", "lives-in", "new york", ["b"])
    ]
    assert relations_of(folded(lives("a"), forgotten(concepts=["new york"]))) == []
    assert relations_of(folded(lives("a"), forgotten(concepts=["ada"]))) == []


def test_a_relation_to_what_nobody_named_is_none() -> None:
    assert relations_of(folded(turn_recorded(id="a", relations=[LIVES]))) == []


def test_a_phrase_is_a_node_that_stands_in_no_pair() -> None:
    graph = folded(lives("a", "river"), lives("b", "boat"))
    view = graph.view()
    number = view.number("new york")
    assert number is not None
    assert (view.kind(number), bool(view.is_mark[number]), graph.concepts.in_turns[number]) == ("place", True, 2)
    for window in ("turn", "exchange"):
        assert all("new york" not in pair for pair in pair_counts(graph, window))
    assert view.holders(number)[0].tolist() == [0, 1]


@given(st.lists(st.sampled_from(["a b", "b c d", "d", ""]), min_size=1, max_size=20), st.booleans())
def test_phrases_and_relations_are_the_same_however_turns_are_batched(turns: list[str], ask: bool) -> None:
    events = [
        turn_recorded(id=f"t{n}", concepts=[*map(concept, words.split()), YORK], relations=[LIVES])
        for n, words in enumerate(turns)
    ]
    graph = Graph("ada")
    for event in events:
        graph.fold(event)
        if ask:
            graph.settle()
    at_once = folded(*events)
    assert graph.digest() == at_once.digest()
    without = folded(*(turn_recorded(id=f"t{n}", concepts=words) for n, words in enumerate(turns)))
    assert pair_counts(at_once, "exchange") == pair_counts(without, "exchange")


def test_what_is_packed_is_unpacked_and_nothing_is_left_where_there_is_nothing() -> None:
    graph = folded(lives("a"), lives("b"), forgotten(turns=["b"]))
    again = Graph.unpack(graph.pack())
    assert (relations_of(again), again.digest()) == (relations_of(graph), graph.digest())
    assert list(again.concepts.phrases) == list(graph.concepts.phrases)
    plain = folded(turn_recorded(id="a"))
    assert b"relation" not in plain.pack()
    assert b'"kinds"' not in plain.pack()


def test_an_event_says_kinds_and_relations_only_where_it_has_some() -> None:
    plain = encode(turn_recorded(id="a"))
    assert b"relations" not in plain
    assert b'["coffee","coffee",0.5,1]' in plain
    event = lives("a")
    assert decode(encode(event)) == event  # type: ignore[arg-type]


def test_the_types_are_declared_once_and_their_order_is_a_part_of_the_layout() -> None:
    assert RELATION_TYPES[:4] == ("is-a", "part-of", "cause", "contrast")
    for number, type in enumerate(RELATION_TYPES):
        graph = folded(turn_recorded(id="a", relations=[Relation("coffee", type, "tea", 0, 1)]))
        assert list(graph.relations.relation_type) == [number]
