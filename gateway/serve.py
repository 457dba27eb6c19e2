"""`emgas serve`: one process that owns an embedded memory, or connects to Kafka, and serves it over HTTP and MCP."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from emgas.client import traces
from emgas.client.client import MemoryClient
from emgas.client.connection import Announcing
from gateway.app import gateway
from gateway.auth.access import hostname, is_loopback
from gateway.auth.keys import RIGHTS, Caller, Keys
from gateway.auth.new_keys import digest, new_key
from gateway.doors.chat import ChatModel
from gateway.http.connections import Connections, Limits, raise_descriptors

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - what an operator may ask for
BACKLOG = 2048


class OrderlyServer(uvicorn.Server):
    """Stops at a signal, as uvicorn does, but does not raise it again: the memory still has to be closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


async def served(
    url: str | None,
    *,
    host: str,
    port: int,
    keys: Keys,
    model: ChatModel | None = None,
    all_tools: bool = False,
    limits: Limits | None = None,
) -> None:
    """Serve until a signal, or until the memory halts.

    Raises OSError for an address that cannot be used, and what opening the memory raises.
    """
    traces.configure("emgas-serve")
    limits = within(raise_descriptors(), limits or Limits())
    async with AsyncExitStack() as stack:
        listening = stack.enter_context(listen(host, port))
        memory = await stack.enter_async_context(MemoryClient(url))
        address = address_of(listening)
        announce(memory, address, keys)
        app = gateway(lambda: nullcontext(memory), keys, model, all_tools=all_tools, folder=folder_of(memory))
        server = OrderlyServer(configured(app, limits, log_level="warning", timeout_graceful_shutdown=10))
        ending = asyncio.create_task(_end_with(memory, server))
        sys.stderr.write(
            f"serving on {address}  (look at it: {address}/, routes: {address}/docs, MCP: {address}/mcp)\n"
        )
        await server.serve(sockets=[listening])
        ending.cancel()


def configured(app: ASGIApp, limits: Limits | None = None, **options: Any) -> uvicorn.Config:
    """Configure a server of `app` whose connections are limited."""
    protocol: Any = Connections(limits).protocol  # uvicorn calls it like a class
    return uvicorn.Config(app, http=protocol, ws="none", lifespan="on", **options)


def within(descriptors: int, limits: Limits) -> Limits:
    """Limit connections to half of this process's open files: the memory needs the others."""
    return replace(limits, connections=min(limits.connections, descriptors // 2))


def listen(host: str, port: int) -> socket.socket:
    """Open the socket.  Done before the memory is opened, so that a wrong address is reported at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Of TCP by name: else asyncio leaves Nagle's delay on, and each answer that follows its headers waits 40 ms.
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(BACKLOG)
    except BaseException:
        opened.close()
        raise
    return opened


def address_of(listening: socket.socket) -> str:
    """Return the URL of the socket on this machine."""
    host, port = listening.getsockname()[:2]
    host = EVERYWHERE.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def announce(memory: MemoryClient, address: str, keys: Keys) -> None:
    """Publish the server's address in the data directory, with a new key if this server has keys.

    Other commands use it instead of the directory.  Anyone who can read the directory can read the memory, so the key
    opens everything.
    """
    connection = memory.request_reply.connection
    if not isinstance(connection, Announcing) or not is_loopback(hostname(address)):
        return
    key = new_key() if keys.are_required else None
    if key is not None:
        keys.add(Caller(name="this machine", sha256=digest(key), graphs=("*",), rights=RIGHTS))
    connection.announce(address, key)


def folder_of(memory: MemoryClient) -> Path | None:
    """Return the directory of a memory that this process owns; None for one elsewhere."""
    connection = memory.request_reply.connection
    return connection.home if isinstance(connection, Announcing) else None


async def _end_with(memory: MemoryClient, server: uvicorn.Server) -> None:
    """Stop the server when the memory halts, so that a supervisor restarts it."""
    await memory.request_reply.ended()
    server.should_exit = True
