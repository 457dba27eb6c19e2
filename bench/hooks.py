"""Measure how long a hook delays an agent, and what many hooks leave behind: `python -m bench.hooks --firings 1000`.

    crowd    hooks that fire at once where no server runs: how many servers there are afterwards, and how many of the
             answers are stored
    warm     prompts to that server, one after the other: milliseconds of the whole process, and of CPU
    killed   kill -9 of the server, and one more answer: whether all is there once a server runs again

It prints one JSON object.  On a busy machine the milliseconds mean little; the counts must hold anywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from emgas.hooks import running, spool
from emgas.hooks.projects import graph_of

HOOK = (sys.executable, "-c", "from emgas_service.start import main; main()", "hook")
AT_ONCE = 64  # processes that start at the same time; the others follow as these end
PATIENCE = 300.0


class Workplace:
    """A data directory, and hooks that use it."""

    def __init__(self, data: Path) -> None:
        self.folder = data / "embedded" / "emgas" / "hooks"
        self._announcement = data / "embedded" / "emgas" / "server.json"
        self._environment = {**os.environ, "EMGAS_DATA": str(data), "EMGAS_PARTITIONS": "2"}
        self.project = str(data / "project")

    def fire(self, event: str, **fields: str) -> bytes:
        """Run one hook; return what it prints."""
        payload = json.dumps({"session_id": "bench", "cwd": self.project, **fields}).encode()
        done = subprocess.run([*HOOK, event], input=payload, env=self._environment, capture_output=True, check=True)
        return done.stdout

    def server(self) -> dict[str, Any]:
        """Return what the server announces; {} if none does."""
        with suppress(OSError, ValueError):
            return dict(json.loads(self._announcement.read_text()))
        return {}

    def servers(self) -> list[int]:
        """List the processes that serve this memory."""
        mine = f"EMGAS_DATA={self._environment['EMGAS_DATA']}".encode()
        pids = []
        for process in Path("/proc").iterdir():
            with suppress(OSError):
                words, settings = ((process / name).read_bytes().split(b"\0") for name in ("cmdline", "environ"))
                if b"serve" in words and mine in settings:
                    pids.append(int(process.name))
        return pids

    def wait_until_delivered(self, not_by: int = 0) -> None:
        """Return once a server other than this process runs, and the spool is empty."""
        until = time.monotonic() + PATIENCE
        while self.server().get("pid", not_by) == not_by or spool.waiting(self.folder):
            if time.monotonic() > until:
                raise TimeoutError("the spool is not empty")
            time.sleep(0.05)

    def stored(self) -> int:
        """Count the turns of the project."""
        path = f"/v1/graphs/{quote(graph_of(self.project), safe='')}"
        server = running.RunningServer(self.server()["url"], None)
        return int(json.loads(running.request(server, "GET", path, until=time.monotonic() + PATIENCE))["turns"])


def crowd(machine: Workplace, firings: int) -> dict[str, int]:
    """Fire at once, and count servers and turns."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda n: machine.fire("Stop", last_assistant_message=f"Part {n} is done."), range(firings)))
    machine.wait_until_delivered()
    return {"firings": firings, "servers": len(machine.servers()), "stored": machine.stored()}


def warm(machine: Workplace, prompts: int) -> dict[str, float]:
    """Time hooks one after the other."""
    wall, used = [], resource.getrusage(resource.RUSAGE_CHILDREN)
    for number in range(prompts):
        started = time.perf_counter()
        machine.fire("UserPromptSubmit", prompt=f"What is the state of part {number}?")
        wall.append(1000 * (time.perf_counter() - started))
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = 1000 * (now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime) / prompts
    cuts = statistics.quantiles(wall, n=100)
    return {"prompts": prompts, "p50_ms": round(cuts[49], 1), "p99_ms": round(cuts[98], 1), "cpu_ms": round(cpu, 1)}


def killed(machine: Workplace) -> dict[str, int]:
    """Kill the server, and store one more answer."""
    machine.wait_until_delivered()
    before, pid = machine.stored(), int(machine.server()["pid"])
    os.kill(pid, signal.SIGKILL)
    machine.fire("Stop", last_assistant_message="The last part is done.")
    machine.wait_until_delivered(not_by=pid)
    return {"before": before, "after": machine.stored()}


def main() -> None:
    """Run all three, and print what came out."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.hooks", description=__doc__, formatter_class=raw)
    parser.add_argument("--firings", type=int, default=1000, help="hooks of the crowd; 1000 by default")
    parser.add_argument("--warm", type=int, default=300, help="prompts that are timed; 300 by default")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        machine = Workplace(Path(data))
        try:
            result = {"crowd": crowd(machine, arguments.firings), "warm": warm(machine, arguments.warm)}
            sys.stdout.write(json.dumps({**result, "killed": killed(machine)}) + "\n")
        finally:
            for pid in machine.servers():
                os.kill(pid, signal.SIGTERM)
            while machine.servers():
                time.sleep(0.05)


if __name__ == "__main__":
    main()
