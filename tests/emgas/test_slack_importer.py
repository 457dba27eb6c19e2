"""Slack: an export becomes turns with names, threads and times."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from emgas.errors import InvalidMessageError
from emgas.importers.registry import read_folder
from emgas.messages.turns import Turn
from tests.support.chats import (
    AT,
    DAY,
    SLACK,
    items,
    reasons,
    turns,
    zipped,
)


def test_slacks_zip_becomes_turns_with_names_threads_and_times() -> None:
    results = turns(items(zipped(SLACK), "slack.zip"))
    first, sure, here, cat, bot, other = results
    assert first == Turn(
        id="general/1683554160.000200",
        graph="slack-general",
        session="general/2023-05-08",
        speaker="Ada",
        text="Hi @Eve, see this & #general",
        at=AT,
        metadata={"origin": "import:slack", "channel": "general"},
    )
    assert sure.session == here.session == "general/1683554162.000100"
    assert (here.speaker, here.text, here.at) == ("U9", "@here", AT + 3500)
    assert cat.text == "[shares a file: cat.png] [shares a file]"
    assert (bot.speaker, bot.text) == ("ci", "green")
    assert (other.graph, other.id) == ("slack-random-talk", "random talk/1683554160.000200")


def test_slacks_folder_is_the_same_as_its_zip(tmp_path: Path) -> None:
    for name, content in SLACK.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "general" / "2023-05-09.json").symlink_to("/etc/passwd")
    assert list(read_folder(tmp_path)) == items(zipped(SLACK))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"users.json": b"{"}, "users.json: "),
        ({"users.json": b"{}"}, "users.json: must be a JSON array"),
        ({"general/2023-05-09.json": b"5"}, "general/2023-05-09.json: must be a JSON array"),
        ({"general/2023-05-09.json": b"[5]"}, "general/2023-05-09.json, message 1: must be an object"),
        ({"general/2023-05-09.json": b'[{"text":"x","user":"U1","ts":5}]'}, "general/2023-05-09.json, message 1: ts"),
        (
            {"general/2023-05-09.json": b'[{"text":"x","ts":"1683554160.0"}]'},
            "general/2023-05-09.json, message 1: speaker",
        ),
        ({"general/2023-05-09.json": b'[{"text":5,"ts":"1683554160.0"}]'}, "general/2023-05-09.json, message 1: text"),
    ],
)
def test_what_is_wrong_in_a_slack_export_is_reported_and_the_rest_is_read(
    change: dict[str, bytes], reason: str
) -> None:
    results = items(zipped(SLACK | change))
    assert [description.startswith(reason) for description in reasons(results)] == [True]
    assert len(results) == 7


def test_one_file_of_a_slack_export_is_not_enough() -> None:
    with pytest.raises(InvalidMessageError, match="import that, or the folder"):
        items(orjson.dumps(DAY), format="slack")
