"""A partition's store, fetched from the newest good snapshot before a worker opens a store that it does not have."""

from __future__ import annotations

from emgas.logs import logger
from replay.backup.snapshots import Snapshots, restore
from replay.errors import SnapshotsUnreachableError
from replay.log import LogReader
from streams.settings import WorkerSettings

log = logger("recovery")


async def restore_missing(settings: WorkerSettings, partition: int, reader: LogReader) -> None:
    """Fetch the newest good snapshot of a partition whose store is not there; without one, it is folded from the log.

    An unusable snapshot is logged and never fatal: the log has everything.
    """
    if settings.snapshots is None or settings.store_of(partition).exists():
        return
    try:
        manifest = await restore(
            Snapshots(settings.snapshots, settings.prefix), partition, reader, settings.store_of(partition), _refused
        )
    except SnapshotsUnreachableError as error:
        log.error("no snapshots: folding from the beginning", partition=partition, error=str(error))  # noqa: TRY400 - its text tells all
        return
    if manifest is not None:
        log.info("snapshot restored", partition=partition, snapshot=manifest.name, watermark=manifest.watermark)


def _refused(why: str) -> None:
    log.error("snapshot refused", error=why)
