"""How the torture counts what is lost: what it had accepted, compared with what the log holds in the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench.torture.__main__ import TortureRun
from bench.torture.kinds import KINDS
from bench.torture.moved import Home, MovedGraph
from bench.torture.processes import WorkerProcess
from bench.torture.scene import Scene, SceneFindings
from emgas import MemoryClient
from streams.settings import WorkerSettings
from tests.support.cli import emgas_here


class FakeWorker(WorkerProcess):
    """A worker without a process."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def up(self, **more: str) -> None:
        pass

    async def down(self, number: int = 9) -> int:
        return -number


class FakeScene(Scene):
    """A scene whose log is a list; each look whether all lives has a turn accepted, as the real one does."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, seed=0, brokers=1, patience=1.0)
        self.workers = [FakeWorker("worker 0"), FakeWorker("worker 1")]
        self.log: list[tuple[str, str]] = []

    async def lives(self) -> float:
        turn = ("probe", str(len(self.log)))
        self.log.append(turn)
        self.findings.acknowledged.add(turn)
        return 0.0

    async def diverged(self) -> list[str]:
        return []

    async def _diverged_of_reader(self) -> list[str]:
        return []

    async def _shared_out(self) -> None:
        pass

    @property
    def everyone(self) -> list[WorkerProcess]:
        return []

    async def _recorded(self) -> list[tuple[str, str]]:
        return list(self.log)


async def test_turns_that_are_accepted_while_it_is_examined_are_not_counted_as_lost(tmp_path: Path) -> None:
    scene = FakeScene(tmp_path)
    report = await scene.examined()
    assert (report["acknowledged"], report["lost"], report["lost_turns"]) == (3, 0, [])


async def test_a_turn_that_was_accepted_and_is_not_in_the_log_is_lost(tmp_path: Path) -> None:
    scene = FakeScene(tmp_path)
    scene.findings.acknowledged.add(("ada", "t1"))
    report = await scene.examined()
    assert (report["lost"], report["lost_turns"]) == (1, [("ada", "t1")])


@pytest.mark.parametrize(
    ("recorded", "lost", "duplicated", "broken"),
    [
        ([("ada", "t1")], 0, 0, 0),
        ([], 1, 0, 0),
        ([("ada", "t1"), ("ada", "t1")], 0, 1, 0),
        ([("ada", "t1"), ("ada", "t2")], 0, 0, 1),
    ],
)
def test_what_was_accepted_is_compared_with_the_log(
    recorded: list[tuple[str, str]], lost: int, duplicated: int, broken: int
) -> None:
    findings = SceneFindings(acknowledged={("ada", "t1"), ("ada", "t2")}, erased={("ada", "t2")})
    report = findings.compared(recorded)
    assert (report["lost"], report["duplicated"], len(findings.broken)) == (lost, duplicated, broken)


async def test_a_fault_that_does_not_come_to_its_end_is_reported_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def endless(scene: Scene) -> AsyncIterator[None]:
        yield
        raise TimeoutError

    monkeypatch.setitem(KINDS, "endless", endless)
    run = TortureRun(FakeScene(tmp_path))
    await run.torture(60.0, ["endless"])
    report = await run.report()
    assert (report["faults"], report["stuck"], report["lost"]) == (4, 4, 0)
    assert report["stuck_at"][0] == "endless (fault 1): TimeoutError()"


def home(data: Path, graph: str = "ada") -> Home:
    settings = WorkerSettings(data=data, prefix="emgas")
    return Home(settings, MemoryClient(data), graph)


async def test_the_turns_of_a_moved_graph_are_counted_where_it_lives(tmp_path: Path) -> None:
    graph = MovedGraph((home(tmp_path / "a"), home(tmp_path / "b")), taken={"t1", "t2"}, broken=["one"])
    graph.arrived(1)
    findings = SceneFindings(moved=[graph])
    report = findings.compared([("emgas/ada", "t1")])
    assert (report["moved"], report["lost_turns"], findings.broken) == (1, [("emgas/ada", "t2")], ["one"])


def test_a_graph_that_moved_lives_in_one_home_with_the_history_of_the_other(tmp_path: Path) -> None:
    here, there, third = (tmp_path / name for name in ("here", "there", "third"))
    emgas_here(here, "add", "ada", "The kettle is red.")
    emgas_here(third, "add", "ada", "The lantern is blue.")
    graph = MovedGraph((home(here), home(there, "bob")))

    def complaints(graph: MovedGraph) -> list[str]:
        return asyncio.run(graph.complaints())

    emgas_here(here, "graph", "move", "ada", "--to", str(there), "--as", "bob")
    assert (complaints(graph), graph.at) == ([], 1)
    emgas_here(there, "add", "bob", "The lantern is blue.")
    assert (complaints(graph), graph.at) == ([], 1), "it grew"
    (other,) = complaints(MovedGraph((home(here), home(third))))
    assert "is not the beginning" in other
    (both,) = complaints(MovedGraph((home(there, "bob"), home(third))))
    assert "lives in both" in both
    (neither,) = complaints(MovedGraph((home(here), home(there))))
    assert "lives in neither" in neither
