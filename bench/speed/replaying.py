"""Compare folding a log again with only reading and decoding it.

events_per_second   a rebuild as `emgas replay rebuild` does it: the log read, folded, written into RocksDB
floor               the same records read and decoded, nothing else: what a bare consumer pays
ratio               CPU time of the rebuild over that of the floor
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any, Final

from bench.speed.measuring import rounded, taken
from bench.speed.rebuild import TOPIC, events, write
from replay.rebuild.rebuild import refold
from state.events.events import decode
from state.store.rocksdb import RocksStore
from streams.transport.embedded.reader import EmbeddedReader, ReadOnlyLog

REPLAYED: Final = 100_000  # turns
AT_ONCE: Final = 1000  # records


def _bare(log: ReadOnlyLog, count: int) -> None:
    at = 0
    while at < count and (records := log.read(TOPIC, 0, at, AT_ONCE)):
        for record in records:
            decode(record.value or b"")
        at = records[-1].offset + 1


def replayed(turns: int, graphs: int) -> dict[str, Any]:
    """Measure a rebuild of so many turns of so many graphs."""
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as directory:
        home = Path(directory)
        write(home, events(turns, graphs))
        log = ReadOnlyLog(home)
        count = turns + graphs + 1
        _, floor = taken(lambda: _bare(log, count))
        store = RocksStore(home / "0", bulk=True)
        state, took = taken(lambda: asyncio.run(refold(EmbeddedReader(log, TOPIC), 0, count, store)))
        state.close()
        log.close()
    return {
        "events": count,
        "graphs": graphs,
        "events_per_second": round(count / took * 1000),
        "floor_events_per_second": round(count / floor * 1000),
        "ratio": rounded(took / floor),
    }
