"""How the torture counts what is lost: what it had accepted, compared with what the log holds in the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench.torture.__main__ import TortureRun
from bench.torture.kinds import KINDS
from bench.torture.processes import WorkerProcess
from bench.torture.scene import Scene, SceneFindings


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
