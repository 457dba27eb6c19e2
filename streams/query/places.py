"""The places of questions that wait or are being answered, and who gives way when there is none left.

One asker alone may hold them all.  When another comes, it takes a place of whoever holds most: of a client, else of a
graph.  Who holds most is at least two ahead of the newcomer, so nobody is driven out in circles; and of its questions
the newest goes, so that the others come to their end.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

from emgas.wire import ReplyAddress


def _nothing() -> None:
    """Tell nobody that a question was told."""


class Place(NamedTuple):
    """A question that is being answered: who asked (None: nobody who can be told), and which graph.

    told  to be called once an answer, or why there is none, is in the log
    """

    to: ReplyAddress | None
    graph: bytes | None
    told: Callable[[], object] = _nothing

    @property
    def client(self) -> Hashable:
        """Name the client: the partition of the topic that it reads its answers from."""
        return None if self.to is None else (self.to.topic, self.to.partition)


class Places:
    """At most `most` questions, each a task."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[asyncio.Task[None], Place] = {}  # oldest first
        self._settled: set[asyncio.Task[None]] = set()  # they have been answered

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        """All that hold a place, oldest first."""
        return list(self._held)

    def hold(self, task: asyncio.Task[None], place: Place) -> None:
        """Give a place to `task` until it ends."""
        self._held[task] = place
        task.add_done_callback(self._leave)

    def unanswered(self, tasks: Iterable[asyncio.Task[None]]) -> list[Place]:
        """Find the places of those among `tasks` that have no answer yet."""
        return [self._held[task] for task in tasks if task in self._held and task not in self._settled]

    def settle(self, task: asyncio.Task[None]) -> None:
        """Note that `task` has its answer: it gives way to nobody."""
        self._settled.add(task)

    def _leave(self, task: asyncio.Task[None]) -> None:
        self._held.pop(task, None)
        self._settled.discard(task)

    def make_room(self, newcomer: Place) -> tuple[bool, Place | None]:
        """Tell whether there is a place for `newcomer`, and whose question was cancelled for it."""
        if len(self._held) < self._most:
            return True, None
        movable = {task: place for task, place in self._held.items() if task not in self._settled}
        for kind in ("client", "graph"):
            task = _most_held(movable, kind, getattr(newcomer, kind))
            if task is not None:
                task.cancel()
                return True, self._held.pop(task)
        return False, None


def _most_held(held: dict[asyncio.Task[None], Place], kind: str, newcomer: Hashable) -> asyncio.Task[None] | None:
    """Find the newest question of whoever holds most, if that is at least two more than `newcomer` holds."""
    counts = Counter[Hashable](getattr(place, kind) for place in held.values())
    if not counts:
        return None
    ((greediest, most),) = counts.most_common(1)
    if most < counts[newcomer] + 2:
        return None
    return next(task for task, place in reversed(held.items()) if getattr(place, kind) == greediest)
