"""Connect a client to an embedded memory: own the data directory, or use the server of the process that owns it.

`MemoryClient("embedded:DIRECTORY")` and the command line both come here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from emgas.client.connection import Announcing, Connection, MeasuredConnection
from emgas.errors import DataDirectoryInUseError, NotInstalledError, TransportError
from emgas.wire import ProducerRecord, Receipt, Record, TopicNames
from streams.settings import WorkerSettings
from streams.transport.embedded.lock import Announcement, DirectoryLock, announcement_in

if TYPE_CHECKING:
    from streams.worker.embedded_connection import EmbeddedConnection


def connect(url: str, topics: TopicNames) -> SharedConnection:
    """Make a connection for `embedded:DIRECTORY`; without a directory, the one of the settings."""
    directory = url.removeprefix("embedded:").removeprefix("//")
    settings = WorkerSettings().model_copy(update={"broker": None, "prefix": topics.prefix})
    if directory:
        settings = settings.model_copy(update={"data": Path(directory)})
    return SharedConnection(settings)


class SharedConnection:
    """A connection (emgas/client/connection.py) of this process.

    server   once open, who serves the memory, if it is another process
    timeout  seconds until that one must have answered; a worker of our own takes as long as its log needs
    brief    whether it is for one command: a worker of our own then loads the Chinese dictionary when a text needs it
    """

    def __init__(self, settings: WorkerSettings, timeout: float = 10.0, *, brief: bool = False) -> None:
        self.topics = settings.topics
        self.server: Announcement | None = None
        self._settings = settings
        self._brief = brief
        self.timeout = timeout
        self._chosen: Connection

    @property
    def reply_partition(self) -> int:
        return self._chosen.reply_partition

    async def open(self) -> None:
        try:
            self._check_free()
            own = self._own()
            await own.open()
            self._chosen = own
        except DataDirectoryInUseError as error:
            self.server = announcement_in(self._settings.home)
            if self.server is None:
                raise
            self._chosen = await self._through(self.server, error)

    def _check_free(self) -> None:
        """Raise DataDirectoryInUseError where a server owns the directory: then nothing of a worker is imported."""
        if announcement_in(self._settings.home) is not None:
            DirectoryLock(self._settings.home).release()

    def _own(self) -> EmbeddedConnection:
        from streams.worker.embedded_connection import EmbeddedConnection  # here: who asks a server needs no worker

        settings = self._settings.model_copy(update={"role": "all"})  # a log of one process
        return EmbeddedConnection(settings, brief=self._brief)

    async def _through(self, server: Announcement, in_use: DataDirectoryInUseError) -> Connection:
        """Open a connection to the server.  Raises DataDirectoryInUseError, naming it, where that is not possible."""
        try:
            from emgas.client.http import HttpConnection  # here: only who shares needs an HTTP client

            connection = HttpConnection(server.url, self.topics, key=server.key, timeout=self.timeout)
            await connection.open()
        except ImportError:
            raise NotInstalledError(
                f"{in_use}; process {server.pid} serves it at {server.url}: pip install 'emgas[http]' to ask there"
            ) from None
        except TransportError as error:
            raise DataDirectoryInUseError(f"{in_use} ({server.url} should serve it, but: {error})") from None
        return connection

    @property
    def home(self) -> Path:
        return self._settings.home

    def announce(self, url: str, key: str | None) -> None:
        """Announce, until this connection closes, that the memory is served at `url`, if this process owns it."""
        if isinstance(self._chosen, Announcing):
            self._chosen.announce(url, key)

    async def metrics(self) -> bytes:
        """Return the metrics of this process's worker as Prometheus text; empty where another process is the worker."""
        return await self._chosen.metrics() if isinstance(self._chosen, MeasuredConnection) else b""

    async def close(self) -> None:
        await self._chosen.close()

    async def partitions(self) -> int:
        return await self._chosen.partitions()

    async def send(self, record: ProducerRecord) -> Receipt:
        return await self._chosen.send(record)

    def answers(self) -> AsyncIterator[Record]:
        return self._chosen.answers()
