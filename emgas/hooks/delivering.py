"""The deliverer: a process of its own that starts a server if there is none, and sends it what is in the spool.

One runs at a time, however many hooks fire: it inherits a lock from the hook that starts it.  The directory's own lock
lets only one server have the memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from emgas.hooks import running, spool
from emgas.locks import lock_file

SECONDS = 120.0  # until a server that starts must answer
DELIVER_SECONDS = 10.0  # until a message must be stored
POLL_SECONDS = 0.05


def start(folder: Path) -> None:
    """Start a deliverer, unless one runs."""
    lock = _try_lock(folder)
    if lock is None:
        return
    command = [sys.executable, "-c", "from emgas.hooks.delivering import main; main()", str(lock)]
    inherited = {} if sys.platform == "win32" else {"pass_fds": (lock,)}
    with (folder / "server.log").open("wb") as log:  # of the latest server that was started
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, start_new_session=True,
            env={**os.environ, "PYTHONSAFEPATH": "1"}, **inherited,  # type: ignore[call-overload]
        )  # fmt: skip
    os.close(lock)


def main() -> None:
    """Start a server if none answers, and send it all messages of the spool."""
    folder, lock = running.hooks_folder(), int(sys.argv[1])
    if not _server_answers(folder):
        return
    while deliver(folder):
        pass
    stuck = spool.waiting(folder)
    os.close(lock)
    if set(spool.waiting(folder)) - set(stuck):  # of a hook that found the lock taken, and started no deliverer
        start(folder)


def _server_answers(folder: Path) -> bool:
    """Wait for a server, and start one if there is none; return whether it answers."""
    server: subprocess.Popen[bytes] | None = None
    until = time.monotonic() + SECONDS
    while not _answers():
        if time.monotonic() > until or os.environ.get("EMGAS_HOOK_URL") or os.environ.get("EMGAS_HOOK_START") == "0":
            return False
        if server is None:
            server = _start_server()
        elif server.poll() is not None and running.find_server() is None:
            spool.note(folder, f"emgas serve ended with {server.returncode}: see {folder}/server.log")
            return False
        time.sleep(POLL_SECONDS)
    return True


def deliver(folder: Path) -> int:
    """Send each message of the spool; return how many were stored.  Messages that cannot be sent now stay."""
    stored = 0
    for path, message in spool.kept(folder):
        try:
            if message is not None:
                running.send(message, time.monotonic() + DELIVER_SECONDS, late=True)
        except running.NoServerError as trouble:
            spool.note(folder, str(trouble))
            return 0
        except running.HookRefusedError as trouble:
            spool.note(folder, str(trouble))
        spool.remove(path)
        stored += 1
    return stored


def _start_server() -> subprocess.Popen[bytes]:
    command = "from emgas_service.start import main; main()"
    return subprocess.Popen([sys.executable, "-c", command, "serve", "--port", "0"], start_new_session=True)


def _answers() -> bool:
    server = running.find_server()
    if server is None:
        return False
    with suppress(running.NoServerError, running.HookRefusedError):
        running.request(server, "GET", "/healthz", until=time.monotonic() + 1)
        return True
    return False


def _try_lock(folder: Path) -> int | None:
    """Lock the deliverer's file; None while another process holds the lock."""
    folder.mkdir(0o700, parents=True, exist_ok=True)
    file = os.open(folder / "deliverer.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if sys.platform != "win32":  # there, no child inherits a lock: a second deliverer finds the server of the first
            lock_file(file)
    except OSError:
        os.close(file)
        return None
    return file
