"""What leaves the active tier when a window ends: what a habit covers, the oldest of too many; nothing by default."""

from __future__ import annotations

from typing import Any

import pytest

from emgas.times import DAY_MS
from state.events.events import MemoryArchived, Pinned
from tests.processors.test_habits import a_turn, lived, mornings, query
from tests.support.builders import UNLINKED
from tests.support.clocks import NOON
from tests.support.living import Life

THINGS = ("kettle", "cat", "sofa", "boat", "tree", "lamp", "roof", "bell", "coat", "drum", "fork", "gate")


def archived(life: Life) -> set[str]:
    passages = life.graph.passages
    return {turn for turn, number in passages.numbers.items() if passages.archived[number]}


def test_nothing_leaves_unless_somebody_wants_that() -> None:
    assert archived(lived(mornings(range(60)))) == set()


@pytest.mark.source("P24", "P1")
def test_what_a_habit_covers_is_archived_after_a_while_and_still_found() -> None:
    other = a_turn("vet", "The vet gave the cat a chip.", NOON)
    life = lived([*mornings(range(60)), other], archive_covered=30 * DAY_MS)
    left = archived(life)
    assert "vet" not in left
    assert {f"m{day:03d}" for day in range(20)} <= left
    assert {f"m{day:03d}" for day in range(50, 60)}.isdisjoint(left)
    passages = query(life, "What did I order at the corner?", top_passages=50, min_likelihood=0.0).passages
    assert any(each.archived for each in passages)
    only: dict[str, Any] = {"min_likelihood": 0.0, "only": {"include_archive": False}}
    alone = query(life, "What did I order at the corner?", top_passages=50, **only).passages
    assert alone
    assert not any(each.archived for each in alone)


@pytest.mark.source("P25", "P24")
def test_the_oldest_of_too_many_are_archived_but_not_what_matters_or_is_pinned() -> None:
    turns = [
        a_turn(
            f"t{n:02d}",
            f"Thing number {n} happened with the {word}.",
            NOON + n * DAY_MS,
            importance=0.9 if n == 1 else None,
        )
        for n, word in enumerate(THINGS)
    ]
    life = lived(turns[:4], until=5, active_turns=6)
    life.fold(Pinned(**UNLINKED, src=0, graph="ada", concepts=[], turns=["t02"]))
    for turn in turns[4:]:
        life.tell(turn)
    life.tick(NOON + 400 * DAY_MS)
    assert archived(life) == {"t00", "t03", "t04", "t05", "t06", "t07"}
    assert any(isinstance(event, MemoryArchived) for event in life.events)
