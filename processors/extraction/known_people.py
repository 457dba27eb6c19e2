"""People whom a graph knows by name: what was certainly a name once is one wherever it stands.

我同学叫常乐       a rule finds 常乐        和常乐一起追剧        no rule does, but the graph knows them
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from processors.text.chinese import simplified
from processors.text.chinese_names import BEGINS
from processors.text.language import clean
from state.events.extraction_types import Concept
from state.graph.graph import Graph

PERSON: Final = "person"
_WEIGHT: Final = 0.5
_LENGTHS: Final = (4, 3, 2)  # of a Chinese name, the longest first


def with_known_people(text: str, concepts: Sequence[Concept], graph: Graph | None) -> list[Concept]:
    """Return the concepts of a text, those that are people in the graph as people, and who was missed in Chinese."""
    if graph is None:
        return list(concepts)
    people = _Known(graph)
    named = [people.as_person(concept) for concept in concepts]
    ids = {concept.id for concept in named}
    return [*named, *(Concept(name, name, _WEIGHT, 1, PERSON) for name in people.missed(text, ids))]


@dataclass
class _Known:
    """The people of a graph, by the ids of concepts."""

    graph: Graph

    def knows(self, name: str) -> bool:
        """Return whether a concept is a person where it is anything."""
        table = self.graph.concepts
        number = table.numbers.get(name)
        return number is not None and table.kind(number) == PERSON

    def as_person(self, concept: Concept) -> Concept:
        """Return a concept of no known kind as the person that the graph knows by this name."""
        is_named = not concept.kind and (concept.label[:1].isupper() or not concept.label.isascii())
        return msgspec.structs.replace(concept, kind=PERSON) if is_named and self.knows(concept.id) else concept

    def missed(self, text: str, ids: set[str]) -> Iterator[str]:
        """Yield the Chinese names of a text that are no concepts of it, and no part of one that is."""
        if text.isascii():
            return
        free, written = 0, simplified(clean(text))
        for start, letter in enumerate(written):
            if letter in BEGINS and start >= free:
                name = next((name for name in _names(written, start) if self.knows(name)), "")
                if name and not any(name in other for other in ids):
                    free = start + len(name)
                    ids.add(name)
                    yield name


def _names(text: str, start: int) -> Iterator[str]:
    return (text[start : start + length] for length in _LENGTHS if start + length <= len(text))
