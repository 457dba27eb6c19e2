"""The keys of a store: the layout of a partition's state.

    h                      position in the log up to which all is folded: JSON (state/log_position.py)
    l                      LAYOUT of the keys drawn here: u64; comes with the first position (state/store/rocksdb.py)
    c <graph>              how many events the graph has, and how many of its turns `h` counts: two u64
    g <graph>              the manifest: which tables the graph consists of, oldest first (state/lsm/tree.py)
    i <graph> <table>      the index of a table: what it holds, and its fence pointers (state/lsm/table.py)
    t <graph> <table> <section> <page>      records of one section, ascending (state/lsm/record_types.py)
    e <graph> <ordinal>    the graph's own event of that ordinal: the record value as it is in the log; gone once it
                           cannot be taken back and its text is no longer needed (state/lsm/graph_pages.py)

    k <graph>              why the graph is set aside, and that events of it came since: JSON (state/partition.py)
    n <graph>              nothing is left of the graph: all of it was forgotten, erased or taken back
    p <graph>              where the graph is while it comes or goes: JSON (state/standing/placement.py)
    q <graph>              what may still be sent to the graph, and what was: JSON (state/standing/quotas.py)
    x <graph>              erasures whose keys are yet to be destroyed: JSON (state/partition.py)

    <graph> = u8 length │ UTF-8      length first, so that no graph's keys can run into another's; over 254 bytes, it
                                     is 255 │ u16 length
    u64, <ordinal>                   8 bytes, big-endian: their order is the numbers' order
    <table>, <page>                  4 bytes, likewise; <section> one

A graph is the sum of its tables, plus the events after them (lsm/README.md).  `c` counts all events, so that a scan
that ends too early is noticed: RocksDB ends scans silently at a damaged block.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final

LAYOUT: Final = 9  # raise it when anything drawn above changes; a store and a snapshot of one name it
POSITION = b"h"
ASIDE = b"k"  # what every key of a graph that is set aside begins with, and no other key
ERASURES = b"x"  # what every erasure key begins with, and no other key
QUOTAS = b"q"  # what every key of a graph's quotas begins with, and no other key
PLACED = b"p"  # what every key of a graph that came from elsewhere, or goes there, begins with, and no other key
EMPTIED = b"n"  # what every key of a graph that nothing is left of begins with, and no other key
LAYOUT_KEY = b"l"
COUNTS = b"c"  # what every count key begins with, and no other key
_LONG = 255  # what a length begins with that does not fit into a byte
_U64 = struct.Struct(">Q")
_TABLE = struct.Struct(">I")
_PAGE = struct.Struct(">IBI")


def u64(value: int) -> bytes:
    """Pack an integer >= 0 into 8 bytes whose order is the numbers' order."""
    return _U64.pack(value)


def of_u64(value: bytes) -> int:
    """Read the integer that `u64` packed, from the first 8 bytes."""
    return int(_U64.unpack_from(value)[0])


@lru_cache(maxsize=1 << 14)  # a fold asks for the same few graphs with every event
def _graph(graph_id: str) -> bytes:
    encoded = graph_id.encode()
    short = len(encoded) < _LONG
    return (struct.pack("B", len(encoded)) if short else struct.pack(">BH", _LONG, len(encoded))) + encoded


def graph_of(key: bytes) -> str:
    """Read the graph id out of a key of one letter and a graph."""
    length = 1 if key[1] < _LONG else 3
    return key[1 + length :].decode()


def count_key(graph_id: str) -> bytes:
    """Build the key of the graph's number of events."""
    return COUNTS + _graph(graph_id)


def counts(events: int, turns: int) -> bytes:
    """Pack the value of a count key."""
    return u64(events) + u64(turns)


def turns_of(value: bytes) -> int:
    """Read the number of turns that `counts` packed; `of_u64` reads the number of events."""
    return of_u64(value[_U64.size :])


def manifest_key(graph_id: str) -> bytes:
    """Build the key of the list of the graph's tables."""
    return b"g" + _graph(graph_id)


def index_key(graph_id: str, table: int) -> bytes:
    """Build the key of what one table of the graph holds."""
    return b"i" + _graph(graph_id) + _TABLE.pack(table)


def page_key(graph_id: str, table: int, section: int, page: int) -> bytes:
    """Build the key of a page of a table of the graph."""
    return b"t" + _graph(graph_id) + _PAGE.pack(table, section, page)


def aside_key(graph_id: str) -> bytes:
    """Build the key of why the graph is set aside."""
    return ASIDE + _graph(graph_id)


def placed_key(graph_id: str) -> bytes:
    """Build the key of where the graph is while it comes or goes."""
    return PLACED + _graph(graph_id)


def quota_key(graph_id: str) -> bytes:
    """Build the key of the graph's quotas."""
    return QUOTAS + _graph(graph_id)


def emptied_key(graph_id: str) -> bytes:
    """Build the key that says that nothing is left of the graph."""
    return EMPTIED + _graph(graph_id)


def erasure_key(graph_id: str) -> bytes:
    """Build the key of what is yet to be destroyed of a graph's keys."""
    return ERASURES + _graph(graph_id)


def event_prefix(graph_id: str) -> bytes:
    """Build what all event keys of the graph begin with."""
    return b"e" + _graph(graph_id)


def event_key(graph_id: str, ordinal: int) -> bytes:
    """Build the key of one event of the graph."""
    return event_prefix(graph_id) + u64(ordinal)


def ordinal_of_event_key(key: bytes) -> int:
    """Read the ordinal out of an event key."""
    return of_u64(key[-_U64.size :])
