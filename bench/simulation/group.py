"""The simulated consumer group: who has which partitions, and where each source was read to.

A member that joins, leaves or is missed begins a new generation: all give up what they have; a member that does not
within `PATIENCE` is out; then the partitions are shared among the rest.  A member that is out and does not know works
on: a zombie.  Where members are static, one that comes back within `SESSION` under its name takes its place again,
and no generation begins.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Protocol

from bench.simulation.broker import Broker

PATIENCE = 3.0  # seconds until a member that does not answer is out
SESSION = 6.0  # seconds until a static member that ended is out


class Member(Protocol):
    """A worker process, as the group sees it."""

    name: str
    instance: str  # the name that it keeps over its lives
    is_deaf: bool  # it hears nothing of the group, nor the group of it

    async def give_up(self) -> None:
        """Release all partitions."""

    def assign(self, partitions: set[int]) -> None:
        """Take exactly these partitions."""


class Group:
    """Shares `partitions` among its members."""

    def __init__(self, broker: Broker, partitions: int, chance: Random, *, is_static: bool = False) -> None:
        self._broker = broker
        self._partitions = partitions
        self._chance = chance
        self._is_static = is_static
        self._shares: dict[str, set[int]] = {}  # of static members
        self._is_sharing = False
        self.generations = 0
        self._members: list[Member] = []
        self._changed = asyncio.Event()
        self.committed: dict[tuple[str, int], int] = {}

    def join(self, member: Member) -> None:
        if self._is_static and self._takes_place(member):
            return
        if member not in self._members:
            self._members.append(member)
        self._changed.set()

    def _takes_place(self, member: Member) -> bool:
        """Put a static member in the place of its former life; return whether there was one."""
        place = next((n for n, it in enumerate(self._members) if it.instance == member.instance), None)
        if place is None or self._members[place] is member:
            return False
        self._members[place] = member
        if not self._is_sharing:  # else it gets its share with the others
            member.assign(self._shares.get(member.instance, set()))
        return True

    def leave(self, member: Member) -> None:
        """Let a member go that has ended; a static one once its session is over."""
        if self._is_static:
            asyncio.get_running_loop().call_later(SESSION, self._drop, member)
        else:
            self._drop(member)

    def _drop(self, member: Member) -> None:
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
            self._is_sharing = True
            await asyncio.sleep(self._chance.random() * 0.5)
            await asyncio.gather(*(self._call(member) for member in list(self._members)))
            self._share()
            self._is_sharing = False

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
        self.generations += 1
        shift = self._chance.randrange(len(members))
        shares: list[set[int]] = [set() for _ in members]
        for partition in range(self._partitions):
            shares[(partition + shift) % len(members)].add(partition)
        for member, share in zip(members, shares, strict=True):
            self._shares[member.instance] = share
            member.assign(share)
