"""The registry of event kinds: a decorator above each class declares once what other layers need to know.

Adding a kind of event touches three places:

    1. state/events/…            its class, in the file of its part of the life cycle, under `@graph_event(…)` or
                                 `@control_event`.  From there come what `decode` reads, what a fold accepts, when it
                                 counts for a look at the past, what `emgas replay events` says of it, what `emgas
                                 replay undo --last` counts, and what `emgas replay verify` looks for in it; a
                                 WindowEvent is also published in the topic `changes`.  events.py imports each file
    2. state/graph/graph.py      the method that folds it, under `@folds(…)`; control events have none
    3. tests/golden/make.py      something that makes one, for the golden log of the new version: the kinds there are
                                 belong to the schema (docs/extending.md, "Change the schema")

Readers of the registry need no change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

Kind = TypeVar("Kind", bound=type)


class EventTiming(IntEnum):
    """The time from which an event counts, in its graph's own time.

    UNTIMED  from where it stands: it has no time of its own
    TIMED    `at`: it moves the graph's clock
    WINDOW   `at` and the grace that is in force: it was decided when the window was closed, and is decided again when
             the graph is viewed as of a time for which the log holds other events than it did then
    """

    UNTIMED = 0
    TIMED = 1
    WINDOW = 2


class EventSpec(NamedTuple):
    """A kind of graph event.

    timing    see EventTiming
    summary   event → one line for people
    touches   event → the ids of the concepts, turns and themes that it may change
    is_step   whether it is one of "the last n events" that a user may want to take back; else it goes with the one
              before it
    """

    timing: EventTiming
    summary: Callable[[Any], str]
    touches: Callable[[Any], Iterable[str]]
    is_step: bool


def concepts_and_turns(event: Any) -> tuple[str, ...]:
    """List the concepts and turns of an event that has lists of both: for `touches`."""
    return *event.concepts, *event.turns


KINDS: list[type] = []  # every class of event, in the order of declaration
SPECS: dict[type, EventSpec] = {}  # of the graph events among them


def control_event(kind: Kind) -> Kind:
    """Register an event that belongs to no graph's fold."""
    KINDS.append(kind)
    return kind


def graph_event(
    timing: EventTiming,
    *,
    summary: Callable[[Any], str],
    touches: Callable[[Any], Iterable[str]] = lambda event: (),
    is_step: bool = True,
) -> Callable[[Kind], Kind]:
    """Register an event that a graph is folded from: see EventSpec."""

    def registered(kind: Kind) -> Kind:
        SPECS[kind] = EventSpec(timing, summary, touches, is_step)
        return control_event(kind)

    return registered
