"""The stated relations between concepts: one row for each statement, in the order folded.

    "I live in Lisbon."    ──▶    passage 7, @speaker:ada, lives-in, lisbon, characters 0 to 16 of its text

Frequency, first time and speakers are computed from the rows.  A row is removed with its turn and with either concept
(Graph.compact).  Types: emgas/messages/relations.py, whose order is a part of the layout of graphs.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from emgas.messages.relations import RELATION_TYPES, RelationType
from state.arrays import Integers
from state.events.extraction_types import Relation
from state.graph.tables.columns import ColumnTable, column

NumberOf = Callable[[Integers], Integers]
_NUMBERS: Final = {name: number for number, name in enumerate(RELATION_TYPES)}


class Related(NamedTuple):
    """One relation, and the passages that say it, ascending; each once."""

    source: int
    type: RelationType
    target: int
    passages: tuple[int, ...]


class RelationTable(ColumnTable):
    """Columns over statements of relations.  Only the graph's fold writes here."""

    relation_passage: array[int] = column("i", points="turns")
    relation_source: array[int] = column("i", points="concepts")
    relation_type: array[int] = column("b")  # position in RELATION_TYPES
    relation_target: array[int] = column("i", points="concepts")
    relation_start: array[int] = column("i")  # of what says it in the turn's text, in characters
    relation_end: array[int] = column("i")

    def __len__(self) -> int:
        return len(self.relation_passage)

    def add(self, passage: int, relations: Sequence[Relation], numbers: Mapping[str, int]) -> None:
        """Note what a passage says, as far as both concepts are known."""
        for relation in relations:
            source, target = numbers.get(relation.source), numbers.get(relation.target)
            if source is not None and target is not None:
                row = (passage, source, _NUMBERS[relation.type], target, relation.start, relation.end)
                for each, value in zip(self.columns, row, strict=True):
                    getattr(self, each.name).append(value)

    def renumbered(self, concepts: Integers, passages: Integers) -> RelationTable:
        """Copy the table with other numbers: concept i is concepts[i], passage i passages[i]; rows of −1 go."""
        number_of: dict[str, NumberOf] = {"concepts": lambda old: concepts[old], "turns": lambda old: passages[old]}
        return RelationTable.renumbering(self.copies(), number_of)

    @classmethod
    def renumbering(cls, rows: Mapping[str, NDArray[Any]], number_of: Mapping[str, NumberOf]) -> RelationTable:
        """Build the table of rows that point by other numbers.

        number_of  of concepts and of turns: maps what points at them to numbers of this table; rows of −1 go
        """
        pointing = {each.name: number_of[each.points](rows[each.name]) for each in cls.columns if each.points}
        kept = np.logical_and.reduce([column >= 0 for column in pointing.values()])
        renumbered = {**rows, **pointing}
        return RelationTable.of({each.name: renumbered[each.name][kept].astype(each.code) for each in cls.columns})

    def around(self, concepts: Sequence[int]) -> list[Related]:
        """List what is said of `concepts`, from either side: most often said first, of equals the one said first."""
        source, target = np.array(self.relation_source), np.array(self.relation_target)
        return self._related(np.flatnonzero(np.isin(source, concepts) | np.isin(target, concepts)))

    def types(self) -> frozenset[RelationType]:
        """List the types of relations that there are."""
        return frozenset(RELATION_TYPES[number] for number in set(self.relation_type))

    def all(self) -> list[Related]:
        """List every relation, in the same order."""
        return self._related(np.arange(len(self)))

    def _related(self, rows: Integers) -> list[Related]:
        passages_by_key: dict[tuple[int, int, int], dict[int, None]] = {}
        for row in rows.tolist():
            key = (self.relation_source[row], self.relation_type[row], self.relation_target[row])
            passages_by_key.setdefault(key, {})[self.relation_passage[row]] = None
        related = [
            Related(key[0], RELATION_TYPES[key[1]], key[2], tuple(passages))
            for key, passages in passages_by_key.items()
        ]
        return sorted(related, key=lambda each: -len(each.passages))

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> RelationTable:
        """Build the table that `arrays` described; one without rows where they hold none of its columns."""
        table = cls()
        if table.columns[0].name in arrays:
            table.read(arrays)
        return table
