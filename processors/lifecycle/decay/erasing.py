"""Find what must be destroyed to erase a subject: turns, and all other records in the log with their content.

    turns of the subject        the turns themselves, and their vectors
    windows, recalls, requests  that name a concept which no one else ever said: they are kept without that name, and
                                the record that had it is destroyed as well

What others said stays as they said it, about the subject too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from emgas import limits
from state.events.events import (
    ConsolidationWindowClosed,
    GraphEvent,
    MemoryArchived,
    MemoryConsolidated,
    SessionSummarised,
    SubjectErased,
    Superseded,
    TurnEmbedded,
    TurnRecorded,
    decode_as,
    encode,
)
from state.events.sealing import Run

RUN_BYTES = 24  # that an ordinal takes in JSON, at most, where no run holds it


class Erasure(NamedTuple):
    """One part of what a SubjectErased says; its fields, but for those that the worker knows."""

    turns: list[str]
    events: list[Run]
    instead: list[tuple[int, bytes]]


class _Item(NamedTuple):
    ordinal: int
    turn: str | None = None
    instead: bytes | None = None

    @property
    def size(self) -> int:
        return RUN_BYTES + len(self.turn or "") + 4 * len(self.instead or b"") // 3


def erasures(
    events: Sequence[GraphEvent | None], is_subject: Callable[[TurnRecorded], bool], dark: Iterable[int] = ()
) -> Iterator[Erasure]:
    """Decide what to erase, in parts that a record can hold; nothing if no turn is the subject's and nothing is dark.

    events  all that stand in the graph, by ordinal; None for one that does not count any more
    dark    ordinals of those whose keys are destroyed, though no erasure names them

    What names concepts comes first: cut off behind any part, the same question finds all that is left.
    """
    recorded = {ordinal: event for ordinal, event in enumerate(events) if isinstance(event, TurnRecorded)}
    subject = {ordinal: event for ordinal, event in recorded.items() if is_subject(event)}
    turns = {event.id for event in subject.values()}
    names = _concepts_of_turns(subject.values()) - _concepts_of_turns(
        event for ordinal, event in recorded.items() if ordinal not in subject
    )
    redacted = list(_redacted(events, names, turns)) if subject else []
    items = [_Item(ordinal, event.id) for ordinal, event in subject.items()]
    vectors = (_Item(at) for at, event in enumerate(events) if isinstance(event, TurnEmbedded) and event.id in turns)
    yield from _parts([*redacted, *vectors, *items, *map(_Item, dark)])


def _concepts_of_turns(turns: Iterable[TurnRecorded]) -> set[str]:
    """List the concepts of turns, by their ids and by how they were written."""
    return {name for turn in turns for concept in turn.concepts for name in (concept.id, concept.label)}


def _redacted(events: Sequence[GraphEvent | None], names: AbstractSet[str], turns: AbstractSet[str]) -> Iterator[_Item]:
    resting = _resting_on(events, names, turns)
    for ordinal, event in enumerate(events):
        if event is not None and not isinstance(event, TurnRecorded | TurnEmbedded):
            left = _without(event, names, turns)
            if isinstance(event, MemoryConsolidated) and event.id in resting:
                left = _no_habit(event)
            if left != event:
                yield _Item(ordinal, instead=encode(left))


def _without(event: GraphEvent, names: AbstractSet[str], turns: AbstractSet[str]) -> GraphEvent:
    """Leave names of concepts and ids of turns out of an event."""
    if isinstance(event, SessionSummarised):  # it quotes: without one of its turns, nothing of it is left
        return replace(event, text="", turns=[]) if turns & set(event.turns) else event
    if isinstance(event, SubjectErased):
        kept = [(at, encode(_without(decode_as(GraphEvent, value), names, turns))) for at, value in event.instead]
        return replace(event, instead=kept)
    if isinstance(event, Superseded):
        return _history_without(event, turns)
    gone = {"concepts": names, "turns": turns, "consolidated": names, "related": names}
    lists = {
        field: [name for name in getattr(event, field) if name not in left_out]
        for field, left_out in gone.items()
        if hasattr(event, field)
    }
    if isinstance(event, MemoryArchived):
        cut = ([name for name in link if name not in names] for link in event.links if link[0] not in names)
        lists["links"] = [link for link in cut if len(link) > 1]
    elif hasattr(event, "links"):
        lists["links"] = [link for link in event.links if names.isdisjoint(link)]
    left = replace(event, **lists)
    return _window_without(left, names, turns) if isinstance(left, ConsolidationWindowClosed) else left


def _resting_on(events: Iterable[GraphEvent | None], names: AbstractSet[str], turns: AbstractSet[str]) -> set[str]:
    """Find the habits that rest on what is erased: nothing of them is kept."""
    habits = (event for event in events if isinstance(event, MemoryConsolidated))
    return {habit.id for habit in habits if not (turns.isdisjoint(habit.members) and names.isdisjoint(habit.concepts))}


def _no_habit(event: MemoryConsolidated) -> MemoryConsolidated:
    """Return the event of a habit without any content: the habit does not exist any more."""
    nothing: dict[str, Any] = {"speaker": "", "text": "", "concepts": [], "members": [], "exceptions": []}
    counts = {"count": 0, "days": 0, "first": event.at, "last": event.at, "period": 0}
    return replace(event, **nothing, **counts, hours=[0] * 24, weekdays=[0] * 7)


def _history_without(event: Superseded, turns: AbstractSet[str]) -> Superseded:
    """Leave erased turns out of what is history; what of it was said of nothing else says nothing any more."""
    older = [] if event.newer in turns else [turn for turn in event.older if turn not in turns]
    return replace(event, older=older) if older else replace(event, older=[], newer="", about="")


def _window_without(
    event: ConsolidationWindowClosed, names: AbstractSet[str], turns: AbstractSet[str]
) -> ConsolidationWindowClosed:
    changes = [
        replace(
            change,
            concepts=[name for name in change.concepts if name not in names],
            label=", ".join(word for word in change.label.split(", ") if word not in names),
        )
        for change in event.topics
    ]
    pairs = {name: [pair for pair in getattr(event, name) if not turns & set(pair)] for name in ("merged", "repeats")}
    return replace(event, topics=changes, **pairs)


def _parts(items: Sequence[_Item]) -> Iterator[Erasure]:
    part: list[_Item] = []
    size = 0
    for item in items:
        if part and size + item.size > limits.EVENT_NAMES_BYTES:
            yield _erasure(part)
            part, size = [], 0
        part.append(item)
        size += item.size
    if part:
        yield _erasure(part)


def _erasure(items: Sequence[_Item]) -> Erasure:
    turns = [item.turn for item in items if item.turn is not None]
    instead = [(item.ordinal, item.instead) for item in items if item.instead is not None]
    return Erasure(turns, runs(item.ordinal for item in items), instead)


def runs(ordinals: Iterable[int]) -> list[Run]:
    """Sum up ordinals as runs (first, last), ascending."""
    ascending = sorted(ordinals)
    if not ascending:
        return []
    breaks = [(before, after) for before, after in pairwise(ascending) if after != before + 1]
    firsts = [ascending[0], *(after for _, after in breaks)]
    lasts = [*(before for before, _ in breaks), ascending[-1]]
    return list(zip(firsts, lasts, strict=True))
