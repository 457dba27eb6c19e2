"""Files that are one JSON document: read whole, up to a bound, for JSON cannot be read line by line.

Reading JSON takes some thirty times its size in memory at worst, so the bound is what keeps a hostile file harmless.
"""

from __future__ import annotations

from typing import IO, Any

import orjson

from emgas.errors import InvalidMessageError
from emgas.importers.lines import LINE_BYTES, BadLine

DOCUMENT_BYTES = 256 * 1024 * 1024


def load(stream: IO[bytes]) -> Any:
    """Read a document, or a BadLine when it is not JSON.  Raises InvalidMessageError over DOCUMENT_BYTES."""
    raw = stream.read(DOCUMENT_BYTES + 1)
    if len(raw) > DOCUMENT_BYTES:
        raise InvalidMessageError(f"file: is over {DOCUMENT_BYTES} bytes: split it, or import JSONL, which streams")
    try:
        return orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        return BadLine(1, raw[:LINE_BYTES], f"file: is not valid JSON in UTF-8 ({error})", "")


def raw_of(value: Any) -> bytes:
    """Write what stood in the file, as JSON once more; orjson reads deeper nesting than it writes."""
    try:
        return orjson.dumps(value)[:LINE_BYTES]
    except TypeError:
        return b"(nested too deeply)"


def at_of(seconds: Any) -> int | None:
    """Read a time in s since 1970, a number or its digits, as ms; None for None.  Raises InvalidMessageError."""
    if seconds is None:
        return None
    try:
        number = float(seconds) if type(seconds) in (int, float, str) else None
        if number is not None and abs(number) < 1e12:
            return round(number * 1000)
    except (ValueError, OverflowError):
        pass
    raise InvalidMessageError("time: must be a number of seconds since 1970")
