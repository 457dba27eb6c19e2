"""Branch: a log's turns as they were sent, so that another memory can be made of them beside the first.

A branch is a memory of its own: another directory, or other topics on the same broker.  It gets the same turns, and its
own workers extract, link and close windows again, by their version and extractor, and its settings.  So an
upgrade of the algorithm is a branch that is compared and then used instead (docs/replay.md).

    TurnRecorded       the turn, with the event time that it was folded with
    GraphConfigured    the same settings, as a request; or those that the branch is given instead
    Forgotten          the request, by concept and turn ids; pins, feedback and rights likewise.  An event may name more
                       than a message may: then it is several messages
    AccessRevoked      the request, unless the grant before it was undone: a worker rejects a revocation of nothing
    SessionEnded       the request, if a user ended it; what ended on its own, the branch ends by its own settings
    TurnEmbedded       nothing: the branch embeds by its own model, or not at all
    ConceptsRecalled   nothing: those questions were asked of the first memory
    windows, ticks     nothing: the branch decides for itself

A branch is brought up to date from where it stands: every message comes with the sequence number up to which all is
dealt with once it is, so that what was sent before can be left out.  For turns that would not matter, as their ids
stay; but a request to forget that was sent again would forget what was said since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from msgspec import to_builtins

from emgas import limits
from emgas.messages.forgetting import Forget
from emgas.messages.rights import Grant, Revoke
from emgas.messages.sessions import EndSession
from emgas.messages.settings.memory_settings import Settings
from emgas.messages.turns import Configure, Feedback, Pin, Turn, Unpin
from emgas.times import datetime_of
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
MessageT = TypeVar("MessageT", Forget, Pin, Unpin, Feedback)


@dataclass(frozen=True)
class BranchSettings:
    """The settings of every graph of a branch: a preset and its differences, which replace those in the log."""

    preset: str
    settings: Settings


class BranchMessage(NamedTuple):
    """A message, and the sequence number of the last event that is dealt with once it is.

    An event may become several messages: only the last of them has its number.
    """

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
    access = _Access()
    async for event in events:
        is_effective = access.apply(event)
        if event.seq > after and is_effective:
            due = list(_of(event, settings, is_new=event.graph not in begun))
            for left, message in zip(reversed(range(len(due))), due, strict=True):
                yield BranchMessage(event.seq - bool(left), message)
        begun.add(event.graph)


class _Access:
    """The rights that the events so far grant, so that a revocation of rights without an owner is left out."""

    def __init__(self) -> None:
        self._rights: defaultdict[tuple[str, str], set[str]] = defaultdict(set)

    def apply(self, event: GraphEvent) -> bool:
        """Apply an event; return whether it changes anything, True for one of another kind."""
        if isinstance(event, AccessGranted):
            self._rights[event.graph, event.subject].update(event.rights)
        if not isinstance(event, AccessRevoked):
            return True
        rights = self._rights[event.graph, event.subject]
        is_effective = not rights.isdisjoint(event.rights)
        rights.difference_update(event.rights)
        return is_effective


def _of(event: GraphEvent, settings: BranchSettings | None, *, is_new: bool) -> Iterator[Message]:
    if settings is not None and is_new:
        yield _configure(event.graph, settings.preset, settings.settings, 0)
    for message in _messages(event):
        if settings is None or not isinstance(message, Configure):
            yield message


def _messages(event: GraphEvent) -> Iterator[Message]:
    if isinstance(event, TurnRecorded):
        yield _turn(event)
    elif isinstance(event, GraphConfigured):
        yield _as_configured(event)
    elif isinstance(event, Forgotten):
        names = {"concepts": event.concepts, "turns": event.turns}  # the event names all turns that left
        yield from _naming(Forget, "forget", event, names, word_only=True)
    elif isinstance(event, Pinned):
        yield from _naming(Pin, "pin", event, {"concepts": event.concepts, "turns": event.turns})
    elif isinstance(event, Unpinned):
        yield from _naming(Unpin, "unpin", event, {"concepts": event.concepts, "turns": event.turns})
    elif isinstance(event, FeedbackGiven):
        yield from _naming(Feedback, "feedback", event, {"turns": event.turns}, value=event.value)
    else:
        yield from _shared(event)


def _as_configured(event: GraphConfigured) -> Configure:
    preset = event.preset if event.preset in PRESETS else "default"  # the name may be a newer version's
    made = _configure(event.graph, preset, _differing(PRESETS[preset], event.settings), event.seq)
    # All of it, {} and "none" too: what the graph had of its own before is gone.
    own = {"mode": event.mode, "rerank": event.rerank or "none", "weights": event.weights}
    return Configure.model_validate({**made.model_dump(), **own, "timezone": event.timezone})


def _naming(
    model: type[MessageT], kind: str, event: GraphEvent, names: Mapping[str, Sequence[str]], **fields: Any
) -> Iterator[MessageT]:
    """Write a request that names what an event names, as many messages as their bounds ask for; none for no names.

    An erasure may have left an event no names.  A concept whose id no message can hold goes with its turns.
    """
    able = {field: [name for name in listed if len(name) <= limits.NAME_CHARACTERS] for field, listed in names.items()}
    for number, first in enumerate(range(0, max(map(len, able.values())), limits.TOP)):
        part = {field: listed[first : first + limits.TOP] for field, listed in able.items()}
        name = f"branch/{kind}/{event.seq}" + (f"/{number}" if number else "")
        yield model.model_validate({"kind": kind, "id": name, "graph": event.graph, **part, **fields})


def _shared(event: GraphEvent) -> Iterator[Message]:
    """Write what those who share a graph said of its conversations and rights."""
    if isinstance(event, SessionEnded) and event.reason == "said":
        name = f"branch/endsession/{event.seq}"
        yield EndSession(kind="endsession", id=name, graph=event.graph, session=event.session)
    elif isinstance(event, AccessGranted | AccessRevoked):
        kind, name = (Grant, "grant") if isinstance(event, AccessGranted) else (Revoke, "revoke")
        fields = {"subject": event.subject, "rights": event.rights}
        yield kind.model_validate({"kind": name, "id": f"branch/{name}/{event.seq}", "graph": event.graph, **fields})


def _turn(event: TurnRecorded) -> Turn:
    fields = ("id", "graph", "speaker", "text", "session", "role", "metadata", "importance", "origin")
    came = [to_builtins(each) for each in event.attachments]
    # As a date, not as a number: one of early 1970 would be taken for seconds.
    expires_at = None if event.expires_at is None else datetime_of(event.expires_at)
    changed = {"at": datetime_of(event.at), "attachments": came, "expires_at": expires_at}
    return Turn.model_validate({name: getattr(event, name) for name in fields} | changed)


def _configure(graph: str, preset: str, settings: Settings, seq: int) -> Configure:
    # Through validation: the name of a preset is text in the log, one of a list on the wire.
    fields = {"kind": "configure", "id": f"branch/configure/{seq}", "graph": graph, "preset": preset}
    return Configure.model_validate({**fields, "settings": settings})


def _differing(meant: MemorySettings, settings: MemorySettings) -> Settings:
    """Find what of `settings` differs from what a preset means in this version."""
    fields = {name: getattr(settings, name) for name in Settings.model_fields}
    return Settings(**{name: value for name, value in fields.items() if value != getattr(meant, name)})
