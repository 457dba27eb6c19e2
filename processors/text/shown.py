"""Concepts as people see them: words that are fit for people, and whole names.

    york    ──▶  New York        most turns that hold the word hold it inside that phrase
    half    ──▶  –               it finds turns, but does not say what a talk was about (data/unshown.tsv)
    类票    ──▶  –               a wrong cut of the segmenter, maybe, until it came in some turns

Recall does not use this: it changes what is listed, and no score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from processors.text import tables
from state.graph.tables.concept_table import ConceptTable

MOSTLY: Final = 0.6  # share of a word's turns that a phrase must hold, to be shown in its place
OFTEN: Final = 2  # turns from which a phrase is one, and no chance
NAMED_BY: Final = 3  # concepts that a theme is named by
CERTAIN: Final = 3  # turns from which a guess of the segmenter is a word

_UNSHOWN: Final = frozenset(word for (words,) in tables.rows(__package__, "unshown") for word in words.split())


class Shown:
    """The displayed concepts of one graph; its turns must be counted (Graph.settle)."""

    def __init__(self, concepts: ConceptTable) -> None:
        self._concepts = concepts

    def label(self, number: int) -> str | None:
        """Find what a concept is shown as, None for one that is not."""
        concepts = self._concepts
        name, kind = concepts.ids[number], concepts.kind(number)
        if name[:1] == "@":
            return None
        if number in concepts.phrases:
            return concepts.label(number)
        if phrase := self._phrase_of(number):
            return phrase
        is_doubtful = kind == "guess" and concepts.in_turns[number] < CERTAIN
        if name in _UNSHOWN or is_doubtful or concepts.is_part(number):
            return None
        return concepts.label(number)

    def labels(self, numbers: Iterable[int]) -> Iterator[tuple[int, str]]:
        """Yield what is shown of `numbers`, in their order, each label once with the first that it stands for."""
        seen: set[str] = set()
        for number in numbers:
            label = self.label(number)
            if label is not None and label.casefold() not in seen:
                seen.add(label.casefold())
                yield number, label

    def title(self, members: Sequence[int]) -> str:
        """Return a theme's strongest concepts that are left: the label in the log may hold a forgotten one."""
        shown = [label for _, label in islice(self.labels(members), NAMED_BY)]
        return ", ".join(shown or map(self._concepts.label, members[:NAMED_BY]))

    def _phrase_of(self, number: int) -> str | None:
        """Find the phrase that holds the word wherever it stands; of several, the one in most turns."""
        concepts = self._concepts
        in_turns = concepts.in_turns
        fitting = [
            phrase
            for phrase in concepts.phrases_with(concepts.ids[number])
            if concepts.alive[phrase]
            and in_turns[phrase] >= OFTEN
            and in_turns[phrase] >= MOSTLY * in_turns[number]
            and concepts.kind(phrase) != "number"
        ]
        return concepts.label(max(fitting, key=lambda phrase: in_turns[phrase])) if fitting else None
