"""Exports of many files: a ZIP, or the folder that it was unpacked into.  Nothing is ever written to the disk.

A ZIP may be a bomb.  The unpacked bytes are counted, whatever size the ZIP states; reading stops if they are

    over DOCUMENT_BYTES (documents.py), or over 100 times what is in the archive and over RATIO_FROM_BYTES
    and with it all others, when they are over ARCHIVE_BYTES together

Only plain ZIP files are read: stored and deflated members, without a password.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import IO, Protocol, cast

from emgas.errors import InvalidMessageError
from emgas.importers.files.documents import DOCUMENT_BYTES
from emgas.importers.files.lines import BadLine, Item, Options

DIRECTORY_BYTES = 8 * 1024 * 1024  # some 100,000 files
ARCHIVE_BYTES = 4 * 1024 * 1024 * 1024
RATIO, RATIO_FROM_BYTES = 100, 16 * 1024 * 1024
Read = Callable[[IO[bytes], str | None, Options], Iterator[Item]]


class Files(Protocol):
    """Files by name, with / between folders."""

    def names(self, below: Iterable[str] = ()) -> list[str]:
        """List names, ascending: of a ZIP all, of a folder those at its top and what matches the globs `below`."""

    def read(self, name: str) -> bytes:
        """Read a file's bytes.  Raises InvalidMessageError."""


class _Opening:
    """A ZIP while it is opened: its list of files is read at once, and may claim to be of any length."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.most: int | None = DIRECTORY_BYTES
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, size: int = -1) -> bytes:
        if self.most is None or 0 <= size <= self.most:
            return self._stream.read(size)
        raw = self._stream.read(self.most + 1)
        if len(raw) > self.most:
            raise InvalidMessageError("file: lists too many files: unpack the archive, and import the folder")
        return raw


class Zipped:
    """The files in a ZIP.  Raises InvalidMessageError."""

    def __init__(self, stream: IO[bytes], most: int | None = None) -> None:
        """`most`: bytes of a member, if fewer than DOCUMENT_BYTES."""
        if not stream.seekable():
            raise InvalidMessageError("file: is a ZIP, which cannot be read from a pipe: name the file")
        self._most = min(DOCUMENT_BYTES, most or DOCUMENT_BYTES)
        opening = _Opening(stream)
        try:
            self._zip = zipfile.ZipFile(cast("IO[bytes]", opening))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
            raise InvalidMessageError("file: is a ZIP that is damaged or incomplete: download it again") from None
        opening.most = None
        self._read = 0

    def names(self, below: Iterable[str] = ()) -> list[str]:
        return sorted({info.filename for info in self._zip.infolist() if not info.is_dir()})

    def read(self, name: str) -> bytes:
        info = self._zip.getinfo(name)
        most = min(self._most, max(RATIO_FROM_BYTES, RATIO * info.compress_size), ARCHIVE_BYTES - self._read)
        raw = self._unpacked(info, most + 1)
        self._read += len(raw)
        if len(raw) > most:
            raise InvalidMessageError(
                f"file: unpacks to more than {most} bytes: unpack the archive, and import the folder"
            )
        return raw

    def _unpacked(self, info: zipfile.ZipInfo, size: int) -> bytes:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
            raise InvalidMessageError(
                "file: is packed unusually, or encrypted: unpack the archive, and import the folder"
            )
        try:
            with self._zip.open(info) as file:
                return file.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, RuntimeError):
            raise InvalidMessageError("file: is damaged in the archive: download the archive again") from None


class Folder:
    """The files of a folder, without those that lie elsewhere and are only linked; not searched below its top."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self, below: Iterable[str] = ()) -> list[str]:
        paths = (path for pattern in ("*", *below) for path in self._path.glob(pattern))
        files = (path for path in paths if path.is_file() and not path.is_symlink())
        return sorted({path.relative_to(self._path).as_posix() for path in files})

    def read(self, name: str) -> bytes:
        try:
            with (self._path / name).open("rb") as file:
                raw = file.read(DOCUMENT_BYTES + 1)
        except OSError as error:
            raise InvalidMessageError(f"file: cannot be read ({error.strerror})") from None
        if len(raw) > DOCUMENT_BYTES:
            raise InvalidMessageError(f"file: is over {DOCUMENT_BYTES} bytes: split it")
        return raw


def read_each(
    files: Files, names: re.Pattern[str], read: Read, *, graph: str | None, options: Options
) -> Iterator[Item]:
    """Yield the items of every file whose name matches `names`; bad lines name their file."""
    for name in files.names(options.below):
        if names.search(name):
            try:
                stream = BytesIO(files.read(name))
            except InvalidMessageError as error:
                yield BadLine(1, b"", f"{name}: {error}", "")
                continue
            for item in read(stream, graph, replace(options, name=options.name or name)):
                yield replace(item, reason=f"{name}: {item.reason}") if isinstance(item, BadLine) else item
