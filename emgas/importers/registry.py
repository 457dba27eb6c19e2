"""Importers: bytes in, turns (or bad lines, each with its reason) out.  No network, no clock, no state.

Each file of this folder that declares a FORMAT (chat_format.py) is one; `FORMATS` finds them all.

Every importer keeps event times where the format has them and gives the same ids each time, so that importing a file
again changes nothing.  Nothing but InvalidMessageError is ever raised, whatever the bytes are.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import IO

from emgas import importers
from emgas.errors import InvalidMessageError
from emgas.importers import jsonl
from emgas.importers.chat_format import Fit, Format, Head
from emgas.importers.files.archives import Files, Folder, Zipped
from emgas.importers.files.lines import HEAD_BYTES, BadLine, Item, Options, check_graph, head_of

__all__ = ["FORMATS", "NAMES", "BadLine", "Item", "Options", "detect", "read", "read_folder"]


def _declared() -> Iterator[Format]:
    """Yield the formats that the files of this folder declare."""
    for module in pkgutil.iter_modules(importers.__path__, f"{importers.__name__}."):
        if isinstance(format := getattr(import_module(module.name), "FORMAT", None), Format):
            yield format


FORMATS = {format.name: format for format in sorted(_declared(), key=lambda format: format.order)}
NAMES = ", ".join(sorted(FORMATS))
OF_MANY_FILES = [format for format in FORMATS.values() if format.files]
ZIP = b"PK\x03\x04"
GZIP = b"\x1f\x8b"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks
_BACKUP = re.compile(rb'\{"specversion":"1\.0"[^{]*"type":"io\.emgas\.backup\.')


def read(
    stream: IO[bytes], name: str, graph: str | None = None, *, format: str | None = None, options: Options | None = None
) -> Iterator[Item]:
    """Yield the turns and bad lines of `stream`, a file called `name`, in `format` or in the one that it looks like.

    Raises InvalidMessageError when nothing of the file can be read: unknown format, invalid `graph`, or none where one
    is needed.
    """
    options, graph = replace(options or Options(), name=name), graph if graph is None else check_graph(graph)
    chosen = _named(format)
    head = head_of(stream) if stream.seekable() or chosen is None else b""
    if head.startswith(GZIP):
        raise InvalidMessageError(f"{name}: is compressed by gzip: unpack it")
    if head.startswith(UTF_16):
        raise InvalidMessageError(f"{name}: is in UTF-16: save it in UTF-8")
    if head.startswith(ZIP) and chosen not in (None, *OF_MANY_FILES):
        raise InvalidMessageError(f"{name}: is a ZIP, in which no {format} is looked for: unpack it")
    if head.startswith(ZIP):
        return _read_files(Zipped(stream, options.bytes), graph, chosen, options=options)
    return (chosen or detect(head, name)).read(stream, graph, options)


def read_folder(
    folder: Path, graph: str | None = None, *, format: str | None = None, options: Options | None = None
) -> Iterator[Item]:
    """Yield the turns and bad lines of an export that was unpacked into `folder`.  Raises InvalidMessageError."""
    graph = graph if graph is None else check_graph(graph)
    options = replace(options or Options(), name=folder.name or folder.resolve().name)
    return _read_files(Folder(folder), graph, _named(format), options=options)


def detect(head: bytes, name: str = "") -> Format:
    """Return the format of a file, recognised by its `head`.  Raises InvalidMessageError if none fits."""
    if _BACKUP.match(head):
        raise InvalidMessageError("file: is a backup of a memory: `emgas import` reads it")
    start = Head(head.removeprefix(b"\xef\xbb\xbf").lstrip(), name)
    may_be = None
    for format in FORMATS.values():
        fit = format.matches(start)
        if fit is Fit.SURE:
            return format
        may_be = may_be or (format if fit is Fit.MAYBE else None)
    if may_be is not None:
        return may_be
    if not start.start:
        raise InvalidMessageError(f"{name or 'file'}: is empty")
    raise InvalidMessageError(f"{name or 'file'}: is in none of the formats {NAMES}. {jsonl.advice(start)}")


def _named(format: str | None) -> Format | None:
    """Return the format of this name.  Raises InvalidMessageError."""
    if format is not None and format not in FORMATS:
        raise InvalidMessageError(f"format: there is no {format!r}: choose one of {NAMES}")
    return None if format is None else FORMATS[format]


def _read_files(files: Files, graph: str | None, chosen: Format | None, *, options: Options) -> Iterator[Item]:
    """Yield the items of the files that belong to `chosen`, or to the first format that matches any file."""
    format = chosen or _of_files(files)
    if format is None or format.files is None:
        raise InvalidMessageError(f"{options.name}: {_why_not(files)}")
    if not format.has_files_among(files.names(format.below)):
        raise InvalidMessageError(f"{options.name}: holds none of the files that an export of {format.name} has")
    return format.read_all(files, graph, options)


def _why_not(files: Files) -> str:
    """Say why no format fits these files."""
    if not files.names():
        return "holds no file: name a file, or the folder of an export"
    names = ", ".join(sorted(each.name for each in OF_MANY_FILES))
    return f"holds no file of an export of {names}. Import files of other formats one by one"


def _of_files(files: Files) -> Format | None:
    """Recognise an export by the names of its files; if several formats match, by the first file's content."""
    possible = [format for format in OF_MANY_FILES if format.has_files_among(files.names(format.below))]
    sure = (format for format in possible if (len(possible) > 1 or format.by_content) and _holds(files, format))
    return next(sure, next((format for format in possible if not format.by_content), None))


def _holds(files: Files, format: Format) -> bool:
    """Check whether the first file of `files` with a name of this format has its content."""
    assert format.files is not None  # noqa: S101 - it has exports of many files
    name = next(name for name in files.names(format.below) if format.files.search(name))
    try:
        start = files.read(name)[:HEAD_BYTES]
    except InvalidMessageError:
        return False
    return format.matches(Head(start.removeprefix(b"\xef\xbb\xbf").lstrip(), name)) is Fit.SURE
