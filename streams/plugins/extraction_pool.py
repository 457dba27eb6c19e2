"""Find the concepts of turns in other processes, before the turns are decided.

So a burst of turns uses more than one core, and the event loop stays free for questions.

    start()                begin to start the processes, in the background
    is_ready               whether it can be asked
    await extract(turns)   what each contains; the worker extracts from the missing ones itself

Processes start on first use, and end after IDLE_SECONDS without work.  A process that dies is replaced, and another one
tries its turns; turns that kill two processes are left to the worker.  If no process can be started, the worker
extracts alone.  An extractor is a function of its arguments: the log does not depend on the process that calls it.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from emgas.errors import HaltedError
from emgas.logs import logger
from processors.extraction.extractor import Extraction, Utterance
from streams.plugins.extraction_child import LENGTH, framed

log = logger("extraction")
MODULE: Final = f"{__package__}.extraction_child"
PORTION: Final = 8  # turns that one process gets at once
IN_HAND: Final = 3  # portions that a process has: what it works on, and more than it does while a worker holds its loop
TRIES: Final = 2  # processes that one portion may cost
STARTS: Final = 3  # processes in a row that end before they can be asked: then there is no pool
IDLE_SECONDS: Final = 60.0
PATIENCE_SECONDS: Final = 60.0  # for one portion; a text takes milliseconds
START_SECONDS: Final = 300.0  # until a process can be asked: two, where it is not starved
MOST: Final = 4  # processes, unless an operator wants more


def by_cores() -> int:
    """Compute how many processes to have on this machine: one a core, up to MOST; none on a single one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 0 if cores < 2 else min(cores, MOST)


class Loading(NamedTuple):
    """The extractor that a process loads (streams/plugins/extractors.py), and its version."""

    path: str
    language: str
    words: Sequence[str]
    version: str


class _PoolTask:
    """Turns that one process extracts from, and what they contain."""

    def __init__(self, turns: Sequence[Utterance]) -> None:
        self.turns = turns
        self.tries = 0
        self.extractions: asyncio.Future[list[Extraction | None]] = asyncio.get_running_loop().create_future()

    def give_up(self) -> None:
        if not self.extractions.done():
            self.extractions.set_result([None] * len(self.turns))


class ExtractionPool:
    """At most `processes` processes, each with the extractor that `loading` names."""

    def __init__(self, processes: int, loading: Loading) -> None:
        self._processes = processes
        self._loading = loading
        self._waiting: deque[_PoolTask] = deque()
        self._news = asyncio.Condition()
        self._serving: set[asyncio.Task[None]] = set()
        self._running: list[Process] = []
        self._failed_starts = 0
        self.ready = 0  # processes that can be asked

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return [process.pid for process in self._running]

    @property
    def is_ready(self) -> bool:
        """Return whether it can extract; even for a single turn, this leaves the event loop to others."""
        return self.ready > 0 and self._failed_starts < STARTS

    async def extract(self, turns: Sequence[Utterance]) -> dict[Utterance, Extraction]:
        """Extract from turns; those whose extraction fails here are missing."""
        distinct = list(dict.fromkeys(turns))
        portions = [_PoolTask(distinct[at : at + PORTION]) for at in range(0, len(distinct), PORTION)]
        async with self._news:
            self._waiting.extend(portions)
            self._news.notify_all()
        if not self._serving:
            self._give_up()
        results: dict[Utterance, Extraction] = {}
        for portion in portions:
            extractions = await portion.extractions
            results |= {each: its for each, its in zip(portion.turns, extractions, strict=True) if its is not None}
        return results

    async def close(self) -> None:
        """End all processes; what waits is left to who asked."""
        self._failed_starts = STARTS
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving)
        self._give_up()

    def start(self) -> None:
        """Begin to start the processes, unless they run or none can be started."""
        if self._serving or self._failed_starts >= STARTS:
            return
        for _ in range(self._processes):
            task = asyncio.create_task(self._serve(), name="emgas-extraction")
            self._serving.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        if not self._serving:
            self._give_up()

    def _give_up(self) -> None:
        while self._waiting:
            self._waiting.popleft().give_up()

    async def _serve(self) -> None:
        """Keep one process, until there has been nothing to do for long, or none can be started."""
        while self._failed_starts < STARTS and await self._lived():
            pass

    async def _lived(self) -> bool:
        """Start a process and have it work; return whether it died, so that another is wanted."""
        process: Process | None = None
        try:
            process = await self._started()
            self._running.append(process)
            self.ready += 1
            try:
                return await self._worked(process)
            finally:
                self.ready -= 1
                self._running.remove(process)
        except (HaltedError, OSError, EOFError) as error:
            self._failed_starts += 1
            log.error("extraction process not started", error=str(error), tries=self._failed_starts)  # noqa: TRY400 - the sentence says what to do, a trace would not
            return True
        finally:
            if process is not None:
                await _end(process)

    async def _started(self) -> Process:
        """Start a process and wait until it can be asked.  Raises HaltedError, OSError, EOFError."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", MODULE, stdin=PIPE, stdout=PIPE, env=environment
        )
        try:
            path, language, words, version = self._loading
            _ask(process, (path, language, list(words)))
            loaded = await _answered(process, START_SECONDS)
            if loaded != version:
                raise HaltedError(f"an extraction process loads {loaded}, not {version}: install one version")
        except BaseException:
            await _end(process)
            raise
        self._failed_starts = 0
        return process

    async def _worked(self, process: Process) -> bool:
        """Ask a process about portion after portion; return whether it died, False once it is idle."""
        in_hand: deque[_PoolTask] = deque()
        try:
            while (portion := await self._next()) is not None:
                in_hand.append(portion)
                _ask(process, portion.turns)
                while in_hand:
                    while self._waiting and len(in_hand) < IN_HAND:
                        in_hand.append(self._waiting.popleft())
                        _ask(process, in_hand[-1].turns)
                    answer = await _answered(process)
                    portion_done = in_hand.popleft()
                    if not portion_done.extractions.done():
                        portion_done.extractions.set_result(answer)
        except asyncio.CancelledError:
            for portion in in_hand:
                portion.give_up()
            raise
        except (OSError, EOFError) as error:
            await self._put_back(in_hand, process, error)
            return True
        return False

    async def _put_back(self, in_hand: deque[_PoolTask], process: Process, error: Exception) -> None:
        """Queue what a dead process had in hand for another one; not what may have killed it."""
        portion = in_hand[0]
        portion.tries += 1
        reason = str(error) or type(error).__name__
        log.warning(
            "extraction process died", pid=process.pid, error=reason, turns=len(portion.turns), tries=portion.tries
        )
        if portion.tries >= TRIES:
            in_hand.popleft().give_up()
        async with self._news:
            self._waiting.extendleft(reversed(in_hand))
            self._news.notify_all()

    async def _next(self) -> _PoolTask | None:
        """Wait for something to do; None if nothing came for long."""
        async with self._news:
            try:
                async with asyncio.timeout(IDLE_SECONDS):
                    await self._news.wait_for(lambda: self._waiting)
            except TimeoutError:
                return None
            return self._waiting.popleft()


def _ask(process: Process, message: Any) -> None:
    """Send a request to a process without waiting until it is read: the process may wait until its answers are read."""
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    process.stdin.write(framed(message))


async def _answered(process: Process, seconds: float = PATIENCE_SECONDS) -> Any:
    """Read a process's next answer.  Raises EOFError when it died, OSError, TimeoutError when it takes too long."""
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    async with asyncio.timeout(seconds):
        head = await process.stdout.readexactly(LENGTH.size)
        return pickle.loads(await process.stdout.readexactly(LENGTH.unpack(head)[0]))  # noqa: S301 - our child wrote it


async def _end(process: Process) -> None:
    """End a process, whatever it is doing."""
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
