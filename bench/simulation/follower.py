"""One life of a reader: what folds a reader's partitions along (streams/worker/following.py), with a disk of its own.

It answers nothing here: what a reader answers, it answers from what it folded, and that must be the fold of the log.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from bench.simulation.broker import FollowedPartition, Reader
from bench.simulation.keys import keys_of_process
from bench.simulation.worker import Process
from streams.ingest.slices import READER_SECONDS, Slices
from streams.recovery.partition_folds import Partitions
from streams.transport.keys.key_store import refreshed
from streams.worker.following import Following, FollowingContext


class Follower(Process):
    """See the module's docstring."""

    async def _work(self) -> None:
        settings, keys = self.world.settings, keys_of_process(self.link, self.world.settings.topics.keys)
        self.reader = partial(Reader, self.link, keys=keys)
        self.folds = Partitions(settings, self.reader(self.events), self.folders, keys)
        self.following = Following(
            FollowingContext(
                folds=self.folds,
                events=FollowedPartition(self.link, self.events, keys),
                keys=keys,
                slices=Slices(self.world.loop.work, READER_SECONDS),
                folded=lambda partition, folded: None,
                opened=lambda partition: None,
                closing=_nothing,
                failed=lambda error: self.world.note(f"{self.name}: {type(error).__name__}: {error}"),
                halt=self._halted,
                retry_seconds=settings.tick_seconds,
            )
        )
        await self.following.hold(set(range(settings.partitions)))
        while True:
            await asyncio.sleep(settings.tick_seconds)
            await refreshed(keys)

    @property
    def folds_at_hand(self) -> Any:
        return getattr(self, "folds", None)

    async def _stop(self) -> None:
        if hasattr(self, "following"):
            await self.following.release()
            self.folds.close()
        self.kill()


async def _nothing(partition: int, given_up: bool) -> None:  # noqa: FBT001 - a callback
    """No one asks."""
