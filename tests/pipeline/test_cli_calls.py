"""How `emgas` is called: what a wrong call is told, and that every command explains itself and is in the README."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import typer

from streams.cli.main import app
from tests.support.cli import ROOT, emgas_here

CONVERSATION = ROOT / "streams" / "cli" / "memory" / "demo_data" / "conversation.jsonl"


@pytest.mark.parametrize(
    ("arguments", "settings", "told"),
    [
        (["publish", "no-such-file.jsonl"], {}, "there is no file no-such-file.jsonl"),
        (["publish"], {}, "Missing argument"),
        (["publish", str(CONVERSATION), "--format", "csv"], {}, "choose one of chatgpt, jsonl, locomo"),
        (["publish", str(ROOT / "LICENSE")], {}, "is in none of the formats"),
        (["publish", str(CONVERSATION), "--graph", "no graph"], {}, "graph: must"),
        (["query", "ada"], {}, "Missing argument"),
        (["query", "no graph", "who?"], {}, "graph: must be 1 to 128 letters"),
        (["query", "ada", "who?", "--mode", "wild"], {}, "choose default or literal"),
        (["query", "ada", "who?", "--top", "101"], {}, "--top"),
        (["query", "ada", "who?", "--budget", "9999999"], {}, "budget"),
        (["query", "ada", "who?", "--depth", "3"], {}, "No such option"),
        (["forget", "ada"], {}, "name what to forget"),
        (["erase", "ada"], {}, "No such command"),
        (["worker"], {}, "a worker needs a broker: set EMGAS_BROKER"),
        (["doctor"], {"broker": "http://localhost"}, "EMGAS_BROKER: "),
        (["doctor"], {"partitions": "none"}, "EMGAS_PARTITIONS: "),
        (["doctor"], {"prefix": "Not A Prefix"}, "EMGAS_PREFIX: "),
        (["worker"], {"broker": "kafka://127.0.0.1:1", "log_level": "LOUD"}, "EMGAS_LOG_LEVEL: "),
    ],
)
def test_a_wrong_call_exits_with_2_and_says_why(
    tmp_path: Path, arguments: list[str], settings: dict[str, str], told: str
) -> None:
    assert told in emgas_here(tmp_path, *arguments, code=2, **settings).err


def commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command below `group` that does something, with its words."""
    inner = getattr(group, "commands", None)
    if inner is None:
        yield path, group
    for name, command in (inner or {}).items():
        yield from commands(command, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(app)))


def test_there_are_the_commands_that_the_issue_names() -> None:
    assert {
        ("demo",), ("publish",), ("query",), ("worker",), ("doctor",), ("topics", "create"), ("topics", "describe"),
        ("replay", "rebuild"), ("replay", "verify"), ("dead-letters", "list"), ("dead-letters", "show"),
    } <= set(COMMANDS)  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(tmp_path: Path, words: tuple[str, ...]) -> None:
    said = emgas_here(tmp_path, *words, "--help")
    first = (COMMANDS[words].help or "").split(".")[0]
    assert first
    assert first.split()[0] in said.out
    assert all(parameter.help for parameter in COMMANDS[words].params if isinstance(parameter, click.Option))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_in_the_readme(words: tuple[str, ...]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = " ".join(words)
    assert f"emgas {command}" in readme or f"scripts/{command}" in readme
