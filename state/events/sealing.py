"""Events of encrypted graphs: an erasure, and any other event in its encrypted form."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from emgas import limits
from state.events.base import ALWAYS, GraphEvent, Ordinal
from state.events.registry import EventTiming, graph_event


def _erased(event: SubjectErased) -> str:
    return "erased all that was said before" if event.whole else f"erased {len(event.turns)} turns"


Run = tuple[Ordinal, Ordinal]  # ordinals among the events of the graph: first, last


@graph_event(EventTiming.UNTIMED, summary=_erased, touches=lambda event: event.turns, is_step=False)
class SubjectErased(GraphEvent, frozen=True, kw_only=True):
    """Content of the graph was erased: its keys are destroyed once this is in the log.  It cannot be taken back.

    whole    all that was said before; else:
    keys     ids of the keys that are destroyed, whole or but for these events
    turns    their ids: a turn that comes again under one of them is not recorded again
    events   whose secrets are destroyed
    instead  replacements of some of those: events, as record values, without the erased names
    """

    src: Annotated[Ordinal | None, ALWAYS] = None
    whole: bool
    keys: list[str]
    turns: list[str]
    events: list[Run]
    instead: list[tuple[Ordinal, bytes]]

    def __post_init__(self) -> None:
        """Raise ValueError for runs that are none, or that are too long to expand."""
        if any(not first <= last < first + limits.GRAPH_EVENTS for first, last in self.events):
            raise ValueError("events: a run ends before it begins, or is longer than any graph")


@graph_event(EventTiming.UNTIMED, summary=lambda event: "erased before the graph came here", is_step=False)
class EventErased(GraphEvent, frozen=True, kw_only=True):
    """Stands where an event was erased before the graph came here (replay/transfer.py); it does nothing."""

    src: Annotated[Ordinal | None, ALWAYS] = None


@graph_event(EventTiming.UNTIMED, summary=lambda event: "erased: no key opens it any more", is_step=False)
class Sealed(GraphEvent, frozen=True, kw_only=True):
    """Another event of the graph, encrypted (state/sealing/keyring.py); as it is, it does nothing.

    key   id of the graph's key that seals it     n   its ordinal in the graph, by which its secret is derived
    body  nonce, ciphertext and tag
    """

    src: Annotated[Ordinal | None, ALWAYS] = None
    key: Annotated[str, Meta(pattern=r"^[0-9a-f]{16}\Z")]
    n: Ordinal
    body: bytes
