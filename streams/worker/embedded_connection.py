"""A client's connection to a worker of its own: it starts one in this process, on the embedded log.

`MemoryClient("embedded:DIRECTORY")` finds `connect` through the entry points `emgas.connections`
(streams/worker/shared_connection.py).  The directory is owned while the connection is open; a second process gets
DataDirectoryInUseError.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import cast

from prometheus_client import generate_latest

from emgas.errors import TransportError
from emgas.wire import ProducerRecord, Receipt, Record
from streams.settings import WorkerSettings
from streams.transport.embedded.lock import Announcement, announced
from streams.transport.embedded.log import EmbeddedLog
from streams.transport.embedded.transport import EmbeddedTransport
from streams.worker.gauges import WorkerGauges
from streams.worker.service import running

REPLY_PARTITION = 0  # one process, one reader


class EmbeddedConnection:
    """A connection (emgas/client/connection.py) to a worker of this process.  A `log` of the caller outlives it."""

    def __init__(self, settings: WorkerSettings, log: EmbeddedLog | None = None, *, brief: bool = False) -> None:
        self.topics = settings.topics
        self.reply_partition = REPLY_PARTITION
        self._settings = settings
        self._brief = brief
        self._gauges: WorkerGauges | None = None
        self._resources = AsyncExitStack()
        self._halted: asyncio.Future[BaseException]
        self._log_of_caller = log
        self._log: EmbeddedLog
        self._next_answer = 0

    async def open(self) -> None:
        """Start the worker and wait until it owns every partition."""
        self._halted = asyncio.get_running_loop().create_future()
        async with AsyncExitStack() as resources:
            worker = running(self._settings, self._on_halt, self._log_of_caller, brief=self._brief)
            self.app = await resources.enter_async_context(worker)
            self._log = cast(EmbeddedTransport, self.app.transport).log
            await self._until_ready()
            self._next_answer = self._log.bounds(self.topics.replies, REPLY_PARTITION)[1]
            self._resources = resources.pop_all()
        self._guard = asyncio.create_task(self._close_with_the_loop(), name="emgas-guard")

    async def _close_with_the_loop(self) -> None:
        """Close when the loop ends (`asyncio.run` cancels every task): Faust's tasks would keep it from ending."""
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await self._resources.aclose()

    async def _until_ready(self) -> None:
        ready = asyncio.create_task(self.app.ready.wait())
        self._halted.add_done_callback(lambda _: ready.cancel())
        try:
            await ready
        except asyncio.CancelledError:
            if self._halted.done():
                raise self._halted.result() from None
            raise

    def _on_halt(self, error: BaseException) -> None:
        if not self._halted.done():
            self._halted.set_result(error)

    async def close(self) -> None:
        self._guard.cancel()
        await asyncio.wait([self._guard])
        if error := None if self._guard.cancelled() else self._guard.exception():
            raise error
        await self._resources.aclose()  # nothing is left, unless the guard was cancelled before it began

    @property
    def home(self) -> Path:
        return self._settings.home

    def announce(self, url: str, key: str | None) -> None:
        """Announce, until this connection closes, that the memory is served at `url`, to clients with `key`."""
        self._resources.enter_context(announced(self._settings.home, Announcement(url, os.getpid(), key)))

    async def metrics(self) -> bytes:
        """Return the worker's metrics as Prometheus text."""
        if self._gauges is None and self._settings.health_address is None:  # else the health server has them
            self._gauges = WorkerGauges(self._settings, self.app)
        if self._gauges is not None:
            await self._gauges.look()
        return generate_latest(self.app.metrics.registry)

    async def partitions(self) -> int:
        if self._halted.done():
            raise TransportError(f"the embedded worker halted: {self._halted.result()}")
        return self._log.partitions(self.topics.turns)

    async def send(self, record: ProducerRecord) -> Receipt:
        if self._halted.done():
            raise TransportError(f"the embedded worker halted: {self._halted.result()}")
        created = None if record.timestamp is None else record.timestamp / 1000
        sent = await self.app.producer.send(
            record.topic, record.key, record.value, record.partition, created, list(record.headers)
        )
        there = await sent
        return Receipt(there.partition, there.offset, int(there.timestamp or 0))

    async def answers(self) -> AsyncIterator[Record]:
        news = asyncio.Event()
        loop = asyncio.get_running_loop()

        def ring() -> None:
            loop.call_soon_threadsafe(news.set)

        ignore = self._log.on_append(ring)
        self._halted.add_done_callback(lambda _: news.set())
        try:
            while True:
                news.clear()  # before looking: what is appended from here on rings again
                for record in self._log.read(self.topics.replies, REPLY_PARTITION, self._next_answer):
                    self._next_answer = record.offset + 1
                    self._log.consumed[self.topics.replies, REPLY_PARTITION] = self._next_answer
                    yield record
                if self._halted.done():
                    raise TransportError(f"the embedded worker halted: {self._halted.result()}")
                await news.wait()
        finally:
            ignore()
