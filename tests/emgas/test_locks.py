"""Locks between processes: the one of this system works, Windows gets its own, and no module needs POSIX to load."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from emgas import locks
from emgas.locks import AT, lock_file, lock_of, windows_lock
from tests.support.cli import ROOT

HOLD = (
    "import os, sys; from emgas.locks import lock_file; file = os.open(sys.argv[1], os.O_RDWR);"
    "lock_file(file, record=sys.argv[2] == '1'); print('held', flush=True); sys.stdin.read()"
)
ONLY_POSIX = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix_ipc", "syslog", "crypt", "spwd", "nis")
LOAD = """
import importlib, os, pkgutil, sys
for name in {missing}:
    sys.modules[name] = None
for name in ("fork", "forkpty", "pread", "pwrite", "O_CLOEXEC", "getuid", "geteuid", "sched_getaffinity", "statvfs"):
    if hasattr(os, name):
        delattr(os, name)
failed = []
for package in {packages}:
    root = importlib.import_module(package)
    for module in pkgutil.walk_packages(root.__path__, package + "."):
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            if any(repr(name) in str(error) or error.name == name for name in {missing}):
                failed.append(f"{{module.name}}: {{error}}")
        except AttributeError as error:
            failed.append(f"{{module.name}}: {{error}}")
print("\\n".join(failed))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "lock"
    path.write_text("7\n")
    return path


@pytest.mark.parametrize("record", [False, True])
def test_a_file_that_another_process_holds_is_refused_and_free_once_it_has_died(path: Path, *, record: bool) -> None:
    command = [sys.executable, "-c", HOLD, str(path), str(int(record))]
    file = os.open(path, os.O_RDWR)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError):
            lock_file(file, record=record)
        holder.kill()
    lock_file(file, record=record)
    os.close(file)


class FakeMsvcrt(SimpleNamespace):
    """Locks bytes of files as Windows does: refuses with EACCES, and locks from the current position on."""

    LK_NBLCK = 2

    def __init__(self, held: int) -> None:
        super().__init__()
        self.held, self.locked = held, list[tuple[int, int]]()

    def locking(self, descriptor: int, mode: int, size: int) -> None:
        assert (mode, size) == (self.LK_NBLCK, 1)
        if self.held:
            self.held -= 1
            raise PermissionError(errno.EACCES, "Permission denied")
        self.locked.append((descriptor, os.lseek(descriptor, 0, os.SEEK_CUR)))


def test_windows_locks_a_byte_behind_the_text_and_keeps_the_position(path: Path) -> None:
    file, fake = os.open(path, os.O_RDWR), FakeMsvcrt(held=0)
    windows_lock(fake)(file, False, False)  # type: ignore[arg-type]
    assert fake.locked == [(file, AT)]
    assert os.read(file, 9) == b"7\n"
    os.close(file)


def test_windows_refuses_at_once_or_waits_until_the_file_is_free(path: Path) -> None:
    file, slept = os.open(path, os.O_RDWR), list[float]()
    with pytest.raises(OSError, match="denied"):
        windows_lock(FakeMsvcrt(held=1), slept.append)(file, False, False)  # type: ignore[arg-type]
    assert not slept
    windows_lock(FakeMsvcrt(held=3), slept.append)(file, True, False)  # type: ignore[arg-type]
    assert len(slept) == 3
    os.close(file)


def test_each_system_gets_its_own_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(name: str) -> Any:
        loaded.append(name)
        return FakeMsvcrt(held=0)

    monkeypatch.setattr(locks, "import_module", load)
    for system in ("posix", "nt"):
        lock_of(system)
    assert loaded == ["fcntl", "msvcrt"]


def test_every_module_of_the_client_and_the_embedded_memory_loads_without_what_only_posix_has() -> None:
    packages = ("emgas", "state", "processors", "replay", "streams", "lab")  # those of `gateway` load what MCP's do
    code = LOAD.format(missing=ONLY_POSIX, packages=packages)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
