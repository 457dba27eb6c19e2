"""What tells that a log is restored in part: each record that a restore appends says how far its partition will go.

A worker on such a log would write behind what is there, and the rest could never be appended where it belongs.  It
could not be told from a memory whose topic `turns` was recreated, which must go on.  So a restore marks its records, in
a header that no backup holds; the last record of a log tells the rest (streams/ingest/source.py asks).
"""

from __future__ import annotations

from typing import Final

from emgas.wire import Headers, Record, as_mapping

RESTORED_UNTIL: Final = "emgas.restored-until"  # the offset behind the last record of the backup's partition


def marked(record: Record, end: int) -> Record:
    """Mark a record of a backup whose partition ends before offset `end`."""
    return record._replace(headers=(*unmarked(record.headers), (RESTORED_UNTIL, str(end).encode())))


def unmarked(headers: Headers) -> Headers:
    """Leave the mark out."""
    return tuple((name, value) for name, value in headers if name != RESTORED_UNTIL)


def missing(last: Record) -> int:
    """Count the records that a restore has still to append behind `last`, the last one of a partition."""
    end = as_mapping(last.headers).get(RESTORED_UNTIL, b"")
    return max(0, int(end) - last.offset - 1) if end.isdigit() and len(end) < 20 else 0
