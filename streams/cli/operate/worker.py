"""`emgas worker`: run one worker until a signal stops it; workers share the partitions, each in its role."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emgas.errors import DataDirectoryInUseError, EmgasError
from emgas.logs import logger
from emgas.masking import masked
from streams.cli.shared import output

if TYPE_CHECKING:
    from streams.settings import WorkerSettings

log = logger("worker")
MOST_WORKERS = 64  # that may share one EMGAS_DATA
NICER = 10  # than readers on the same cores: a user waits for an answer, never for a fold
SWITCH_SECONDS = 0.001  # a thread that fetches questions waits so long for the one that computes; Python's own is 5 ms
HALTED = 70  # EX_SOFTWARE: a supervisor restarts; what needs an operator says so, and halts again


class RoleName(StrEnum):
    """The role of a worker (streams/settings.py), as an Enum because Typer needs one."""

    ALL = "all"
    WRITER = "writer"
    READER = "reader"


def worker(
    role: Annotated[
        RoleName | None,
        typer.Option(help="writer: only process turns.  reader: only answer queries.", show_default="all"),
    ] = None,
) -> None:
    """Start a worker on Kafka (EMGAS_BROKER), which processes turns and answers queries until SIGTERM or SIGINT."""
    from emgas.client import traces  # here: --help needs none of it

    settings = output.settings()
    if role is not None:
        settings = settings.model_copy(update={"role": role.value})
    output.configure_logging(settings.log_level, quiet=False)
    if settings.is_embedded:
        output.fail(
            "a worker needs a broker: set EMGAS_BROKER=kafka://host:9092 or give --broker (with --data alone, the log "
            "is embedded in that directory). The embedded log needs no worker: every command, and MemoryClient, "
            "runs its own.",
            output.USAGE,
        )
    _schedule(settings.role)
    with output.explained():
        traces.configure("emgas-worker")
        settings = _own_directory(settings)
    output.run(_work(settings))


def _schedule(role: str) -> None:
    """Prioritise queries over turns on the same cores, and fetching over computing in the same process."""
    if role == "writer":
        os.nice(NICER)
    else:
        sys.setswitchinterval(SWITCH_SECONDS)


def _own_directory(settings: WorkerSettings) -> WorkerSettings:
    """Take a directory that no other worker has: EMGAS_DATA, else worker-2, worker-3 … in it.

    The lock is held until the process ends.  Raises DataDirectoryInUseError where there are far too many, and
    TransportError where none can be made.
    """
    from streams.transport.embedded.lock import DirectoryLock  # here: --help needs none of it
    from streams.worker.service import make_home

    for number in range(1, MOST_WORKERS + 1):
        data = settings.data.expanduser()
        mine = settings.model_copy(update={"data": data if number == 1 else data / f"worker-{number}"})
        make_home(mine.home)
        try:
            DirectoryLock(mine.home)
        except DataDirectoryInUseError:
            continue
        return mine
    raise DataDirectoryInUseError(f"{MOST_WORKERS} workers use {settings.data}: set another EMGAS_DATA for this one")


async def _work(settings: WorkerSettings) -> None:
    from streams.worker.free_memory import FreeMemory  # here: --help needs none of it
    from streams.worker.service import running

    stopping = Stopping(settings.stop_timeout)
    loop = asyncio.get_running_loop()

    def on_signal(*_: object) -> None:
        stopping.count_down()
        with suppress(RuntimeError):  # the loop has ended, and so does the process
            loop.call_soon_threadsafe(stopping.begin)

    for signal_number in (signal.SIGTERM, signal.SIGINT):  # not the loop's: when it closes, a second one would kill
        signal.signal(signal_number, on_signal)
    try:
        async with running(settings, stopping.halted):
            log.info("worker started", role=settings.role, broker=masked(settings.bootstrap), data=str(settings.home))
            looking = asyncio.create_task(FreeMemory().keep_small())
            await stopping.begun.wait()
            looking.cancel()
            log.info("worker stops")
    except Exception as error:
        if not stopping.begun.is_set():
            raise
        log.warning("worker stopped with an error", error=str(error))
    log.info("worker stopped")


class Stopping:
    """The end of the process.

    told to stop    with 0, whatever fails on the way (a rebalance under way, a broker that is gone) and after
                    `seconds` at the latest: the log and the stores are consistent at every moment
    halted before   at once with HALTED: what is in flight must not be folded, acked or answered

    The seconds count from the signal, in a thread that waits from the beginning: the event loop may be busy for long,
    and in a handler of a signal no thread can be started safely.
    """

    def __init__(self, seconds: float, leave: Callable[[int], object] = os._exit) -> None:
        self.begun = asyncio.Event()
        self._seconds = seconds
        self._leave = leave
        self._signals, self._tell = os.pipe()
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        os.read(self._signals, 1)
        time.sleep(self._seconds)
        self.late()

    def count_down(self) -> None:
        """Count the seconds from here on: to be called in the handler of the signal."""
        os.write(self._tell, b".")

    def begin(self) -> None:
        """Stop, by a signal; a second one changes nothing."""
        if not self.begun.is_set():
            self.begun.set()
            self.count_down()

    def late(self) -> None:
        """Leave without waiting any longer: a thread of its own calls this, whatever holds up the event loop."""
        log.warning("worker leaves", why="it could not release its partitions in time: is the broker reachable?")
        self._end(0)

    def halted(self, error: BaseException) -> None:
        """End because of `error`."""
        if isinstance(error, EmgasError):
            output.err.print(f"[bold red]halted:[/] {escape(str(error))}")
        self._end(0 if self.begun.is_set() else HALTED)

    def _end(self, code: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self._leave(code)
