"""The simulated consumer group: who has which partitions, and where each source was read to.

A member that joins, leaves or is missed begins a new generation: all give up what they have; a member that does not
within `PATIENCE` is out; then the partitions are shared among the rest.  A member that is out and does not know works
on: a zombie.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Protocol

from bench.simulation.broker import Broker

PATIENCE = 3.0  # seconds until a member that does not answer is out


class Member(Protocol):
    """A worker process, as the group sees it."""

    name: str
    is_deaf: bool  # it hears nothing of the group, nor the group of it

    async def give_up(self) -> None:
        """Release all partitions."""

    def assign(self, partitions: set[int]) -> None:
        """Take exactly these partitions."""


class Group:
    """Shares `partitions` among its members."""

    def __init__(self, broker: Broker, partitions: int, chance: Random) -> None:
        self._broker = broker
        self._partitions = partitions
        self._chance = chance
        self._members: list[Member] = []
        self._changed = asyncio.Event()
        self.committed: dict[tuple[str, int], int] = {}

    def join(self, member: Member) -> None:
        if member not in self._members:
            self._members.append(member)
        self._changed.set()

    def leave(self, member: Member) -> None:
        if member in self._members:
            self._members.remove(member)
            self._changed.set()

    def storm(self) -> None:
        """Share again, for no reason."""
        self._changed.set()

    def has(self, member: Member) -> bool:
        return member in self._members

    async def run(self) -> None:
        """Share the partitions whenever someone comes or goes."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            await asyncio.sleep(self._chance.random() * 0.5)
            await asyncio.gather(*(self._call(member) for member in list(self._members)))
            self._share()

    async def _call(self, member: Member) -> None:
        self._broker.steps["call"] += 1
        try:
            async with asyncio.timeout(PATIENCE):
                if member.is_deaf:
                    await asyncio.Event().wait()
                await member.give_up()
        except TimeoutError:
            if member in self._members:
                self._members.remove(member)

    def _share(self) -> None:
        members = list(self._members)
        if not members:
            return
        shift = self._chance.randrange(len(members))
        shares: list[set[int]] = [set() for _ in members]
        for partition in range(self._partitions):
            shares[(partition + shift) % len(members)].add(partition)
        for member, share in zip(members, shares, strict=True):
            member.assign(share)
