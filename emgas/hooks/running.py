"""The server that hooks talk to: find it, send it something, and start one if there is none.

EMGAS_HOOK_URL, EMGAS_KEY  a server elsewhere; without them, the one that announces itself in the data directory
EMGAS_DATA, EMGAS_PREFIX   the data directory, as for every command
EMGAS_HOOK_START=0         starts none
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from time import monotonic
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from emgas.hooks.spool import Spooled

BUSY = (408, 425, 429)  # statuses by which a server refuses for now


class RunningServer(NamedTuple):
    """The address of a server, and the key that it requires, if any."""

    url: str
    key: str | None


class NoServerError(Exception):
    """No server answers, or not in time."""


class HookRefusedError(Exception):
    """The server refuses a request for good: sending it again would not help."""


def home() -> Path:
    """Return the directory of the embedded log, as streams/settings.py computes it."""
    data = Path(os.environ.get("EMGAS_DATA") or _user_data() / "emgas").expanduser()
    return data / "embedded" / (os.environ.get("EMGAS_PREFIX") or "emgas")


def _user_data() -> Path:
    """Return the folder of this user's data, as platformdirs does."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME", "").strip() or Path.home() / ".local" / "share")


def hooks_folder() -> Path:
    """Return the folder of the spool and of the log."""
    return home() / "hooks"


def find_server() -> RunningServer | None:
    """Return the server that is named, or that announces itself; None if there is none."""
    if url := os.environ.get("EMGAS_HOOK_URL"):
        return RunningServer(url.rstrip("/"), os.environ.get("EMGAS_KEY"))
    try:
        announced = json.loads((home() / "server.json").read_text("utf-8"))
        return RunningServer(str(announced["url"]), announced["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def send(message: Spooled, until: float, *, late: bool = False) -> bytes:
    """Send a message to the server; return what it adds, nothing if it is `late`.

    Raises NoServerError, HookRefusedError.
    """
    server = find_server()
    if server is None:
        raise NoServerError("no server runs")
    fields = {"event": message.event, "graph": message.graph, "at": message.at, "late": str(late).lower()}
    answer = request(
        server, "POST", f"/v1/hooks/{message.host}?{urlencode(fields)}", json.dumps(message.input).encode(), until=until
    )
    return answer if answer.strip() not in (b"", b"{}", b"null") else b""


def request(server: RunningServer, method: str, path: str, body: bytes = b"", *, until: float) -> bytes:
    """Send a request; return the body of the answer.  `until`: by the monotonic clock.

    Raises NoServerError, and HookRefusedError for a status of 400 to 499, but not where the server is only busy.
    """
    where = urlsplit(server.url)
    try:
        if where.scheme == "https":  # an operator's server: http.client verifies its certificate
            status, answer = _by_http_client(server, method, path, body, until)
        else:
            status, answer = _by_socket(server, method, path, body, until)
    except (OSError, ValueError) as error:
        raise NoServerError(f"{server.url} does not answer ({error!r})") from error
    if 400 <= status < 500 and status not in BUSY:
        raise HookRefusedError(f"{server.url} refuses {path}: {status} {answer[:300].decode(errors='replace')}")
    if status >= 300:
        raise NoServerError(f"{server.url} answers {status}")
    return answer


def _by_socket(server: RunningServer, method: str, path: str, body: bytes, until: float) -> tuple[int, bytes]:
    """Speak HTTP/1.0, which has no chunks: importing http.client would take half of a hook's time."""
    where = urlsplit(server.url)
    with socket.create_connection((where.hostname, where.port or 80), timeout=_left(until)) as opened:
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        opened.sendall(_head(server, method, path, body, str(where.netloc)) + body)
        answer = bytearray()
        while piece := _received(opened, until):
            answer += piece
    head, separator, content = bytes(answer).partition(b"\r\n\r\n")
    if not separator:
        raise ConnectionResetError("the answer breaks off")
    length = next(
        (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), len(content)
    )
    if len(content) < length:
        raise ConnectionResetError("the answer breaks off")
    return int(head.split(b" ", 2)[1]), content[:length]


def _received(opened: socket.socket, until: float) -> bytes:
    opened.settimeout(_left(until))
    return opened.recv(65536)


def _head(server: RunningServer, method: str, path: str, body: bytes, netloc: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.0", f"Host: {netloc}", "Connection: close", f"Content-Length: {len(body)}"]
    lines += ["Content-Type: application/json"] if body else []
    lines += [f"Authorization: Bearer {server.key}"] if server.key else []
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _by_http_client(server: RunningServer, method: str, path: str, body: bytes, until: float) -> tuple[int, bytes]:
    from http.client import HTTPException, HTTPSConnection

    where = urlsplit(server.url)
    connection = HTTPSConnection(str(where.hostname), where.port, timeout=_left(until))
    headers = {"Content-Type": "application/json"} if body else {}
    headers |= {"Authorization": f"Bearer {server.key}"} if server.key else {}
    try:
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        return response.status, response.read()
    except HTTPException as error:
        raise ConnectionResetError(str(error)) from error
    finally:
        connection.close()


def _left(until: float) -> float:
    left = until - monotonic()
    if left <= 0:
        raise TimeoutError("no time is left")
    return left
