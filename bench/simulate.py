"""The whole worker on a simulated broker, clock and disk: does it lose, double, mislead or wedge?  One seed, one run.

    python -m bench.simulate --seeds 200000               from seed 0 on, until one fails or all are done
    python -m bench.simulate --seeds 1 --from 143 --trace what happens in a run, in order
    python -m bench.simulate --minutes 60 --json          for so long; one line of JSON
    python -m bench.simulate --without "epoch fence"      with a protection switched off (bench/simulation/mutations.py)
    python -m bench.simulate --plain                      without rights, encryption, undo, erasure and readers
    python -m bench.simulate --moves                      with graphs that move, and rolling restarts

What is simulated, and what must hold: bench/simulation/world.py, faults.py, oracles.py; bench/simulation/README.md.
A step is a message through the network, a record, a write to a disk, a call of the group, a fault or a client's act.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from bench.simulation.mutations import WITHOUT, without
from bench.simulation.run import run
from bench.simulation.world import RunResult

MOST_SHOWN = 5  # failing runs whose trace is printed
REPORT_EVERY = 50  # runs, on stderr


@dataclass
class Sum:
    """The sums of many runs."""

    runs: int = 0
    steps: int = 0
    turns: int = 0
    questions: int = 0
    halts: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    failed: list[RunResult] = field(default_factory=list)
    slowest: float = 0.0

    def add(self, result: RunResult) -> None:
        self.runs += 1
        self.steps += result.steps
        self.turns += result.turns
        self.questions += result.questions
        self.halts += result.halts
        self.faults.update(result.faults)
        self.slowest = max(self.slowest, result.live_after)
        if result.complaints:
            self.failed.append(result)

    def summary(self) -> dict[str, Any]:
        return {
            "runs": self.runs,
            "steps": self.steps,
            "turns": self.turns,
            "questions": self.questions,
            "faults": self.faults.total(),
            "kinds": len(self.faults),
            "halts": self.halts,
            "violations": len(self.failed),
            "failed_seeds": [result.seed for result in self.failed],
            "longest_until_live_s": round(self.slowest, 1),
        }


def format_result(result: RunResult, protection: str = "", *, plain: bool = False, moves: bool = False) -> str:
    """Format a run: its trace, the violated invariants, and the command that repeats it."""
    again = f"python -m bench.simulate --seeds 1 --from {result.seed} --trace"
    again += " --plain" if plain else ""
    again += " --moves" if moves else ""
    again += f' --without "{protection}"' if protection else ""
    broken = [f"VIOLATED  {complaint}" for complaint in result.complaints]
    return "\n".join([f"seed {result.seed}", *result.trace, *broken, f"again: {again}"])


def main() -> int:
    """Run the requested number of seeds; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100, help="how many")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first one")
    parser.add_argument("--plain", action="store_true", help="nothing is shared, encrypted, taken back or erased")
    parser.add_argument("--moves", action="store_true", help="graphs move, and workers are restarted in turn")
    parser.add_argument("--minutes", type=float, help="instead of --seeds: for so long")
    parser.add_argument("--without", choices=sorted(WITHOUT), default="", help="switch a protection off")
    parser.add_argument("--trace", action="store_true", help="print what happens, whether all holds or not")
    parser.add_argument("--json", action="store_true", help="print one line of JSON alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # a killed process leaves work that it never began
    total, started = Sum(), time.monotonic()
    seed = options.first
    with without(options.without):
        while _goes_on(options, seed, time.monotonic() - started):
            result = run(seed, keeps=not options.plain, moves=options.moves)
            total.add(result)
            seed += 1
            if total.runs % REPORT_EVERY == 0:
                print(f"{total.runs} runs, failed: {[it.seed for it in total.failed]}", file=sys.stderr, flush=True)
            if not options.json and (options.trace or (result.complaints and len(total.failed) <= MOST_SHOWN)):
                chosen = {"plain": options.plain, "moves": options.moves}
                print(format_result(result, options.without, **chosen), flush=True)
    summary = {**total.summary(), "first": options.first, "seconds": round(time.monotonic() - started, 1)}
    print(json.dumps(summary) if options.json else "\n".join(f"{name:>22}  {value}" for name, value in summary.items()))
    return 1 if total.failed else 0


def _goes_on(options: argparse.Namespace, seed: int, seconds: float) -> bool:
    if options.minutes is not None:
        return seconds < 60 * options.minutes
    return seed < options.first + options.seeds


if __name__ == "__main__":
    sys.exit(main())
