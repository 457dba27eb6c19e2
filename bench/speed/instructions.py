"""Count the instructions of the hot kernels with valgrind's callgrind, which ignores other processes.

    ./scripts/bench instructions            the kernels of kernels.py, beside the counts in instructions.json
    ./scripts/bench instructions --check    … and end with 1 if one takes a tenth more than there
    ./scripts/bench instructions --renew    … and write what was counted there

callgrind writes its counts whenever the process passes a mark (kernels.py): a kernel's count is the difference between
its two marks.  Counts repeat, but not with another build of Python or numpy: there is nothing to compare with
then, which is said, and is no failure.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from bench.speed.kernels import KERNELS, large
from bench.speed.measuring import rounded

BASELINE: Final = Path(__file__).with_name("instructions.json")
TOLERATED: Final = 1.1  # times what the baseline says
MARKED: Final = "getppid"  # what a mark calls (bench/speed/kernels.py)
_RULE: Final = "=" * 78
_TOTALS: Final = re.compile(rb"^(?:totals|summary): (\d+)", re.MULTILINE)

Counts = dict[str, int]  # kernel → instructions, each time that it does its thing


def made_with() -> dict[str, str]:
    """Return the versions that instruction counts depend on; compare counts only between equal builds."""
    version = subprocess.run(["valgrind", "--version"], check=True, capture_output=True, text=True)
    return {
        "python": f"{platform.python_version()} {platform.python_compiler()}",
        "numpy": np.__version__,
        "libc": " ".join(platform.libc_ver()),
        "machine": platform.machine() + (" avx2" if _has_avx2() else ""),  # numpy and libc choose their loops by it
        "valgrind": version.stdout.strip(),
    }


def _has_avx2() -> bool:
    cpuinfo = Path("/proc/cpuinfo")
    return cpuinfo.exists() and " avx2 " in cpuinfo.read_text(encoding="utf-8")


def counted(names: Sequence[str] = tuple(KERNELS)) -> Counts:
    """Count kernels, in a process of their own.  Raises RuntimeError if that fails."""
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as directory:
        profile = Path(directory) / "profile"
        valgrind = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={profile}", f"--dump-before={MARKED}"]
        command = [*valgrind, sys.executable, "-m", "bench.speed.kernels", *names]
        done = subprocess.run(command, check=False, input=large(), capture_output=True, env=_calm())
        if done.returncode:
            raise RuntimeError(f"the kernels under valgrind: {done.stderr.decode(errors='replace')[-2000:]}")
        times = dict(line.split() for line in done.stdout.decode().splitlines())
        return {name: _between_marks(profile, place) // int(times[name]) for place, name in enumerate(names)}


def _calm() -> dict[str, str]:
    """Make the environment in which two runs do the same: one thread, one order of sets."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def _between_marks(profile: Path, kernel: int) -> int:
    """Read what was counted between the marks of a kernel, from 0 on.  Parts end at marks; the first is no. 1."""
    part = profile.with_name(f"{profile.name}.{2 * kernel + 2}")
    match = _TOTALS.search(part.read_bytes()) if part.exists() else None
    if match is None:
        raise RuntimeError(f"valgrind found no mark: does this Python not call {MARKED}?")
    return int(match[1])


def baseline() -> dict[str, Any] | None:
    """Read what was counted with the same builds; None where no one did."""
    baselines = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {}
    of_version: dict[str, Any] | None = baselines.get(minor())
    return of_version if of_version and of_version["made_with"] == made_with() else None


def minor() -> str:
    """Return the minor version of Python, such as "3.11": each has its own baseline."""
    return "{}.{}".format(*sys.version_info[:2])


def renew(counts: Counts) -> None:
    """Write the baseline of this version of Python; those of others stay."""
    baselines = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {}
    baselines[minor()] = {"made_with": made_with(), "counts": counts}
    BASELINE.write_text(json.dumps(baselines, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def ratios(counts: Mapping[str, int], before: Mapping[str, int]) -> dict[str, float]:
    """Compare counts with a baseline, kernel by kernel, as far as both have them."""
    return {name: rounded(count / before[name]) for name, count in counts.items() if name in before}


def regressions(counts: Mapping[str, int], before: Mapping[str, int]) -> list[str]:
    """List the kernels that take too many instructions or have no baseline, one line each."""
    slower = [
        f"{name} takes {count:,} instructions, {count / before[name]:.2f} times the {before[name]:,} of the baseline"
        for name, count in counts.items()
        if name in before and count > TOLERATED * before[name]
    ]
    return slower + [f"{name} has no baseline" for name in counts if name not in before]


def measured() -> dict[str, Any]:
    """Count all kernels, and compare; say so loudly where that cannot be."""
    if shutil.which("valgrind") is None:
        loudly("NO INSTRUCTIONS WERE COUNTED: there is no valgrind here.")
        return {"counts": None, "ratios": None}
    try:
        counts, before = counted(), baseline()
    except RuntimeError as error:  # that the kernels run at all is for a test to say
        loudly("NO INSTRUCTIONS WERE COUNTED: valgrind cannot run them here.", str(error))
        return {"counts": None, "ratios": None}
    if before is None:
        baselines = json.loads(BASELINE.read_text(encoding="utf-8")).get(minor(), {}) if BASELINE.exists() else {}
        loudly(
            f"INSTRUCTIONS WERE COUNTED AND COMPARED WITH NOTHING: {BASELINE.name} has no baseline of these builds.",
            f"here:  {made_with()}",
            f"there: {baselines.get('made_with', f'none of Python {minor()}')}",
            "Count on the commit before: ./scripts/bench instructions --renew",
        )
    return {"counts": counts, "ratios": before and ratios(counts, before["counts"])}


def refused(counts: Mapping[str, Any]) -> bool:
    """Report the kernels that take too many instructions, and return whether there are any among those compared."""
    before = baseline() if counts["ratios"] is not None else None
    wrong = regressions(counts["counts"], before["counts"]) if before else []
    if wrong:
        loudly("A KERNEL TAKES MORE INSTRUCTIONS THAN IT DID:", *wrong, "If it must be: --renew, and say why.")
    return bool(wrong)


def loudly(*lines: str) -> None:
    """Print lines in a frame to stderr."""
    print(_RULE, *(f" {line}" for line in lines), _RULE, sep="\n", file=sys.stderr, flush=True)
