"""Talk that ends many windows of each kind: one week it goes on over the week's end, the next it ends in silence.

    week 0   … 12 turns, the last of them after the end of the week     a tumbling window of consolidation closes
    week 1   12 turns in its middle                                     the session closes, once the next week speaks
    all      what only one week was about is forgotten some weeks later decay windows

For graphs that live by `forgetful` with least_turns=2.
"""

from __future__ import annotations

from collections.abc import Iterable

from emgas import Turn
from emgas.times import DAY_MS as DAY
from emgas.times import MINUTE_MS as MINUTE
from state.events.events import AnyEvent, ConsolidationWindowClosed, MemoryArchived

WEEKS = 24
FIRST_WEEK = 2784 * 7 * DAY  # ms: the tumbling windows of a week end at its multiples
OF_A_WEEK = 12
THINGS = (
    "anchor",
    "basil",
    "cactus",
    "dragon",
    "ember",
    "falcon",
    "glacier",
    "harbour",
    "igloo",
    "jacket",
    "kayak",
    "lamp",
)
KINDS = ("decay", "session", "tumbling")


def talk(graphs: Iterable[str], weeks: int = WEEKS) -> list[Turn]:
    """Return what is said in each of `graphs`, by time."""
    return [_turn(graph, week, number) for week in range(weeks) for number in range(OF_A_WEEK) for graph in graphs]


def _turn(graph: str, week: int, number: int) -> Turn:
    thing = THINGS[week % len(THINGS)]
    start = FIRST_WEEK + week * 7 * DAY + (3 * DAY if week % 2 else 0)
    return Turn(
        id=f"t{week}-{number}",
        graph=graph,
        speaker="Ada",
        text=f"The kettle number {number} stands beside the {thing}.",
        at=start + (number - OF_A_WEEK + 2) * 10 * MINUTE,
    )


def kinds(events: Iterable[AnyEvent]) -> dict[str, list[str]]:
    """Return the kinds of the windows among `events`, by graph, in order."""
    closed: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, MemoryArchived):
            closed.setdefault(event.graph, []).append("decay")
        elif isinstance(event, ConsolidationWindowClosed):
            closed.setdefault(event.graph, []).append("session" if event.at % (7 * DAY) else "tumbling")
    return closed
