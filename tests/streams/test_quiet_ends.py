"""What an operator sees when something around a worker fails: one sentence, once a minute, and an end in time."""

from __future__ import annotations

import errno
import io
import logging
import os
import queue
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest
import typer

from emgas.logs import logger
from state.errors import DiskFullError
from state.store.rocksdb import RocksStore
from streams.cli.operate.worker import Stopping
from streams.cli.shared import output
from tests.support.clocks import PATIENCE, Clock

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def as_at_the_start_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let loggers speak: a worker that ran in this process before may have disabled them, or raised their level."""
    for name in ("aiokafka", "aiokafka.conn", "emgas", "emgas.ingest", "emgas.worker"):
        monkeypatch.setattr(logging.getLogger(name), "disabled", False)
        monkeypatch.setattr(logging.getLogger(name), "level", logging.INFO)
        logging.getLogger(name)._cache.clear()  # noqa: SLF001 - which levels it lets through, computed before


def logged(clock: Clock) -> tuple[io.StringIO, logging.Handler]:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.addFilter(output.OnceAMinute(clock))
    return written, handler


def test_a_missing_broker_is_told_once_a_minute_and_how_often_it_was_met() -> None:
    clock = Clock()
    written, handler = logged(clock)
    kafka = logging.getLogger("aiokafka.conn")
    kafka.addHandler(handler)
    try:
        for number in range(3000):
            clock.now = number * 0.1  # five minutes
            kafka.error("Unable connect to node with id %s: [Errno 111] Connect call failed %s", number, 9092)
    finally:
        kafka.removeHandler(handler)
    lines = written.getvalue().splitlines()
    assert len(lines) == 5
    assert lines[1].endswith("(and 599 times since the last line)")


def test_what_differs_is_told_and_so_is_every_turn_that_is_rejected() -> None:
    clock = Clock()
    written, handler = logged(clock)
    logging.getLogger("emgas").addHandler(handler)
    try:
        for number in range(3):
            logger("ingest").warning("turn rejected", offset=number)
            logger("worker").warning("cannot see which topic turns is", error="the broker is away")
        logger("worker").error("partition halted", partition=1)
    finally:
        logging.getLogger("emgas").removeHandler(handler)
    answers = [line.split(" ")[0] for line in written.getvalue().splitlines()]
    assert answers == ["turn", "cannot", "turn", "turn", "partition"]


def test_the_log_of_a_command_is_quiet_too() -> None:
    before = logging.getLogger().handlers[:]
    try:
        output.configure_logging("INFO", quiet=False)
        (handler,) = logging.getLogger().handlers
        assert [type(each) for each in handler.filters] == [output.OnceAMinute]
    finally:
        logging.getLogger().handlers = before


def test_a_worker_that_is_told_to_stop_while_it_is_still_imported_ends_with_0() -> None:
    begin = "import os, signal, sys; from emgas_service import start; sys.argv = ['emgas', 'worker']; "
    answer = "start.mixed = lambda: os.kill(os.getpid(), signal.SIGTERM); start.main()"
    ended = subprocess.run([sys.executable, "-c", begin + answer], cwd=ROOT, timeout=PATIENCE, check=False)
    assert ended.returncode == 0, f"it was {-signal.SIGTERM} before"


def test_a_worker_that_ends_keeps_its_exit_code_whatever_it_is_told() -> None:
    late = "import atexit, signal, sys; atexit.register(lambda: print(signal.getsignal(signal.SIGTERM).name)); "
    begin = "from emgas_service import start; sys.argv = ['emgas', 'worker']; start.mixed = lambda: 'no'; start.main()"
    ended = subprocess.run([sys.executable, "-c", late + begin], cwd=ROOT, timeout=PATIENCE, check=False, stdout=PIPE)
    assert (ended.returncode, ended.stdout.split()) == (1, [b"SIG_IGN"]), "a signal while Python ends made it -15"


def test_the_seconds_to_stop_count_from_the_signal_though_the_event_loop_is_busy() -> None:
    left: queue.Queue[int] = queue.Queue()
    stopping = Stopping(0.0, left.put)
    stopping.count_down()  # and no event loop ever calls `begin`
    assert left.get(timeout=PATIENCE) == 0


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_a_sentence_that_says_what_to_do(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    async def work() -> None:
        raise OSError(number, os.strerror(number), "/data/file")

    with pytest.raises(typer.Exit):
        output.run(work())
    answer = capsys.readouterr().err.replace("\n", " ")
    assert "error: the disk is full (/data/file): free some space" in answer


def test_any_other_error_of_the_system_still_shows_its_place() -> None:
    async def work() -> None:
        raise PermissionError(errno.EACCES, "no")

    with pytest.raises(PermissionError):
        output.run(work())


def test_a_store_on_a_full_disk_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = RocksStore(tmp_path / "store")

    def refuse(*_: object) -> None:
        raise Exception("IO error: No space left on device: While appending to file")  # noqa: TRY002 - as rocksdict does

    class Full:
        write = flush = refuse
        close = store._database.close  # noqa: SLF001 - the engine, which alone notices

    monkeypatch.setattr(store, "_database", Full())
    with pytest.raises(DiskFullError, match="Make room on it"):
        store.write({b"a": b"b"})
    with pytest.raises(DiskFullError, match="Make room on it"):
        store.close()
    RocksStore(tmp_path / "store").close()
