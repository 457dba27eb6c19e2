"""The whole worker, simulated (bench/simulation): nothing lost, doubled or misled, and all of it lives in the end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from bench.simulate import told
from bench.simulation.faults import KINDS
from bench.simulation.mutations import WITHOUT, without
from bench.simulation.run import run

SEEDS, AT_ONCE = 500, 25
# Each caught a bug of the worker when it was found, or found one: they are run whatever `SEEDS` is.
FOUND = (21, 30, 143)
# The first seed that notices that a protection is switched off; another one may, once the simulation is changed.
CATCHES: dict[str, int] = {}
SEARCHED = 60  # seeds, for one that notices


@pytest.mark.parametrize("first", range(0, SEEDS, AT_ONCE))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a killed process leaves work that it never began
def test_nothing_is_lost_doubled_or_wedged_whatever_goes_wrong(first: int) -> None:
    for seed in range(first, first + AT_ONCE):
        result = run(seed)
        assert not result.complaints, told(result)
        assert min(result.turns, result.questions) > 0
        _SEEN.update(result.faults)


_SEEN: Counter[str] = Counter()


def test_faults_of_every_kind_came() -> None:
    """Reads what the runs above have seen; alone, it makes some itself."""
    seed = SEEDS
    while set(_SEEN) != set(KINDS) and seed < SEEDS + 200:
        _SEEN.update(run(seed).faults)
        seed += 1
    assert set(_SEEN) == set(KINDS)


@pytest.mark.parametrize("protection", WITHOUT)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_protection_that_is_switched_off_is_missed(protection: str) -> None:
    with without(protection):
        assert any(run(seed).complaints for seed in [CATCHES[protection], *range(SEARCHED)])


def test_every_seed_is_one_run() -> None:
    """The order of sets, which differs from process to process, decides nothing."""
    runs = [_traces(hash_seed) for hash_seed in ("1", "2")]
    assert runs[0] == runs[1]
    assert len(runs[0]) > 100


def _traces(hash_seed: str) -> list[str]:
    command = [sys.executable, "-m", "bench.simulate", "--seeds", "8", "--trace"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if not line.strip().startswith("seconds")]


def test_a_run_that_fails_tells_its_faults_and_how_to_see_it_again() -> None:
    with without("known turn ids"):
        result = next(result for seed in range(SEARCHED) if (result := run(seed)).complaints)
    text = told(result, "known turn ids")
    assert "VIOLATED  partition" in text
    assert all(f"fault: {name}" in text for name in result.faults)
    assert f'python -m bench.simulate --seeds 1 --from {result.seed} --trace --without "known turn ids"' in text
