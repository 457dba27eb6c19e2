"""A partition that is flushed, killed and opened again while it folds a log."""

from __future__ import annotations

from state.partition import Partition
from tests.support.logs import LogWriter
from tests.support.stores import Opener


def interrupted(
    log: LogWriter, open_store: Opener, flushes: set[int], openings: set[int], cached: int, rebuilding: bool = False
) -> Partition:
    """Fold a log, flushing and reopening after these records; what was not flushed is folded again, as after a kill.

    cached   how much memory graphs may take, in tens of kB: one, or a few
    """
    store, memory = open_store(), cached * 10_000
    partition = Partition(store, memory, rebuilding=rebuilding)
    number = 0
    while number < len(log.records):
        partition.fold(*log.records[number])
        if number in flushes:
            partition.flush()
        if number in openings:
            openings = openings - {number}
            store.close()
            store = open_store()
            partition = Partition(store, memory, rebuilding=rebuilding)
            number = sum(offset <= partition.position.watermark for offset, _ in log.records) - 1
        number += 1
    return partition
