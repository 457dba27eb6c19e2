"""Masks: a turn as a person remembers it who has forgotten some of it.  A view: the turn stays as it is.  SEEDS S30.

    I adopted a ginger cat from the shelter in Porto.      ──▶      I adopted a ginger […: pet] from the shelter in […].

    unit       a word, a phrase, a clause of the turn's text; units hold others, and the smallest decides what of it is
               seen.  A clause is as clear as the clearest of its words: once they all have faded, so has all between
               them
    clearness  what is left of the concept's strength at that time, at most 1: it fades by the graph's own curve
               (docs/lifecycle.md), and comes back with every mention and recall.  In a turn that matters it fades half
               as fast: √.  What is pinned, and a turn that is never archived, is clear
    clear_from      from there on: as it was said
    hint_from       from there on: a placeholder that says what kind of thing it was; below: a placeholder alone

The kind of thing is what the lexicon has the word for ("cat" is a pet), else what it names ("place"), else its theme.
Nothing is decayed for it: a mask is worked out when a question asks for it.  A model can fill the gaps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import groupby
from math import sqrt
from typing import Final, NamedTuple

from emgas.messages.queries import Query
from lab.gates.clauses import clauses
from processors.lexicon.hyponyms import MEMBERS
from processors.text.scripts import HAN
from state.events.events import TurnRecorded
from state.graph.graph import Graph

LEFT_OUT: Final = "[…]"
KINDS: Final = (  # words of the lexicon that name a kind of thing, narrower ones first; most only ask for one
    *(
        "fruit",
        "dessert",
        "drink",
        "vegetable",
        "pet",
        "instrument",
        "sport",
        "language",
        "holiday",
        "city",
        "religion",
    ),
    *("水果", "甜点", "饮料", "蔬菜", "宠物", "乐器", "运动", "语言", "节日", "城市", "颜色", "food", "colour", "食物"),
)
MATTERS: Final = 0.5  # importance from which a turn holds longer
_ENDS: Final = " \n,;.!?，；。！？"
_HAN: Final = re.compile(f"[{HAN}]")


class Thresholds(NamedTuple):
    """The clarity from which a word is shown, and from which it is hinted at; hint_from <= clear_from."""

    clear_from: float
    hint_from: float


class _Unit(NamedTuple):
    """Characters of a text, how clear they are in [0, 1], and the concept that they stand for, -1 for none."""

    start: int
    end: int
    clearness: float
    concept: int = -1


def masked(graph: Graph, now: int, query: Query) -> Callable[[TurnRecorded], str]:
    """Make what renders turns as they are remembered at `now` (ms)."""
    return Masks(graph, now, Thresholds(query.clear_from, query.hint_from)).masked


class Masks:
    """The masks of one graph's turns, as they are at `now` (ms).  The graph must be settled, and stay as it is."""

    def __init__(self, graph: Graph, now: int, thresholds: Thresholds) -> None:
        self._graph, self._now, self._thresholds = graph, now, thresholds
        self._theme_of = {word: theme for theme in graph.themes.themes.values() for word in theme.members}

    def masked(self, turn: TurnRecorded) -> str:
        """Return the text of a turn with placeholders for what has faded."""
        number = self._graph.passages.numbers.get(turn.id)
        if number is not None and self._graph.passages.stays(number):
            return turn.text
        matters = turn.importance is not None and turn.importance >= MATTERS
        units = list(self._units(turn, matters=matters))
        if all(unit.clearness >= self._thresholds.clear_from for unit in units):
            return turn.text
        return self._shown(turn.text, units)

    def _units(self, turn: TurnRecorded, *, matters: bool) -> Iterator[_Unit]:
        """Yield the units of a turn, what holds others before them."""
        words = sorted(self._words(turn, matters=matters), key=lambda unit: unit.start - unit.end)
        start = 0
        for clause in clauses(turn.text):
            end = start + len(clause)
            contents = [unit for unit in words if start <= unit.start < end]
            if contents:
                clearest = max(contents, key=lambda unit: unit.clearness)
                first = start + len(clause) - len(clause.lstrip())
                yield _Unit(first, start + len(clause.rstrip(_ENDS)), clearest.clearness, clearest.concept)
            start = end
        yield from words

    def _words(self, turn: TurnRecorded, *, matters: bool) -> Iterator[_Unit]:
        concepts = self._graph.concepts
        for concept in turn.concepts:
            if concept.id[:1] == "@" or concept.kind == "part":  # of another word, which is the unit
                continue
            number = concepts.numbers.get(concept.id, -1)
            clearness = 0.0 if number < 0 else self._clearness(number)
            forms = {concept.label, *(concepts.forms(number) if number >= 0 else ())}
            for match in _standing(frozenset(forms)).finditer(turn.text):
                yield _Unit(*match.span(), sqrt(clearness) if matters else clearness, number)

    def _clearness(self, number: int) -> float:
        concepts = self._graph.concepts
        if concepts.pinned[number]:
            return 1.0
        return min(1.0, concepts.strength_of(number, self._now, self._graph.settings))

    def _shown(self, text: str, units: list[_Unit]) -> str:
        """Write a text with a placeholder for each run of characters whose smallest unit is not clear."""
        seen: list[_Unit | None] = [None] * len(text)
        for unit in units:
            hidden = unit if unit.clearness < self._thresholds.clear_from else None
            seen[unit.start : unit.end] = [hidden] * (unit.end - unit.start)
        _bridge(text, seen)
        shown = []
        for is_masked, run in groupby(range(len(text)), key=lambda place: seen[place] is not None):
            places = list(run)
            masked = [each for place in places if (each := seen[place]) is not None]
            shown.append(self._placeholder(masked) if is_masked else text[places[0] : places[-1] + 1])
        return "".join(shown)

    def _placeholder(self, hidden: list[_Unit]) -> str:
        """Write what stands for a run of characters: the kind of its clearest unit that has one, unless too faint."""
        faint = {unit for unit in hidden if unit.clearness >= self._thresholds.hint_from}
        clearest_first = sorted(faint, key=lambda unit: (-unit.clearness, unit.start))
        hint = next((hint for unit in clearest_first if (hint := self._hint(unit.concept))), "")
        return f"[…: {hint}]" if hint else LEFT_OUT

    def _hint(self, concept: int) -> str:
        """Return what kind of thing a concept is, "" if unknown."""
        if concept < 0:
            return ""
        name = self._graph.concepts.ids[concept]
        if name in _kinds_of_things():
            return _kinds_of_things()[name]
        kind = self._graph.concepts.kind(concept)
        if kind not in ("", "phrase", "part", "guess"):
            return kind
        theme = self._theme_of.get(concept)
        label = self._graph.concepts.label(concept).casefold()
        return ", ".join(word for word in theme.label.split(", ") if word.casefold() != label) if theme else ""


def _bridge(text: str, seen: list[_Unit | None]) -> None:
    """Mask the blanks between two masked places together with the first of them."""
    before: int | None = None
    for place, unit in enumerate(seen):
        if unit is not None:
            if before is not None and place - before > 1 and text[before + 1 : place].isspace():
                seen[before + 1 : place] = [seen[before]] * (place - before - 1)
            before = place


@cache
def _kinds_of_things() -> Mapping[str, str]:
    """Map words to the kind of thing that they are, in their own script: of several kinds, the first of KINDS."""
    result: dict[str, str] = {}
    for kind in KINDS:
        for member in MEMBERS[kind]:
            if member.isascii() == kind.isascii():
                result.setdefault(member, kind)
    return result


def _standing(forms: frozenset[str]) -> re.Pattern[str]:
    """Make a pattern of where any of these forms stands as a word; in Han, anywhere."""
    longest_first = sorted((form for form in forms if form), key=lambda form: (-len(form), form))
    parts = (re.escape(form) if _HAN.search(form) else rf"(?<!\w){re.escape(form)}(?!\w)" for form in longest_first)
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)
