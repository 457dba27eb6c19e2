"""Find the people that a turn's pronouns mean, by the names that a graph knows: "He [Tomas] moved to Lyon", 他 [陈伟].

Nothing is stored: what was said stays as it was.  The mentions are those that were recorded with the turn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from processors.extraction.tags import by
from processors.text import tables
from processors.text.language import clean
from state.events.events import TurnRecorded
from state.graph.view import GraphView

SHOWN_FROM: Final = 0.8  # confidence
_THIRD: Final = frozenset({"he", "him", "his", "himself", "she", "her", "hers", "herself", "他", "她", "他的", "她的"})
_SHORTENED: Final = tables.lazy(r"['’](?:s|d|ll)\b")


def people_meant(turn: TurnRecorded, name_of: Callable[[str], str]) -> tuple[tuple[int, str], ...]:
    """Return where a pronoun ends and whom it means, once for each person whom the turn does not name."""
    named: dict[str, int] = {}
    for mention in turn.mentions:
        if mention.confidence < SHOWN_FROM or turn.text[mention.start : mention.end].lower() not in _THIRD:
            continue
        name = name_of(mention.concept)
        if name and name.casefold() not in turn.text.casefold() and name != turn.speaker:
            shortened = _SHORTENED.match(turn.text, mention.end)
            named.setdefault(name, shortened.end() if shortened else mention.end)
    return tuple((end, name) for name, end in named.items())


def names_of(view: GraphView) -> Callable[[str], str]:
    """Return a function that finds the name of a concept or a speaker; it returns "" for an unknown one."""
    speakers = {tag: speaker for speaker in view.speakers if (tag := by(clean(speaker)))}

    def name_of(concept: str) -> str:
        number = view.number(concept)
        return speakers.get(concept, "") if concept[:1] == "@" else "" if number is None else view.labels[number]

    return name_of
