"""Print what a million turns cost, from measured bytes and CPU time (measured.json) and assumed prices.

    python -m bench.speed.money          the table of docs/operations.md, which a test compares

Bytes are those of a turn of the demo in `events` on Kafka, by how many records are compressed together
(bench/speed/compressing.py).  Other texts have other sizes: scaling.py computes with longer ones.
"""

from __future__ import annotations

import json
from typing import Any, Final

from bench.speed.scaling import GB, MEASURED

TURNS: Final = 1_000_000
COPIES: Final = 3
DISK_CENTS, OBJECT_CENTS, CORE_CENTS = 9.0, 2.3, 5.0  # per GB and month of a broker's disk, of object storage; per hour
BATCHES: Final = {
    "uncompressed": "uncompressed",
    "1": "compressed alone",
    "8": "compressed in batches of 8",
    "64": "compressed in batches of 64",
}
HOUR_MS: Final = 3_600_000


def table(measured: dict[str, Any]) -> list[str]:
    """Return the lines of the table, in Markdown."""
    by_batch = measured["event_bytes_by_batch"]
    kept = [(f"{name}, {COPIES} copies of {by_batch[key]} bytes", COPIES * by_batch[key], DISK_CENTS)
            for key, name in BATCHES.items()]  # fmt: skip
    kept.append((f"in object storage, {by_batch['64']} bytes", by_batch["64"], OBJECT_CENTS))
    rows = [(name, size * TURNS / GB, cents) for name, size, cents in kept]
    head = ["| a million turns, per month | stored | at assumed prices |", "|---|---|---|"]
    return head + [f"| {name} | {stored:.2g} GB | {stored * cents:.2g} cents |" for name, stored, cents in rows]


def cpu_cents(cost: dict[str, float]) -> float:
    """Compute what it costs, once, to accept a million turns, and to fold them a second time by a standby."""
    return TURNS * (cost["worker_ms"] + cost["extraction_ms"] + cost["fold_ms"]) / HOUR_MS * CORE_CENTS


def cpu_line(measured: dict[str, Any]) -> str:
    """Return the sentence on CPU time."""
    return f"To accept a million turns takes CPU time for {cpu_cents(measured['cost']):.2g} cents, once"


def main() -> None:
    """Print the table, and what CPU time costs."""
    measured = json.loads(MEASURED.read_text("utf-8"))
    print("\n".join([*table(measured), "", cpu_line(measured)]))


if __name__ == "__main__":
    main()
