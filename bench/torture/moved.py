"""Graphs that move between two homes while a client writes to them, and what must hold of them in the end.

A home is a memory and the graph's name there.  With two names in one memory, a move changes the partition.

    once    each turn that was taken is recorded once where the graph lives (`taken`, counted by scene.py)
    one     the graph lives in one of its homes
    digest  what its former home holds folds to the digest of as many events of its present one
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Final

from emgas import MemoryClient, Turn
from emgas.errors import EmgasError
from emgas.times import DAY_MS
from emgas.wire import Record, partition_of
from replay.transfer import SortedPartition, restamped, survey
from state.partition import Partition
from state.store.store import MemoryStore
from streams.settings import WorkerSettings
from streams.transport import select

MAIN: Final = "torture"  # prefix of the memory under test
TRY_SECONDS: Final = 4.0  # that a client waits for an outcome before it sends the same turn again
AGAIN_SECONDS: Final = 0.2  # until a turn that came amid a move is sent again
FIRST_MS: Final = 19_000 * DAY_MS
ANY_NAME: Final = "moved"  # a graph's name is part of its digest
ON_ITS_WAY: Final = ("is being moved", "is incomplete")


@dataclass(frozen=True)
class Home:
    """A place where a graph may be."""

    settings: WorkerSettings
    memory: MemoryClient
    graph: str

    @property
    def label(self) -> str:
        """Return the name by which its turns are counted."""
        return label(self.settings, self.graph)

    async def read(self) -> tuple[bool, list[Record]]:
        """Read whether the graph lives here, and its events here as a log of their own."""
        async with select.readable(self.settings) as topics:
            log = topics.reader(self.settings.topics.events)
            number = partition_of(self.graph, self.settings.partitions)
            partition = SortedPartition(log, number)
            await partition.read_on()
            exported = await survey(log, number, self.graph)
            records = [each async for each in restamped(log, exported, ANY_NAME)] if exported else []
            return self.graph in partition.graphs(), records


def label(settings: WorkerSettings, graph: str) -> str:
    """Return the name by which a graph's turns are counted: it is unique among all memories."""
    return graph if settings.prefix == MAIN else f"{settings.prefix}/{graph}"


@dataclass
class MovedGraph:
    """A graph and its two homes.

    at     the one where it was last seen       moves  how often it arrived in one
    taken  ids of the turns that it accepted    broken what else it answered
    """

    homes: tuple[Home, Home]
    at: int = 0
    moves: int = 0
    taken: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)
    _spoken: int = 0

    @property
    def home(self) -> Home:
        """Return where it was last seen."""
        return self.homes[self.at]

    @property
    def elsewhere(self) -> Home:
        """Return its other home."""
        return self.homes[1 - self.at]

    def arrived(self, at: int) -> None:
        """Note that a move to this home came to its end."""
        self.at, self.moves = at, self.moves + 1

    async def speak(self, patience: float) -> None:
        """Send a new turn until the graph takes it, wherever it is by then.  Raises TimeoutError."""
        turn = self.new_turn()
        give_up, failure = time.monotonic() + patience, ""
        while time.monotonic() < give_up:
            try:
                failure = await self.offer(turn)
            except EmgasError as error:
                failure = str(error)
            if not failure:
                return
            await asyncio.sleep(AGAIN_SECONDS)
        raise TimeoutError(f"{self.home.label} takes no turn: {failure}")

    def new_turn(self) -> Turn:
        """Make the next turn."""
        number, self._spoken = self._spoken, self._spoken + 1
        return Turn(
            id=f"m{number}", graph=self.home.graph, speaker="Ada", at=FIRST_MS + number * DAY_MS // 4,
            text=f"The kettle of day {number} stood beside lantern {number % 7}.", session=str(number // 12),
        )  # fmt: skip

    async def offer(self, turn: Turn) -> str:
        """Send a turn once, where the graph was last seen; return why it was not taken.  Raises EmgasError."""
        here = turn.model_copy(update={"graph": self.home.graph})
        outcome = await self.home.memory.record(here, timeout=TRY_SECONDS)
        if outcome.status != "rejected":
            self.taken.add(turn.id)
            return ""
        reason = str(outcome.reason)
        if outcome.moved_to is not None:
            self.at = 1 - self.at
        elif not any(each in reason for each in ON_ITS_WAY):
            self.broken.append(f"turn {turn.id} of {self.home.label} was rejected: {reason}")
        return reason

    async def complaints(self) -> list[str]:
        """List what does not hold of where it is; note where that is."""
        (lives_here, here), (lives_there, there) = [await home.read() for home in self.homes]
        names = " and ".join(home.label for home in self.homes)
        if lives_here == lives_there:
            return [f"{names}: it lives in {'both' if lives_here else 'neither'}"]
        self.at = int(lives_there)
        stayed, whole = sorted((here, there), key=len)
        if len((here, there)[self.at]) < len(whole) or (stayed and _digest(stayed) != _digest(whole[: len(stayed)])):
            return [f"{names}: what stayed, {len(stayed)} records, is not the beginning of all {len(whole)}"]
        return []


def _digest(records: list[Record]) -> str:
    state = Partition(MemoryStore(), rebuilding=True)
    for record in records:
        state.fold(record.offset, record.value)
    return state.digest()
