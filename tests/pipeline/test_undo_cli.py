"""`emgas replay events` and `emgas replay undo` as a user calls them: a wrong file is imported, and taken back."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from replay.rebuild.rebuild import refold
from state.store.store import MemoryStore
from streams.settings import Settings
from streams.transport.embedded.reader import EmbeddedReader, ReadOnlyLog
from tests.support.cli import emgas_here
from tests.support.clocks import NOON


def turns(name: str, words: list[str]) -> str:
    said = [
        {"id": f"{name}{n}", "graph": "ada", "speaker": "Ada", "text": f"The {word} and the kettle.", "at": NOON + n}
        for n, word in enumerate(words)
    ]
    return "\n".join(json.dumps(turn) for turn in said)


def imported(data: Path, name: str, words: list[str]) -> None:
    file = data / f"{name}.ndjson"
    file.write_text(turns(name, words))
    emgas_here(data, "publish", str(file), partitions="2")


def digest(data: Path) -> str:
    """Return the digest of the graph in a fold of the log, which is what the live worker holds."""
    assert emgas_here(data, "replay", "verify", "--json").json["match"]
    return asyncio.run(refolded(data))["ada"]


async def refolded(data: Path) -> dict[str, str]:
    digests = {}
    with closing(ReadOnlyLog(Settings(data=data).home)) as log:
        reader = EmbeddedReader(log, "emgas.events")
        for partition in range(2):
            _, end = await reader.bounds(partition)
            digests.update((await refold(reader, partition, end, MemoryStore())).digests())
    return digests


def listed(data: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = emgas_here(data, "replay", "events", "ada", "--last", "100", "--json").json["events"]
    return events


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data directory where Ada said two things."""
    imported(tmp_path, "good", ["anchor", "basil"])
    return tmp_path


def test_a_wrong_import_is_taken_back_by_when_it_was_recorded_and_can_be_given_back(data: Path) -> None:
    before, count = digest(data), len(listed(data))
    imported(data, "wrong", ["falcon", "glacier", "harbour"])
    with_wrong, first = digest(data), listed(data)[count]
    assert first["what"] == "Ada: The falcon and the kettle."
    dry = emgas_here(data, "replay", "undo", "ada", "--since", str(first["recorded"]), "--dry-run")
    assert f"ada: events {count} to {count + 2} go: 3 TurnRecorded" in dry.out
    assert digest(data) == with_wrong
    undone = emgas_here(data, "replay", "undo", "ada", "--since", str(first["recorded"]), "--json").json
    assert (undone["first"], undone["events"], undone["kinds"]) == (count, 3, {"TurnRecorded": 3})
    assert digest(data) == before
    assert [event["counts"] for event in listed(data)] == [True] * count + [False] * 3 + [True]
    assert "nothing is left to undo" in emgas_here(data, "replay", "undo", "ada", "--event", str(count), code=1).err
    said = emgas_here(data, "replay", "undo", "ada", "--event", str(undone["undone_by"]))
    assert "to take it back: emgas replay undo ada --event" in said.out
    assert digest(data) == with_wrong


def test_the_last_events_that_count_are_taken_back(data: Path) -> None:
    before, count = digest(data), len(listed(data))
    imported(data, "wrong", ["falcon", "glacier"])
    for _ in range(2):
        undone = emgas_here(data, "replay", "undo", "ada", "--last", "2", "--json").json
        assert undone["events"] == 2
        assert digest(data) == before
        emgas_here(data, "replay", "undo", "ada", "--last", "1")
        assert len([event for event in listed(data) if event["counts"] and event["kind"] == "TurnRecorded"]) == 4
        emgas_here(data, "replay", "undo", "ada", "--last", "1")
        imported(data, "wrong", ["falcon", "glacier"])
    assert listed(data)[count]["counts"] is False


def test_wrong_calls_say_what_to_do(data: Path) -> None:
    assert "there is no graph" in emgas_here(data, "replay", "undo", "nobody", "--last", "1", code=3).err
    assert "there is no graph" in emgas_here(data, "replay", "events", "nobody", code=3).err
    assert "nothing to undo: give" in emgas_here(data, "replay", "undo", "ada", code=2).err
    assert (
        "nothing to undo: give" in emgas_here(data, "replay", "undo", "ada", "--last", "1", "--event", "1", code=2).err
    )
    assert "there is no event 99" in emgas_here(data, "replay", "undo", "ada", "--event", "99", code=3).err
    assert (
        "nothing was recorded since" in emgas_here(data, "replay", "undo", "ada", "--since", "9999-01-01", code=1).err
    )
    assert "is no time" in emgas_here(data, "replay", "undo", "ada", "--since", "yesterday", code=2).err


def test_a_graph_that_was_taken_back_entirely_is_unknown_to_every_command_until_it_is_given_back(data: Path) -> None:
    before = digest(data)
    undone = emgas_here(data, "replay", "undo", "ada", "--since", "2001-01-01", "--json").json
    for words in (["query", "ada", "kettle"], ["themes", "ada"], ["configure", "ada"], ["timeline", "ada"]):
        assert "there is no graph ada" in emgas_here(data, *words, code=3).err
    emgas_here(data, "replay", "undo", "ada", "--event", str(undone["undone_by"]))
    assert digest(data) == before
    assert emgas_here(data, "query", "ada", "kettle", "--json").json["passages"]
