"""A backup: the topic `events` as lines of JSON, each a CloudEvent 1.0, in the order of partitions and offsets.

    header    type io.emgas.backup.v1      data: prefix, graph or null, bounds [[first, end], …], version of EMGAS;
              of an exact export of one graph, `exact`: its records are a log of their own (replay/transfer.py)
    record    id <prefix>/<partition>/<offset>, type io.emgas.turn-recorded.v1 …, time and subject: the record's own
              timestamp and key; emgaspartition, emgasoffset; emgaskey (base64) for a key that is no text, emgasheaders
              data: the record's value as it is, where reading and writing JSON gives the same bytes; else data_base64
    trailer   type io.emgas.backup-end.v1  data: count of records, sha256 over all lines before it

    {"specversion":"1.0", …, "data":{…},"emgascheck":"0123456789abcdef"}

`emgascheck` comes last in every line: the first 8 bytes of sha256 over everything in the file before it.  So the first
line that was damaged can be named.  It tells accidents; code that forges a backup can compute it.

The same log and header give the same lines, whichever version writes them: an export that was killed goes on with that.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import orjson

from emgas.errors import InvalidMessageError
from emgas.times import datetime_of, milliseconds
from emgas.wire import Record
from replay.backup.unfinished import unmarked
from replay.errors import BackupDamagedError, NoBackupError
from replay.transfer import Transferred

LINE_BYTES = 32 * 1024 * 1024  # the largest record, in base64, and room for the rest
MOST_PARTITIONS = 10_000  # a memory with as many may be born of what a header says
HEADER, TRAILER = "io.emgas.backup.v1", "io.emgas.backup-end.v1"
BEGIN = b'{"specversion":"1.0","id":"'
_CHECK = re.compile(rb',"emgascheck":"[0-9a-f]{16}"\}\n')
_CHECK_BYTES = len(b',"emgascheck":""}\n') + 16


class Header(NamedTuple):
    """The first line of a backup: its contents.

    graph   the one graph whose events these are, None for all: only then it can be restored as a log
    bounds  of each partition (first offset, offset after the last one) when the export began
    began   ms
    exact   of an exact export of the graph, what its receiver must know: it can be received anywhere
    """

    prefix: str
    graph: str | None
    bounds: tuple[tuple[int, int], ...]
    version: str
    began: int
    exact: Transferred | None = None


class Stored(NamedTuple):
    """One record of a backup, and where it lay."""

    partition: int
    record: Record


def seal(running: Any, opened: bytes) -> bytes:
    """Compute what closes a line that begins with `opened`; `running`, a sha256, takes in both."""
    running.update(opened)
    closing: bytes = b',"emgascheck":"%b"}\n' % running.hexdigest()[:16].encode()
    running.update(closing)
    return closing


def header_line(header: Header) -> bytes:
    """Write a backup's first line, without its check."""
    data: dict[str, Any] = {
        "prefix": header.prefix,
        "graph": header.graph,
        "bounds": header.bounds,
        "version": header.version,
    }
    data |= {} if header.exact is None else {"exact": header.exact.fields()}
    identity = f"{header.prefix}/backup/{header.began}"
    return orjson.dumps({**_envelope(header, identity, HEADER), "time": _time(header.began), "data": data})[:-1]


def trailer_line(header: Header, records: int, digest: str) -> bytes:
    """Write a backup's last line, without its check; `digest`: of all lines before."""
    identity = f"{header.prefix}/backup/{header.began}/end"
    return orjson.dumps({**_envelope(header, identity, TRAILER), "data": {"count": records, "sha256": digest}})[:-1]


def record_line(header: Header, stored: Stored) -> bytes:
    """Write a record's line, without its check."""
    partition, record = stored
    kind, readable = _kind(record.value)
    event = _envelope(header, f"{header.prefix}/{partition}/{record.offset}", kind)
    event |= _stamp(record.timestamp) | _key(record.key)
    event |= {"datacontenttype": "application/json" if readable else "application/octet-stream"}
    event |= {"emgaspartition": partition, "emgasoffset": record.offset}
    if headers := unmarked(record.headers):
        event["emgasheaders"] = orjson.dumps([[name, _base64(value)] for name, value in headers]).decode()
    if readable:
        return orjson.dumps(event)[:-1] + b',"data":' + record.value
    return orjson.dumps({**event, "data_base64": _base64(record.value)})[:-1]


def _envelope(header: Header, identity: str, kind: str) -> dict[str, Any]:
    return {"specversion": "1.0", "id": identity, "source": f"{header.prefix}.events", "type": kind}


def _kind(value: bytes) -> tuple[str, bool]:
    """List the type of the event that a record holds, and return whether its value survives being read and written."""
    try:
        event = orjson.loads(value)
        readable = orjson.dumps(event) == value
    except (orjson.JSONDecodeError, TypeError):  # TypeError: nested more deeply than orjson writes
        return "io.emgas.record.v1", False
    kind, version = (event.get("kind"), event.get("v")) if isinstance(event, dict) else (None, None)
    if not isinstance(kind, str) or not re.fullmatch(r"[A-Za-z]{1,64}", kind) or type(version) is not int:
        return "io.emgas.record.v1", readable
    return f"io.emgas.{re.sub('(?<!^)(?=[A-Z])', '-', kind).lower()}.v{version}", readable


def _key(key: bytes | None) -> dict[str, str]:
    if key is None:
        return {}
    text = key.decode(errors="replace")
    return {"subject": text} if text and text.encode() == key else {"emgaskey": _base64(key)}


def _stamp(at: int) -> dict[str, str]:
    try:
        return {"time": _time(at)}
    except OverflowError:  # beyond the year 9999, which a foreign producer may write
        return {"emgastimestamp": str(at)}


def _time(at: int) -> str:
    return datetime_of(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _base64(value: bytes) -> str:
    return b64encode(value).decode()


def is_backup(first: bytes) -> bool:
    """Return whether a file that begins with `first` is a backup."""
    return first.startswith(BEGIN) and f'"type":"{HEADER}"'.encode() in first.partition(b"\n")[0]


def header_of(line: bytes) -> Header:
    """Read a backup's first line.  Raises NoBackupError, BackupDamagedError."""
    if not is_backup(line):
        raise NoBackupError("the file is no backup of EMGAS: its first line is not the header of one")
    running = hashlib.sha256()
    event = opened_line(line, 1, running)
    with telling(1):
        data = event["data"]
        bounds = tuple((_offset(first), _offset(end)) for first, end in data["bounds"])
        if not 1 <= len(bounds) <= MOST_PARTITIONS:
            raise ValueError
        graph = None if data["graph"] is None else _text(data["graph"])
        exact = Transferred.of(data["exact"]) if "exact" in data else None
        return Header(_text(data["prefix"]), graph, bounds, _text(data["version"]), milliseconds(event["time"]), exact)


def opened_line(line: bytes, number: int, running: Any) -> dict[str, Any]:
    """Check a line and read what it holds; `running` is the sha256 of all lines before, and takes it in."""
    opened, check = line[:-_CHECK_BYTES], line[-_CHECK_BYTES:]
    if not line.endswith(b"\n") and _CHECK.fullmatch(check) is None:
        raise BackupDamagedError(
            f"line {number} is cut off: run the export again to complete the file, or use another copy"
        )
    if seal(running, opened) != check:
        raise BackupDamagedError(f"line {number} is not as it was written: use another copy of the backup")
    with telling(number):
        event: dict[str, Any] = orjson.loads(line)
        if not isinstance(event, dict) or not isinstance(event["type"], str):
            raise TypeError
        return event


def stored_in(event: dict[str, Any], header: Header) -> Stored:
    """Read the record that an event describes.  Raises KeyError, TypeError, ValueError."""
    partition, offset = _offset(event["emgaspartition"]), _offset(event["emgasoffset"])
    first, end = header.bounds[partition]
    if not first <= offset < end:
        raise ValueError
    key = event["subject"].encode() if "subject" in event else None
    key = _bytes(event["emgaskey"]) if "emgaskey" in event else key
    value = orjson.dumps(event["data"]) if "data" in event else _bytes(event["data_base64"])
    at = milliseconds(_text(event["time"])) if "time" in event else _whole(event["emgastimestamp"])
    headers = tuple((_text(name), _bytes(text)) for name, text in orjson.loads(event.get("emgasheaders", "[]")))
    return Stored(partition, Record(offset, at, key, value, headers))


@contextmanager
def telling(number: int) -> Iterator[None]:
    """Raise BackupDamagedError for line `number`, whatever is wrong inside."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, InvalidMessageError):
        raise BackupDamagedError(f"line {number} is no line of a backup: use another copy") from None


def _offset(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError
    return value


def _whole(value: object) -> int:
    number = int(_text(value))
    if abs(number) >= 2**63:
        raise ValueError
    return number


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _bytes(value: object) -> bytes:
    return b64decode(_text(value), validate=True)
