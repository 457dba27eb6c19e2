"""Events of access: rights of subjects in a graph."""

from __future__ import annotations

from typing import Annotated, Literal

from state.events.base import ALWAYS, GraphEvent, Ordinal
from state.events.registry import EventTiming, graph_event

Right = Literal["read", "write", "forget", "admin"]


class AccessEvent(GraphEvent, frozen=True, kw_only=True):
    """Base of events on rights in a graph: `subject`, as a record's header names it, and rights."""

    src: Annotated[Ordinal | None, ALWAYS] = None
    subject: str
    rights: list[Right]


@graph_event(EventTiming.UNTIMED, summary=lambda event: f"{event.subject} may {', '.join(event.rights)}")
class AccessGranted(AccessEvent, frozen=True, kw_only=True):
    """A subject gets rights.  From the first grant on, the graph is closed to all other subjects."""


@graph_event(EventTiming.UNTIMED, summary=lambda event: f"{event.subject} may no longer {', '.join(event.rights)}")
class AccessRevoked(AccessEvent, frozen=True, kw_only=True):
    """A subject loses rights."""
