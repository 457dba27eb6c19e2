"""Measure the same turns in one graph, in a hundred and in ten thousand; estimate ten million graphs.

    graphs         that the turns are spread over, one after the other in turn: each turn comes to another than before
    fold_us        CPU µs a turn: decode, chain, fold and counting        the peer is the first: all in one graph
    flush_us       the same of flushes and of tidying behind them, a flush every 256 turns
    resident_mb    of the process then, at the budget of memory that a worker has by default
    store_mb       what lies on the disk
    over_one       fold and flush together, over those of one graph
    needs          what a cluster takes (docs/operations.md), computed from bench/speed/measured.json

The floor of `construction` holds here, too: what decoding alone takes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from bench.speed import zipf
from bench.speed.growth import Growing
from bench.speed.measuring import resident_mb, rounded
from bench.speed.scaling import MEASURED, Measured, Workload, needed

GRAPHS: Final = (1, 100, 10_000)
TURNS: Final = 50_000


def spread(graphs: int) -> dict[str, Any]:
    """Measure TURNS turns in so many graphs."""
    names = [f"{zipf.GRAPH}-{number}" for number in range(graphs)]
    with tempfile.TemporaryDirectory(prefix="emgas-bench-") as directory:
        growing = Growing.of(Path(directory) / "store", names)
        for number, turn in enumerate(zipf.turns(TURNS)):
            growing.tell(replace(turn, graph=names[number % graphs], session=f"s{number // graphs // 15}"))
        growing.state.flush()
        resident, flushed = resident_mb(), sum(growing.pauses)
        stored = sum(each.stat().st_size for each in Path(directory).rglob("*") if each.is_file())
        growing.state.close()
    return {
        "graphs": graphs,
        "fold_us": rounded(growing.fold_ms / TURNS * 1000),
        "flush_us": rounded(flushed / TURNS * 1000),
        "resident_mb": resident,
        "store_mb": round(stored / 1e6, 1),
    }


def summed_up(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Lay the sizes side by side, and add what a cluster needs."""
    listed: dict[str, Any] = {name: [one[name] for one in runs] for name in runs[0]}
    whole = [one["fold_us"] + one["flush_us"] for one in runs]
    cost = Measured(**json.loads(MEASURED.read_text("utf-8"))["cost"])
    over = [rounded(each / whole[0]) for each in whole]
    return {"turns": TURNS, **listed, "over_one": over, "needs": needed(cost, Workload())["all"]}
