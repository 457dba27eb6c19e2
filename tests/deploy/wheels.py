"""Wheels built from this repository, or from a part of it, and environments that hold nothing else of it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def built(source: Path, into: Path) -> Path:
    """Build the wheel of the project in `source`, without the network.  Fails with what hatchling says."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
    run = subprocess.run(build, cwd=source, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    (wheel,) = into.glob("*.whl")
    return wheel


class Environment:
    """A virtual environment with the dependencies of this one, and without this repository.

    The dependencies are those of the tests: their folder is put on the path, where Python does not read the .pth file
    by which an editable install names the repository.
    """

    def __init__(self, home: Path, *wheels: Path) -> None:
        venv.create(home, with_pip=True)
        self.python = home / "bin" / "python"
        install = ["-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-index", "--no-deps"]
        run = subprocess.run([self.python, *install, *wheels], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        (packages,) = home.glob("lib/python*/site-packages")
        (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))

    def run(self, *command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in `cwd`, whose modules any import would find before ours."""
        program = self.python.with_name(command[0])
        inherited: Mapping[str, str] = {
            name: value for name, value in os.environ.items() if not name.startswith("EMGAS_")
        }
        return subprocess.run(
            [program, *command[1:]],
            cwd=cwd,
            env={**inherited, "PYTHONPATH": str(cwd), **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
