"""The command line, played from transcripts: tests/support/transcripts.py tells how they are written."""

from __future__ import annotations

import pytest

from tests.support.transcripts import FOLDER, Command, Transcript, sections

FILES = {path.stem: sections(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.txt"))}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Transcript]:
    """Map each transcript that began to its memory."""
    return {name: Transcript(tmp_path_factory.mktemp(name) / "data") for name in FILES}


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        pytest.param(name, commands, id=f"{name}-{title}")
        for name, parts in FILES.items()
        for title, commands in parts
        if commands
    ],
)
def test_what_is_typed_has_what_the_transcript_says(
    played: dict[str, Transcript], name: str, commands: list[Command]
) -> None:
    for command in commands:
        try:
            played[name].play(command)
        except AssertionError as error:
            error.add_note(f"{name}.txt, line {command.line}: {command.words}")
            raise
