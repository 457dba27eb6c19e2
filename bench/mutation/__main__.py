"""Small faults, put into the code one by one: which tests notice each, which notice none, and which fault none notices.

    python -m bench.mutation state/graph --tests tests/state --sample 300 --seed 1 --out .cache/mutation/state.json
    python -m bench.mutation --again .cache/mutation/state.json --tests tests/state    what survived, with more tests
    python -m bench.mutation --report .cache/mutation/*.json       tests that kill no mutant, and mutants that survive

Options of pytest may follow (`-k`, `--ignore`).  A test that kills no mutant of a sample may still kill one outside it:
read it before you delete it.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

from bench.mutation.faults import ROOT, Mutant, install, mutants
from bench.mutation.forks import Forks, Place, record_functions

SECONDS = 5.0  # of CPU time, for one mutant; those that enter few functions come first
LONGER = 60.0  # for a survivor that is tried again
CASES = 3  # of one test function, for one mutant
SAVED_EVERY = 10  # mutants


@dataclass
class MutantOutcome:
    """The result of a mutant: how many tests ran with it, and which of them failed."""

    mutant: Mutant
    tried: int = 0
    killed: list[str] = field(default_factory=list)


@dataclass
class MutationRun:
    """A run over the functions of some files, which writes to `out` as far as it came.

    entered  test → the functions that it enters        failing  tests that fail without any mutant
    """

    files: list[str]
    sample: int
    seed: int
    out: Path
    again: list[Mutant] = field(default_factory=list)
    entered: dict[str, tuple[Place, ...]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failing: set[str] = field(default_factory=set)
    outcomes: list[MutantOutcome] = field(default_factory=list)

    def __call__(self, forks: Forks) -> None:
        """Run every test without a mutant, then each mutant of the sample on the tests that enter its function."""
        self._record(forks)
        chosen = self.again or self._drawn()
        for number, mutant in enumerate(chosen, 1):
            self.outcomes.append(self._tried(forks, mutant))
            if number % SAVED_EVERY == 0 or number == len(chosen):
                self._save()
                print(f"{number} of {len(chosen)}", file=sys.stderr, flush=True)

    def _record(self, forks: Forks) -> None:
        paths, left = {str(ROOT / file) for file in self.files}, list(forks.items)
        while left:  # a test that ends its fork is followed by another fork for the rest
            for result in forks.results(left, lambda: record_functions(paths), {}):
                self.entered[result.test] = tuple((str(Path(at).relative_to(ROOT)), of) for at, of in result.entered)
                self.seconds[result.test] = result.seconds
                if result.state != "passed":
                    self.failing.add(result.test)
            left = [test for test in left if test not in self.entered]

    def _drawn(self) -> list[Mutant]:
        """Draw the sample: one mutant of each function that a test enters, then a second of each, and so on."""
        chance = random.Random(self.seed)
        reached = {place for places in self.entered.values() for place in places}
        of_function: dict[Place, list[Mutant]] = {}
        for file in self.files:
            for mutant in mutants(file, (ROOT / file).read_text("utf-8")):
                of_function.setdefault((file, mutant.function), []).append(mutant)
        ranked: list[tuple[int, float, Mutant]] = []
        for place in sorted(reached & of_function.keys()):
            shuffled = chance.sample(of_function[place], len(of_function[place]))
            ranked += [(rank, chance.random(), mutant) for rank, mutant in enumerate(shuffled)]
        return [mutant for *_, mutant in sorted(ranked, key=lambda one: one[:2])[: self.sample]]

    def _tried(self, forks: Forks, mutant: Mutant) -> MutantOutcome:
        outcome, used, left = MutantOutcome(mutant), 0.0, self._tests_of(mutant)
        most = LONGER if self.again else SECONDS
        while left and used < most:
            ran = 0
            for result in forks.results(left, lambda: install(mutant), self.seconds):
                if result.state == "died" and not outcome.tried:
                    return outcome  # it could not be put in
                ran, used, outcome.tried = ran + 1, used + result.seconds, outcome.tried + 1
                if result.state != "passed":
                    outcome.killed.append(result.test)
                if used > most or (self.again and outcome.killed):
                    break
            left = [] if self.again and outcome.killed else left[ran:]
        return outcome

    def _tests_of(self, mutant: Mutant) -> list[str]:
        place, cases = (mutant.path, mutant.function), Counter[str]()
        tests = [test for test, entered in self.entered.items() if place in entered and test not in self.failing]
        chosen = []
        for test in sorted(tests, key=lambda test: (self.seconds[test] > 1, len(self.entered[test]))):
            cases[function_of(test)] += 1
            if self.again or cases[function_of(test)] <= CASES:
                chosen.append(test)
        return chosen

    def _save(self) -> None:
        self.out.parent.mkdir(parents=True, exist_ok=True)
        entered = {test: [f"{path}:{name}" for path, name in sorted(of)] for test, of in self.entered.items()}
        outcomes = [asdict(outcome) for outcome in self.outcomes]
        data = {"failing": sorted(self.failing), "seconds": self.seconds, "entered": entered, "outcomes": outcomes}
        self.out.write_text(json.dumps(data), "utf-8")


def function_of(test: str) -> str:
    """Return the test function that a test case belongs to."""
    return test.partition("[")[0]


def report(paths: list[Path]) -> str:
    """Describe the tests that kill no mutant, the costliest first, and the mutants that survive."""
    seconds, kills, survivors = Counter[str](), Counter[str](), []
    for run in (json.loads(path.read_text("utf-8")) for path in paths):
        for test in run["entered"]:
            seconds[function_of(test)] += run["seconds"][test]
        for outcome in run["outcomes"]:
            kills.update({function_of(test) for test in outcome["killed"]})
            if outcome["tried"] and not outcome["killed"]:
                survivors.append(outcome["mutant"])
    lines = ["Tests that kill no mutant:"]
    lines += [f"  {test} ({cost:.1f} s)" for test, cost in seconds.most_common() if not kills[test]]
    lines += ["Mutants that survive:"]
    lines += [f"  {each['path']}:{each['line']} {each['function']}: {each['change']}" for each in survivors]
    return "\n".join(lines)


def _survivors(path: Path) -> list[Mutant]:
    outcomes = json.loads(path.read_text("utf-8"))["outcomes"]
    return [Mutant(**each["mutant"]) for each in outcomes if each["tried"] and not each["killed"]]


def _files(paths: list[Path], again: list[Mutant]) -> list[str]:
    files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))]
    return [file.as_posix() for file in files] or sorted({mutant.path for mutant in again})


def main() -> None:
    """Run over the files that are named, or report on runs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files and folders to put faults into")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="what to try on them")
    parser.add_argument("--sample", type=int, default=200, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--out", type=Path, default=ROOT / ".cache" / "mutation.json", help="where the outcome goes")
    parser.add_argument("--again", type=Path, metavar="FILE", help="try what survived in that run")
    parser.add_argument("--report", nargs="*", type=Path, metavar="FILE", help="describe outcomes, run nothing")
    options, for_pytest = parser.parse_known_args()
    if options.report:
        print(report(options.report))
        return
    again = _survivors(options.again) if options.again else []
    run = MutationRun(_files(options.paths, again), options.sample, options.seed, options.out, again)
    quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    pytest.main([*quiet, "-m", "not kafka and not slow", *options.tests, *for_pytest], plugins=[Forks(run)])


if __name__ == "__main__":
    main()
