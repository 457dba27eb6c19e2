"""Writing and reading a backup as a whole; what its lines look like: replay/backup/lines.py.

An export that was killed goes on when it is started again: what is in the file is compared with what would be
written, up to the last whole line, and the rest is written.  The header that is there says up to where.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import IO, NamedTuple

from emgas.wire import partition_of
from replay.backup.compressed import Resumable
from replay.backup.lines import (
    BEGIN,
    LINE_BYTES,
    TRAILER,
    Header,
    Stored,
    header_line,
    header_of,
    is_backup,
    opened_line,
    record_line,
    seal,
    stored_in,
    telling,
    trailer_line,
)
from replay.errors import BackupDamagedError, NoBackupError
from replay.log import LogReader

FLUSH_BYTES = 1024 * 1024  # written between two flushes: what a killed export does again


class BackupSummary(NamedTuple):
    """The result of an export: records in the file, how many were there before, and whether the log has no gaps."""

    records: int
    found: int
    whole: bool


async def write(
    log: LogReader, file: Resumable, new: Header, observe: Callable[[], object] = lambda: None
) -> BackupSummary:
    """Write a backup of `log` into `file`, which stands at its beginning.

    Existing lines of the file stay, and its header is valid: an export that was begun is finished.  `observe` is called
    for every record.  Raises NoBackupError, BackupDamagedError when `file` holds something else, and what `log` raises.
    """
    header = _begun(file, new)
    out = _Resumed(file)
    out.put(header_line(header))
    records = existing = expected = 0
    whole, partition = all(first == 0 for first, _ in header.bounds), -1
    async for stored in _records(log, header):
        expected = expected if stored.partition == partition else 0
        whole &= stored.record.offset == expected
        partition, expected = stored.partition, stored.record.offset + 1
        out.put(record_line(header, stored))
        records, existing = records + 1, existing + out.comparing
        observe()
    out.end(trailer_line(header, records, out.digest))
    return BackupSummary(records, existing, whole and header.graph is None)


def _begun(file: Resumable, new: Header) -> Header:
    """Read the header of the export that was begun in `file`, `new` if none was; leave `file` at its beginning."""
    first = file.readline(LINE_BYTES)
    file.seek(0)
    if not first.endswith(b"\n"):
        if first[: len(BEGIN)] != BEGIN[: len(first)]:
            raise NoBackupError("the file holds something else: give another name, or remove it")
        file.truncate()
        return new
    if not is_backup(first):
        raise NoBackupError("the file holds something else: give another name, or remove it")
    header = header_of(first)
    if _what(header) != _what(new):
        raise NoBackupError("the file is a backup of another log or graph: give another name, or remove it")
    if any(end > now for (_, end), (_, now) in zip(header.bounds, new.bounds, strict=True)):
        raise NoBackupError("the log is shorter than when this backup was begun: it is another log. Give another name")
    return header


def _what(header: Header) -> tuple[object, ...]:
    """Return what a backup is of."""
    return header.prefix, header.graph, len(header.bounds), header.exact and (header.exact.graph, header.exact.origin)


async def _records(log: LogReader, header: Header) -> AsyncIterator[Stored]:
    """Yield the records of a log that belong into a backup."""
    key = header.graph.encode() if header.graph is not None and header.exact is None else None
    mine = None if header.graph is None else partition_of(header.graph, len(header.bounds))
    for partition, (first, end) in enumerate(header.bounds):
        if mine in (None, partition):
            async for batch in log.read(partition, first, end):
                for record in batch:
                    if key in (None, record.key):
                        yield Stored(partition, record)


class _Resumed:
    """Lines go in; those that `file` holds already are compared, the others are written.

    comparing  whether all lines so far were there
    digest     sha256 of all lines so far
    """

    def __init__(self, file: Resumable) -> None:
        self._file = file
        self._running = hashlib.sha256()
        self._lines = self._unflushed = 0
        self.comparing = True

    @property
    def digest(self) -> str:
        return self._running.hexdigest()

    def put(self, opened: bytes) -> None:
        """Take the next line, without its check."""
        line = opened + seal(self._running, opened)
        self._lines += 1
        missing = self._compare(line) if self.comparing else line
        if missing:
            self._file.write(missing)
            self._flush(len(missing))

    def _compare(self, line: bytes) -> bytes:
        """Read a line that should be there; return what of it is missing."""
        present = self._file.readline(len(line))
        if not line.startswith(present):
            raise BackupDamagedError(
                f"line {self._lines} of the file is not what the log holds: export into another file"
            )
        self.comparing = present == line  # else it was cut off, or never begun
        return line[len(present) :]

    def _flush(self, size: int) -> None:
        self._unflushed += size
        if self._unflushed >= FLUSH_BYTES:
            self._file.flush()
            self._unflushed = 0

    def end(self, opened: bytes) -> None:
        """Take the last line."""
        self.put(opened)
        if self.comparing and self._file.read(1):
            raise BackupDamagedError(f"the file goes on after its last line, {self._lines}: export into another file")
        self._file.flush()


def records(stream: IO[bytes]) -> Iterator[Stored]:
    """Yield the records of the backup in `stream`, each once it was found undamaged; partition by partition.

    Raises NoBackupError, BackupDamagedError; the sum over all is known to be right only at the end.
    """
    running, count, place = hashlib.sha256(), 0, (-1, -1)
    for number, line in _lines(stream):
        if number == 1:
            header = header_of(line)
            opened_line(line, number, running)
            continue
        before = running.hexdigest()
        event = opened_line(line, number, running)
        with telling(number):
            if event["type"] == TRAILER:
                if (event["data"]["count"], event["data"]["sha256"]) != (count, before) or stream.read(1):
                    raise ValueError
                return
            stored = stored_in(event, header)
            if (stored.partition, stored.record.offset) <= place:
                raise ValueError
        place, count = (stored.partition, stored.record.offset), count + 1
        yield stored
    raise BackupDamagedError("the file ends before the last line of a backup: run the export again to complete it")


def _lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := stream.readline(LINE_BYTES):
        number += 1
        yield number, line
