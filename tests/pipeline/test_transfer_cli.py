"""`emgas export --exact`, `import`, `emgas admin graph copy` and `move`, as users run them, and killed on the way."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from streams.transport.failpoints import VARIABLE, MoveStep, Step
from tests.support.cli import COMMAND, PATIENCE, emgas, emgas_here, environment

TURNS = b"\n".join(
    json.dumps({"id": f"t{n}", "graph": graph, "speaker": "Ada", "text": f"The kettle number {n} is red."}).encode()
    for n in range(6)
    for graph in ("ada", "bob")
)


def lived(data: Path, **settings: str) -> Path:
    """Make a memory in which more happened to `ada` than turns."""
    emgas_here(data, "publish", "-", stdin=TURNS, partitions="2", **settings)
    emgas_here(data, "pin", "ada", "--turn", "t1", **settings)
    emgas_here(data, "forget", "ada", "--turn", "t2", **settings)
    emgas_here(data, "configure", "ada", "--half-life", "7d", **settings)
    emgas_here(data, "grant", "ada", "planner", "--right", "read", **settings)
    return data


def digest(data: Path, graph: str = "ada", **settings: str) -> str:
    return str(emgas_here(data, "replay", "digest", "--offline", "--json", **settings).json["graphs"][graph])


def test_a_graph_is_exported_and_imported_with_all_that_happened_to_it(tmp_path: Path) -> None:
    memory, other, file = lived(tmp_path / "memory"), tmp_path / "other", str(tmp_path / "ada.ndjson")
    exported = emgas_here(memory, "export", "--graph", "ada", "--exact", "--out", file, "--json").json
    assert exported["digest"] == digest(memory)
    assert emgas_here(memory, "export", "--graph", "ada", "--exact", "--out", file, "--json").json["found"] > 1
    assert emgas_here(other, "import", file, "--dry-run", "--json").json["sent"] == 0
    for sent in (exported["events"], 0):
        report = emgas_here(other, "import", file, "--json", partitions="5").json
        assert (report["digest"], report["events"], report["sent"]) == (exported["digest"], exported["events"], sent)
    assert digest(other) == digest(memory)
    assert emgas_here(other, "import", file, "--graph", "cleo", "--json").json["digest_before"] == exported["digest"]
    assert emgas_here(other, "graphs", "--json").json["graphs"] == ["ada", "cleo"]
    emgas_here(memory, "pin", "bob", "--turn", "t1")
    clash = emgas_here(memory, "import", file, "--graph", "bob", code=1)
    assert "graph 'bob' exists here" in clash.err
    assert "--exact exports one graph" in emgas_here(memory, "export", "--exact", "--out", file, code=2).err
    damaged = Path(file).read_text().replace("number 3 is red", "number 9 is red")
    Path(file).write_text(damaged)
    assert "is not as it was written" in emgas_here(tmp_path / "third", "import", file, code=1).err
    assert not (tmp_path / "third").exists()


def test_an_encrypted_graph_gets_keys_of_its_own_and_no_clear_text(tmp_path: Path) -> None:
    memory, other = lived(tmp_path / "memory", encryption="on"), tmp_path / "other"
    report = emgas_here(memory, "graph", "copy", "ada", "--to", str(other), "--json", encryption="on").json
    assert report["digest"] == report["digest_before"] == digest(other, encryption="on")
    emgas_here(other, "erase", "ada", "--turn", "t3", "--yes", encryption="on")
    assert digest(memory, encryption="on") == report["digest"], "one is not the other"
    clear = emgas_here(memory, "graph", "copy", "bob", "--to", str(tmp_path / "clear"), code=1)
    assert "set EMGAS_ENCRYPTION=on" in clear.err


def moved(memory: Path, other: Path, **settings: str) -> Any:
    return emgas(memory, "graph", "move", "ada", "--to", str(other), "--json", **settings).json


def test_a_graph_moves_and_the_place_that_it_left_says_where_it_is(tmp_path: Path) -> None:
    memory, other = lived(tmp_path / "memory"), tmp_path / "other"
    before, place = digest(memory), f"embedded:{other}"
    report = moved(memory, other)
    assert (report["digest"], report["moved_to"]) == (before, place)
    gone = f"graph 'ada' was moved to {place}: use it there"
    assert gone in emgas_here(memory, "query", "ada", "which kettle?", code=1).err
    assert gone in emgas_here(memory, "pin", "ada", "--turn", "t1", code=1).err
    assert emgas_here(memory, "graphs", "--json").json["graphs"] == ["bob"]
    assert emgas_here(other, "query", "ada", "which kettle?", "--json").json["passages"]
    assert moved(memory, other)["sent"] == 0
    assert "is being moved, or was moved" in emgas_here(memory, "graph", "move", "ada", "--to", "x", code=1).err
    cancelled = emgas_here(memory, "graph", "move", "ada", "--to", str(other), "--cancel", code=1)
    assert "lives there: move it back from there" in cancelled.err


def test_a_graph_that_moved_comes_back_with_what_was_said_there(tmp_path: Path) -> None:
    memory, other = lived(tmp_path / "memory"), tmp_path / "other"
    here = moved(memory, other)["events"]
    emgas_here(other, "add", "ada", "The kettle number 7 is blue.")
    before = digest(other)
    back = emgas_here(other, "graph", "move", "ada", "--to", str(memory))
    assert f"it came back: {here} of its events were here from before it left" in back.out
    assert digest(memory) == before
    assert emgas_here(memory, "add", "ada", "The kettle number 8 is blue.", "--json").code == 0
    assert "was moved to" in emgas_here(other, "query", "ada", "which kettle?", code=1).err
    assert moved(memory, other)["digest"] == digest(other), "and there once more"


def test_a_copy_that_grew_since_is_refused_and_a_move_does_not_take_it_for_what_moves(tmp_path: Path) -> None:
    memory, other = lived(tmp_path / "memory"), str(tmp_path / "other")
    copies = ("graph", "copy", "ada", "--to", other)
    count = emgas_here(memory, *copies, "--json").json["events"]
    assert emgas_here(memory, *copies, "--json").json["sent"] == 0
    emgas_here(memory, "add", "ada", "The kettle number 7 is blue.")
    assert (
        f"was received here with {count} events, and comes with {count + 1} now"
        in emgas_here(memory, *copies, code=1).err
    )
    assert "exists here" in emgas_here(memory, "graph", "move", "ada", "--to", other, code=1).err
    assert emgas_here(memory, "query", "ada", "which kettle?", "--json").json["passages"]


def killed_at(where: str, memory: Path, other: Path, **settings: str) -> None:
    """Begin to move the graph, and die at a step."""
    killed = subprocess.run(
        [*COMMAND, "graph", "move", "ada", "--to", str(other)],
        env=environment(memory, **settings) | {VARIABLE: where},
        capture_output=True,
        timeout=PATIENCE,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize("where", [f"{MoveStep.VERIFY}:2", f"{MoveStep.FENCE}:3"])
def test_a_move_that_is_cancelled_leaves_a_closed_copy_and_a_later_one_goes_on_with_it(
    tmp_path: Path, where: str
) -> None:
    memory, other = lived(tmp_path / "memory"), tmp_path / "other"
    killed_at(where, memory, other)
    emgas_here(memory, "graph", "move", "ada", "--to", str(other), "--cancel")
    assert emgas_here(other, "graphs", "--json").json["graphs"] == []
    assert "is incomplete" in emgas_here(other, "query", "ada", "which kettle?", code=1).err
    assert "is incomplete" in emgas_here(other, "add", "ada", "The kettle number 8 is blue.", code=1).err
    emgas_here(memory, "add", "ada", "The kettle number 7 is blue.")
    report = moved(memory, other)
    assert report["digest"] == report["digest_before"] == digest(other)
    assert emgas_here(other, "query", "ada", "kettle number 7", "--json").json["passages"]


def test_what_was_erased_while_its_move_was_interrupted_is_erased_where_it_goes(tmp_path: Path) -> None:
    memory, other, encrypted = tmp_path / "memory", tmp_path / "other", {"encryption": "on"}
    lived(memory, **encrypted)
    killed_at(f"{MoveStep.FENCE}:4", memory, other, **encrypted)
    erased = emgas_here(memory, "erase", "ada", "--yes", **encrypted)
    assert f"graph 'ada' was moved to embedded:{other}, erase it there as well" in erased.out
    report = moved(memory, other, **encrypted)
    assert report["digest"] == report["digest_before"] == digest(other, **encrypted)
    assert not emgas_here(other, "query", "ada", "which kettle?", "--json", code=3, **encrypted).json["passages"]
    again = emgas_here(other, "erase", "ada", "--yes", "--json", **encrypted).json
    assert (again["erased_before"], again["log"]["opens_now"]) == (True, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "where",
    [
        f"{MoveStep.COPY}:2",
        f"{MoveStep.FENCE}:2",
        f"{MoveStep.IMPORT}:1",
        f"{MoveStep.VERIFY}:2",
        f"{MoveStep.FENCE}:3",
        f"{MoveStep.FENCE}:4",
        f"{MoveStep.OPEN}:1",
        f"{MoveStep.OPEN}:2",
        f"{Step.APPEND}:3",
        f"{Step.ACK}:2",
        f"{Step.FLUSH}:2",
        f"{Step.ACK}:5",
    ],
)
def test_a_move_that_is_killed_is_run_again_and_nothing_is_lost_or_twice(tmp_path: Path, where: str) -> None:
    memory, other = lived(tmp_path / "memory"), tmp_path / "other"
    before = digest(memory)
    killed_at(where, memory, other)
    report = moved(memory, other)
    assert report["digest"] == report["digest_before"] == before == digest(other)
    assert "was moved to" in emgas_here(memory, "query", "ada", "which kettle?", code=1).err
    again = emgas_here(other, "add", "ada", "The kettle number 7 is blue.", "--json")
    assert again.code == 0
