"""The cards of the people of a graph as a reply shows them, with their relations to each other in both directions."""

from __future__ import annotations

from collections.abc import Iterator

from emgas.messages.people import KnownTie, KnownValue, Person, PersonChange, Profile, Profiled
from processors.lifecycle.turns.people import cards_of
from processors.recall.answer.prepared_query import QueriedGraph
from processors.text.facts.card import CardChange, Cards, Entry
from processors.text.facts.vocabulary import INVERSE, MUTUAL, relation_of
from state.graph.graph import Graph


def list_people(memory: QueriedGraph, request: Profile) -> Profiled:
    """Return the cards of a graph: of one person, or of those with the most values."""
    graph = memory.graph
    if graph is None or graph.is_blank:
        return Profiled(graph=request.graph, found=False, position=memory.position)
    cards = cards_of(graph)
    names = _names(cards)
    chosen = [name for name in names if request.name is None or _is_called(cards, name, request.name)]
    chosen.sort(
        key=lambda name: -sum(len(entries) for (subject, _), entries in cards.entries.items() if subject == name)
    )
    people = [_person(graph, cards, name) for name in chosen[: request.limit]]
    return Profiled(
        graph=request.graph,
        found=True,
        people=people,
        changes=[_change(graph, each) for each in cards.changes if request.name is None or each.subject in chosen],
        total=len(names),
        position=memory.position,
    )


def _names(cards: Cards) -> list[str]:
    """List the people who have a card, or a relation to one who has: in the order of their first mention."""
    named = (subject for (subject, _), entries in cards.entries.items() if entries)
    return list(dict.fromkeys([*named, *cards.aliases.values()]))


def _is_called(cards: Cards, name: str, query: str) -> bool:
    low = query.casefold().replace("’", "'")
    return low in (name.casefold(), *(path.casefold() for path in _paths(cards, name)))


def _paths(cards: Cards, name: str) -> list[str]:
    return [path for path, alias in cards.aliases.items() if alias == name]


def _person(graph: Graph, cards: Cards, name: str) -> Person:
    slots = {slot: entries for (subject, slot), entries in cards.entries.items() if subject == name}
    return Person(
        name=name,
        also=_paths(cards, name),
        current=_known(graph, slots, is_over=False),
        history=_known(graph, slots, is_over=True),
        ties=list(_ties(cards, name)),
    )


def _known(graph: Graph, slots: dict[str, list[Entry]], *, is_over: bool) -> dict[str, list[KnownValue]]:
    values = {
        slot: [_value(graph, each) for each in entries if (each.until is not None) == is_over]
        for slot, entries in sorted(slots.items())
    }
    return {slot: filled for slot, filled in values.items() if filled}


def _value(graph: Graph, entry: Entry) -> KnownValue:
    return KnownValue(
        value=entry.value,
        since=_time_of(graph, entry.since),
        until=_time_of(graph, entry.until),
        turn=entry.evidence,
        confidence=entry.confidence,
        role=entry.role or None,
    )


def _ties(cards: Cards, name: str) -> Iterator[KnownTie]:
    """Yield what a person is to others, as a card says it: theirs, or the person's own, read from the other end."""
    for (subject, slot), entries in cards.entries.items():
        for each in entries:
            relation = relation_of(slot, each.role) if each.until is None else ""
            inverse = INVERSE.get(relation) or (relation if relation in MUTUAL else "")
            if relation and each.value == name and subject != name:
                yield KnownTie(relation=relation, of=subject, role=each.role or None, turn=each.evidence)
            elif inverse and each.role and each.value and subject == name:
                yield KnownTie(relation=inverse, of=each.value, turn=each.evidence)


def _time_of(graph: Graph, turn: str | None) -> int | None:
    return None if turn is None else graph.passages.at[graph.passages.numbers[turn]]


def _change(graph: Graph, it: CardChange) -> PersonChange:
    at = graph.passages.at[graph.passages.numbers[it.turn]]
    return PersonChange(name=it.subject, slot=it.slot, old=it.old, new=it.new, turn=it.turn, at=at)
