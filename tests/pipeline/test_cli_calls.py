"""How `emgas` is called: what a wrong call is told, and that every command explains itself and is in the README."""

from __future__ import annotations

import re
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


def shown() -> Iterator[str]:
    """Yield each line of a shell block in README.md and docs/ that calls `emgas`, from there on."""
    for document in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for block in re.findall(
            r"^```(?:sh|bash)\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            for line in block.split("\n"):
                yield from (call.strip() for call in re.findall(r"(?:^|&& )(emgas [^#&|]+)", line))


def command_of(call: str) -> tuple[tuple[str, ...], click.Command] | None:
    """Find the command that a line of shell calls."""
    words = tuple(call.split()[1:])
    return next(((words[:n], COMMANDS[words[:n]]) for n in (1, 2) if words[:n] in COMMANDS), None)


def test_every_call_that_the_documentation_shows_is_a_command_with_these_options() -> None:
    calls = set(shown())
    assert len(calls) > 30
    for call in calls:
        found = command_of(call)
        assert found is not None, call
        options = {name for parameter in found[1].params for name in (*parameter.opts, *parameter.secondary_opts)}
        assert set(re.findall(r"(?<!\S)--[a-z-]+", call)) <= options | {"--help"}, call


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_says_what_it_does_and_what_each_option_is_for(tmp_path: Path, words: tuple[str, ...]) -> None:
    lines = [line.strip("│ ") for line in emgas_here(tmp_path, *words, "--help").out.splitlines()]
    usage = next(number for number, line in enumerate(lines) if line.startswith("Usage: "))
    assert re.match(r"[A-Z][^.]+[a-z]\b", " ".join(lines[usage + 1 : usage + 4]).strip()), "no sentence below the usage"
    explained = [re.match(r"--[a-z-]+ +\S.*? {2,}\w", line) for line in lines if line.startswith("--")]
    assert explained
    assert all(explained), f"an option without a word: {lines}"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_in_the_readme(words: tuple[str, ...]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = " ".join(words)
    assert f"emgas {command}" in readme or f"scripts/{command}" in readme
