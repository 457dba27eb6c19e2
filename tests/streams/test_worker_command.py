"""How `emgas worker` ends: with 0 once it was told to stop, whatever happens on the way; with 70 when it halts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from emgas.errors import HaltedError
from streams.cli.operate.worker import HALTED, Stopping, _own_directory
from streams.settings import Settings


async def test_what_fails_after_it_was_told_to_stop_is_no_reason_to_start_it_again() -> None:
    """A rebalance that is under way breaks off whatever a worker awaits."""
    left: list[int] = []
    stopping = Stopping(60.0, left.append)
    stopping.begin()
    stopping.halted(HaltedError("the log did not acknowledge"))
    assert left == [0]


async def test_a_worker_that_halts_by_itself_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    left: list[int] = []
    Stopping(60.0, left.append).halted(HaltedError("broken"))
    assert left == [HALTED]


async def test_a_worker_that_cannot_let_go_leaves_in_time() -> None:
    loop, left = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()
    stopping = Stopping(0.0, lambda code: loop.call_soon_threadsafe(left.set_result, code))
    stopping.begin()
    stopping.begin()
    assert await left == 0
    assert stopping.begun.is_set()


def test_workers_on_one_machine_get_directories_of_their_own(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, broker="kafka://127.0.0.1:1")
    taken = [_own_directory(settings).data for _ in range(3)]
    assert taken == [tmp_path, tmp_path / "worker-2", tmp_path / "worker-3"]
