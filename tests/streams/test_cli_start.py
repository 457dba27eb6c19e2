"""What the command line imports before it has anything to do: `--help` of no command waits for what only work needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from replay.graph_export import WRITERS
from streams.cli.exchange.export import OF_A_GRAPH
from streams.cli.main import OF_GROUPS, Commands
from streams.cli.replay.commands import ReplayCommands
from tests.support.cli import PATIENCE

# What takes long to import, and what a list of options needs none of.
HEAVY = {
    *("aiohttp", "aiokafka", "cryptography", "faust", "networkx", "numpy", "prometheus_client"),
    *("rapidfuzz", "rjieba", "rocksdict", "yake", "fastapi", "mcp", "httpx2"),
    *(
        "emgas.client.client",
        "emgas.messages.topics",
        "state.graph.graph",
        "streams.settings",
        "streams.worker.service",
    ),
}
SCRIPT = """
import contextlib, io, json, os, sys
from streams.cli.main import app
heavy, told = set(json.loads(sys.argv[1])), {}
for command in json.loads(sys.argv[2]):
    sys.argv = ["emgas", *command.split(), "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        app()
    told[command] = [said.getvalue(), sorted(heavy & set(sys.modules))]
    heavy -= set(sys.modules)  # told of the first command that imports it
print(json.dumps(told))
"""
WORK = {"measure eval", "measure tune"}  # these list the methods of recall, of which all that works is made
GROUPS = {**OF_GROUPS, "replay": ReplayCommands}
IN_GROUPS = {f"{group} {name}" for group, commands in GROUPS.items() for name in commands.lazy}
COMMANDS = ["", *Commands.lazy, *sorted(IN_GROUPS - WORK), "admin topics create", "admin snapshot create"]


@pytest.fixture(scope="module")
def help_runs() -> dict[str, tuple[str, list[str]]]:
    """Ask each command for its help, in one new process; give that, and what of HEAVY was imported for it."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("EMGAS_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(sorted(HEAVY)), json.dumps(COMMANDS)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        env=plain,
    )
    result: dict[str, tuple[str, list[str]]] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_imports_nothing_that_only_work_needs(
    command: str, help_runs: dict[str, tuple[str, list[str]]]
) -> None:
    text, imported = help_runs[command]
    assert "--help" in text
    assert imported == []


def test_the_formats_that_a_graph_is_exported_in_are_those_that_there_are_writers_of() -> None:
    assert tuple(WRITERS) == OF_A_GRAPH


def test_the_public_names_are_imported_when_they_are_used() -> None:
    script = "import sys, emgas.errors; print([name for name in sys.modules if name.startswith('pydantic')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
