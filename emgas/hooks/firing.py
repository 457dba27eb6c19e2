"""`emgas hook EVENT`: what a host runs at each of its events.  It reads the host's JSON from stdin.

It keeps what was said in the spool, sends it to the server, and prints what the server adds to the prompt.  On any
trouble it prints nothing and exits with 0, because an agent must not wait for its memory.

EMGAS_HOOK_SECONDS    how long it waits for the server, with all else it does: 0.3
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from emgas.hooks import running, spool
from emgas.hooks.hosts import FIELDS, HOSTS, Host, read_input
from emgas.hooks.projects import graph_of

SECONDS = 0.3
HUNG = 20  # times that until it ends even though its host's pipe or the disk hangs; not before what was said is kept
ANSWER_SHARE = 0.8  # of its time a hook waits for the server; the rest is for starting a deliverer
STORED = ("prompt", "answer")
USAGE = "usage: emgas hook EVENT [--host HOST]   (the host's JSON on stdin; hosts: " + ", ".join(HOSTS) + ")"


def main(arguments: list[str]) -> None:
    """Run a hook.  Never fails: hosts show errors of hooks to their user, or stop."""
    started = time.monotonic()
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, HUNG * seconds())
    try:
        host, event = _arguments(arguments)
        payload = json.load(sys.stdin.buffer)
    except (ValueError, IndexError, OSError) as error:
        spool.note(running.hooks_folder(), f"{_now()} {error!r}")
        return
    output = fire_safely(host, event, payload, started)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    if output:
        sys.stdout.write(output.decode())


def seconds() -> float:
    """Return how long a hook may take."""
    try:
        return max(0.05, float(os.environ["EMGAS_HOOK_SECONDS"]))
    except (KeyError, ValueError):
        return SECONDS


def fire_safely(host: Host, event: str, payload: dict[str, Any], started: float) -> bytes:
    """Fire a hook; on any trouble return b"" and note it in the log."""
    try:
        return fire(host, event, payload, started)
    except Exception as error:  # noqa: BLE001 - an agent must not fail with its memory
        spool.note(running.hooks_folder(), f"{_now()} {error!r}")
        return b""


def _arguments(arguments: list[str]) -> tuple[Host, str]:
    name, event = "claude-code", ""
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word.startswith("--host"):
            name = word.partition("=")[2] or rest.pop(0)
        else:
            event = word
    if name not in HOSTS:
        raise ValueError(USAGE)
    return HOSTS[name], event


def fire(host: Host, event: str, payload: dict[str, Any], started: float) -> bytes:
    """Store what the host's JSON says, and return what to print."""
    folder = running.hooks_folder()
    message = _message(host, event, payload)
    about = read_input(host, payload, event).about
    path = spool.keep(folder, message) if about in STORED else None
    earlier = spool.is_late(folder, message.at - round(1000 * seconds()))
    try:
        output = running.send(message, started + ANSWER_SHARE * seconds())
    except running.NoServerError as trouble:
        spool.note(folder, f"{_now()} {trouble}")
        _deliver_later(folder)
        return b""
    except running.HookRefusedError as trouble:
        spool.note(folder, f"{_now()} {trouble}")
        output = b""
    if path is not None:
        spool.remove(path)
    if earlier:
        _deliver_later(folder)
    return output


def _message(host: Host, event: str, payload: dict[str, Any]) -> spool.Spooled:
    taken = read_input(host, payload, event)
    fields = {name: payload[name] for name in FIELDS if name in payload}
    if os.environ.get("EMGAS_REDACT", "").strip().lower() not in ("0", "off", "no", "false"):
        from emgas.redaction import redact

        fields = {name: redact(value) if isinstance(value, str) else value for name, value in fields.items()}
    return spool.Spooled(host.name, taken.event, graph_of(taken.folder), _now(), fields)


def _deliver_later(folder: Path) -> None:
    from emgas.hooks.delivering import start  # here: most hooks need none of it

    start(folder)


def _now() -> int:
    return time.time_ns() // 1_000_000
