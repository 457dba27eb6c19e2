"""What follows from what was said: along one relation, over at most three steps, ten concepts at most."""

from __future__ import annotations

from itertools import pairwise

import pytest
from pydantic import ValidationError

from emgas.messages.relations import RelationType
from emgas.messages.views import Explore
from processors.recall.answer.relations import MOST, inferred
from state.events.extraction_types import Relation
from state.graph.graph import Graph
from state.graph.view import GraphView
from tests.support.builders import folded, turn_recorded


def related(*relations: tuple[str, RelationType, str]) -> GraphView:
    """Fold a turn for each relation that is said."""
    turns = []
    for number, (source, type, target) in enumerate(relations):
        relation = Relation(source=source, type=type, target=target, start=0, end=1)
        turns.append(turn_recorded(id=f"t{number}", concepts=f"{source} {target}", relations=[relation]))
    graph: Graph = folded(*turns)
    return graph.view()


@pytest.mark.source("H12")
def test_three_steps_are_gone_and_no_fourth_and_each_is_less_certain() -> None:
    chain = ["delft", "holland", "europe", "earth", "space"]
    view = related(*((here, "part-of", there) for here, there in pairwise(chain)))
    results = inferred(view, view.numbers["delft"], "part-of", 3)
    assert [(each.id, each.hops) for each in results] == [("holland", 1), ("europe", 2), ("earth", 3)]
    assert [each.confidence for each in results] == pytest.approx([1.0, 1 / 2, 1 / 3])
    with pytest.raises(ValidationError, match="less than or equal to 3"):
        Explore.model_validate({"id": "q", "graph": "ada", "concept": "delft", "relation": "part-of", "hops": 4})


@pytest.mark.source("H12")
def test_ten_concepts_are_inferred_at_most_the_nearest_first() -> None:
    near: list[tuple[str, RelationType, str]] = [("tea", "is-a", f"kind{number:02}") for number in range(8)]
    far: list[tuple[str, RelationType, str]] = [("kind00", "is-a", f"more{number:02}") for number in range(8)]
    view = related(*far, *near)
    results = inferred(view, view.numbers["tea"], "is-a", 3)
    assert len(results) == MOST == 10
    assert [each.hops for each in results] == [1] * 8 + [2] * 2


@pytest.mark.source("H12")
def test_a_relation_of_another_type_is_not_followed() -> None:
    view = related(("ada", "likes", "tea"), ("tea", "cause", "sleep"), ("tea", "is-a", "drink"))
    assert [each.id for each in inferred(view, view.numbers["ada"], "likes", 3)] == ["tea", "drink"]
    assert inferred(view, view.numbers["ada"], "lives-in", 3) == []
