"""Check that a memory on Kafka stays consistent and alive under faults: real brokers, real workers, faults by seed.

    python -m bench.torture --minutes 20 --json
    python -m bench.torture --minutes 5 --seed 7 --kinds "worker killed,network cut"
    python -m bench.torture --once --kinds "branched,memory repartitioned"

Every kind of fault happens once before any happens twice; the seed decides the order and all random choices (but not
the timing of the machine).  After each fault the liveness oracle runs, and its duration is reported: from the end of
the fault, or, if the fault lasts, from its start.  The safety oracles run at the end (scene.py).

    faults, kinds      how many were done, and of how many kinds     stuck    not alive within --patience
    lost, duplicated   of what was acknowledged, but not erased      broken   promises that were not kept
    diverged           what lives (all workers, each of them alone, a reader alone) and is not the fold of the log;
                       moved graphs that live in both homes or neither, or whose homes hold two histories (moved.py)
    moved              how often a graph arrived elsewhere
    unexplained        questions of the traffic that were not answered, and no fault in force is known to do that
    recovery_s         by kind: how often asked, median, longest     exits    exit codes of workers
    questions          of the traffic: answered, explained (how they ended, why: the fault), unexplained

Needs what scripts/kafka needs; "disk full" also needs root, and is left out without.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import random
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import aclosing
from itertools import islice
from math import inf, isinf
from pathlib import Path
from statistics import median
from typing import Any

from bench.torture import (
    keeping_faults,
    load_faults,
    moving_faults,
    network_faults,
    process_faults,
    record_faults,
    store_faults,
)
from bench.torture.kinds import KINDS
from bench.torture.scene import Scene, WedgedError

# which enter their kinds
FAULTS = (process_faults, network_faults, record_faults, store_faults, load_faults, keeping_faults, moving_faults)

MUST_BE_NONE = ("lost", "duplicated", "stuck", "diverged", "unexplained", "broken")
SETTLED = 0.3  # of the faults meet a group at rest; the others, whatever the fault before left behind


class TortureRun:
    """One run: what was done, and what came of it."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.done: Counter[str] = Counter()
        self.stuck: list[str] = []
        self.took: defaultdict[str, list[float]] = defaultdict(list)

    async def torture(self, seconds: float, kinds: list[str]) -> None:
        """Cause faults until the time is up; where that is infinite, each kind once."""
        ends = time.monotonic() + seconds
        dealt = _dealt(kinds, self._scene.random)
        for name in islice(dealt, len(kinds)) if isinf(seconds) else dealt:
            if time.monotonic() > ends or len(self.stuck) > 3:
                return
            await self._one(name)

    async def _one(self, name: str) -> None:
        if self._scene.random.random() < SETTLED:
            await self._scene.settled()
        self.done[name] += 1
        latencies: list[float] = []
        try:
            with self._scene.in_force(name):
                await self._query(name, latencies)
        except (WedgedError, TimeoutError) as error:  # a run that goes on tells of it; one that ends here told nothing
            self.stuck.append(f"{name} (fault {self.done.total()}): {error!r}")
            await self._rescue()
        self.took[name] += latencies
        _say(f"{self.done.total():3} {name}: {', '.join(f'{each:.1f}' for each in latencies)} s {self.stuck[-1:]}")

    async def _query(self, name: str, latencies: list[float]) -> None:
        """Cause a fault, and run the liveness oracle where the fault yields."""
        async with aclosing(KINDS[name](self._scene)) as fault:
            async for _ in fault:
                latencies.append(await self._scene.lives())  # noqa: PERF401 - what was asked before a wedge counts

    async def _rescue(self) -> None:
        """Start everything again, to go on with other faults."""
        for worker in self._scene.everyone:
            worker.proxy.heal()
            if worker.runs:
                await worker.down()
        for worker in self._scene.workers:
            await worker.up()
        try:
            await self._scene.lives()
        except WedgedError as error:
            self.stuck.append(f"for good: {error}")

    async def report(self) -> dict[str, Any]:
        """Sum up."""
        try:
            examined = await self._scene.examined()
        except (WedgedError, TimeoutError) as error:
            self.stuck.append(f"in the end: {error!r}")
            examined = {}
        all_of_them = sorted(each for times in self.took.values() for each in times)
        exits = sum((worker.exits for worker in self._scene.everyone), Counter[int]())
        questions = self._scene.findings.questions
        return {
            "faults": self.done.total(),
            "kinds": len(self.done),
            **examined,
            "stuck": len(self.stuck),
            "broken": self._scene.findings.broken,
            "p99_recovery_s": round(all_of_them[len(all_of_them) * 99 // 100], 2) if all_of_them else None,
            "recovery_s": {name: _spread(times) for name, times in sorted(self.took.items()) if times},
            "stuck_at": self.stuck,
            "exits": dict(sorted(exits.items())),
            "unexplained": len(questions.unexplained),
            "questions": questions.report(),
        }


def _dealt(kinds: list[str], chance: random.Random) -> Iterator[str]:
    """Deal all kinds in a random order, then again."""
    while True:
        yield from chance.sample(kinds, len(kinds))


def _spread(times: list[float]) -> dict[str, float]:
    return {"asked": len(times), "median": round(median(times), 2), "longest": round(max(times), 2)}


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


async def _run(options: argparse.Namespace, directory: Path) -> dict[str, Any]:
    kinds = options.kinds.split(",") if options.kinds else list(KINDS)
    kinds = [name for name in kinds if name != "disk full" or store_faults.may_mount()]
    async with Scene(directory, seed=options.seed, brokers=options.brokers, patience=options.patience) as scene:
        run = TortureRun(scene)
        await run.torture(options.minutes * 60, kinds)
        return {"seed": options.seed, "brokers": options.brokers, **await run.report()}


def main() -> None:
    """Torture, and print what came of it; exit with 1 unless there is 0 of all that must be none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--minutes", type=float, default=20.0)
    length.add_argument("--once", action="store_const", const=inf, dest="minutes", help="each kind once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--brokers", type=int, choices=(1, 3), default=1)
    parser.add_argument("--patience", type=float, default=90.0, help="seconds until a partition counts as wedged")
    parser.add_argument("--kinds", help="only these, with commas between")
    parser.add_argument("--keep", action="store_true", help="keep the workers' logs and stores, and say where")
    parser.add_argument("--json", action="store_true", help="one line")
    options = parser.parse_args()
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # that a broker is away is no news here
    directory = Path(tempfile.mkdtemp(prefix="emgas-torture-"))
    try:
        report = asyncio.run(_run(options, directory))
    finally:
        if options.keep:
            _say(f"logs and stores: {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    if options.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name:16} {value}")
    is_whole = "lost" in report and not any(report[name] for name in MUST_BE_NONE)
    raise SystemExit(0 if is_whole else 1)


if __name__ == "__main__":
    main()
