"""Everything that this project claims of recall, measured on every data set of a folder: `python -m evaluation FOLDER`.

    of the product   evidence in the context of 1,000 tokens, with silence; the share of its lines that are evidence;
                     how often the first turn is evidence; R@5; how well `known` tells what a memory holds, and what
                     silence costs
    of the peers     contexts and R@5 of BM25, and of PageRank with all our features
    of hooks         what prompts to an agent get (measures/hooks.py)

Each mean of the product has an interval, each peer the interval of the difference (bootstrap.py).  The results are a
file (results.json), from which `scripts/docs` writes the table of docs/results.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from evaluation import contexts
from evaluation.bootstrap import Interval, of_means, paired
from evaluation.measure import Clock, Examined, Scores, measured
from evaluation.measures.silence import silence
from evaluation.methods import METHODS
from evaluation.metrics import METRICS
from evaluation.summary import SUBJECT, headline
from state.arrays import Floats

PEERS: Final = ("bm25", "ppr-structured")
FIRST: Final = METRICS.index("R@5")
MEANS: Final = ("context_recall", "context_precision", "first_turn", "R@5")


def measure_set(examined: Sequence[Examined], clock: Clock, generator: Callable[[], Any]) -> dict[str, Any]:
    """Measure one data set: values in percent, intervals as [mean, low, high].

    generator  makes a new generator, the same every time
    """
    with_questions = [each for each in examined if each.questions]
    counts = headline([question for each in with_questions for question in each.questions])
    rows = {name: _contexts(with_questions, name)[counts] for name in (SUBJECT, *PEERS)}
    first = {name: _first(with_questions, name, clock)[counts] for name in (SUBJECT, *PEERS)}
    ours = rows[SUBJECT]
    return {
        "questions": int(counts.sum()),
        "turns": sum(len(each.turns) for each in with_questions),
        "context_recall": _interval(of_means([[ours[:, 0]]], generator())),
        "context_precision": _interval(of_means([[ours[:, 1]]], generator())),
        "context_tokens": round(float(ours[:, 2].mean()), 1),
        "first_turn": _interval(of_means([[ours[:, 3]]], generator())),
        "R@5": _interval(of_means([[first[SUBJECT]]], generator())),
        "gains": {name: _interval(paired(ours[:, 0], rows[name][:, 0], generator())) for name in PEERS},
        "first_gains": {name: _interval(paired(first[SUBJECT], first[name], generator())) for name in PEERS},
        "silence": silence(with_questions, generator()),
    }


def _contexts(examined: Sequence[Examined], name: str) -> Floats:
    """Measure the contexts of a method: the default's are the product's own."""
    of_peer = (contexts.of_method(each, METHODS[name]) for each in examined)
    of_default = (contexts.of_product(each) for each in examined)
    return np.concatenate(list(of_default if name == SUBJECT else of_peer))


def _first(examined: Sequence[Examined], name: str, clock: Clock) -> Floats:
    """Measure R@5 of a method: (q,)."""
    scores = Scores.joined([measured(each, METHODS[name], clock) for each in examined])
    first: Floats = scores.values[:, FIRST]
    return first


def _interval(interval: Interval) -> list[float]:
    return [round(100 * value, 1) for value in interval]


HEAD: Final = (
    "data set",
    "questions",
    "in the context",
    "lines that are evidence",
    "first turn",
    "first five",
    "more than BM25",
    "more than PageRank",
    "AUROC general",
    "AUROC other",
    "silent on general",
    "lost by silence",
)


def table(results: Mapping[str, Mapping[str, Any]], *, changed: bool = False) -> list[tuple[str, ...]]:
    """Write the results as rows of a table, with the means over the data sets last.

    changed  write those of talk in another form, "zh-dev (long)"
    """
    recalled = {name: result for name, result in results.items() if "silence" in result and is_changed(name) == changed}
    rows = [(name, *_cells(result)) for name, result in recalled.items()]
    return [HEAD, *rows, *([("**mean**", *_means(list(recalled.values())))] if recalled else [])]


def is_changed(name: str) -> bool:
    """Return whether a data set is another in a changed form, which its name says in brackets."""
    return name.endswith(")")


def share_in_context(results: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the mean evidence in contexts over the data sets as given, in percent: of the product and of each peer."""
    recalled = [result for name, result in results.items() if "silence" in result and not is_changed(name)]
    ours = float(np.mean([result["context_recall"][0] for result in recalled]))
    gains = {peer: float(np.mean([result["gains"][peer][0] for result in recalled])) for peer in PEERS}
    return {SUBJECT: ours} | {peer: ours - gain for peer, gain in gains.items()}


def _cells(result: Mapping[str, Any]) -> tuple[str, ...]:
    quiet = result["silence"]
    return (
        str(result["questions"]),
        *(_shown(result[name]) for name in MEANS),
        *(_shown(result["gains"][name]) for name in PEERS),
        *(_auroc(quiet.get(kind)) for kind in ("general", "other")),
        f"{quiet['general']['silent_default']:.0f}",
        f"{quiet['own']['lost_default']:.1f}",
    )


def _means(results: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    def mean(values: Sequence[float], digits: int = 1) -> str:
        return f"{np.mean(values):.{digits}f}" if values else ""

    quiet = [result["silence"] for result in results]
    return (
        str(sum(result["questions"] for result in results)),
        *(
            mean([result[name][0] for result in results])
            for name in ("context_recall", "context_precision", "first_turn", "R@5")
        ),
        *(mean([result["gains"][name][0] for result in results]) for name in PEERS),
        *(mean([each[kind]["auroc"] for each in quiet if kind in each], 3) for kind in ("general", "other")),
        mean([each["general"]["silent_default"] for each in quiet], 0),
        mean([each["own"]["lost_default"] for each in quiet]),
    )


def _shown(interval: Sequence[float]) -> str:
    mean, low, high = interval
    return f"{mean:.1f} [{low:.1f}, {high:.1f}]"


def _auroc(report: Mapping[str, float] | None) -> str:
    return "" if report is None else f"{report['auroc']:.3f}"
