"""Which method of a graph folds which kind of event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from state.events.base import GraphEvent

Fold = TypeVar("Fold", bound=Callable[..., bool])
FOLDS: dict[type[GraphEvent], Callable[[Any, Any], bool]] = {}  # kind of event → the method of Graph that folds it


def folds(kind: type[GraphEvent]) -> Callable[[Fold], Fold]:
    """Register the method below as the fold of one kind of event: it returns whether the event had an effect."""

    def registered(fold: Fold) -> Fold:
        FOLDS[kind] = fold
        return fold

    return registered
