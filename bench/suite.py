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
                   `--renew` writes it again (bench/speed/instructions.py)

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

Figures = dict[str, Any]


def of_size(turns: int, queries: int) -> Figures:
    """Measure one size in a process of its own."""
    return alone("growth", turns, queries)


def growth(sizes: Sequence[int], queries: int) -> Figures:
    """Measure every size; a list for each figure, in the order of the sizes."""
    runs = [of_size(turns, queries) for turns in sizes]
    return {name: [one[name] for one in runs] for name in runs[0]}


def query(sizes: Sequence[int], queries: int) -> Figures:
    """Measure recall beside PageRank where a memory is large."""
    runs = [of_size(turns, queries) for turns in sizes if turns >= SIZES[1]]
    names = [f"{one['concepts'] / 1000:.0f}k" for one in runs]
    ratios = {
        f"igraph_ppr_{'100k' if one['concepts'] > 50_000 else '20k'}": round(
            one["igraph_ppr_ms"] / one["recall_only_ms"]
        )
        for one in runs
        if one["igraph_ppr_ms"]
    }
    return {
        "ratios": ratios,
        "concepts": names,
        "recall_ms": [one["recall_only_ms"] for one in runs],
        "answer_ms": [one["recall_warm_ms"] for one in runs],
        "igraph_ppr_ms": [one["igraph_ppr_ms"] for one in runs],
        "bm25s_ms": [one["bm25s_ms"] for one in runs],
    }


BENCHES: Final[dict[str, Callable[[Sequence[int], int], Figures]]] = {
    "growth": growth,
    "query": query,
    "construction": lambda _, queries: alone("construction", SIZES[1], queries),
    "replay": lambda _, queries: alone("replay", REPLAYED, queries),
    "ingest": lambda _, queries: alone("ingest", INGESTED, queries),
    "memory": lambda _, queries: alone("memory", GRAPHS, queries),
    "scale": lambda _, queries: summed_up([alone("scale", graphs, queries) for graphs in SPREAD]),
    "instructions": lambda _, __: instructions.measured(),
}
ONE: Final[dict[str, Callable[[int, int], Figures]]] = {  # in a process of its own: (size, questions)
    "growth": lambda size, queries: measured(size, queries=queries),
    "construction": lambda size, _: constructed(size),
    "replay": lambda size, _: replayed(size, graphs=max(size // 1000, 1)),
    "ingest": lambda size, _: ingested(size),
    "memory": lambda size, _: remembered(size),
    "scale": lambda size, _: spread(size),
}


def table(figures: Figures) -> str:
    """Lay a bench's figures out for a reader."""
    return "\n".join(f"  {name:24}{json.dumps(value)}" for name, value in figures.items())


def main() -> None:
    """Measure, and print one JSON object or a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *BENCHES], help="which; all of them unless named")
    parser.add_argument("--json", action="store_true", help="one JSON object on one line")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="turns, separated by commas")
    parser.add_argument("--asked", type=int, default=60, help="questions")
    parser.add_argument("--plots", action="store_true", help="draw what grows into bench/")
    parser.add_argument("--check", action="store_true", help="end with 1 if a kernel takes more instructions")
    parser.add_argument("--renew", action="store_true", help="compare instructions with those of now from now on")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(ONE[options.names[0] if options.names else "growth"](options.one, options.asked)))
        return
    sizes = [int(size) for size in options.sizes.split(",")]
    figures = {name: BENCHES[name](sizes, options.asked) for name in options.names or BENCHES}
    whole = figures[options.names[0]] if len(options.names) == 1 else figures
    print(json.dumps(whole) if options.json else "\n".join(f"{name}\n{table(one)}" for name, one in figures.items()))
    if options.plots and "growth" in figures:
        print(f"bench: drawn into {plots.draw(figures['growth'])}", file=sys.stderr)
    if "instructions" in figures:
        sys.exit(_judged(figures["instructions"], check=options.check, renew=options.renew))


def _judged(figures: Figures, *, check: bool, renew: bool) -> int:
    """Compare what was counted with the baseline, or let it be that; return the code to end with."""
    if renew and figures["counts"]:
        instructions.renew(figures["counts"])
    return int(check and not renew and instructions.refused(figures))


if __name__ == "__main__":
    main()
