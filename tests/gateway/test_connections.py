"""Connections that wait for their peer have deadlines, and make room for others."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.types import Receive, Scope, Send

from gateway.http import connections
from gateway.http.connections import Limits, peer_of
from gateway.serve import within
from tests.support.clocks import PATIENCE, eventually
from tests.support.served import listening

Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]
WHOLE = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
HALVES = {
    "nothing": b"",
    "half a header": b"GET / HTTP/1.1\r\nHost: a",
    "half a body": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf",
    "half a chunk": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf",
    "the rest of what was answered": b"POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf",
    "an answer that is not read": b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n",
    "a large answer that is not read": b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n",
}


class Application:
    """Answers what a path says; counts who is still within."""

    def __init__(self) -> None:
        self.entered, self.within, self.released = 0, 0, asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        self.within, self.entered = self.within + 1, self.entered + 1
        try:
            await self._answer(scope["path"], receive, send)
        finally:
            self.within -= 1

    async def _live(self, receive: Receive, send: Send) -> None:
        for kind in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{kind}.complete"})

    async def _answer(self, path: str, receive: Receive, send: Send) -> None:
        message = {"more_body": path != "/refused"}
        while message.get("more_body", False):
            message = dict(await receive())
        if path == "/held":
            await self.released.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(64 if path == "/stream" else 0):
            await send({"type": "http.response.body", "body": bytes(1 << 20), "more_body": True})
        await send({"type": "http.response.body", "body": bytes(64 << 20) if path == "/large" else b"done"})


@asynccontextmanager
async def served(limits: Limits | None = None) -> AsyncIterator[tuple[Application, int]]:
    """Serve an application; give it and its port."""
    app = Application()
    async with asyncio.timeout(PATIENCE), listening(app, limits) as url:
        yield app, int(url.rpartition(":")[2])


async def connected(port: int, sent: bytes = b"", host: str = "127.0.0.1") -> Peer:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(host, 0))
    writer.write(sent)
    return reader, writer


async def answered(peer: Peer) -> bytes:
    """Ask on a connection; return the status, nothing where it is closed."""
    try:
        peer[1].write(WHOLE)
        line = await peer[0].readline()
        await peer[0].readuntil(b"0\r\n\r\n")
    except (ConnectionError, asyncio.IncompleteReadError):
        return b""
    return line.split()[1]


async def closed(peer: Peer) -> bytes:
    """Wait until the server closes a connection; return what it said."""
    try:
        return await peer[0].read()
    except ConnectionError:
        return b""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each deadline come soon."""
    monkeypatch.setattr(connections, "SECONDS", {**dict.fromkeys(connections.SECONDS, 0.2), "us": float("inf")})


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.usefixtures("impatient")
async def test_who_does_not_go_on_is_closed(half: str) -> None:
    async with served() as (app, port):
        peer = await connected(port, HALVES[half])
        if "not read" in half:
            await eventually(lambda: app.entered and not app.within)
        text = await closed(peer)
        await eventually(lambda: not app.within)
        assert text.startswith(b"HTTP/1.1 408 ") is (half in ("half a header", "half a body", "half a chunk"))


@pytest.mark.usefixtures("impatient")
async def test_a_header_that_drips_in_is_not_waited_for() -> None:
    async with served() as (_, port):
        reader, writer = await connected(port)
        ended = asyncio.create_task(reader.read())
        while not ended.done():
            writer.write(b"a")
            await asyncio.wait([ended], timeout=0.02)
        assert (await ended).startswith(b"HTTP/1.1 408 ")


@pytest.mark.usefixtures("impatient")
async def test_a_slow_application_is_waited_for() -> None:
    async with served() as (app, port):
        reader, writer = await connected(port, b"GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        await eventually(lambda: app.within)
        silent = await connected(port)
        await closed(silent)  # a deadline, which was set later, is over
        app.released.set()
        assert (await reader.readline()).split()[1] == b"200"
        writer.close()


async def test_silent_peers_make_room_for_one_that_asks() -> None:
    halves = (b"", HALVES["half a header"], HALVES["half a body"])
    async with served(Limits(connections=20, per_peer=20)) as (_, port):
        silent = [await connected(port, halves[n % 3], f"127.0.0.{2 + n % 4}") for n in range(60)]
        for _ in range(5):
            assert await answered(await connected(port)) == b"200"
        ended = [asyncio.create_task(closed(peer)) for peer in silent]
        await eventually(lambda: sum(task.done() for task in ended) >= len(silent) - 20)
        for task in ended:
            task.cancel()
        await asyncio.wait(ended)


async def test_one_peer_cannot_take_the_room_of_others() -> None:
    async with served(Limits(connections=20, per_peer=5)) as (app, port):
        current = [await connected(port, b"GET /held HTTP/1.1\r\nHost: a\r\n\r\n", "127.0.0.2") for _ in range(5)]
        await eventually(lambda: app.within == 5)
        assert (await closed(await connected(port, host="127.0.0.2"))).startswith(b"HTTP/1.1 503 ")
        assert await answered(await connected(port)) == b"200"
        app.released.set()
        for reader, _ in current:
            assert b"200" in await reader.readline()


async def test_where_no_connection_waits_a_new_one_is_refused_whoever_it_is_from() -> None:
    async with served(Limits(connections=4, per_peer=4)) as (app, port):
        held = b"GET /held HTTP/1.1\r\nHost: a\r\n\r\n"
        current = [await connected(port, held, f"127.0.0.{2 + n}") for n in range(4)]
        await eventually(lambda: app.within == 4)
        assert (await closed(await connected(port))).startswith(b"HTTP/1.1 503 ")
        app.released.set()
        for reader, _ in current:
            assert b"200" in await reader.readline()


def test_no_peer_is_waited_for_as_long_as_a_minute() -> None:
    assert all(seconds < 60 for phase, seconds in connections.SECONDS.items() if phase != "us")


async def test_a_connection_is_used_again_and_again() -> None:
    async with served(Limits(connections=1)) as (_, port):
        peer = await connected(port)
        assert [await answered(peer) for _ in range(3)] == [b"200"] * 3


def test_peers_are_told_apart_by_address_or_network() -> None:
    assert peer_of(("127.0.0.1", 1)) == peer_of(("::ffff:127.0.0.1", 2)) == "127.0.0.1"
    assert peer_of(("2001:db8::1", 1)) == peer_of(("2001:db8::2", 1)) != peer_of(("2001:db8:0:1::1", 1))
    assert peer_of(None) == ""


def test_the_limit_of_open_files_is_raised_as_far_as_it_may() -> None:
    program = (
        "import resource; from gateway.http.connections import raise_descriptors\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 512))\n"
        "print(raise_descriptors(), *resource.getrlimit(resource.RLIMIT_NOFILE))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["512", "512", "512"]


def test_half_of_the_files_are_left_to_the_memory() -> None:
    assert within(1024, Limits()).connections == 512
    assert within(100_000, Limits()).connections == Limits().connections
