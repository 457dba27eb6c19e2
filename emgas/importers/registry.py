"""Importers: bytes in, turns (or bad lines, each with its reason) out.  No network, no clock, no state.

    jsonl     our own: one Turn per line                     chatgpt   OpenAI's export: ZIP, or conversations.json
    openai    {"messages": […]} per line                     slack     Slack's export: ZIP, or folder
    locomo    one JSON array of conversations                telegram  Telegram Desktop's result.json
    sharegpt  JSON array, or one conversation per line       whatsapp  a chat's export: _chat.txt, or its ZIP

Every importer keeps event times where the format has them and gives the same ids each time, so that importing a file
again changes nothing.  Nothing but InvalidMessageError is ever raised, whatever the bytes are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

from emgas.errors import InvalidMessageError
from emgas.importers import chatgpt, jsonl, locomo, openai, sharegpt, slack, telegram, whatsapp
from emgas.importers.archives import Files, Folder, Zipped
from emgas.importers.lines import BadLine, Item, Options, head_of

__all__ = ["FORMATS", "BadLine", "Item", "Options", "detect", "read", "read_folder"]

FORMATS: dict[str, Callable[[IO[bytes], str | None, Options], Iterator[Item]]] = {
    "jsonl": lambda stream, graph, _: jsonl.read(stream, graph),
    "openai": lambda stream, graph, _: openai.read(stream, graph),
    "locomo": lambda stream, graph, _: locomo.read(stream, graph),
    "sharegpt": sharegpt.read,
    "chatgpt": chatgpt.read,
    "slack": slack.read,
    "telegram": telegram.read,
    "whatsapp": whatsapp.read,
}
OF_MANY_FILES: dict[str, Callable[[Files, str | None, Options], Iterator[Item]]] = {
    "chatgpt": chatgpt.read_files,
    "slack": slack.read_files,
    "telegram": telegram.read_files,
    "whatsapp": whatsapp.read_files,
}
_FILES = {"chatgpt": chatgpt.FILE, "telegram": telegram.FILE, "whatsapp": whatsapp.FILE, "slack": slack.DAY}
ZIP = b"PK\x03\x04"
GZIP = b"\x1f\x8b"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks
# Inside a string, the quote of a key would have a backslash before it.
_MESSAGES = re.compile(rb'(?<!\\)"messages"\s*:\s*\[')
_CONVERSATIONS = re.compile(rb'(?<!\\)"conversations"\s*:\s*\[')
_MAPPING = re.compile(rb'(?<!\\)"mapping"\s*:\s*\{')
_TELEGRAM = re.compile(
    rb'(?<!\\)"(type"\s*:\s*"(saved_messages|(personal|bot)_chat|(private|public)_(group|supergroup|channel))"'
    rb'|chats"\s*:\s*\{)'
)
_SLACK = re.compile(rb'(?<!\\)"ts"\s*:\s*"[0-9]+\.[0-9]+"')
_TURNS = re.compile(rb'(?<!\\)"(speaker|graph)"\s*:')
_LOCOMO = re.compile(rb'(?<!\\)"(sample_id|conversation)"\s*:')
_BACKUP = re.compile(rb'\{"specversion":"1\.0"[^{]*"type":"io\.emgas\.backup\.')


def read(
    stream: IO[bytes], name: str, graph: str | None = None, format: str | None = None, options: Options | None = None
) -> Iterator[Item]:
    """Yield the turns and bad lines of `stream`, a file called `name`, in `format` or in the one that it looks like.

    Raises InvalidMessageError when nothing of the file can be read: unknown format, invalid `graph`, or none where one is
    needed.
    """
    options = replace(options or Options(), name=name)
    _check(format)
    head = head_of(stream) if stream.seekable() or format is None else b""
    if head.startswith(GZIP):
        raise InvalidMessageError(f"{name}: is compressed by gzip: unpack it")
    if head.startswith(UTF_16):
        raise InvalidMessageError(f"{name}: is in UTF-16: save it in UTF-8")
    if head.startswith(ZIP) and format not in (None, *OF_MANY_FILES):
        raise InvalidMessageError(f"{name}: is a ZIP, in which no {format} is looked for: unpack it")
    if head.startswith(ZIP):
        return _read_files(Zipped(stream), graph, format, options)
    return FORMATS[format or detect(head, name)](stream, graph, options)


def read_folder(
    folder: Path, graph: str | None = None, format: str | None = None, options: Options | None = None
) -> Iterator[Item]:
    """Yield the turns and bad lines of an export that was unpacked into `folder`.  Raises InvalidMessageError."""
    _check(format)
    return _read_files(Folder(folder), graph, format, replace(options or Options(), name=folder.name))


def detect(head: bytes, name: str = "") -> str:
    """Return the format of a file that begins with `head`.  Raises InvalidMessageError if it is none of ours."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return _detect_array(start)
    if start.startswith(b"{"):
        return _detect_object(start)
    if name.lower().endswith((".jsonl", ".ndjson")):  # a file of lines may begin with a bad one, or be empty
        return "jsonl"
    if whatsapp.HEADER.match(start.partition(b"\n")[0].decode(errors="replace")):
        return "whatsapp"
    if not start:
        raise InvalidMessageError(f"{name or 'file'}: is empty")
    raise InvalidMessageError(
        f"{name or 'file'}: is in none of the formats {', '.join(FORMATS)}: convert it, or name its format"
    )


def _detect_array(start: bytes) -> str:
    if whatsapp.HEADER.match(start.partition(b"\n")[0].decode(errors="replace")):
        return "whatsapp"
    if _MAPPING.search(start):
        return "chatgpt"
    if _CONVERSATIONS.search(start):
        return "sharegpt"
    if _LOCOMO.search(start):
        return "locomo"
    if _TURNS.search(start):
        raise InvalidMessageError(
            "file: is a JSON array of turns: write one turn per line, without brackets and commas"
        )
    return "slack" if _SLACK.search(start) else "locomo"


def _detect_object(start: bytes) -> str:
    if _BACKUP.match(start):
        raise InvalidMessageError("file: is a backup of a memory: `emgas import` reads it")
    line = start.partition(b"\n")[0]
    if _MESSAGES.search(line):
        return "telegram" if _TELEGRAM.search(line) else "openai"
    if _CONVERSATIONS.search(line):
        return "sharegpt"
    return "telegram" if line.strip() == b"{" and _TELEGRAM.search(start) else "jsonl"


def _check(format: str | None) -> None:
    if format is not None and format not in FORMATS:
        raise InvalidMessageError(f"format: there is no {format!r}: choose one of {', '.join(FORMATS)}")


def _read_files(files: Files, graph: str | None, format: str | None, options: Options) -> Iterator[Item]:
    """Yield the items of the files that belong to `format`, or to the first one that any file belongs to."""
    names = files.names()
    found = format or next((known for known in OF_MANY_FILES if any(map(_FILES[known].search, names))), None)
    if found not in OF_MANY_FILES:
        raise InvalidMessageError(f"{options.name}: holds many files and is no export of {', '.join(OF_MANY_FILES)}")
    if not any(map(_FILES[found].search, names)):
        raise InvalidMessageError(f"{options.name}: holds none of the files that an export of {found} has")
    return OF_MANY_FILES[found](files, graph, options)
