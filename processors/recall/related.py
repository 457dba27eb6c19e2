"""What is said of a concept and another, and what follows from it over up to three steps.  SEEDS H9, H12, E37.

    @speaker:ada ── lives-in ──▶ lisbon ── part-of ──▶ portugal

    related     what turns say of a concept, from either side: how often, since when, and which turns
    inferred    what a concept is related to by a type, over 1 to 3 steps: one of that type, others of it too, or such
                that hand it on (is-a, part-of, synonym).  Its confidence is 1 / steps

A person is the concept of her name and the speaker of that name: what is said of either is said of her.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from emgas.messages.relations import BOTH_WAYS, RelationType
from emgas.messages.views import Inferred, KnownRelation
from state.graph.relation_table import Related
from state.graph.view import GraphView

MOST: Final = 10  # concepts that are inferred
EVIDENCE: Final = 5  # turns that are named for one relation, the latest
HANDS_ON: Final = frozenset({"is-a", "part-of", "synonym"})
_SPEAKER: Final = "@speaker:"


def same(view: GraphView, number: int) -> list[int]:
    """List the concepts that stand for the same as this one: a name and its speaker; itself first."""
    name = view.ids[number]
    other = name.removeprefix(_SPEAKER) if name.startswith(_SPEAKER) else _SPEAKER + name
    found = view.number(other)
    return [number] if found is None else [number, found]


def related(view: GraphView, number: int, limit: int) -> list[KnownRelation]:
    """List what turns say of a concept, most often said first."""
    return [_known(view, each) for each in view.relations.around(same(view, number))[:limit]]


def inferred(view: GraphView, number: int, relation: RelationType, steps: int) -> list[Inferred]:
    """List what follows from what was said: nearest first, of equals what was said most often; MOST at most."""
    reached = dict.fromkeys(same(view, number))
    edge: list[tuple[tuple[int, ...], bool]] = [((number,), False)]
    found: list[Inferred] = []
    for step in range(1, steps + 1):
        before, edge = edge, []
        for path, has_it in before:
            for type, target in _out_of(view, path[-1]):
                if target in reached or not (type == relation or type in HANDS_ON):
                    continue
                is_told = has_it or type == relation
                edge.append(((*path, target), is_told))
        for path, is_told in edge:
            if is_told and path[-1] not in reached:
                reached.update(dict.fromkeys(same(view, path[-1])))
                found.append(_inferred(view, path, step))
    return found[:MOST]


def _out_of(view: GraphView, number: int) -> Iterable[tuple[RelationType, int]]:
    ends = same(view, number)
    for each in view.relations.around(ends):
        if each.source in ends:
            yield each.type, each.target
        elif each.type in BOTH_WAYS:
            yield each.type, each.source


def _inferred(view: GraphView, path: Sequence[int], steps: int) -> Inferred:
    return Inferred(
        id=view.ids[path[-1]],
        label=view.labels[path[-1]],
        hops=steps,
        confidence=round(1 / steps, 6),
        path=[view.ids[node] for node in path],
    )


def _known(view: GraphView, each: Related) -> KnownRelation:
    at = view.of_turns("at", np.array(each.passages))
    latest = np.argsort(-at, kind="stable")[:EVIDENCE]
    return KnownRelation(
        source=view.ids[each.source],
        type=each.type,
        target=view.ids[each.target],
        source_label=view.labels[each.source],
        target_label=view.labels[each.target],
        times=len(each.passages),
        first=int(at.min()),
        last=int(at.max()),
        ids=[view.passage_id[each.passages[place]] for place in latest.tolist()],
    )
