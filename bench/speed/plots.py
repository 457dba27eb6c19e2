"""The figures of `./scripts/bench --plots`, drawn for bench/README.md: one picture for what grows with a memory.

Both axes are logarithmic: a line that lies flat costs the same however large the memory is, and one that rises as the
dotted line does costs as many times more as there are turns more.  The same figures give the same file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

LINES: Final = {  # of `growth`, and how they are called
    "igraph_ppr_ms": "igraph's personalised PageRank",
    "recall_after_turn_ms": "one more turn, and an answer",
    "recall_warm_ms": "an answer, whole",
    "recall_only_ms": "recall alone",
    "bm25s_ms": "bm25s, the best hundred",
    "first_answer_ms": "opened from its store, and an answer",
    "flush_pause_ms": "longest pause by a flush",
}
DIRECTORY: Final = Path(__file__).resolve().parents[1]
COLOURS: Final = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito's


def draw(growth: Mapping[str, Sequence[Any]], directory: Path = DIRECTORY) -> Path:
    """Draw what `growth` found into a file of `directory`; return it.  Raises ImportError without matplotlib."""
    import matplotlib as mpl  # only who draws needs it
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "emgas", "svg.fonttype": "none", "font.family": "sans-serif"})
    figure = Figure(figsize=(9.6, 5.4), layout="constrained")
    axes = figure.subplots()
    turns = growth["turns"]
    for (name, label), colour in zip(LINES.items(), COLOURS, strict=True):
        if all(value is not None for value in growth.get(name, [None])):
            axes.plot(turns, growth[name], marker="o", label=label, color=colour)
    start = growth["recall_only_ms"][0]
    axes.plot(turns, [start * each / turns[0] for each in turns], ":", color="#999999", label="as many times more")
    axes.set(xscale="log", yscale="log", xlabel="turns of one memory", ylabel="ms of CPU time")
    axes.set_xticks(turns, [f"{each:,}" for each in turns])
    axes.minorticks_off()
    axes.grid(visible=True, color="#dddddd")
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    path = directory / "performance-growth.svg"
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    return path
