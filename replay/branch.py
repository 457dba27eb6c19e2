"""Branch: a log's turns as they were sent, so that another memory can be made of them beside the first.

A branch is a memory of its own: another directory, or other topics on the same broker.  It gets the same turns, and its
own workers extract, link and close windows anew, by their version, their extractor and the settings it is given.  So an
upgrade of the algorithm is a branch that is compared and then used instead (docs/replay.md).

    TurnRecorded       the turn, with the event time that it was folded with
    GraphConfigured    the same settings, as a request; or those that the branch is given instead
    Forgotten          the request, by concept and turn ids; pins, feedback and rights likewise
    SessionEnded       the request, if a user ended it; what ended by itself, the branch ends by its own settings
    TurnEmbedded       nothing: the branch embeds by its own model, or not at all
    ConceptsRecalled   nothing: those questions were asked of the first memory
    windows, ticks     nothing: the branch decides for itself

A branch is brought up to date from where it stands: every message comes with the sequence number of its event, so that
what was sent before can be left out.  For turns that would not matter, as their ids stay; but a request to forget that
was sent again would forget what was said since.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from emgas.messages.memory_settings import Settings
from emgas.messages.rights import Grant, Revoke
from emgas.messages.sessions import EndSession
from emgas.messages.turns import Configure, Feedback, Forget, Pin, Turn, Unpin
from state.events.events import (
    AccessGranted,
    AccessRevoked,
    FeedbackGiven,
    Forgotten,
    GraphConfigured,
    GraphEvent,
    Pinned,
    SessionEnded,
    TurnRecorded,
    Unpinned,
)
from state.events.memory_settings import PRESETS, MemorySettings

Message = Turn | Configure | Forget | Pin | Unpin | Feedback | EndSession | Grant | Revoke


@dataclass(frozen=True)
class BranchSettings:
    """How every graph of a branch lives: a preset and what differs from it, instead of what the log says."""

    preset: str
    settings: Settings


class BranchMessage(NamedTuple):
    """A message, and the sequence number of the event that it is sent for."""

    seq: int
    message: Message


async def messages(
    events: AsyncIterable[GraphEvent], settings: BranchSettings | None = None, after: int = 0
) -> AsyncIterator[BranchMessage]:
    """Yield what has to be sent for one partition's `events`, in their order.

    settings  each graph begins with that, instead of what the log says
    after     sequence number of the last event that was dealt with before
    """
    begun: set[str] = set()
    async for event in events:
        if event.seq > after:
            for message in _of(event, settings, is_new=event.graph not in begun):
                yield BranchMessage(event.seq, message)
        begun.add(event.graph)


def _of(event: GraphEvent, settings: BranchSettings | None, *, is_new: bool) -> Iterator[Message]:
    if settings is not None and is_new:
        yield _configure(event.graph, settings.preset, settings.settings, 0)
    message = _message(event)
    if message is not None and not (settings is not None and isinstance(message, Configure)):
        yield message


def _message(event: GraphEvent) -> Message | None:
    if isinstance(event, TurnRecorded):
        return _turn(event)
    if isinstance(event, GraphConfigured):
        preset = event.preset if event.preset in PRESETS else "default"  # the name may be a newer version's
        made = _configure(event.graph, preset, _differing(PRESETS[preset], event.settings), event.seq)
        # All of it, {} and "none" too: what the graph had of its own before is gone.
        own = {"mode": event.mode, "rerank": event.rerank or "none", "weights": event.weights}
        own |= {"timezone": event.timezone}
        return Configure.model_validate({**made.model_dump(), **own})
    if isinstance(event, Forgotten):
        name = f"branch/forget/{event.seq}"
        return Forget(kind="forget", id=name, graph=event.graph, concepts=event.concepts, turns=event.turns)
    if isinstance(event, Pinned | Unpinned):
        kind, name = (Pin, "pin") if isinstance(event, Pinned) else (Unpin, "unpin")
        named = {"concepts": event.concepts, "turns": event.turns}
        return kind.model_validate({"kind": name, "id": f"branch/{name}/{event.seq}", "graph": event.graph, **named})
    if isinstance(event, FeedbackGiven):
        name = f"branch/feedback/{event.seq}"
        return Feedback(kind="feedback", id=name, graph=event.graph, turns=event.turns, value=event.value)
    return _shared(event)


def _shared(event: GraphEvent) -> Message | None:
    """Write what those who share a graph said of its conversations and rights."""
    if isinstance(event, SessionEnded) and event.reason == "said":
        name = f"branch/endsession/{event.seq}"
        return EndSession(kind="endsession", id=name, graph=event.graph, session=event.session)
    if isinstance(event, AccessGranted | AccessRevoked):
        kind, name = (Grant, "grant") if isinstance(event, AccessGranted) else (Revoke, "revoke")
        said = {"subject": event.subject, "rights": event.rights}
        return kind.model_validate({"kind": name, "id": f"branch/{name}/{event.seq}", "graph": event.graph, **said})
    return None


def _turn(event: TurnRecorded) -> Turn:
    return Turn(
        id=event.id,
        graph=event.graph,
        speaker=event.speaker,
        text=event.text,
        session=event.session,
        role=event.role,
        at=event.at,
        metadata=event.metadata,
        importance=event.importance,
    )


def _configure(graph: str, preset: str, settings: Settings, seq: int) -> Configure:
    # Through validation: the name of a preset is text in the log, one of a list on the wire.
    fields = {"kind": "configure", "id": f"branch/configure/{seq}", "graph": graph, "preset": preset}
    return Configure.model_validate({**fields, "settings": settings})


def _differing(meant: MemorySettings, settings: MemorySettings) -> Settings:
    """Find what of `settings` differs from what a preset means in this version."""
    fields = {name: getattr(settings, name) for name in Settings.model_fields}
    return Settings(**{name: value for name, value in fields.items() if value != getattr(meant, name)})
