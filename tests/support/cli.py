"""`emgas` as a user calls it: in a process of its own, or (where only the words matter) in this one."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from streams.cli.main import app

ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = (sys.executable, "-c", "from emgas_service.start import main; main()")  # what the installed `emgas` runs
PATIENCE = 120.0  # seconds; only a hanging test ever waits that long


class CommandResult(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the last line of stdout, which is one JSON object."""
        return json.loads(self.out.splitlines()[-1])


def environment(data: Path | None, **settings: str) -> dict[str, str]:
    """Return an environment with these EMGAS_* settings and no others; without `data`, a file has to say it."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("EMGAS_")}
    others["EMGAS_TIMEOUT"] = str(PATIENCE / 2)  # a busy machine may need longer than a user should wait
    ours = {f"EMGAS_{name.upper()}": value for name, value in settings.items()}
    where = {} if data is None else {"EMGAS_DATA": str(data)}
    return {**others, **where, "COLUMNS": "200", **ours}


DESTRUCTIVE = (["forget"], ["replay", "undo"], ["events", "skip"], ["snapshot", "restore"])


def sure(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Add --yes to a destructive command: nobody can be asked."""
    asks = any(list(arguments[: len(words)]) == words for words in DESTRUCTIVE) and "--help" not in arguments
    return (*arguments, "--yes") if asks and "--ask" not in arguments else tuple(a for a in arguments if a != "--ask")


def emgas(data: Path | None, *arguments: str, stdin: bytes = b"", code: int = 0, **settings: str) -> CommandResult:
    """Run a command in a process of its own, and check its exit code."""
    done = subprocess.run(
        [*COMMAND, *sure(arguments)],
        env=environment(data, **settings),
        input=stdin,
        capture_output=True,
        timeout=PATIENCE,
    )
    result = CommandResult(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert result.code == code, result
    assert "Traceback" not in result.err, result.err
    return result


def emgas_here(data: Path, *arguments: str, stdin: bytes = b"", code: int = 0, **settings: str) -> CommandResult:
    """Run a command in this process, and check its exit code."""
    try:
        done = CliRunner().invoke(app, sure(arguments), env=environment(data, **settings), input=stdin)
    finally:
        logging.basicConfig(level=logging.WARNING, force=True)  # it was told to print to a stderr that is gone
        logging.getLogger("emgas").setLevel(logging.NOTSET)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    result = CommandResult(done.exit_code, done.stdout, done.stderr)
    assert result.code == code, result
    return result


def commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command that does something, with its words; each is imported."""
    group = typer.main.get_command(app) if group is None else group
    if not isinstance(group, TyperGroup):
        yield path, group
        return
    for name in group.list_commands(None):  # type: ignore[arg-type]  # ours need no context
        yield from commands(group.get_command(None, name), (*path, name))  # type: ignore[arg-type]
