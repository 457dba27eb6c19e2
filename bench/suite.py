"""The suite: what EMGAS costs, by name, in one form.

    ./scripts/bench [NAME …] [--json] [--sizes 6000,60000] [--plots] [--check] [--renew]

    growth    folding, asking, flushing and opening a memory of 6,000, 60,000 and 300,000 turns
    query     a question beside igraph's personalised PageRank on the same pairs, of 20,000 and 100,000 concepts, and
              beside the best turns of bm25s
    construction   a memory of 60,000 turns built, beside scipy that counts its pairs, bm25s that indexes its words, and
              decoding the turns alone
    replay    a log folded again, beside reading and decoding it alone: what a bare consumer does
    ingest    a turn through a worker, beside finding its concepts alone
    memory    many small graphs in one partition, and the first question to a cold one
    scale     the same turns in one graph, in a hundred and in ten thousand; what ten million graphs need
    instructions   what hot kernels take, beside a baseline that is kept: `--check` ends with 1 where one takes more,
                   `--renew` writes it anew (bench/speed/instructions.py)

Each size is measured in a process of its own, one after the other, so that none inherits another's memory.  Times are
CPU times and medians; ratios are of one run.  What is compared with (requirements-bench.txt) is no dependency:
scripts/bench installs it beside the environment.  `--plots` draws what `growth` found (bench/speed/plots.py).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from bench.speed import instructions, plots
from bench.speed.constructing import constructed
from bench.speed.growth import SIZES, measured
from bench.speed.ingesting import INGESTED, ingested
from bench.speed.measuring import alone
from bench.speed.remembering import GRAPHS, remembered
from bench.speed.replaying import REPLAYED, replayed
from bench.speed.spreading import GRAPHS as SPREAD
from bench.speed.spreading import spread, summed_up

LARGE: Final = 50_000  # concepts

Found = dict[str, Any]


def of_size(turns: int, asked: int) -> Found:
    """Measure one size in a process of its own."""
    return alone("growth", turns, asked)


def growth(sizes: Sequence[int], asked: int) -> Found:
    """Measure every size; a list for each figure, in the order of the sizes."""
    found = [of_size(turns, asked) for turns in sizes]
    return {name: [one[name] for one in found] for name in found[0]}


def query(sizes: Sequence[int], asked: int) -> Found:
    """Measure recall beside PageRank where a memory is large."""
    found = [of_size(turns, asked) for turns in sizes if turns >= SIZES[1]]
    names = [f"{one['concepts'] / 1000:.0f}k" for one in found]
    ratios = {
        f"igraph_ppr_{'100k' if one['concepts'] > 50_000 else '20k'}": round(
            one["igraph_ppr_ms"] / one["recall_only_ms"]
        )
        for one in found
        if one["igraph_ppr_ms"]
    }
    return {
        "ratios": ratios,
        "concepts": names,
        "recall_ms": [one["recall_only_ms"] for one in found],
        "answer_ms": [one["recall_warm_ms"] for one in found],
        "igraph_ppr_ms": [one["igraph_ppr_ms"] for one in found],
        "bm25s_ms": [one["bm25s_ms"] for one in found],
    }


BENCHES: Final[dict[str, Callable[[Sequence[int], int], Found]]] = {
    "growth": growth,
    "query": query,
    "construction": lambda _, asked: alone("construction", SIZES[1], asked),
    "replay": lambda _, asked: alone("replay", REPLAYED, asked),
    "ingest": lambda _, asked: alone("ingest", INGESTED, asked),
    "memory": lambda _, asked: alone("memory", GRAPHS, asked),
    "scale": lambda _, asked: summed_up([alone("scale", graphs, asked) for graphs in SPREAD]),
    "instructions": lambda _, __: instructions.measured(),
}
ONE: Final[dict[str, Callable[[int, int], Found]]] = {  # in a process of its own: (size, questions)
    "growth": lambda size, asked: measured(size, asked=asked),
    "construction": lambda size, _: constructed(size),
    "replay": lambda size, _: replayed(size, graphs=max(size // 1000, 1)),
    "ingest": lambda size, _: ingested(size),
    "memory": lambda size, _: remembered(size),
    "scale": lambda size, _: spread(size),
}


def table(found: Found) -> str:
    """Lay a bench's figures out for a reader."""
    return "\n".join(f"  {name:24}{json.dumps(value)}" for name, value in found.items())


def main() -> None:
    """Measure, and print one JSON object or a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *BENCHES], help="which; all of them unless named")
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="turns, separated by commas")
    parser.add_argument("--asked", type=int, default=60, help="questions")
    parser.add_argument("--plots", action="store_true", help="draw what grows into docs/")
    parser.add_argument("--check", action="store_true", help="end with 1 if a kernel takes more instructions")
    parser.add_argument("--renew", action="store_true", help="compare instructions with those of now from now on")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(ONE[given.names[0] if given.names else "growth"](given.one, given.asked)))
        return
    sizes = [int(size) for size in given.sizes.split(",")]
    found = {name: BENCHES[name](sizes, given.asked) for name in given.names or BENCHES}
    whole = found[given.names[0]] if len(given.names) == 1 else found
    print(json.dumps(whole) if given.json else "\n".join(f"{name}\n{table(one)}" for name, one in found.items()))
    if given.plots and "growth" in found:
        print(f"bench: drawn into {plots.draw(found['growth'])}", file=sys.stderr)
    if "instructions" in found:
        sys.exit(_judged(found["instructions"], check=given.check, renew=given.renew))


def _judged(found: Found, *, check: bool, renew: bool) -> int:
    """Compare what was counted with the baseline, or let it be that; give the code to end with."""
    if renew and found["counts"]:
        instructions.renew(found["counts"])
    return int(check and not renew and instructions.refused(found))


if __name__ == "__main__":
    main()
