"""Files that are one JSON document: read whole, up to a bound, for JSON cannot be read line by line.

Reading JSON takes some thirty times its size in memory at worst.  A server that reads files of others therefore also
bounds the number of values (Options.values).
"""

from __future__ import annotations

from typing import IO, Any

import orjson

from emgas.errors import InvalidMessageError
from emgas.importers.files.lines import LINE_BYTES, BadLine, Options
from emgas.validation import not_json

DOCUMENT_BYTES = 256 * 1024 * 1024
STRUCTURE = (b"{", b"[", b",", b":")  # a JSON value has one of them before it, or is the only one


def load(stream: IO[bytes], options: Options) -> Any:
    """Read a document, or a BadLine when it is not JSON.  Raises InvalidMessageError for one that is too large."""
    most = min(DOCUMENT_BYTES, options.bytes or DOCUMENT_BYTES)
    raw = stream.read(most + 1)
    if len(raw) > most:
        raise InvalidMessageError(f"file: is over {most} bytes: split it, or import JSONL, which streams")
    check_values(raw, options)
    try:
        return orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        return BadLine(1, raw[:LINE_BYTES], f"file: {not_json(error)}", "")


def check_values(raw: bytes, options: Options) -> None:
    """Raise InvalidMessageError for a document with more values than `options` allow."""
    if options.values is not None and sum(map(raw.count, STRUCTURE)) > options.values:
        raise InvalidMessageError(
            f"file: holds more than {options.values} values: split it, or import JSONL, which streams"
        )


def raw_of(value: Any) -> bytes:
    """Return part of a document as JSON again; orjson reads deeper nesting than it writes."""
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
