"""Add cards of people to an answer: the turns that state the value of a slot, and the relations of a person.

"where do I work?"       the turn that says so comes first
explore ada              lives-in, works-at, sibling …, beside what turns say of concepts
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast, get_args

from emgas.messages.relations import KnownRelation, PeopleRelation, RelationType
from processors.lifecycle.turns.people import cards_of
from processors.recall.answer.relations import related
from processors.text.facts.card import INFERRED, Cards, Entry
from processors.text.facts.vocabulary import SLOTS, relation_of
from processors.text.questions.slots import SlotQuestion
from state.graph.graph import Graph
from state.graph.view import GraphView

_TYPES: Final = frozenset({*get_args(RelationType), *get_args(PeopleRelation)})
_SPEAKER: Final = "@speaker:"


def known_relations(graph: Graph, view: GraphView, number: int, limit: int) -> list[KnownRelation]:
    """List the relations of a concept, and those of the card of a person with this name, without duplicates."""
    stated = related(view, number, limit)
    name = view.ids[number].removeprefix(_SPEAKER)
    seen = {(each.type, each.target_label.casefold()) for each in stated}
    of_card = [each for each in _of_card(graph, name) if (each.type, each.target_label.casefold()) not in seen]
    return [*of_card, *stated][:limit]


def relations_for(graph: Graph, question: SlotQuestion) -> list[KnownRelation]:
    """List the relations of the one slot that a question asks for: those that hold now, then history."""
    cards = cards_of(graph)
    entries = cards.entries.get((question.subject, question.slot), [])
    listed = [relation for each in entries if (relation := _known(graph, cards, question.subject, question.slot, each))]
    return sorted(listed, key=lambda each: each.history)


def _of_card(graph: Graph, name: str) -> Iterator[KnownRelation]:
    if not graph.people:
        return
    cards = cards_of(graph)
    for (subject, slot), entries in cards.entries.items():
        for each in entries:
            if name in (subject.casefold(), each.value.casefold()) and (
                relation := _known(graph, cards, subject, slot, each)
            ):
                yield relation


def _known(graph: Graph, cards: Cards, subject: str, slot: str, entry: Entry) -> KnownRelation | None:
    """Return an entry of a card as a relation; None where it is none, or only inferred."""
    listed = SLOTS.get(slot)
    relation = (listed.relation if listed else "") or relation_of(slot, entry.role)
    if relation not in _TYPES or entry.confidence <= INFERRED:
        return None
    at = graph.passages.at[graph.passages.numbers[entry.evidence]]
    return KnownRelation(
        source=_id_of(graph, subject),
        type=cast(PeopleRelation, relation),
        target=_id_of(graph, entry.value),
        source_label=subject,
        target_label=entry.value,
        times=1,
        first=at,
        last=at,
        ids=[entry.evidence],
        history=entry.until is not None,
    )


def _id_of(graph: Graph, name: str) -> str:
    """Return the concept of a name, where there is one."""
    low = name.casefold()
    speaker = _SPEAKER + low
    return speaker if speaker in graph.concepts.numbers else low
