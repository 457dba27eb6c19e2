"""What is too much to be forgotten in one event, cut so that a request that is read again goes on with the rest."""

from __future__ import annotations

from collections.abc import Sequence

from processors.lifecycle.forgetting import Leaving
from processors.lifecycle.parts import parts


def resumable_parts(gone: Leaving, named: Sequence[str]) -> list[dict[str, list[str]]]:
    """Cut what goes, if it is too much for one record, so that what was asked for finds the rest until all is gone.

    named  the concepts that were asked for: they lead to turns that go with them, so they go last
    """
    whole = list(parts(gone._asdict()))
    if len(whole) == 1:
        return whole
    others = [concept for concept in gone.concepts if concept not in named]
    asked_for = [concept for concept in gone.concepts if concept in named]
    cut = [*parts({"concepts": others, "turns": gone.turns}), *parts({"concepts": asked_for, "turns": []})]
    return [part for part in cut if any(part.values())]
