"""Rebuild: fold a partition's log again, from its beginning or from where a store stands, without any live worker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from emgas.errors import Halted
from replay.log import LogReader
from state.errors import LogRewritten
from state.partition import Folded, Partition
from state.rocks_store import RocksStore
from state.store import Store

FLUSH_EVERY = 8000  # events folded between two flushes: bounds memory, and what a killed rebuild does again
Observe = Callable[[Folded], None]


async def refold(log: LogReader, number: int, end: int, store: Store, observe: Observe = lambda _: None) -> Partition:
    """Fold partition `number` of `log` into `store`, from the store's watermark up to before offset `end`.

    A store that was filled in part goes on where it stopped.  `observe` is shown every record as it was folded.
    Raises LogRewritten when the log no longer holds what the store needs next, and what `Partition.fold` raises.
    """
    state = Partition(store, rebuilding=True)
    start, _ = await log.bounds(number)
    if start > state.head.watermark + 1:
        raise LogRewritten(
            f"partition {number} begins at offset {start}, offset {state.head.watermark + 1} is needed: the head of "
            "the log is gone. Restore it; events must be kept for ever (retention.ms=-1)."
        )
    unflushed = 0
    async for batch in log.read(number, state.head.watermark + 1, end):
        for record in batch:
            observe(state.fold(record.offset, record.value))
        unflushed += len(batch)
        if unflushed >= FLUSH_EVERY:
            state.flush()
            unflushed = 0
    state.flush()
    return state


def store_into(directory: Path, number: int) -> Store:
    """Return the store of partition `number` below `directory`.  Raises Halted when it cannot be one."""
    if directory.exists() and not directory.is_dir():
        raise Halted(f"{directory} is not a directory")
    return RocksStore(directory / str(number), bulk=True)
