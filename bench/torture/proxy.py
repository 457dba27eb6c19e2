"""A TCP proxy that stands before Kafka's brokers, to cut, delay, hang and reset what goes through it.

A client that knows one broker's address learns all others from that broker, and would bypass a plain proxy.  So this
one replaces the ports in the two answers that name brokers (Metadata, FindCoordinator) by its own: the host is the
same, so the length is the same, in every version of the protocol.

    async with Proxy(["127.0.0.1:9092"]) as proxy:
        proxy.address                 the bootstrap address for a client
        proxy.cut()                   connections end, new ones are refused
        proxy.hang(DOWN)              nothing comes back any more: what was sent arrives, its acknowledgement does not
        proxy.delay(1.5)              each way, seconds
        proxy.reset()                 RST to all, once
        proxy.heal()                  let everything pass; what hung is delivered now, however late

Only for listeners without TLS.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterable
from contextlib import suppress
from typing import Self

UP, DOWN = "up", "down"  # to the broker, to the client
NAMES_BROKERS = {3, 10}  # api keys of Metadata and FindCoordinator
GONE = (ConnectionError, asyncio.IncompleteReadError, OSError)


class Proxy:
    """Before all brokers of one cluster: each has a port here."""

    def __init__(self, brokers: Iterable[str]) -> None:
        self._brokers = [(host, int(port)) for host, _, port in (each.rpartition(":") for each in brokers)]
        self._servers: list[asyncio.Server] = []
        self._ports: list[int] = []
        self._links: set[_Link] = set()
        self._is_cut = False
        self._flows = {UP: asyncio.Event(), DOWN: asyncio.Event()}
        self._delay = 0.0

    async def __aenter__(self) -> Self:
        for host, port in self._brokers:
            server = await asyncio.start_server(self._serving(host, port), host, 0)
            self._servers.append(server)
            self._ports.append(server.sockets[0].getsockname()[1])
        self.heal()
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
        await asyncio.gather(*(link.end() for link in list(self._links)))

    @property
    def address(self) -> str:
        """Return the bootstrap address: every broker, by its port at this proxy."""
        return ",".join(f"{host}:{port}" for (host, _), port in zip(self._brokers, self._ports, strict=True))

    def cut(self) -> None:
        """End all connections, and take no new ones."""
        self._is_cut = True
        for link in self._links:
            link.close()

    def reset(self) -> None:
        """Reset all connections; new ones are taken."""
        for link in self._links:
            link.reset()

    def hang(self, *directions: str) -> None:
        """Keep what comes, and pass nothing on."""
        for direction in directions:
            self._flows[direction].clear()

    def delay(self, seconds: float) -> None:
        """Pass everything on so much later, each way."""
        self._delay = seconds

    def heal(self) -> None:
        """Pass all traffic through again."""
        self._is_cut, self._delay = False, 0.0
        for flow in self._flows.values():
            flow.set()

    def disguised(self, answer: bytes) -> bytes:
        """Put our ports in the place of the brokers' in an answer that names them."""
        for (host, port), ours in zip(self._brokers, self._ports, strict=True):
            answer = answer.replace(host.encode() + struct.pack(">i", port), host.encode() + struct.pack(">i", ours))
        return answer

    def _serving(self, host: str, port: int):  # noqa: ANN202 - what asyncio.start_server takes
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self._is_cut:
                writer.transport.abort()
                return
            try:
                behind = await asyncio.open_connection(host, port)
            except OSError:
                writer.transport.abort()
                return
            link = _Link(self, (reader, writer), behind)
            self._links.add(link)
            try:
                await link.run()
            finally:
                self._links.discard(link)

        return serve


class _Link:
    """One connection through a proxy: two directions, each read frame by frame."""

    def __init__(
        self,
        proxy: Proxy,
        before: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        behind: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self._proxy = proxy
        self._before, self._behind = before, behind
        self._naming: set[int] = set()  # correlation ids of requests whose answers name brokers
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Pass on both ways until either side ends."""
        for reader, writer, direction in (
            (self._before[0], self._behind[1], UP),
            (self._behind[0], self._before[1], DOWN),
        ):
            waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
            self._tasks.append(asyncio.create_task(self._read(reader, waiting, direction)))
            self._tasks.append(asyncio.create_task(self._write(writer, waiting, direction)))
        try:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self.close()

    async def _read(
        self, reader: asyncio.StreamReader, waiting: asyncio.Queue[tuple[float, bytes]], direction: str
    ) -> None:
        clock = asyncio.get_running_loop().time
        with suppress(*GONE):
            while True:
                size = await reader.readexactly(4)
                frame = await reader.readexactly(struct.unpack(">i", size)[0])
                waiting.put_nowait((clock() + self._proxy._delay, size + self._looked_at(frame, direction)))  # noqa: SLF001 - of this file

    def _looked_at(self, frame: bytes, direction: str) -> bytes:
        if direction == UP:
            key, _, correlation = struct.unpack_from(">hhi", frame)
            if key in NAMES_BROKERS:
                self._naming.add(correlation)
            return frame
        (correlation,) = struct.unpack_from(">i", frame)
        if correlation not in self._naming:
            return frame
        self._naming.discard(correlation)
        return self._proxy.disguised(frame)

    async def _write(
        self, writer: asyncio.StreamWriter, waiting: asyncio.Queue[tuple[float, bytes]], direction: str
    ) -> None:
        clock = asyncio.get_running_loop().time
        with suppress(*GONE):
            while True:
                due, frame = await waiting.get()
                await asyncio.sleep(due - clock())
                await self._proxy._flows[direction].wait()  # noqa: SLF001 - of this file
                writer.write(frame)
                await writer.drain()

    def close(self) -> None:
        """End in order."""
        for _, writer in (self._before, self._behind):
            writer.close()

    def reset(self) -> None:
        """End with RST, as after a crash of the machine between."""
        for _, writer in (self._before, self._behind):
            with suppress(OSError):
                connection = writer.get_extra_info("socket")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    async def end(self) -> None:
        """End, and wait until nothing runs any more."""
        self.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
