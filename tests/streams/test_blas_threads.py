"""A worker's linear algebra runs in one thread, unless the operator chose: its arrays are too small for more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOOKING = """
import os, sys

class Looking:
    def find_spec(self, name, *_):
        if name == "numpy":
            sys.exit(os.environ.get("OPENBLAS_NUM_THREADS", "unset"))

sys.meta_path.insert(0, Looking())
import streams.cli.main
import streams.worker.service
"""


def numpy_threads(**chosen: str) -> str:
    """Tell what OPENBLAS_NUM_THREADS is at the moment when the command line first imports numpy."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    command, root = [sys.executable, "-c", LOOKING], Path(__file__).parents[2]
    ended = subprocess.run(command, cwd=root, env=inherited | chosen, capture_output=True, text=True)
    assert ended.returncode == 1, "numpy was never imported"
    return ended.stderr.strip()


def test_numpy_is_imported_after_it_was_told_to_use_one_thread() -> None:
    assert numpy_threads() == "1"


@pytest.mark.parametrize(
    ("chosen", "threads"), [({"OPENBLAS_NUM_THREADS": "3"}, "3"), ({"OMP_NUM_THREADS": "3"}, "unset")]
)
def test_what_the_operator_chose_stays(chosen: dict[str, str], threads: str) -> None:
    assert numpy_threads(**chosen) == threads
