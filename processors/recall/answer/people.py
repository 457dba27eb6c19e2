"""Add cards of people to an answer: the turns that state the value of a slot, and the relations of a person.

"where do I work?"       the turn that says so comes first
a value that ended       the turn that ended it ranks no lower than the turn that said it
explore ada, 舅妈        lives-in, works-at, sibling …, beside what turns say of concepts
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast, get_args

import numpy as np

from emgas.messages.relations import KnownRelation, PeopleRelation, RelationType
from processors.lifecycle.turns.people import cards_of
from processors.recall.answer.relations import related
from processors.recall.ranking.inquiry import Inquiry
from processors.text.facts.card import INFERRED, Cards, Entry
from processors.text.facts.vocabulary import SLOTS, relation_of
from processors.text.questions.slots import SlotQuestion, words_of
from state.graph.graph import Graph
from state.graph.view import GraphView

_TYPES: Final = frozenset({*get_args(RelationType), *get_args(PeopleRelation)})
_SPEAKER: Final = "@speaker:"
GONE: Final = -1  # the number of a turn that is no longer here
AHEAD: Final = 0.01  # of a score: as good as equal, but first


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


def raised_by_changes(graph: Graph, inquiry: Inquiry, scores: Mapping[int, float]) -> dict[int, float]:
    """Find better scores for turns that ended what a card held: no lower than the turn that said it, by number."""
    raised = dict[int, float]()
    for slot, entry in _ended(cards_of(graph)):
        older, newer = (graph.passages.numbers.get(turn or "", GONE) for turn in (entry.evidence, entry.until))
        if older not in scores or newer not in scores or scores[newer] > scores[older]:
            continue
        if inquiry.asks_with(words_of(slot, entry.value)) or not inquiry.mentions(np.array([older])).any():
            raised[newer] = max(raised.get(newer, -np.inf), scores[older] + AHEAD)
    return raised


def _ended(cards: Cards) -> Iterator[tuple[str, Entry]]:
    """Yield the values of cards that hold no longer, each with its slot."""
    for (_, slot), entries in cards.entries.items():
        yield from ((slot, each) for each in entries if each.until)


def _of_card(graph: Graph, name: str) -> Iterator[KnownRelation]:
    if not graph.people:
        return
    cards = cards_of(graph)
    for (subject, slot), entries in cards.entries.items():
        for each in entries:
            if name in (subject.casefold(), _role(subject), each.value.casefold()) and (
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


def _role(subject: str) -> str:
    """Return what a person without a name is called: aunt of "Ada's aunt"; of others the name."""
    return subject.casefold().rpartition("'s ")[2]


def _id_of(graph: Graph, name: str) -> str:
    """Return the concept of a name, where there is one, or of what a person without a name is called."""
    low, numbers = name.casefold(), graph.concepts.numbers
    return next((each for each in (_SPEAKER + low, low, _role(name)) if each in numbers), low)
