"""How `emgas worker` ends: with 0 once it was told to stop, whatever happens on the way; with 70 when it halts."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from emgas.errors import HaltedError, TransportError
from streams.cli.operate.worker import HALTED, SWITCH_SECONDS, Stopping, _own_directory, _schedule
from streams.settings import WorkerSettings
from streams.transport import select
from streams.worker import service
from tests.support.clocks import PATIENCE


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
    settings = WorkerSettings(data=tmp_path, broker="kafka://127.0.0.1:1")
    taken = [_own_directory(settings).data for _ in range(3)]
    assert taken == [tmp_path, tmp_path / "worker-2", tmp_path / "worker-3"]


def test_nobody_else_may_look_into_a_workers_directory_and_one_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    settings = WorkerSettings(data=tmp_path / "data", broker="kafka://127.0.0.1:1")
    for home in (_own_directory(settings).home, _own_directory(settings).home):
        assert home.stat().st_mode & 0o077 == 0
    (tmp_path / "file").touch()
    with pytest.raises(TransportError, match=r"cannot use the data directory .*: Not a directory; set EMGAS_DATA"):
        _own_directory(WorkerSettings(data=tmp_path / "file", broker="kafka://127.0.0.1:1"))


@pytest.mark.parametrize("role", ["reader", "all"])
def test_what_fetches_questions_waits_less_than_pythons_default_for_what_computes(role: str) -> None:
    before, by_default = sys.getswitchinterval(), 0.005
    sys.setswitchinterval(by_default)
    try:
        _schedule(role)
        assert sys.getswitchinterval() == pytest.approx(SWITCH_SECONDS)
        assert by_default > SWITCH_SECONDS
    finally:
        sys.setswitchinterval(before)


async def test_a_cancellation_that_kafkas_client_takes_for_its_own_error_holds_up_no_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asking = asyncio.Event()

    async def risks(settings: WorkerSettings) -> list[str]:
        return []

    async def growth(settings: WorkerSettings, partitions: int) -> str | None:
        asking.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise TransportError("the consumer was closed") from None
        return None

    monkeypatch.setattr(select, "risks", risks)
    monkeypatch.setattr(select, "growth", growth)
    warning = asyncio.create_task(service._warn(WorkerSettings(broker="kafka://b:1", tick_seconds=3600.0), 1))  # noqa: SLF001 - run by a worker alone
    await asyncio.wait_for(asking.wait(), PATIENCE)
    warning.cancel()
    assert await asyncio.wait([warning], timeout=PATIENCE) == ({warning}, set())
