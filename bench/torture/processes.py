"""The processes that are tortured: workers under a supervisor, and brokers.

A worker is an `emgas worker` with a data directory, a log and a proxy of its own.  The supervisor starts it again
whenever it ends, after a pause that doubles up to 8 s while it dies young, as Docker and Kubernetes do; unless it was
brought `down`.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from bench.torture import clocked
from bench.torture.proxy import Proxy

ROOT = Path(__file__).resolve().parent.parent.parent
OF_AGE = 15.0  # seconds: who lived for so long may be started at once
LONGEST_PAUSE = 8.0
LOGGED_EVENTS = ("owns", "follows")  # by a worker, and by a reader
STOPS_WITHIN = 30.0  # seconds after SIGTERM: what docs/operations.md promises, and an orchestrator grants


class SupervisedWorker:
    """One worker, and its supervisor."""

    def __init__(self, name: str, home: Path, address: str, environment: Mapping[str, str]) -> None:
        self.name = name
        self.home = home
        self.exits: Counter[int] = Counter()
        self.clock = home.with_suffix(".clock")
        self._environment = {
            **os.environ,
            **environment,
            "EMGAS_DATA": str(home),
            "EMGAS_BROKER": f"kafka://{address}",
            clocked.VARIABLE: str(self.clock),
        }
        self._log = home.with_suffix(".log").open("ab", buffering=0)
        self._more: dict[str, str] = {}
        self._intended = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._started = asyncio.Event()
        self._ended = asyncio.Event()
        self._ended.set()
        self._spoke = asyncio.Event()
        self.owns: list[int] = []
        self._supervisor = asyncio.create_task(self._supervise())

    async def _supervise(self) -> None:
        clock, pause = asyncio.get_running_loop().time, 0.5
        while True:
            await self._intended.wait()
            born = clock()
            # its log goes through a pipe: where its disk is full, or its files may not grow, that is another's disk
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bench.torture.clocked", "worker"),
                cwd=ROOT, env={**self._environment, **self._more}, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT, limit=1 << 20,
            )  # fmt: skip
            self._process, self._more = process, {}
            self._ended.clear()
            self._started.set()
            await self._copy(process)
            self.exits[await process.wait()] += 1
            self._started.clear()
            self._spoke.clear()
            self.owns = []
            self._ended.set()
            pause = 0.5 if clock() - born > OF_AGE else min(2 * pause, LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def _copy(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout
        async for line in process.stdout:
            self._log.write(line)
            self._spoke.set()
            if (b'"owns"' in line or b'"follows"' in line) and (entry := json.loads(line))["event"] in LOGGED_EVENTS:
                self.owns = entry["partitions"]

    @property
    def pid(self) -> int:
        """The process that runs, or ran last."""
        assert self._process
        return self._process.pid

    @property
    def is_intended(self) -> bool:
        """Return whether the supervisor keeps the process running."""
        return self._intended.is_set()

    @property
    def runs(self) -> bool:
        """Return whether the process is running."""
        return not self._ended.is_set()

    async def up(self, **more: str) -> None:
        """Start the process; `more` is added to the environment of this start only."""
        self._more = more
        self._intended.set()
        await self._started.wait()

    async def down(self, number: signal.Signals = signal.SIGKILL) -> int:
        """End it, and leave it so; return the exit code."""
        self._intended.clear()
        if self.runs:
            self.signal(number)
            await self._ended.wait()
        assert self._process
        assert self._process.returncode is not None
        return self._process.returncode

    async def stop(self) -> str:
        """Stop the process as an orchestrator does; return what went wrong, "" if nothing did."""
        await self._spoke.wait()  # before, it is Python that is starting, and any signal is the end of it
        try:
            async with asyncio.timeout(STOPS_WITHIN):
                code = await self.down(signal.SIGTERM)
        except TimeoutError:
            await self.down()
            return f"{self.name} did not stop within {STOPS_WITHIN:.0f} s"
        return f"{self.name} was told to stop, and exited with {code}" if code else ""

    async def ended(self) -> None:
        """Wait until it has ended alone."""
        await self._ended.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def limit_files(self, size: int) -> None:
        """Limit the size of each of its files to `size` bytes."""
        with suppress(ProcessLookupError):
            resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def set_clock(self, seconds: float) -> None:
        """Set its wall clock so many seconds ahead, from now on."""
        fresh = self.clock.with_suffix(".new")
        fresh.write_text(str(seconds))
        fresh.replace(self.clock)

    async def end(self) -> None:
        """End it and its supervisor."""
        if self._process is not None:
            await self.down()
        self._supervisor.cancel()
        self._log.close()


class WorkerProcess(SupervisedWorker):
    """One that reaches its brokers through a proxy."""

    def __init__(self, name: str, home: Path, proxy: Proxy, environment: Mapping[str, str]) -> None:
        super().__init__(name, home, proxy.address, environment)
        self.proxy = proxy


class Brokers:
    """A cluster of scripts/kafka, started for this run."""

    def __init__(self, name: str, count: int) -> None:
        self.name, self.count = name, count
        self.addresses: list[str] = []

    async def start(self) -> None:
        """Start those that do not run, with the data that they have."""
        anew = [] if self.addresses else ["--brokers", str(self.count), "--fresh"]
        output = ""
        for code in (None,) * 3 + (0,):  # on a busy machine it takes longer than scripts/kafka waits
            output = output or await self._kafka("start", *anew, code=code)
        self.addresses = output.split()[-1].split(",")

    async def wipe(self) -> None:
        """Stop all, and remove their data."""
        await self._kafka("stop", "--wipe")

    async def pids(self) -> list[int]:
        """Return the ids of the running processes."""
        lines = (await self._kafka("status", code=None)).splitlines()
        return [int(line.rpartition("pid ")[2]) for line in lines if "pid " in line]

    async def _kafka(self, verb: str, *options: str, code: int | None = 0) -> str:
        process = await asyncio.create_subprocess_exec(
            ROOT / "scripts" / "kafka", verb, "--name", self.name, *options, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        out, _ = await process.communicate()
        assert code is None or process.returncode == code, f"scripts/kafka {verb} failed: {out.decode()}"
        return out.decode()


@asynccontextmanager
async def one_broker(name: str, given: str | None) -> AsyncIterator[str]:
    """Give the address of a broker that is there, or else start one of this name; it goes with its data at the end."""
    if given is not None:
        yield given
        return
    brokers = Brokers(name, 1)
    await brokers.start()
    try:
        yield brokers.addresses[0]
    finally:
        await brokers.wipe()
