"""The keys of encrypted graphs, in a topic that all processes share; each knows what it read of it (kafka_keys.py)."""

from __future__ import annotations

import asyncio

from bench.simulation.broker import Link
from state.sealing.graph_key import GraphKey
from state.sealing.keyring import HeldKeys


class KeyTopic:
    """All keys that were put, in order; of each, the newest holds."""

    def __init__(self) -> None:
        self.put: list[GraphKey] = []

    def held(self) -> HeldKeys:
        """Give the keys as they are now."""
        found = HeldKeys()
        for key in self.put:
            found.hold(key)
        return found


class Keys(HeldKeys):
    """The KeyStore of one process."""

    def __init__(self, topic: KeyTopic, link: Link) -> None:
        super().__init__()
        self._topic = topic
        self._link = link
        self._read = 0
        self._changing = asyncio.Lock()

    async def put(self, key: GraphKey) -> None:
        """Append a key, and wait until it is acknowledged."""
        async with self._changing:
            await self._link.hop()
            self._topic.put.append(key)
            await self._link.hop()
            self.hold(key)

    async def refresh(self) -> None:
        """Read on to the end of the topic."""
        async with self._changing:
            await self._link.ask()
            for key in self._topic.put[self._read :]:
                self.hold(key)
            self._read = len(self._topic.put)
