"""Measure whether a memory is silent when it knows no answer: questions with an answer and without.

own          in its own memory                       adversarial  LoCoMo's: the right topic, the wrong person
other        in another memory of the file           general      questions/data/unanswerable.tsv

auroc        how often `known` is higher for a question of its own memory than for one of the kind
calibration  mean distance between `known` and how often there is an answer, own and unanswerable weighing the same
silent       share of questions that get nothing, by default and in mode inject
tokens       of a context, on average
lost         points of context recall that silence costs
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

import numpy as np

from evaluation.contexts import ExaminedMemory, of_product
from evaluation.measure import Examined
from evaluation.questions.labelled import UNANSWERABLE, LabelledQuestion, is_chinese
from evaluation.questions.unanswerable import read_unanswerable
from processors.recall.ranking.silence.known import WEIGHTS
from state.arrays import Floats, Mask

BINS: Final = 10
UNKNOWN: Final = ("general", "other")  # the kinds that calibration counts
MODES: Final = {"default": WEIGHTS.silent, "inject": WEIGHTS.inject}


class Chooser(Protocol):
    """The part of numpy's Generator that draws whole numbers."""

    def integers(self, low: int, high: int) -> Any:
        """Return a number from `low` to below `high`."""


def silence(examined: Sequence[Examined], generator: Chooser) -> dict[str, Any]:
    """Measure the silence of memories; every share in percent."""
    memories = [ExaminedMemory.of(each) for each in examined]
    asked = list(ask_all(examined, generator))
    replies = [memories[place].ask(question.text).reply for _, place, question in asked]
    kinds = np.array([kind for kind, _, _ in asked])
    known = np.array([each.known for each in replies])
    tokens = np.array([each.tokens for each in replies])
    recall = np.concatenate([of_product(each.examined, each, min_likelihood=0.0)[:, 0] for each in memories])
    own, counts = kinds == "own", np.concatenate([_counted(each) for each in memories])
    report: dict[str, Any] = {"questions": {kind: int((kinds == kind).sum()) for kind in dict.fromkeys(kinds.tolist())}}
    for kind in report["questions"]:
        if kind != "own":
            chosen = own | (kinds == kind)
            report[kind] = {"auroc": round(auroc(own[chosen], known[chosen]), 3)} | _silent(
                kinds == kind, known, tokens
            )
    report["calibration"] = round(calibration_error(own, known, own | np.isin(kinds, UNKNOWN)), 3)
    report["own"] = _silent(own, known, tokens) | {
        f"lost_{mode}": round(100 * float(np.where(known[own] < least, recall[counts], 0.0).mean()), 2)
        for mode, least in MODES.items()
    }
    return report


def ask_all(examined: Sequence[Examined], generator: Chooser) -> Iterator[tuple[str, int, LabelledQuestion]]:
    """List each question to ask: its kind, the place of the memory to ask, and the question."""
    general = read_unanswerable()
    for place, each in enumerate(examined):
        for question in each.questions:
            yield "adversarial" if question.category == UNANSWERABLE else "own", place, question
            if len(examined) > 1 and question.category != UNANSWERABLE:
                yield "other", (place + int(generator.integers(1, len(examined)))) % len(examined), question
        for text in general["zh" if is_chinese(each.questions) else "en"]:
            yield "general", place, LabelledQuestion(text, UNANSWERABLE, frozenset(), "")


def _counted(memory: ExaminedMemory) -> Mask:
    """Mark the questions of a memory that it can answer."""
    return np.array([question.category != UNANSWERABLE for question in memory.examined.questions], np.bool_)


def _silent(chosen: Mask, known: Floats, tokens: Floats) -> dict[str, float]:
    shares = {f"silent_{mode}": float((known[chosen] < least).mean()) for mode, least in MODES.items()}
    report = {name: round(100 * share, 1) for name, share in shares.items()}
    return report | {"tokens": round(float(tokens[chosen].mean()), 1)}


def auroc(positive: Mask, values: Floats) -> float:
    """Compute how often a positive has a higher value than a negative; a tie counts half."""
    ordered = np.sort(values[~positive])
    below = np.searchsorted(ordered, values[positive], side="left")
    upto = np.searchsorted(ordered, values[positive], side="right")
    return float((below + upto).sum() / 2 / max(len(ordered) * int(positive.sum()), 1))


def calibration_error(positive: Mask, values: Floats, among: Mask) -> float:
    """Compute the expected calibration error; positives and negatives weigh the same."""
    positive, values = positive[among], values[among]
    weights = np.where(positive, 0.5 / max(int(positive.sum()), 1), 0.5 / max(int((~positive).sum()), 1))
    bins = np.minimum((values * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(bins, weights * (positive - values), BINS)
    return float(np.abs(gaps).sum())
