"""Split what is too large for one record of the log into several events, in order.

A window after a large import, or a request to forget a long session, may name more than a record can hold.  The fold
applies names one by one, so it does not matter how they were cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from emgas import limits


def parts(named: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, list[Any]]]:
    """Cut lists, by the names of an event's fields, into parts of at most EVENT_NAMES_BYTES of JSON each.

    There is one part at least, and what is larger than the bound alone has one of its own.
    """
    part: dict[str, list[Any]] = {field: [] for field in named}
    size = 0
    for field, values in named.items():
        for value in values:
            more = len(msgspec.json.encode(value)) + 1
            if size and size + more > limits.EVENT_NAMES_BYTES:
                yield part
                part, size = {field: [] for field in named}, 0
            part[field].append(value)
            size += more
    yield part
