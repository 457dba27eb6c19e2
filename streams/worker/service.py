"""Start and stop a worker inside an event loop: find the topics, make the app, run it, stop it in order.

    async with running(settings) as app: ...      the process's own loop, or a client's that wants an embedded worker

Stopping: give up the partitions (what is half done is finished), then stop Faust, which flushes and closes the stores
and, embedded, releases the data directory.
"""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import Any

from emgas.errors import TransportError
from emgas.logs import logger
from streams.plugins import advisors, embedders, encoders, extractors
from streams.plugins.extraction_pool import ExtractionPool, Loading, by_cores
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.embedded.log import EmbeddedLog
from streams.worker.answering_app import AnsweringApp, WorkerContext
from streams.worker.app import MemoryApp
from streams.worker.health import served
from streams.worker.metrics import WorkerMetrics

log = logger("worker")


def now_ms() -> int:
    """Return the present, ms since the epoch."""
    return time.time_ns() // 1_000_000


def worker_name() -> str:
    """Return a name for this process that distinguishes its claims."""
    return f"{socket.gethostname()}/{os.getpid()}"


@asynccontextmanager
async def running(
    settings: WorkerSettings,
    on_halt: Callable[[BaseException], None],
    embedded_log: EmbeddedLog | None = None,
    *,
    brief: bool = False,
) -> AsyncIterator[AnsweringApp]:
    """Run a worker, in its role, for as long as the block lasts: on `embedded_log`, if there is one.

    brief   for one command: a dictionary is loaded by the first text that needs it, and many commands read none

    Raises TransportError (no broker, topics missing), DataDirectoryInUseError (embedded), HaltedError (no such
    extractor or model), and what halts the worker while it starts: Faust's start would never come to its end then.
    """
    extractor = extractors.load(settings.extractor, settings.language, settings.own_words)
    if not brief:
        extractors.warm_up(extractor)
    embedder = embedders.chosen(settings.embedder, settings.data)
    seeing = encoders.chosen(settings.encoders)
    make_home(settings.home)
    async with _transport(settings, embedded_log) as transport, AsyncExitStack() as resources:
        halted: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

        def halt(error: BaseException) -> None:
            halted.set_result(error)
            on_halt(error)

        pool = _pool(settings, extractor.version)
        if pool is not None:
            resources.push_async_callback(pool.close)
        metrics = WorkerMetrics(settings.topics.events)
        advisor = None if settings.role == "reader" else advisors.chosen(settings, time.monotonic, metrics.advised)
        if advisor is not None:
            resources.push_async_callback(advisor.close)
        context = WorkerContext(
            metrics=metrics,
            advisor=advisor,
            extractor=extractor,
            embedder=embedder,
            encoders=seeing,
            worker=worker_name(),
            now=now_ms,
            on_halt=halt,
            pool=pool,
        )
        app = _app(settings, transport, context)
        await resources.enter_async_context(served(settings, app))
        starting = asyncio.ensure_future(app.start())
        warning = asyncio.ensure_future(_warn(settings, transport.partitions))
        try:
            await _started(starting, halted)
            with passing_over_what_stays():
                yield app
        finally:
            starting.cancel()
            warning.cancel()
            await app.ownership.release()
            await _stopped(app)
            await asyncio.wait([warning])


def _pool(settings: WorkerSettings, version: str) -> ExtractionPool | None:
    """Build the pool that extracts concepts in other processes; they start with the first burst of turns."""
    configured = settings.extraction_processes
    processes = by_cores() if configured is None else configured
    if settings.role == "reader" or not processes:
        return None
    return ExtractionPool(processes, Loading(settings.extractor, settings.language, settings.own_words, version))


def _app(settings: WorkerSettings, transport: select.Transport, context: WorkerContext) -> AnsweringApp:
    if settings.role != "reader":
        return MemoryApp(settings, transport, context)
    from streams.worker.reader_app import ReaderApp  # here: only a reader needs it

    return ReaderApp(settings, transport, context)


def _transport(settings: WorkerSettings, log: EmbeddedLog | None) -> AbstractAsyncContextManager[select.Transport]:
    return select.connect(settings) if log is None else nullcontext(select.embedded(settings, log))


async def _warn(settings: WorkerSettings, partitions: int) -> None:
    """Warn if the log's settings may lose events: otherwise the loss would be noticed only when events are gone.

    On every tick, also warn if `turns` or `queries` have other partitions than they were created with: records that
    are placed by the new count go to a partition of other graphs, and are rejected, or to one that is not read.
    """
    for risk in await select.risks(settings):
        log.warning("the log may lose events", setting=risk)
    reported, myself = None, asyncio.current_task()
    assert myself is not None  # noqa: S101 - there is one wherever something is awaited
    while not (settings.is_embedded or myself.cancelling()):  # aiokafka takes a cancellation for an error of its own
        with suppress(TransportError):  # the broker is away: all readers and writers of the log notice it, too
            grown = await select.growth(settings, partitions)
            if grown not in (reported, None):
                log.error("turns are being rejected", why=grown)
            reported = grown
        if not myself.cancelling():
            await asyncio.sleep(settings.tick_seconds)


def make_home(home: Path) -> None:
    """Make the data directory, readable by this user alone, with its parents; Faust makes only its last folder.

    Raises TransportError.
    """
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise TransportError(f"cannot use the data directory {home}: {error.strerror}; set EMGAS_DATA") from error


async def _stopped(app: AnsweringApp) -> None:
    try:
        await app.stop()
    finally:
        app.folds.close()  # Faust does not come so far when one of its services crashed


async def _started(starting: asyncio.Future[None], halted: asyncio.Future[BaseException]) -> None:
    """Wait until the worker has started; raise why it cannot."""
    either: set[asyncio.Future[Any]] = {starting, halted}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if halted.done():
        raise halted.result()
    starting.result()


@contextmanager
def passing_over_what_stays() -> Iterator[None]:
    """Exclude all objects that live now from garbage collection, until the block ends.

    They live as long as the worker: modules, dictionaries, words.  A full collection scans every object, and nothing
    else runs meanwhile: 130 ms for the 150,000 objects of an idle worker, again and again under load (a tenth of the
    cost of a turn).  None of these objects is ever garbage.

    Then it looks at them again: a process that opens a memory and closes it keeps nothing back.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
