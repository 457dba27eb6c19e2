"""`emgas worker`: run one worker until it is told to stop; many of them share the partitions."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys

import structlog
from rich.markup import escape

from emgas.errors import EmgasError
from streams.cli.shared import output
from streams.settings import Settings
from streams.worker import traces
from streams.worker.service import running

log = structlog.get_logger()
HALTED = 70  # EX_SOFTWARE: a supervisor restarts; what needs an operator says so, and halts again


def worker() -> None:
    """Run a worker on the broker of EMGAS_BROKER until SIGTERM or SIGINT."""
    settings = output.settings()
    output.configure_logging(settings.log_level, quiet=False)
    if settings.is_embedded:
        output.fail(
            "a worker needs a broker: set EMGAS_BROKER=kafka://host:9092.  On the embedded log no worker is needed: "
            "every command, and MemoryClient, runs its own.",
            output.USAGE,
        )
    with output.explained():
        traces.configure()
    output.run(_work(settings))


async def _work(settings: Settings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, stop.set)
    async with running(settings, _exit):
        gc.collect()
        gc.freeze()  # what was imported stays: to look through all of it now and then stops the worker for 60 ms
        log.info("worker started", broker=settings.bootstrap, data=str(settings.home))
        await stop.wait()
        log.info("worker stops")
    log.info("worker stopped")


def _exit(error: BaseException) -> None:
    """Leave at once: what is in flight must not be folded, acked or answered; the log and the stores are consistent."""
    if isinstance(error, EmgasError):
        output.err.print(f"[bold red]halted:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(HALTED)
