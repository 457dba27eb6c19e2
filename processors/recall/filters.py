"""Which passages may be recalled: by session, speaker, time, concept, and by name left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from processors.recall.edge_scores import Mask, holding
from state.graph.view import GraphView, Integers


@dataclass(frozen=True)
class Filter:
    """What a passage must be to be recalled; None does not ask.  What is filtered out still carries flow to others.

    sessions, speakers  one of these, as they were written
    since, until        event time in ms: since <= at < until
    concepts            holds one of these concept ids
    exclude             turn ids that must not come back, such as those that are in the prompt already
    """

    sessions: frozenset[str] | None = None
    speakers: frozenset[str] | None = None
    since: int | None = None
    until: int | None = None
    concepts: frozenset[str] | None = None
    exclude: frozenset[str] = frozenset()

    def allowed(self, view: GraphView) -> Mask | None:
        """Return (p,) which passages may be recalled, None for all of them."""
        if all(getattr(self, field.name) == field.default for field in fields(self)):
            return None
        allowed = np.ones(len(view.passage_at), np.bool_)
        if self.sessions is not None:
            allowed &= np.isin(view.passage_session, _positions(view.sessions, self.sessions))
        if self.speakers is not None:
            allowed &= np.isin(view.passage_speaker, _positions(view.speakers, self.speakers))
        if self.since is not None:
            allowed &= view.passage_at >= self.since
        if self.until is not None:
            allowed &= view.passage_at < self.until
        if self.concepts is not None:
            numbers = [number for name in self.concepts if (number := view.number(name)) is not None]
            allowed &= holding(view, np.array(numbers, np.int64))
        if self.exclude:
            allowed[[number for number in range(len(allowed)) if view.passage_id[number] in self.exclude]] = False
        return allowed


def _positions(names: Sequence[str], wanted: Iterable[str]) -> Integers:
    chosen = set(wanted)
    return np.array([position for position, name in enumerate(names) if name in chosen], np.int64)
