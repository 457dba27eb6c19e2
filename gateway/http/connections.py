"""Connections: how many there may be, and how long the server waits for the other side.

A connection waits for its peer before a request is complete, between requests, and while its answer is not read.  All
of these have a deadline:

    header     HEADER_SECONDS until a request's header is complete, however its bytes drip in
    body       BODY_SECONDS, and a second more for each BODY_RATE bytes that came
    refused    LINGER_SECONDS for the rest of a body whose request is answered already
    answer     READ_SECONDS without room in the send buffer: the peer does not read

When there is no room for a new connection, the one that has waited for its peer the longest is closed: silent peers
cannot keep honest ones out, even behind a proxy, where all have one address.  Where no connection waits for its peer,
the new one gets 503.  It is done in uvicorn's protocol, below ASGI, so it holds for every route, event streams and MCP.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from gateway.http.errors import problem

HEADER_SECONDS = 10.0
BODY_SECONDS = 20.0
BODY_RATE = 1024
LINGER_SECONDS = 5.0
READ_SECONDS = 30.0
SECONDS = {"header": HEADER_SECONDS, "body": BODY_SECONDS, "refused": LINGER_SECONDS, "answer": READ_SECONDS,
           "us": float("inf")}  # fmt: skip
CONNECTIONS = 4096
PER_PEER = 2048  # one client of ours opens up to 1,000 (emgas/client/http.py)
DESCRIPTORS = 65_536  # more are of no use, and some programs close each one that could be open
CAUSES = {408: ("timeout", "the request did not come in time: send it again"),
          503: ("busy", "too many connections are open: close some, or try again")}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """The limits that an operator can set."""

    connections: int = CONNECTIONS
    per_peer: int = PER_PEER


class Connections:
    """All connections of a server."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._of: Counter[str] = Counter()  # peer → its connections
        self._waiting: dict[GuardedProtocol, None] = {}  # for their peers; the one that waits the longest comes first

    def protocol(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> GuardedProtocol:
        """Make the protocol of a new connection, as uvicorn asks for it."""
        return GuardedProtocol(self, config, server_state, app_state, _loop)

    def admit(self, peer: str) -> bool:
        """Count a new connection, after making room for it.  Return False where there is none."""
        is_full = self._of.total() >= self._limits.connections and not self._close_longest_waiting()
        if is_full or (self._of[peer] >= self._limits.per_peer and not self._close_longest_waiting(peer)):
            return False
        self._of[peer] += 1
        return True

    def leave(self, connection: GuardedProtocol) -> None:
        """Stop counting a connection that ended."""
        self.is_busy(connection)
        self._of[connection.peer] -= 1
        if not self._of[connection.peer]:
            del self._of[connection.peer]

    def waits(self, connection: GuardedProtocol) -> None:
        """Note that a connection waits for its peer from now on."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = None

    def is_busy(self, connection: GuardedProtocol) -> None:
        """Note that a connection waits for us."""
        self._waiting.pop(connection, None)

    def _close_longest_waiting(self, peer: str | None = None) -> bool:
        longest = next((each for each in self._waiting if peer in (None, each.peer)), None)
        if longest is not None:
            longest.drop()
        return longest is not None


class GuardedProtocol(H11Protocol):
    """One connection, with its deadline."""

    def __init__(self, room: Connections, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._room, self.peer = room, ""
        self._is_counted = False
        self._phase: tuple[str, Any] = ("", None)  # the phase that the deadline limits, and its request
        self._deadline = float("inf")
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self.peer = peer_of(self.client)
        self._is_counted = self._room.admit(self.peer)
        if self._is_counted:
            self._look()
        else:
            self._refuse(503)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._set(float("inf"))
        self._leave()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look(len(data))

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._look()

    def drop(self) -> None:
        """Close at once, and count no longer."""
        self.transport.abort()
        self._leave()

    def _leave(self) -> None:
        if self._is_counted:
            self._is_counted = False
            self._room.leave(self)

    def _look(self, received: int = 0) -> None:
        """See what the connection waits for now, and until when."""
        if not self._is_counted:
            return
        phase = self._waits_for(), self.cycle
        if phase != self._phase:
            self._phase = phase
            self._set(self.loop.time() + SECONDS[phase[0]])
        elif phase[0] == "body":
            self._deadline += received / BODY_RATE
        if phase[0] == "us":
            self._room.is_busy(self)
        else:
            self._room.waits(self)

    def _waits_for(self) -> str:
        is_answered = self.cycle is None or self.cycle.response_complete
        is_read = not self.flow.write_paused and not (is_answered and self.transport.get_write_buffer_size())
        is_whole = self.conn.their_state is not h11.SEND_BODY
        if not is_read:
            return "answer"
        if is_answered:
            return "header" if is_whole else "refused"
        return "us" if is_whole else "body"

    def _set(self, deadline: float) -> None:
        """Set the deadline.  A timer that fires too early is set again: cheaper than a timer for each request."""
        self._deadline = deadline
        if self._timer is not None and self._timer.when() > deadline:
            self._timer.cancel()
            self._timer = None
        if self._timer is None and deadline < float("inf"):
            self._timer = self.loop.call_at(deadline, self._fire)

    def _fire(self) -> None:
        self._timer = None
        if self._is_counted and self._phase != (self._waits_for(), self.cycle):
            self._look()  # the rest of an answer was sent meanwhile
        elif self._phase[0] == "body" and self.flow.read_paused:
            self._set(self.loop.time() + BODY_SECONDS)  # we do not read: the application is slow
        elif self.loop.time() < self._deadline:
            self._set(self._deadline)
        else:
            self._expire()

    def _expire(self) -> None:
        is_half = self._phase[0] == "body" or (self._phase[0] == "header" and self.conn.trailing_data[0])
        is_begun = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if is_half and not is_begun and not self.transport.is_closing():
            self._refuse(408)
        else:
            self.drop()

    def _refuse(self, status: int) -> None:
        """Answer without the application, and close."""
        self.transport.write(answer(status))
        self.transport.close()
        self._leave()


def answer(status: int) -> bytes:
    """Write a whole response that tells a problem."""
    response = problem(status, *CAUSES[status], {"Connection": "close", "Retry-After": "1"})
    head = b"".join(b"%s: %s\r\n" % header for header in response.raw_headers)
    return b"HTTP/1.1 %d %s\r\n%s\r\n%s" % (status, HTTPStatus(status).phrase.encode(), head, response.body)


def peer_of(address: tuple[str, int] | None) -> str:
    """Return the peer of a connection: an IPv4 address, or the /64 network in IPv6, which one customer gets."""
    if address is None:
        return ""
    ip = ipaddress.ip_address(address[0].partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address) or ip.ipv4_mapped is not None:
        return str(getattr(ip, "ipv4_mapped", None) or ip)
    return str(ipaddress.ip_network((ip, 64), strict=False))


def raise_descriptors() -> int:
    """Raise the limit of open files of this process as far as it may, and return it."""
    try:
        import resource  # here: Windows has none, and no such limit
    except ImportError:
        return DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
        return target
    return DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
