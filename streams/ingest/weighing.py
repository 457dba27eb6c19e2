"""How much a turn matters: what its sender says of it, or else what anchors its text."""

from __future__ import annotations

from typing import TypedDict

from emgas.messages.turns import Turn
from processors.text.anchors import anchored
from state.events.extraction_types import Anchor


class Weighed(TypedDict):
    """How much a turn matters, None for as much as any other, and the rule that says so."""

    importance: float | None
    anchor: Anchor | None


def weighed(turn: Turn) -> Weighed:
    """Find how much a turn matters: a sender who says it is believed, else what anchors its text decides."""
    found = anchored(turn.text)
    if found is None:
        return {"importance": turn.importance, "anchor": None}
    anchor, importance = found
    return {"importance": importance if turn.importance is None else turn.importance, "anchor": anchor}
