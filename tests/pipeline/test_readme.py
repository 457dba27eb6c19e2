"""What README and docs show, runs as it is pasted; what they show of its output, appears.

    ```sh       commands                       ```python   a program: a file, if its first line is `# NAME.py`
    ```console  $ a command, and below it lines of what it prints, in their order; all lines of a Python program

Each page is run from top to bottom, in a shell of its own, beside a copy of examples/.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import COMMAND, ROOT, environment

PAGES = (
    "README.md",
    "README.zh.md",
    "docs/README.md",
    "docs/tutorial.md",
    *(pytest.param(page, marks=pytest.mark.slow) for page in ("docs/zh/tutorial.md", "docs/how-to.md", "docs/faq.md")),
)
BLOCK = re.compile(r"^```(sh|console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SETTINGS = re.compile(r"^(?:[A-Z_]+=\S* +)+")  # of one command, before it
# What needs Docker, Kafka, a server that stays, or another program: tested where it is at home.
ELSEWHERE: tuple[str, ...] = (
    "./scripts/",
    ". .venv",
    "docker ",
    "emgas serve",
    "emgas mcp",
    "emgas worker",
    "claude ",
    "codex ",
    "export EMGAS_BROKER",
)
ELSEWHERE += (
    "pip install",
    "curl ",
    "helm ",
    "kubectl ",
    "emgas admin topics",
    "emgas admin hook",  # these two change and read what programs keep in the home folder (test_agent_hooks.py)
    "emgas import ~/",
    "emgas admin graph",  # to another cluster
    "OPENAI_BASE_URL=",
    "nginx ",
    "git clone",
    "cd emgas",
)
FRAMEWORKS = re.compile(r"^from (?:langchain|langgraph|agents|openai|mem0|pydantic_ai)|http://", re.MULTILINE)
PATIENCE = 900.0  # seconds; only a hanging command ever lasts that long


def runs(command: str) -> bool:
    """Check whether a command runs here."""
    return bool(command) and not SETTINGS.sub("", command).startswith(ELSEWHERE) and not command.startswith(ELSEWHERE)


def script(page: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a page that runs here, with the lines that it has to print."""
    for kind, block in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        if kind == "python" and not FRAMEWORKS.search(block):
            name = re.match(r"# (\S+\.py)\n", block)
            yield (f"cat > {name[1]} <<'END'\n{block}END" if name else f"python - <<'END'\n{block}END"), []
        elif kind == "sh":
            yield from ((line, []) for line in block.replace("\\\n", " ").splitlines() if runs(line))
        elif kind == "console":
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, *lines = part.splitlines()
                yield command, [line.rstrip() for line in lines if line.strip()]


def played(page: str, where: Path) -> list[list[str]]:
    """Run a page; return the lines that each command printed."""
    shutil.copytree(ROOT / "examples", where / "examples")
    begin = [
        "set -euo pipefail",
        f'emgas() {{ {shlex.join(COMMAND)} "$@"; }}',
        f'python() {{ {shlex.quote(sys.executable)} "$@"; }}',
    ]
    steps = [f"echo @@@\n{command}" for command, _ in script(page)]
    env = environment(where / "data") | {"PYTHONPATH": str(ROOT), "COLUMNS": "90", "HOME": str(where)}
    env = {name: value for name, value in env.items() if not name.startswith("OPENAI_")}
    done = subprocess.run(
        ["bash"],
        input="\n".join([*begin, *steps]),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=where,
        env=env,
    )
    assert done.returncode == 0, f"{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
    return [[line.rstrip() for line in part.splitlines()] for part in done.stdout.split("@@@\n")[1:]]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_runs_as_it_is_pasted_and_prints_what_is_shown(page: str, tmp_path: Path) -> None:
    expected = list(script(page))
    assert expected, "nothing of this page runs"
    for (command, lines), printed in zip(expected, played(page, tmp_path), strict=True):
        at = 0
        for line in lines:
            assert line in printed[at:], f"{command}: {line!r} is not in {os.linesep.join(printed)}"
            at = printed.index(line, at) + 1
        if lines and "python " in command:
            assert [line for line in printed if line] == lines, f"{command} prints more than is shown"


def test_a_line_that_does_not_appear_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = [("echo one; echo two", ["two", "one"])]
    monkeypatch.setattr(sys.modules[__name__], "script", lambda _: shown)
    with pytest.raises(AssertionError, match="'one' is not in"):
        test_every_command_of_a_page_runs_as_it_is_pasted_and_prints_what_is_shown("README.md", tmp_path)
