"""Rebuilding in parallel: one process per core folds one partition after the other, read-only beside live workers.

    parent    shows how far all are, puts the digests together
    children  fold (replay/rebuild/rebuild.py), and tell how far they are

A child does not outlive its parent: killed, the parent lets go of its end of a pipe, and the child ends itself.  So a
rebuild that goes on after a kill gets its stores; it waits a little for the lock of a child that is about to end.
A short log is folded in the parent: children take seconds to start.
"""

from __future__ import annotations

import asyncio
import hashlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from ctypes import Array, c_longlong
from functools import partial
from multiprocessing.connection import wait as wait_for
from multiprocessing.process import parent_process
from pathlib import Path
from typing import NamedTuple

from emgas.errors import DataDirectoryInUseError
from replay.rebuild.plan import Plan
from replay.rebuild.rebuild import Rebuilt, Told, rebuild
from state.store.rocksdb import RocksStore
from state.store.store import Store
from streams.settings import Settings
from streams.transport.select import readable

LOOK_EVERY = 0.1  # seconds between two looks at how far the children are
PATIENCE = 10.0  # seconds until a store that somebody holds is taken for being in use

SHORT = 20_000  # records

_reached: Array[c_longlong]  # in a child: how far each partition is read, and at _STOP whether to give up
_STOP = -1


class _Stopped(Exception):
    """Another child failed, or the parent was interrupted."""


class Job(NamedTuple):
    """One partition to fold, below `directory`."""

    settings: Settings
    plan: Plan
    number: int
    directory: Path


def rebuild_all(
    settings: Settings, plan: Plan, directory: Path, jobs: int, show: Callable[[int], None] = lambda _: None
) -> list[Rebuilt]:
    """Fold every partition of `plan` below `directory`, in at most `jobs` processes; return them by number.

    `show` is told from time to time how many records are read.  Raises as `replay.rebuild.rebuild`, TransportError.
    """
    work = [Job(settings, plan, number, directory) for number in range(len(plan.ends))]
    if jobs == 1 or sum(plan.ends) <= SHORT:
        return asyncio.run(_fold_here(work, show))
    context = multiprocessing.get_context("spawn")  # forked, a child would share open files and threads with us
    reached: Array[c_longlong] = context.Array("q", len(plan.ends) + 1, lock=False)
    with ProcessPoolExecutor(min(jobs, len(work)), context, _begin, (reached,)) as children:
        running = [children.submit(_fold, job) for job in work]
        try:
            return _finished(running, lambda: show(sum(reached[:_STOP])))
        finally:
            reached[_STOP] = True


def _finished(running: Sequence[Future[Rebuilt]], look: Callable[[], None]) -> list[Rebuilt]:
    """Wait for all, looking now and then; raise what the first of them raises."""
    left: set[Future[Rebuilt]] = set(running)
    while left:
        done, left = wait(left, LOOK_EVERY)
        look()
        for each in done:
            each.result()
    return [each.result() for each in running]


def combined(digests: Sequence[str]) -> str:
    """Return one digest over the partitions' digests, in order of partition."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _begin(reached: Array[c_longlong]) -> None:
    """Make a child ready: where it tells how far it is, and that it ends when its parent does."""
    global _reached
    _reached = reached
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


def _fold(job: Job) -> Rebuilt:
    def tell(offset: int) -> None:
        _reached[job.number] = offset
        if _reached[_STOP]:
            raise _Stopped

    return asyncio.run(_fold_partition(job, tell))


async def _fold_here(work: Sequence[Job], show: Callable[[int], None]) -> list[Rebuilt]:
    """Fold one partition after the other."""
    reached = [0] * len(work)

    def tell(number: int, offset: int) -> None:
        reached[number] = offset
        show(sum(reached))

    return [await _fold_partition(job, partial(tell, job.number)) for job in work]


async def _fold_partition(job: Job, tell: Callable[[int], None]) -> Rebuilt:
    store = _opened(job.directory / str(job.number))
    try:
        async with readable(job.settings) as topics:
            log = Told(topics.reader(job.settings.topics.events), tell)
            return await rebuild(log, job.number, job.plan, store)
    finally:
        store.close()


def _opened(path: Path) -> Store:
    """Open a store; a killed rebuild's child may hold it a moment longer."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return RocksStore(path, bulk=True)
        except DataDirectoryInUseError:
            if time.monotonic() > until:
                raise
            time.sleep(LOOK_EVERY)
