"""The live state, for commands that only read: the stores of the embedded log, or the workers on Kafka.

Embedded, the stores are read even while another process writes to them; nothing is started or written.  On Kafka the
owners are queried; to read a store of theirs, they write a snapshot first (EMGAS_SNAPSHOTS).
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple, Protocol

from emgas.client.client import MemoryClient
from emgas.messages.operator import Checkpoint, Inspect
from replay.accepted_events import fold_record, read_records
from replay.backup.snapshots import Snapshots
from replay.log import LogReader
from state.errors import StoreCorruptError
from state.partition import Partition
from state.sealing.keyring import Keyring
from state.store.rocksdb import RocksStore
from state.store.store import MemoryStore, Store
from streams.settings import WorkerSettings

TRIES = 3  # a file may be removed by its writer while a store is opened beside it
ANSWER = 15.0  # seconds until some worker must have answered
TIMEOUT = 120.0  # seconds: a digest reads every graph of a partition


class LivePosition(NamedTuple):
    """The position of a live partition, and its digest."""

    watermark: int
    digest: str


class Live(Protocol):
    """Live partitions.

    Raises StoreCorruptError, WrongLayoutError; on Kafka TransportError, NoAnswerError, QueryFailedError.
    """

    async def position(self, partition: int) -> LivePosition:
        """Ask how far a partition is, and for its digest."""

    async def digests(self, partition: int, log: LogReader) -> dict[str, str]:
        """Ask for the digest of each graph of a partition; what a dead worker has not folded yet is read from `log`."""

    async def store(self, partition: int) -> AbstractContextManager[Store | None]:
        """Open a view of a partition's store to look into, None where none can be had."""


class LiveStores:
    """The stores below a data directory, each as it is when it is asked for."""

    def __init__(self, settings: WorkerSettings, keys: Keyring) -> None:
        self._settings = settings
        self._keys = keys

    async def position(self, partition: int) -> LivePosition:
        with closing(self._open(partition)) as store:
            state = Partition(store, int(self._settings.memory), graph_keys=self._keys)
            return LivePosition(state.position.watermark, state.digest())

    async def digests(self, partition: int, log: LogReader) -> dict[str, str]:
        with closing(self._open(partition)) as store:
            state = Partition(store, int(self._settings.memory), graph_keys=self._keys)
            _, end = await log.bounds(partition)
            async for record in read_records(log, partition, state.position.watermark + 1, end):
                await fold_record(state, log, partition, record)  # never flushed: the store is not ours to write to
            return state.digests()

    async def store(self, partition: int) -> AbstractContextManager[Store | None]:
        return closing(self._open(partition))

    def _open(self, partition: int) -> Store:
        path = self._settings.store_of(partition)
        for left in reversed(range(TRIES)):
            try:
                return RocksStore(path, read_only=True) if path.exists() else MemoryStore()
            except StoreCorruptError:
                if not left:
                    raise
        raise AssertionError  # the last try returned or raised


class LiveWorkers:
    """The owners of the partitions on Kafka."""

    def __init__(self, settings: WorkerSettings, memory: MemoryClient, keys: Keyring) -> None:
        self._settings = settings
        self._memory = memory
        self._keys = keys

    async def position(self, partition: int) -> LivePosition:
        inspection = await self._memory.send(Inspect(), partition=partition)
        return LivePosition(inspection.position.watermark, inspection.digest or "")

    async def digests(self, partition: int, log: LogReader) -> dict[str, str]:
        return await graph_digests(self._memory, partition)

    async def store(self, partition: int) -> AbstractContextManager[Store | None]:
        if self._settings.snapshots is None:
            return nullcontext()
        taken = await self._memory.send(Checkpoint(), partition=partition)
        snapshots = Snapshots(self._settings.snapshots, self._settings.prefix)
        return _fetched(snapshots, partition, taken.snapshot, self._keys)


async def graph_digests(memory: MemoryClient, partition: int) -> dict[str, str]:
    """Return the digest of each graph of a partition."""
    digests, page = dict[str, str](), {"": ""}
    while page:
        request = Inspect(digest=False, graphs_after=max(page))
        page = (await memory.send(request, partition=partition)).digests
        digests |= page
    return digests


@contextmanager
def _fetched(snapshots: Snapshots, partition: int, name: str, keys: Keyring) -> Iterator[Store]:
    with tempfile.TemporaryDirectory(prefix="emgas-verify-") as directory:
        into = Path(directory) / "store"
        snapshots.fetch(snapshots.manifest(partition, name), into, keys)
        with closing(RocksStore(into, read_only=True)) as store:
            yield store


@asynccontextmanager
async def live(settings: WorkerSettings, keys: Keyring, timeout: float = TIMEOUT) -> AsyncIterator[Live]:
    """Yield the live state for as long as the block lasts; `keys` open encrypted graphs."""
    if settings.is_embedded:
        yield LiveStores(settings, keys)
        return
    async with MemoryClient(settings.broker, prefix=settings.prefix, timeout=timeout) as memory:
        seconds = min(ANSWER, timeout)
        await memory.send(
            Inspect(digest=False), partition=0, timeout=seconds
        )  # fail early if no worker runs, before a digest is computed
        yield LiveWorkers(settings, memory, keys)
