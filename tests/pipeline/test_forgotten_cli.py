"""What `emgas forget` removes is shown by no command that reads a graph, and stands in no export of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from emgas import MemoryClient
from tests.support.cli import commands, emgas_here
from tests.support.clocks import DAY, NOON

SECRET = "penicillin"
ALLERGY = "I am allergic to penicillin, so no antibiotics of that kind."
TALK = (
    ALLERGY,
    "My sister Rosa lives in Porto.",
    "Rosa says Penicillin was found by Fleming.",
    "Rosa brings the kettle from Porto.",
    *(f"Rosa takes penicillin with her latte in Porto, week {week}." for week in range(6)),
    *(f"The kettle is blue, says Rosa, {number}." for number in range(8)),
)
MENTION = [text for text in TALK if SECRET in text.lower()]
READING = (
    ("turns", "ada"),
    ("recap", "ada"),
    ("who", "ada"),
    ("who", "ada", "Ada"),
    ("graphs", "--long"),
    ("look", "themes", "ada"),
    ("look", "habits", "ada"),
    ("look", "trend", "ada"),
    ("look", "timeline", "ada"),
    ("look", "explore", "ada", "Rosa"),
    ("look", "recent", "ada"),
    ("look", "inspect", "ada"),
    *(("query", "ada", text) for text in ("what am I allergic to?", "Rosa", "what does Rosa take?")),
)
OTHERS = {"scan", "extract"}  # of secrets, by names of files; of a text that is no memory


def read(data: Path, folder: Path) -> dict[str, str]:
    """Run every command that reads a graph, and write exports that hold its turns; map each to what it shows."""
    shown = {" ".join(words): emgas_here(data, *words).out.lower() for words in READING}
    for format in ("json", "graphml", "gexf"):
        file = folder / f"graph.{format}"
        file.unlink(missing_ok=True)
        emgas_here(data, "export", "--graph", "ada", "--format", format, "--passages", "--out", str(file))
        shown[f"export {format}"] = file.read_text("utf-8").lower()
    return shown


@pytest.fixture
def data(tmp_path: Path) -> Path:
    async def record() -> None:
        async with MemoryClient(f"embedded:{tmp_path / 'data'}") as memory:
            for n, text in enumerate(TALK):
                at, session = NOON + n * 7 * DAY, f"s{n // 4}"
                await memory.record(
                    {"graph": "ada", "id": f"t{n}", "speaker": "Ada", "text": text, "session": session, "at": at}
                )

    asyncio.run(record())
    return tmp_path / "data"


def test_what_a_command_forgets_no_command_shows(data: Path, tmp_path: Path) -> None:
    before = {name for name, output in read(data, tmp_path).items() if SECRET in output}
    told = {
        "turns ada",
        "recap ada",
        "who ada Ada",
        "look timeline ada",
        "query ada what am I allergic to?",
        "export json",
        "export graphml",
    }
    assert told <= before, "else nothing is tested"
    forgotten = emgas_here(data, "forget", "ada", "penicillin")
    assert f"and {len(MENTION)} turns; {len(TALK) - len(MENTION)} turns left" in forgotten.out
    assert "I am allergic to penicillin" in forgotten.err, "it lists what it forgets"
    assert [name for name, output in read(data, tmp_path).items() if SECRET in output] == []


def test_one_turn_is_forgotten_by_its_id(data: Path) -> None:
    emgas_here(data, "forget", "ada", "--turn", "t0")
    assert ALLERGY.lower() not in emgas_here(data, "turns", "ada").out.lower()
    assert "allergic" not in emgas_here(data, "query", "ada", "what am I allergic to?").out.replace("allergic to?", "")
    assert SECRET not in emgas_here(data, "who", "ada", "Ada").out.lower()


def test_every_command_that_looks_at_a_graph_is_run() -> None:
    looks = {words[1] for words, _ in commands() if words[0] == "look"}
    assert looks - OTHERS == {words[1] for words in READING if words[0] == "look"}
