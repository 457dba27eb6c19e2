"""Decide by rules whether a turn is worth remembering: MoFox's instant memory, which asks a model for 1 or 0.

    worth   it holds `worth_words` content words; or one of these, however short it is: an anchor ("remember that …"), a
            statement, a relation, a name, a time or a number that it speaks of, an attachment, importance from 0.5 on,
            an event of a life ("we broke up", 爷爷去世了), something that is denied ("not any more"), or an answer to a
            question of another one just before
    not     all others: "haha, ok", "see you later", 好的好的, 嗯嗯

A package with a better judge registers another gate of the name `worth`.  The worth of a turn is decided once and
recorded; a turn that is not worth it goes to the archive as it comes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from msgspec.structs import replace

from processors.text import tables
from state.events.events import TurnRecorded
from state.graph.graph import Graph

MATTERS: Final = 0.5
NAMES: Final = ("person", "place", "organisation", "product", "number")
_DENIES: Final = re.compile(r"\b(?:not|never|no longer|\w+n't|cannot)\b|[不没未别无]", re.IGNORECASE)


@cache
def _of_a_life() -> re.Pattern[str]:
    """Compile what people say of what changes a life (data/life_events.tsv)."""
    rows = list(tables.rows("processors.text.facts", "life_events"))
    latin = "|".join(pattern for script, pattern in rows if script == "latin")
    return re.compile(
        rf"\b(?:{latin})\b|{'|'.join(pattern for script, pattern in rows if script == 'han')}", re.IGNORECASE
    )


def gate(turn: TurnRecorded, graph: Graph) -> TurnRecorded:
    """Find a turn unworthy that says nothing worth remembering."""
    is_worthy = worth_remembering(turn, graph.settings.worth_words) or (_content(turn) > 0 and _answers(turn, graph))
    return turn if is_worthy else replace(turn, uncounted="unworthy")


def worth_remembering(turn: TurnRecorded, words: int) -> bool:
    """Judge a turn that is about to be recorded by what it says alone."""
    return holds_fast(turn) or _names(turn) or _content(turn) >= words or _denies(turn)


def holds_fast(turn: TurnRecorded) -> bool:
    """Return whether a turn holds what no gate may set aside: it tells how things are, an event, or that it matters."""
    matters = turn.importance is not None and turn.importance >= MATTERS
    says = turn.statements or turn.relations or _of_a_life().search(turn.text)
    return bool(turn.anchor or matters or says or turn.attachments)


def _answers(turn: TurnRecorded, graph: Graph) -> bool:
    """Return whether a turn comes right after a question of another one in its session."""
    passages = graph.passages
    last = passages.last_of(turn.session)
    return (
        last >= 0 and bool(passages.question[last]) and list(passages.speakers)[passages.speaker[last]] != turn.speaker
    )


def _denies(turn: TurnRecorded) -> bool:
    return _content(turn) > 0 and _DENIES.search(turn.text) is not None


def _names(turn: TurnRecorded) -> bool:
    return bool(turn.times) or any(concept.kind in NAMES for concept in turn.concepts)


def _content(turn: TurnRecorded) -> int:
    return sum(concept.id[:1] != "@" and not concept.is_phrase for concept in turn.concepts)
