"""The manifest of a snapshot: what it is, by which it is checked, first against the log and then file by file.

manifest.json    one JSON object, the fields of `Manifest`
"""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from emgas.times import datetime_of
from replay.accepted_events import read_records
from replay.errors import SnapshotRefusedError
from replay.log import LogReader
from state.log_position import LogPosition
from state.partition import Partition
from state.sealing.keyring import NO_KEYS, Keyring
from state.store.keys import COUNTS, LAYOUT, POSITION, graph_of, manifest_key
from state.store.rocksdb import RocksStore

FORMAT: Final = 2
FORMATS: Final = (1, FORMAT)  # that can be read: in the first, no file is compressed


class File(BaseModel):
    """One file of a snapshot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bytes: int
    sha256: str


class Manifest(BaseModel):
    """The description of a snapshot.

    first, last   sha256 of the log's first record, which tells one log from another, and of that at the watermark
    watermark, source, chain, seq    of the head that the store holds (state/log_position.py)
    layout, keys                     of the store's keys (state/store/keys.py), and how many there are
    created_at                       ms
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: int = FORMAT
    emgas: str
    layout: int
    prefix: str
    partition: int
    partitions: int
    watermark: int = Field(ge=0)
    source: int
    first: str
    last: str
    chain: str
    seq: int
    graphs: int
    turns: int
    keys: int
    created_at: int
    files: dict[str, File]

    @property
    def name(self) -> str:
        """The name of the snapshot's directory: later states sort behind earlier ones."""
        created, ms = datetime_of(self.created_at), self.created_at % 1000
        return f"{self.watermark:016d}-{created:%Y%m%dT%H%M%S}{ms:03d}Z"

    @property
    def title(self) -> str:
        """Return the snapshot's title for messages."""
        return titled(self.partition, self.name)

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for file in self.files.values())


def titled(partition: int, name: str) -> str:
    """Format a snapshot, for messages."""
    return f"snapshot {name} of partition {partition}"


async def described(log: LogReader, partition: int, prefix: str, checkpoint: Path, now: int) -> Manifest:
    """Describe a checkpoint of `partition`, which was folded from `log`; `now` in ms.

    Raises StoreCorruptError when the checkpoint cannot be read, SnapshotRefusedError when it is of another log.
    """
    head, keys = await asyncio.to_thread(_checkpoint_contents, checkpoint)
    files = await asyncio.to_thread(_hashed, checkpoint)
    if head.watermark < 0:
        raise SnapshotRefusedError(f"partition {partition} holds nothing yet: there is nothing to snapshot")
    first, last = await _fingerprints(log, partition, head.watermark)
    return Manifest(
        emgas=version("emgas"),
        layout=LAYOUT,
        prefix=prefix,
        partition=partition,
        partitions=head.partitions,
        watermark=head.watermark,
        source=head.source,
        first=first,
        last=last,
        chain=head.chain.hex(),
        seq=head.seq,
        graphs=head.graphs,
        turns=head.turns,
        keys=keys,
        created_at=now,
        files=files,
    )


def _checkpoint_contents(directory: Path) -> tuple[LogPosition, int]:
    """Read the head of a store, and count its keys."""
    with closing(RocksStore(directory, read_only=True)) as store:
        head = store.get(POSITION)
        return LogPosition.of_bytes(head) if head is not None else LogPosition(), store.count()


def _hashed(directory: Path) -> dict[str, File]:
    return {path.name: _hash(path) for path in sorted(directory.iterdir())}


def _hash(path: Path) -> File:
    with path.open("rb") as file:
        return File(bytes=path.stat().st_size, sha256=hashlib.file_digest(file, "sha256").hexdigest())


async def _fingerprints(log: LogReader, partition: int, watermark: int) -> tuple[str, str]:
    """Hash the log's first record (sha256) and that at the watermark; "" for one that is not there."""
    start, end = await log.bounds(partition)
    hashes = {0: "", watermark: ""}
    for offset in hashes:
        if start <= offset < end:
            async for record in read_records(log, partition, offset, offset + 1):
                hashes[offset] = hashlib.sha256(record.value).hexdigest()
    return hashes[0], hashes[watermark]


async def check_log(log: LogReader, manifest: Manifest) -> None:
    """Raise SnapshotRefusedError unless `log` is the one that the snapshot was folded from, and goes on behind it."""
    start, _ = await log.bounds(manifest.partition)
    first, last = await _fingerprints(log, manifest.partition, manifest.watermark)
    if start > manifest.watermark + 1:
        raise SnapshotRefusedError(f"{manifest.title}: the log begins only at offset {start}")
    if last != manifest.last or first not in ("", manifest.first):
        raise SnapshotRefusedError(f"{manifest.title}: it is of another log, which holds other records")
    partitions = await log.partitions()
    if partitions != manifest.partitions:
        raise SnapshotRefusedError(
            f"{manifest.title}: the topic had {manifest.partitions} partitions, now {partitions}"
        )


def check_contents(manifest: Manifest, directory: Path, graph_keys: Keyring = NO_KEYS) -> None:
    """Raise unless the store in `directory` is the one that the manifest describes, and this version can read it.

    Raises ValueError, StoreCorruptError, WrongLayoutError.
    """
    head, keys = _checkpoint_contents(directory)
    if keys != manifest.keys:
        raise ValueError(f"it holds {keys} keys, {manifest.keys} expected")
    if (head.watermark, head.chain.hex(), head.seq) != (manifest.watermark, manifest.chain, manifest.seq):
        raise ValueError(f"it stands at offset {head.watermark} of another history than its manifest says")
    _check_readable(directory, graph_keys)


def _check_readable(directory: Path, graph_keys: Keyring) -> None:
    """Load the first graph that has tables: those that another version wrote must be folded again."""
    with closing(RocksStore(directory, read_only=True)) as store:
        names = (graph_of(key) for key, _ in store.scan(COUNTS, COUNTS))
        packed = next((name for name in names if store.get(manifest_key(name)) is not None), None)
        if packed is not None:
            Partition(store, graph_keys=graph_keys).graph(packed)
