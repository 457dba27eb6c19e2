"""What a chat program writes itself is no memory: marks of deleted and edited messages."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

from emgas.errors import InvalidMessageError
from emgas.importers.files.lines import Options
from emgas.importers.registry import read
from emgas.messages.turns import Turn
from tests.support.cli import ROOT, environment

OPTIONS = Options("dmy", "UTC")


def texts(words: str) -> list[str]:
    """Import a WhatsApp chat of one message beside another."""
    chat = f"[08/05/2023, 13:56:01] Ada: The kettle broke.\n[08/05/2023, 13:57:01] Ben: {words}\n"
    turns = read(BytesIO(chat.encode()), "WhatsApp Chat with Ada.txt", "ada", format="whatsapp", options=OPTIONS)
    return [turn.text for turn in turns if isinstance(turn, Turn)]


@pytest.mark.parametrize(
    "words",
    [
        "This message was deleted",
        "You deleted this message.",
        "Diese Nachricht wurde gelöscht.",
        "此消息已删除",
        "Ce message a été supprimé",
    ],
)
def test_a_deleted_message_is_no_turn(words: str) -> None:
    assert texts(words) == ["The kettle broke."]


@pytest.mark.parametrize("mark", [" \u200e<This message was edited>", " <This message was edited>", " <此消息已编辑>"])
def test_the_mark_of_an_edited_message_is_no_part_of_it(mark: str) -> None:
    assert texts(f"It whistles again.{mark}") == ["The kettle broke.", "It whistles again."]


@pytest.mark.parametrize("words", ["I saw that this message was deleted by Ada", "x <b>", "see <https://example.com>"])
def test_what_people_write_about_it_stays(words: str) -> None:
    assert texts(words)[1] == words


def test_an_array_of_texts_is_not_taken_for_locomo() -> None:
    with pytest.raises(InvalidMessageError, match="none of the formats"):
        list(read(BytesIO(b'[{"text": "hello"}, {"text": "there"}]'), "a.json", "ada", format=None, options=OPTIONS))


def test_the_package_runs_as_the_command_also_beside_a_module_named_as_ours(tmp_path: Path) -> None:
    (tmp_path / "state.py").write_text("raise SystemExit('the wrong module')\n")
    command = [sys.executable, "-m", "emgas", "--version"]
    env = environment(tmp_path) | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("emgas ")


def test_the_package_runs_as_the_command_in_a_clone(tmp_path: Path) -> None:
    env = environment(tmp_path) | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "emgas", "--version"], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("emgas ")
