"""Snapshots of a partition, taken while the worker works: the answer to the question `Checkpoint`.

The worker pauses only for the checkpoint, which consists of hard links; a thread hashes and copies the files.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from emgas.logs import logger
from replay.backup.manifest import Manifest, described
from replay.backup.snapshots import Snapshots
from replay.log import LogReader
from streams.settings import WorkerSettings
from streams.transport.failpoints import Step, passing

log = logger("query")


class CheckpointSource(Protocol):
    """The source of a partition's checkpoints (streams/recovery/partition_folds.py)."""

    def checkpoint(self, partition: int, path: Path) -> None:
        """Make the new directory `path` a store of what `partition` has folded by now."""


class SnapshotTaker:
    """Takes snapshots of `folds` to where `settings` say.  `now` returns ms since the epoch."""

    def __init__(
        self, settings: WorkerSettings, folds: CheckpointSource, reader: LogReader, now: Callable[[], int]
    ) -> None:
        self._settings = settings
        self._folds = folds
        self._reader = reader
        self._now = now
        self._one_at_a_time = asyncio.Lock()
        self._is_first = True

    @property
    def is_enabled(self) -> bool:
        """Return whether there is a place for snapshots."""
        return self._settings.snapshots is not None

    async def take(self, partition: int) -> Manifest:
        """Take a snapshot of a partition that is open, and remove those that are too many.

        Raises SnapshotsUnreachableError, SnapshotRefusedError (nothing is folded yet), StoreCorruptError.
        """
        assert self._settings.snapshots is not None  # noqa: S101 - asked before
        snapshots = Snapshots(self._settings.snapshots, self._settings.prefix)
        async with self._one_at_a_time:
            with self._directory() as checkpoint:
                self._folds.checkpoint(partition, checkpoint)
                passing(Step.SNAPSHOT)
                manifest = await described(self._reader, partition, self._settings.prefix, checkpoint, self._now())
                await asyncio.to_thread(snapshots.write, manifest, checkpoint)
            await asyncio.to_thread(snapshots.retain, partition, self._settings.snapshots_kept, self._now())
        log.info("snapshot taken", partition=partition, snapshot=manifest.name, bytes=manifest.bytes)
        return manifest

    @contextmanager
    def _directory(self) -> Iterator[Path]:
        """Yield the path of a new directory, and remove it at the end.

        No path is used twice: the thread of a snapshot that was given up may still read from its own.
        """
        parent = self._settings.home / "checkpoints"
        if self._is_first:
            shutil.rmtree(parent, ignore_errors=True)  # of a worker that was killed
            self._is_first = False
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True) as directory:
            yield Path(directory) / "store"
