"""How a graph lives, weighs and answers from here on: the event that a request to configure it leaves."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from state.events.base import GraphEvent, Ordinal
from state.events.memory_settings import MemorySettings
from state.events.registry import Timing, graph_event


def _lives_by(event: GraphConfigured) -> str:
    own = f", with {len(event.weights)} weights of its own" if event.weights else ""
    return f"lives by {event.preset}{own}"


@graph_event(Timing.UNTIMED, summary=_lives_by)
class GraphConfigured(GraphEvent, frozen=True, kw_only=True):
    """How the graph lives from here on.  A replay never reads anybody's configuration: all values are here.

    weights  what features of a turn are worth in its recall, by name, where that is not the default: written only
             where there are any
    mode     in which its questions are answered that name none, and
    rerank   by whose formula they are ordered, "" for none: names of emgas/messages/modes.py, written where they differ
    timezone where its people are, an IANA name: of turns and questions that do not say; written where it is not UTC
    """

    src: Ordinal | None = None
    preset: str
    settings: MemorySettings
    weights: dict[str, Annotated[float, Meta(ge=-1000, le=1000)]] = msgspec.field(default_factory=dict)
    mode: str = "default"
    rerank: str = ""
    timezone: str = "UTC"
