r"""Read every record, even malformed ones of other programs: a consumer that raised would fail again at every start.

`install` wraps what aiokafka's fetcher parses its responses with (aiokafka 0.14, consumer/fetcher.py, `MemoryRecords`,
whether compiled or not):

    a batch as it should be       aiokafka's own parser, as ever
    a header's name not UTF-8     aiokafka's parser in Python, from the record on that failed: each byte that is no
                                  UTF-8 becomes \xNN (Kafka calls the name a string, and checks nothing)
    unpacks to over UNPACKED_BYTES, or not at all    records without key and value, with the header UNREADABLE: a few
                                  KB may unpack to GB.  Its checksum was right: it is the sender's doing, not damage
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from mmap import mmap
from typing import Any, Final, NamedTuple, SupportsIndex

import cramjam  # what aiokafka unpacks with
from aiokafka.consumer import fetcher  # type: ignore[import-untyped]
from aiokafka.errors import CorruptRecordException  # type: ignore[import-untyped]
from aiokafka.record.default_records import _DefaultRecordBatchPy as PythonBatch  # type: ignore[import-untyped]
from aiokafka.record.memory_records import MemoryRecords, _MemoryRecordsPy  # type: ignore[import-untyped]

FIRST_WITH_HEADERS: Final = 2  # magic byte of the record format
UNPACKED_BYTES: Final = 128 * 1024 * 1024  # of one batch; 9 MiB of packed text are a third of it
UNREADABLE: Final = "emgas.unreadable"
GZIP: Final = 31  # zlib's name for the format
XERIAL: Final = b"\x82SNAPPY\x00"
XERIAL_HEADER_BYTES: Final = 16  # the name, a version, and the oldest one that can read it


def install() -> None:
    """Make every aiokafka consumer of this process read leniently.  Calling this twice is harmless."""
    fetcher.MemoryRecords = LenientRecords


class LenientRecords:
    """The batches of one fetched response, as the fetcher asks for them."""

    def __init__(self, fetched: bytes) -> None:
        self._batches = MemoryRecords(fetched)
        self._slices = _MemoryRecordsPy(fetched)

    def size_in_bytes(self) -> int:
        """Count the bytes of the response."""
        return int(self._batches.size_in_bytes())

    def has_next(self) -> bool:
        """Check whether a whole batch is left."""
        return bool(self._batches.has_next())

    def next_batch(self) -> Any:
        """Return the next batch."""
        batch, whole = self._batches.next_batch(), self._slices._next_slice  # noqa: SLF001 - aiokafka has no public way
        self._slices._cache_next()  # noqa: SLF001 - aiokafka has no public way
        has_headers = getattr(batch, "magic", FIRST_WITH_HEADERS) >= FIRST_WITH_HEADERS
        return _CheckedBatch(batch, whole) if has_headers else batch


class _CheckedBatch:
    """A batch that aiokafka's parser reads up to its first error, and a lenient parser from there."""

    def __init__(self, batch: Any, whole: memoryview) -> None:
        self._batch = batch
        self._whole = whole
        self._records = self._read()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    def __iter__(self) -> Iterator[Any]:
        return self._records

    def __next__(self) -> Any:
        return next(self._records)

    def _read(self) -> Iterator[Any]:
        raw = PythonBatch(self._whole)
        if raw.compression_type and not _unpacks(raw.compression_type, self._whole[raw._pos :]):  # noqa: SLF001 - aiokafka has no public way
            yield from _placeholders(raw)
            return
        read = 0
        try:
            for record in self._batch:
                yield record
                read += 1
        except (UnicodeDecodeError, CorruptRecordException):
            again = iter(_LenientBatch(self._whole))
            for _ in range(read):
                next(again)
            yield from again


class _Placeholder(NamedTuple):
    """Stands for an unreadable record."""

    offset: int
    timestamp: int
    timestamp_type: int
    headers: tuple[tuple[str, bytes], ...] = ((UNREADABLE, b"the batch does not unpack, or to too much"),)
    key: bytes | None = None
    value: bytes | None = None
    checksum: int | None = None


def _placeholders(batch: Any) -> Iterator[_Placeholder]:
    for offset in range(batch.base_offset, batch.next_offset):
        yield _Placeholder(offset, batch.max_timestamp, batch.timestamp_type)


def _unpacks(codec: int, packed: memoryview) -> bool:
    """Check whether `packed` unpacks to at most UNPACKED_BYTES, without allocating them in advance."""
    try:
        if codec == PythonBatch.CODEC_GZIP:
            return _gunzips(packed.tobytes())
        if codec == PythonBatch.CODEC_SNAPPY:
            return _snappy_bytes(packed.tobytes()) <= UNPACKED_BYTES
        library = cramjam.zstd if codec == PythonBatch.CODEC_ZSTD else cramjam.lz4
        with mmap(-1, UNPACKED_BYTES) as room:
            library.decompress_into(packed.tobytes(), room)
    except (zlib.error, cramjam.DecompressionError, ValueError, IndexError):
        return False
    return True


def _gunzips(packed: bytes) -> bool:
    left = UNPACKED_BYTES
    while packed and left > 0:  # one member of the file after another
        member = zlib.decompressobj(GZIP)
        left -= len(member.decompress(packed, left))
        if member.unconsumed_tail or not member.eof:
            return False
        packed = member.unused_data
    return left > 0


def _snappy_bytes(packed: bytes) -> int:
    """Return the declared unpacked size of a snappy stream: raw, or in blocks after the header of xerial's library."""
    if not packed.startswith(XERIAL):
        return int(cramjam.snappy.decompress_raw_len(packed))
    total, at = 0, XERIAL_HEADER_BYTES
    while at < len(packed):
        size = int.from_bytes(packed[at : at + 4], "big")
        total += int(cramjam.snappy.decompress_raw_len(packed[at + 4 : at + 4 + size]))
        at += 4 + size
    return total


class _LenientBatch(PythonBatch):  # type: ignore[misc]  # final, and not typed
    def _maybe_uncompress(self) -> None:
        super()._maybe_uncompress()
        self._buffer: bytearray = _LenientBytes(self._buffer)


class _LenientBytes(bytearray):
    """Bytes whose every slice can be decoded."""

    def __getitem__(self, at: SupportsIndex | slice) -> Any:
        part = super().__getitem__(at)
        return _LenientBytes(part) if isinstance(at, slice) else part

    def decode(self, encoding: str = "utf-8", errors: str = "backslashreplace") -> str:
        return super().decode(encoding, errors)
