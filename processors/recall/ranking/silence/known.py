"""Compute `known`, the probability that a graph holds an answer to a question, from its evidence (evidence.py).

    known     = 1 / (1 + exp(−z)),  z = constant + Σ weight · (evidence − baseline)
    baseline  the evidence for twenty general questions (data/general.tsv), which no memory answers, at BELOW: where
              that share of them has a lower z.  Those of the language in which the graph knows most

The baseline makes one threshold mean the same in every graph.  It is computed again when a graph has grown by a
sixteenth, of its turns up to then, so it depends on the turns alone.  `python -m evaluation.fit_known` fits the numbers
of data/known.tsv and writes them, and `emgas measure eval --silence` measures what they lead to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from processors.extraction.extractor import Extraction, Extractor
from processors.recall.ranking.inquiry import Inquiry
from processors.recall.ranking.query_terms import find_query_terms
from processors.recall.ranking.silence.evidence import EVIDENCE, find_evidence
from processors.text import tables
from processors.text.scripts import HAN
from processors.text.tables import rows
from state.arrays import Floats
from state.graph.graph import Graph
from state.graph.tables.concept_table import ConceptTable
from state.graph.view import GraphView

BELOW: Final = 0.8  # at the median, one threshold silenced 60 % of general questions here and 95 % there
_DECIDES: Final = np.array([name == "missing" for name in EVIDENCE])  # alone, so it moves no baseline
_NOT_REACHED: Final = np.array([float(name == "unknown") for name in EVIDENCE])  # by a question in another script
STEPS: Final = 16  # a graph's baseline is computed again when it has grown by one of so many parts


_HAN: Final = tables.lazy(f"[{HAN}]")


def _general() -> dict[str, list[str]]:
    questions: dict[str, list[str]] = {}
    for language, text in rows(__package__, "general"):
        questions.setdefault(language, []).append(text)
    return questions


_GENERAL: Final = _general()


class Weights(NamedTuple):
    """The weights of the evidence, and the thresholds below which a memory is silent.

    evidence   (e,) by EVIDENCE, in log-odds;  constant: of a graph that holds as much as of a general question
    silent     `known` below which a question gets nothing;  inject: the same of questions in mode inject
    """

    evidence: Floats
    constant: float
    silent: float
    inject: float


def read_weights(table: Iterable[list[str]]) -> Weights:
    """Read weights from rows of a name and a number."""
    values = {name: float(value) for name, value in table}
    evidence = np.array([values[name] for name in EVIDENCE])
    return Weights(evidence, values["constant"], values["silent"], values["inject"])


WEIGHTS: Final = read_weights(rows(__package__, "known"))


def likelihoods(evidence: Floats, baseline: Floats, weights: Weights = WEIGHTS) -> Floats:
    """Return the probability that a graph with this baseline holds an answer, (q,), by `evidence` (q, e)."""
    odds: Floats = weights.constant + (evidence - baseline) @ weights.evidence
    likely: Floats = 1 / (1 + np.exp(-odds))
    return likely


def passage_likelihoods(scores: Floats, known: float) -> Floats:
    """Share `known` among passages by their scores, which are log-odds: (k,) how likely each holds the answer."""
    odds = np.exp(scores - scores.max(initial=-np.inf))
    likelihoods: Floats = known * odds / max(float(odds.sum()), 1e-9)
    return likelihoods


class Baselines:
    """The baselines of graphs, each kept until its graph has grown."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._questions: dict[str, list[tuple[str, Extraction]]] = {}  # by language, when a graph first needs them
        self._of_graph: WeakKeyDictionary[Graph, tuple[int, Floats]] = WeakKeyDictionary()

    def of(self, graph: Graph) -> Floats:
        """Return the baseline of a graph."""
        view = graph.view()
        upto = rounded(view.turns)
        kept = self._of_graph.get(graph)
        if kept is None or kept[0] != upto:
            general = general_evidence(view, self.general(graph.concepts), upto)
            kept = self._of_graph[graph] = upto, baseline_of(general)
        return kept[1]

    def general(self, concepts: ConceptTable) -> list[list[tuple[str, Extraction]]]:
        """Return the general questions with their concepts by language; [] for one whose script no concept has.

        What cuts Chinese takes 0.3 s to load, and most graphs need it never.
        """
        holds_han = not concepts.is_ascii and any(map(_HAN.search, concepts.ids))
        return [self._of(language) if holds_han or language != "zh" else [] for language in _GENERAL]

    def _of(self, language: str) -> list[tuple[str, Extraction]]:
        if language not in self._questions:
            self._questions[language] = [(text, self._extractor.of_query(text)) for text in _GENERAL[language]]
        return self._questions[language]


def rounded(turns: int) -> int:
    """Round a number of turns down, so that it changes when they have grown by about one part of STEPS."""
    step: int = 1 << max(0, turns.bit_length() - STEPS.bit_length())
    return turns // step * step


def general_evidence(view: GraphView, general: Iterable[list[tuple[str, Extraction]]], upto: int) -> list[Floats]:
    """Compute the evidence of the first `upto` turns of a graph for general questions: (b, e) for each language.

    Without questions in a language, that for a question in a script which the graph does not hold.
    """
    nothing = np.zeros(view.concepts)

    def of_question(text: str, question: Extraction) -> Floats:
        inquiry = Inquiry(view, find_query_terms(view, question, text), nothing)
        evidence: Floats = np.where(_DECIDES, 0.0, find_evidence(inquiry, question, text, upto))
        return evidence

    return [np.array([of_question(*each) for each in questions] or [_NOT_REACHED]) for questions in general]


def baseline_of(general: Sequence[Floats], weights: Weights = WEIGHTS) -> Floats:
    """Compute the baseline of a graph, (e,), from its evidence for general questions by language."""
    return max(
        (_at_share(questions, weights) for questions in general), key=lambda each: float(each @ weights.evidence)
    )


def _at_share(questions: Floats, weights: Weights) -> Floats:
    """Interpolate the evidence (b, e) at the place that BELOW of the questions lie below: (e,)."""
    place = BELOW * (len(questions) - 1)
    lower, upper = questions[np.argsort(questions @ weights.evidence, kind="stable")][[int(place), ceil(place)]]
    between: Floats = lower + (place - int(place)) * (upper - lower)
    return between
