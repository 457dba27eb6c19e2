"""Transcripts of the command line: what a user types, and what has to come of it (tests/transcripts/*.txt).

    ## a sentence [S16]       a section, with the rows of docs/sources.tsv that it shows; sections share one memory
    $ emgas graphs --json     a command, in the file's data directory; EMGAS_… may stand before it
    > ada t1 2023-05-08T12:00 Ada: The kettle broke.    its input: a turn, or any other line as it is
    {"graphs": ["ada"]}       stdout is JSON that has these fields; a list that begins with "…" holds what follows
    ada                       stdout holds this text, behind what was expected before; ~ ada: it does not
    !3 there is no graph      the exit code, if it is not 0, and what stderr holds; ! alone is 0

<name> stands for whatever came first in its place, and then for that; <data> is the data directory, <tmp> is above it.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.cli import ROOT, CommandResult, emgas_here

FOLDER = ROOT / "tests" / "transcripts"
_TURN = re.compile(r"(\S+) (\S+) (\d{4}-\S+) (?:\[(\S+)\] )?([^:{]+): (.*)")
_NAME = re.compile(r"<([a-z]+)>")


@dataclass
class Command:
    """A command of a transcript, with what goes in and what has to come out."""

    line: int
    words: str
    stdin: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)


def sections(text: str) -> list[tuple[str, list[Command]]]:
    """Split a transcript into its sections; what stands before the first command is a comment."""
    result: list[tuple[str, list[Command]]] = [("how it begins", [])]
    for number, line in enumerate(text.splitlines(), 1):
        commands = result[-1][1]
        if line.startswith("## "):
            result.append((line[3:], []))
        elif line.startswith("$ "):
            commands.append(Command(number, line[2:]))
        elif line.startswith("> "):
            commands[-1].stdin.append(line[2:])
        elif line and commands:
            commands[-1].expected.append(line)
    return result


@dataclass
class Transcript:
    """A transcript that is played in `data`; `names` are the values of <names> so far."""

    data: Path
    names: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names |= {"data": str(self.data), "tmp": str(self.data.parent)}

    def play(self, command: Command) -> None:
        """Run a command and check what came of it."""
        settings, words = _split(self._filled(command.words))
        codes = [int(line[1]) for line in command.expected if re.match(r"!\d", line)]
        stdin = "\n".join(map(turn, map(self._filled, command.stdin))).encode()
        result = emgas_here(self.data, *words, stdin=stdin, code=sum(codes), **{"partitions": "2", **settings})
        self._check(result, command.expected)

    def _check(self, text: CommandResult, expected: list[str]) -> None:
        out, err, at = plain(text.out), plain(text.err), 0
        for line in expected:
            if line.startswith("{"):
                self._match(json.loads(line), text.json, "")
            elif line.startswith("!"):
                assert plain(self._filled(line.partition(" ")[2])) in err
            elif line.startswith("~ "):
                assert plain(self._filled(line[2:])) not in out
            else:
                assert plain(self._filled(line)) in out[at:]
                at = out.index(plain(self._filled(line)), at)

    def _match(self, expected: Any, actual: Any, path: str) -> None:
        if isinstance(expected, dict):
            for name, value in expected.items():
                assert name in actual, f"{path}.{name}: {actual}"
                self._match(value, actual[name], f"{path}.{name}")
        elif isinstance(expected, list) and expected[:1] == ["…"]:
            for each in expected[1:]:
                assert any(self._matches(each, other) for other in actual), f"{path}: {each} in {actual}"
        elif isinstance(expected, list):
            assert len(expected) == len(actual), f"{path}: {actual}"
            for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
                self._match(one, other, f"{path}[{number}]")
        elif isinstance(expected, str) and (name := _NAME.fullmatch(expected)):
            assert self.names.setdefault(name[1], actual) == actual, path
        else:
            assert expected == actual, f"{path}: {actual}"

    def _matches(self, expected: Any, actual: Any) -> bool:
        try:
            self._match(expected, actual, "")
        except (AssertionError, TypeError):
            return False
        return True

    def _filled(self, text: str) -> str:
        return _NAME.sub(lambda name: str(self.names.get(name[1], name[0])), text)


def turn(line: str) -> str:
    """Return a turn as a line of JSON, if it is written as `graph id time [session] Speaker: text`."""
    written = _TURN.fullmatch(line)
    if not written:
        return line
    graph, name, at, session, speaker, text = written.groups()
    existing = {"session": session} if session else {}
    return json.dumps({"id": name, "graph": graph, "at": at, "speaker": speaker, "text": text, **existing})


def plain(text: str) -> str:
    """Return a text without its line breaks, and without the frames that are drawn around it."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


def _split(command: str) -> tuple[dict[str, str], list[str]]:
    """Split a command line into its settings and the words behind `emgas`."""
    words = shlex.split(command)
    start = words.index("emgas")
    settings = dict(word.removeprefix("EMGAS_").lower().split("=", 1) for word in words[:start])
    return settings, words[start + 1 :]
