"""Whether a turn is worth remembering, by rules: MoFox's instant memory, which asks a model for 1 or 0.  SEEDS M11.

    worth   it holds `worth_words` content words; or one of these, however short it is: an anchor ("remember that …"), a
            statement, a relation, a name, a time or a number that it speaks of, an attachment, importance from 0.5 on
    not     all others: "haha, ok", "see you later", 好的好的, 嗯嗯

A package with a better judge registers another gate of the name `worth`.  The worth of a turn is decided once and
recorded; a turn that is not worth it stays in the log.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from state.events.events import TurnRecorded
from state.graph.graph import Graph

MATTERS: Final = 0.5
NAMES: Final = ("person", "place", "organisation", "product", "number")


def gate(turn: TurnRecorded, graph: Graph) -> TurnRecorded:
    """Find a turn unworthy that says nothing worth remembering."""
    is_worthy = worth_remembering(turn, graph.settings.worth_words)
    return turn if is_worthy else replace(turn, uncounted="unworthy")


def worth_remembering(turn: TurnRecorded, words: int) -> bool:
    """Judge a turn that is about to be recorded, by the rules above."""
    return holds_fast(turn) or _names(turn) or _content(turn) >= words


def holds_fast(turn: TurnRecorded) -> bool:
    """Return whether a turn holds what no gate may leave out: it says how things are, or that it matters."""
    matters = turn.importance is not None and turn.importance >= MATTERS
    return bool(turn.anchor or matters or turn.statements or turn.relations or turn.attachments)


def _names(turn: TurnRecorded) -> bool:
    return bool(turn.times) or any(concept.kind in NAMES for concept in turn.concepts)


def _content(turn: TurnRecorded) -> int:
    return sum(concept.id[:1] != "@" and not concept.is_phrase for concept in turn.concepts)
