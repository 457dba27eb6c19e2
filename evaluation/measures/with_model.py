"""Measure what a local model of text embeddings brings: memories whose worker embedded every turn, asked with it.

context_recall, context_precision   of the product's contexts, as everything.py has them without a model
gain                                points of context recall that the model brings, over the same memories
R@5                                 evidence among the first five turns of a reply
silent                              share of general questions that get nothing
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from evaluation.bootstrap import Interval, of_means, paired
from evaluation.contexts import ExaminedMemory, of_product
from evaluation.measure import Examined
from evaluation.measures.silence import ask_all
from evaluation.summary import headline
from processors.recall.ranking.dense import Embedder
from state.arrays import Floats

PART: Final = "with_model"  # its name among the results of a data set
HEAD: Final = (
    "data set",
    "model",
    "in the context",
    "gain",
    "lines that are evidence",
    "first five",
    "silent on general",
)
FIRST: Final = 5


def measure_model(examined: Sequence[Examined], embedder: Embedder, generator: Callable[[], Any]) -> dict[str, Any]:
    """Measure one data set with a model: values in percent, intervals as [mean, low, high]."""
    examined = [each for each in examined if each.questions]
    counts = headline([question for each in examined for question in each.questions])
    memories = [ExaminedMemory.of(each, embedder) for each in examined]
    rows = np.concatenate([of_product(each.examined, each) for each in memories])[counts]
    words = np.concatenate([of_product(each) for each in examined])[counts]
    general = [(place, asked) for kind, place, asked in ask_all(examined, generator()) if kind == "general"]
    silent = np.array([not memories[place].ask(asked.text).reply.passages for place, asked in general])
    first = np.concatenate([_first(each) for each in memories])[counts]
    return {
        "model": embedder.name,
        "context_recall": _percent(of_means([[rows[:, 0]]], generator())),
        "context_precision": _percent(of_means([[rows[:, 1]]], generator())),
        "gain": _percent(paired(rows[:, 0], words[:, 0], generator())),
        "R@5": _percent(of_means([[first]], generator())),
        "silent": round(100 * float(silent.mean()), 1),
    }


def _first(memory: ExaminedMemory) -> Floats:
    """Measure the share of each question's evidence among the first FIRST turns of its reply: (q,)."""
    shares = []
    for question in memory.examined.questions:
        reply = memory.ask(question.text, top_passages=FIRST, min_likelihood=0.0).reply
        hits = sum(each.id in question.evidence for each in reply.passages)
        shares.append(min(1.0, hits / (1 if question.any_of else len(question.evidence))))
    return np.array(shares)


def _percent(interval: Interval) -> list[float]:
    return [round(100 * value, 1) for value in interval]


def table(results: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Write the results as rows of a table, with the means over the data sets last."""
    measured = {name: result[PART] for name, result in results.items() if PART in result}
    means = [_means(list(measured.values()))] if measured else []
    return [HEAD, *(_row(name, each) for name, each in measured.items()), *means]


def _row(name: str, measured: Mapping[str, Any]) -> tuple[str, ...]:
    mean, low, high = measured["gain"]
    shares = (f"{measured[column][0]:.1f}" for column in ("context_precision", "R@5"))
    recall = f"{measured['context_recall'][0]:.1f}"
    return (
        name,
        measured["model"],
        recall,
        f"{mean:+.1f} [{low:.1f}, {high:.1f}]",
        *shares,
        f"{measured['silent']:.0f}",
    )


def _means(measured: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    recall, gain, precision, first = (
        float(np.mean([each[column][0] for each in measured]))
        for column in ("context_recall", "gain", "context_precision", "R@5")
    )
    silent = np.mean([each["silent"] for each in measured])
    return ("**mean**", "", f"{recall:.1f}", f"{gain:+.1f}", f"{precision:.1f}", f"{first:.1f}", f"{silent:.0f}")
