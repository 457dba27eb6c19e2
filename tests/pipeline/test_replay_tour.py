"""The walk-through of docs/replay.md, run as it stands there: every command works, and prints what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import ROOT, environment

PAGE = ROOT / "docs" / "replay.md"
PROMISE = re.compile(r"^(?P<command>[^#]*?)\s*# → (?P<told>.+)$")
PATIENCE = 300.0  # seconds; only a hanging tour ever lasts that long


def commands() -> list[tuple[str, str]]:
    """Return each line of the page's shell blocks, and what it promises to print ("" for nothing)."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    matches = [(line, PROMISE.match(line)) for line in lines]
    return [(match["command"], match["told"]) if match else (line, "") for line, match in matches]


def script() -> str:
    """Return the whole tour as one shell script that marks where each command's output ends."""
    return "\n".join(f"{command}\necho '=== {number}'" for number, (command, _) in enumerate(commands()))


@pytest.mark.slow
def test_every_command_of_the_tour_prints_what_the_page_says(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}:{environment(tmp_path)['PATH']}"
    shell = {**environment(tmp_path / "unused"), "PATH": path, "TMPDIR": str(tmp_path), "COLUMNS": "200"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script()], cwd=ROOT, env=shell, capture_output=True, timeout=PATIENCE
    )
    printed = done.stdout.decode()
    assert done.returncode == 0, f"{printed[-2000:]}\n{done.stderr.decode()[-2000:]}"
    outputs = re.split(r"^=== \d+\n", printed, flags=re.MULTILINE)
    silent = [
        (command, expected)
        for (command, expected), out in zip(commands(), outputs, strict=False)
        if expected not in out
    ]
    assert silent == []
    assert sum(bool(expected) for _, expected in commands()) >= 15, "the page still has its promises"
