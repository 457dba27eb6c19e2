"""Describe the differences between two states of one graph: concepts, turns, pairs, topics.

A graph is taken apart into named values, so that a row which is missing in one does not make all behind it differ:

    (table, name, column) → value      ("concept", "coffee", "strength")             → 0.71
                                       ("pair in turn", "coffee & tea", "count")     → 3
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from state.events.events import GraphEvent
from state.events.registry import SPECS
from state.graph.canonical_bytes import unpack
from state.graph.graph import Graph

Place = tuple[str, str, str]
GRAPH = "graph"
BOTH = " & "  # between the two concepts of a pair
_NOT_CONTENT = {"starts", "session", "speaker", "posting_concept", "posting_count", "archived", "archived_fingerprint"}
_LOW = (1 << 32) - 1  # a pair's key is its two concept numbers, 32 bits each (state/graph/counting/cooccurrence.py)


class ValueDifference(NamedTuple):
    """One value that differs; None where a state does not have it."""

    table: str
    name: str
    column: str
    live: Any
    replayed: Any


def differences(live: Graph, replayed: Graph) -> list[ValueDifference]:
    """Find what differs between a live graph and the fold of its events, by place."""
    ours, theirs = content(live), content(replayed)
    places = sorted(place for place in ours.keys() | theirs.keys() if ours.get(place) != theirs.get(place))
    return [ValueDifference(*place, ours.get(place), theirs.get(place)) for place in places]


def content(graph: Graph) -> dict[Place, Any]:
    """Take a graph apart: all that it holds, by place."""
    values, arrays = unpack(graph.pack())
    columns = {name: array.tolist() for name, array in arrays.items()}
    return {place: value for part in _parts(graph, values, columns) for place, value in part}


Part = Iterator[tuple[Place, Any]]


def _parts(graph: Graph, values: Mapping[str, Any], columns: Mapping[str, list[Any]]) -> Iterator[Part]:
    concepts, turns = values["concepts"]["ids"], values["passages"]["turns"]
    plain = {name: value for name, value in values.items() if isinstance(value, str | int | float)}
    settings = {f"setting {name}": value for name, value in values["settings"].items()}
    yield (((GRAPH, "", name), value) for name, value in {**plain, **settings}.items() if name != "events")
    yield _rows("concept", concepts, {name: columns[name] for name in graph.concepts.arrays()})
    forms = dict(values["concepts"]["forms"])
    labels = zip(concepts, values["concepts"]["first_form"], strict=True)
    yield (
        (("concept", name, "written as"), [first, *forms.get(number, [])])
        for number, (name, first) in enumerate(labels)
    )
    in_turns = {name: columns[name] for name in graph.passages.arrays() if name not in _NOT_CONTENT}
    yield _rows("turn", turns, {name: column for name, column in in_turns.items() if len(column) == len(turns)})
    yield _rows("turn", turns, _names(values["passages"], columns))
    yield _rows("turn", turns, {"concepts": _concepts_by_turn(concepts, columns)})
    for window in graph.pairs:
        yield _pairs(window, concepts, columns[f"{window}_keys"], columns[f"{window}_counts"])
    yield from _embedded(turns, values.get("embeddings", []), columns)
    archived = zip(columns.get("archived", []), columns.get("archived_fingerprint", []), strict=True)
    yield ((("forgotten turn", str(turn), "text"), text) for turn, text in archived)
    for name, label, members, born in values["topics"]["topics"]:
        columns = {"label": label, "concepts": [concepts[number] for number in members], "born": born}
        yield ((("topic", name, column), value) for column, value in columns.items())


def _rows(table: str, names: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> Part:
    for column, values in columns.items():
        for name, value in zip(names, values, strict=True):
            yield (table, name, column), value


def _names(passages: Mapping[str, Any], columns: Mapping[str, list[Any]]) -> dict[str, list[str]]:
    """Read the columns that point at names, as names."""
    return {name: [passages[f"{name}s"][number] for number in columns[name]] for name in ("session", "speaker")}


def _embedded(turns: Sequence[str], models: Iterable[Any], columns: Mapping[str, list[Any]]) -> Iterator[Part]:
    for number, (model, dimensions) in enumerate(models):
        passages, flat = columns[f"embedding_{number}_passage"], columns[f"embedding_{number}_vector"]
        vectors = (flat[start : start + dimensions] for start in range(0, len(flat), dimensions))
        yield _rows("turn", [turns[passage] for passage in passages], {f"vector by {model}": list(vectors)})


def _concepts_by_turn(concepts: Sequence[str], columns: Mapping[str, list[Any]]) -> list[list[Any]]:
    """List what each turn mentions, and how often."""
    postings = list(zip(columns["posting_concept"], columns["posting_count"], strict=True))
    bounds = [*columns["starts"], len(postings)]
    return [sorted([concepts[number], count] for number, count in postings[a:b]) for a, b in pairwise(bounds)]


def _pairs(window: str, concepts: Sequence[str], keys: Iterable[int], counts: Iterable[int]) -> Part:
    for key, count in zip(keys, counts, strict=True):
        names = sorted((concepts[key >> 32], concepts[key & _LOW]))
        yield (f"pair in {window}", BOTH.join(names), "count"), count


def concerns(event: GraphEvent, differing: Iterable[ValueDifference]) -> bool:
    """Return whether `event` touches any of what differs; of the graph as a whole, every event does."""
    touched = set(SPECS[type(event)].touches(event))
    return any(each.table == GRAPH or touched & {each.name, *each.name.split(BOTH)} for each in differing)
