"""Mark a log as partly restored: each record that a restore appends holds the final length of its partition.

A worker on such a log would append its own events, and the rest of the backup could never follow at its place.  Without
a mark, such a log looks like a memory whose topic `turns` was recreated, which must go on.  So a restore marks its
records with a header that no backup holds; streams/ingest/source.py checks the last record of the log.
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
