"""Importers: bytes in, turns (or bad lines, each with its reason) out.  No network, no clock, no state.

    jsonl    our own: one Turn per line
    openai   {"messages": […]} per line
    locomo   one JSON array of conversations

Every importer keeps event times where the format has them and gives the same ids each time, so that importing a file
again changes nothing.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from typing import IO

from emgas.errors import InvalidMessage
from emgas.formats import jsonl, locomo, openai
from emgas.formats.lines import BadLine, Item

__all__ = ["FORMATS", "BadLine", "Item", "detect", "read"]

FORMATS: dict[str, Callable[[IO[bytes], str | None], Iterator[Item]]] = {
    "jsonl": jsonl.read,
    "openai": openai.read,
    "locomo": locomo.read,
}
HEAD_BYTES = 64 * 1024
_MESSAGES = re.compile(rb'(?<!\\)"messages"\s*:\s*\[')  # inside a string, the quote would have a backslash before it


def read(stream: IO[bytes], name: str, graph: str | None = None, format: str | None = None) -> Iterator[Item]:
    """Yield the turns and bad lines of `stream`, a file called `name`, in `format` or in the one that it looks like.

    Raises InvalidMessage when nothing of the file can be read: unknown format, invalid `graph`, or none where one is
    needed.
    """
    if format is None:
        format = detect(_head(stream), name)
    if format not in FORMATS:
        raise InvalidMessage(f"format: there is no {format!r}: choose one of {', '.join(FORMATS)}")
    return FORMATS[format](stream, graph)


def detect(head: bytes, name: str = "") -> str:
    """Return the format of a file that begins with `head`.  Raises InvalidMessage if it is none of ours."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return "locomo"
    if start.startswith(b"{") and _MESSAGES.search(start.partition(b"\n")[0]):
        return "openai"
    # By its name a file of lines may begin with a bad one, or be empty.
    if start.startswith(b"{") or name.lower().endswith((".jsonl", ".ndjson")):
        return "jsonl"
    raise InvalidMessage(
        f"{name or 'file'}: is in none of the formats {', '.join(FORMATS)}: convert it, or name its format"
    )


def _head(stream: IO[bytes]) -> bytes:
    """Return the first bytes of `stream` and leave it where it was; a pipe cannot be rewound, but looked into."""
    if stream.seekable():
        position = stream.tell()
        head = stream.read(HEAD_BYTES)
        stream.seek(position)
        return head
    if isinstance(stream, io.BufferedReader):
        return stream.peek(HEAD_BYTES)
    raise InvalidMessage(f"file: cannot be looked into: name its format, one of {', '.join(FORMATS)}")
