"""What the README shows, runs as it is pasted: its commands one after the other, in a copy of what it names."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.cli import ROOT, environment

SETTINGS = re.compile(r"^(?:[A-Z_]+=\S* +)+")  # of one command, before it
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = (
    "./scripts/",
    "docker ",
    "emgas serve",
    "emgas change erase",
    "claude ",
    "emgas mcp",
    "export EMGAS_BROKER",
)  # tested where they are at home
PATIENCE = 600.0  # seconds; only a hanging command ever lasts that long


def script() -> list[str]:
    """Collect the lines of the README's shell blocks that need no Docker, no Kafka and no end."""
    lines = [line for block in BLOCK.findall((ROOT / "README.md").read_text("utf-8")) for line in block.splitlines()]
    return [line for line in lines if line and not SETTINGS.sub("", line).startswith((*ELSEWHERE, ". .venv"))]


def test_every_command_of_the_readme_runs_as_it_is_pasted(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    lines = script()
    assert len(lines) > 25
    result = "\n".join(["set -euo pipefail", f'emgas() {{ {sys.executable} -m streams.cli.main "$@"; }}', *lines])
    run = {"cwd": tmp_path, "env": environment(tmp_path / "data") | {"PYTHONPATH": str(ROOT)}, "text": True}
    done = subprocess.run(["bash", "-x"], input=result, capture_output=True, timeout=PATIENCE, **run)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr[-3000:]
    assert "ear drops" in done.stdout
