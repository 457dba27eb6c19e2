"""Relations between concepts: stated ones, and those that follow over up to three steps.  SEEDS H9, H12, E37.

    @speaker:ada ── lives-in ──▶ lisbon ── part-of ──▶ portugal

    related     what turns say of a concept, from either side: how often, since when, and which turns
    told_of     of all that a question names, what of two of its concepts first, then what was said last; what is
                history behind
    inferred    concepts related by a type over 1 to 3 steps: the first is of that type, the others too, or of a type
                that passes it on (is-a, part-of, synonym); outdated ones do not count.  The confidence is 1 / steps

A person is both the concept of her name and the speaker of that name: relations of either are hers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from emgas.messages.filters import Filter
from emgas.messages.relations import BOTH_WAYS, KnownRelation, RelationType
from emgas.messages.views import Inferred
from processors.recall.ranking.query_terms import QueryTerms
from processors.text.facts.vocabulary import SLOTS
from state.graph.tables.relation_table import Related
from state.graph.view import GraphView

MOST: Final = 10  # concepts that are inferred
EVIDENCE: Final = 5  # turns that are named for one relation, the latest
HANDS_ON: Final = frozenset({"is-a", "part-of", "synonym"})
_SPEAKER: Final = "@speaker:"


def same(view: GraphView, number: int) -> list[int]:
    """List the concepts that stand for the same as this one: a name and its speaker; itself first."""
    name = view.ids[number]
    other = name.removeprefix(_SPEAKER) if name.startswith(_SPEAKER) else _SPEAKER + name
    equal = view.number(other)
    return [number] if equal is None else [number, equal]


def related(view: GraphView, number: int, limit: int) -> list[KnownRelation]:
    """List what turns say of a concept, most often said first; what is history behind."""
    edges = sorted(view.relations.around(same(view, number)), key=lambda each: _is_over(view, each))
    return [_known_relation(view, each) for each in edges[:limit]]


def find_relations(view: GraphView, meant: QueryTerms) -> list[KnownRelation]:
    """List the relations of the concepts that a question names, including its asker: MOST at most."""
    named = {end for number in _named(view, meant) for end in same(view, number)}
    edges = view.relations.around(sorted(named))
    last = {each: int(view.of_turns("at", np.array(each.passages)).max()) for each in edges}
    edges.sort(key=lambda each: (_is_over(view, each), not {each.source, each.target} <= named, -last[each]))
    return [_known_relation(view, each) for each in edges[:MOST]]


def lets_through(view: GraphView, only: Filter, relation: KnownRelation) -> bool:
    """Return whether a filter lets a relation through: by what it states, and by what kinds of things it ties."""
    names = {relation.type, *(slot for slot, rules in SLOTS.items() if rules.relation == relation.type)}
    ends = [view.number(end) for end in (relation.source, relation.target)]
    kinds = {view.kind(end) for end in ends if end is not None}
    is_stated = not only.statements or not names.isdisjoint(only.statements)
    return is_stated and (not only.entities or not kinds.isdisjoint(only.entities))


def _named(view: GraphView, meant: QueryTerms) -> Iterable[int]:
    """Yield the words and speakers that a question names, and the phrases that it says whole."""
    words = {view.ids[number] for number in meant.words.tolist()}
    yield from (*meant.words.tolist(), *meant.speakers.tolist())
    yield from (number for number in view.phrases if words.issuperset(view.ids[number].split(" ")))


def relation_text(relation: KnownRelation) -> str:
    """Return a relation as a reader would say it after its source: "lives in Lisbon"."""
    return f"{relation.type.replace('-', ' ')} {relation.target_label}"


def inferred(view: GraphView, number: int, relation: RelationType, steps: int) -> list[Inferred]:
    """List what follows from what was said: nearest first, of equals what was said most often; MOST at most."""
    reached = dict.fromkeys(same(view, number))
    edge: list[tuple[tuple[int, ...], bool]] = [((number,), False)]
    results: list[Inferred] = []
    for step in range(1, steps + 1):
        before, edge = edge, []
        for path, has_it in before:
            for type, target in _out_of(view, path[-1]):
                if target in reached or not (type == relation or type in HANDS_ON):
                    continue
                is_stated = has_it or type == relation
                edge.append(((*path, target), is_stated))
        for path, is_stated in edge:
            if is_stated and path[-1] not in reached:
                reached.update(dict.fromkeys(same(view, path[-1])))
                results.append(_inferred(view, path, step))
    return results[:MOST]


def _out_of(view: GraphView, number: int) -> Iterable[tuple[RelationType, int]]:
    ends = same(view, number)
    for each in view.relations.around(ends):
        if _is_over(view, each):
            continue
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


def _is_over(view: GraphView, each: Related) -> bool:
    """Return whether every turn that says so is history: "I live in Berlin", once she has moved."""
    return bool((view.of_turns("superseded", np.array(each.passages)) >= 0).all())


def _known_relation(view: GraphView, each: Related) -> KnownRelation:
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
        history=_is_over(view, each),
    )
