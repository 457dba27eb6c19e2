"""Compute `known`, the probability that a graph holds an answer to a question, from its evidence (evidence.py).

    known     = 1 / (1 + exp(−z)),  z = constant + Σ weight · evidence − baseline
    baseline  the median of Σ weight · evidence over twenty general questions (data/general.tsv), which no memory
              answers: those of the language in which the graph knows most

The baseline makes one threshold mean the same in every graph.  It is computed again when a graph has grown by a
sixteenth, of its turns up to then, so it depends on the turns alone.  `emgas eval --silence` measures what the numbers
in data/known.tsv lead to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from processors.extraction.extractor import Extraction, Extractor
from processors.recall.ranking.inquiry import Inquiry
from processors.recall.ranking.query_terms import find_query_terms
from processors.recall.ranking.silence.evidence import EVIDENCE, find_evidence
from processors.text.tables import rows
from state.arrays import Floats
from state.graph.graph import Graph
from state.graph.view import GraphView

STEPS: Final = 16  # a graph's baseline is computed again when it has grown by one of so many parts


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


def likelihood_of(evidence: Floats, baseline: float, weights: Weights = WEIGHTS) -> float:
    """Return the probability that a graph with this baseline holds an answer to a question with this `evidence`."""
    odds = weights.constant + float(weights.evidence @ evidence) - baseline
    return float(1 / (1 + np.exp(-odds)))


def passage_likelihoods(scores: Floats, known: float) -> Floats:
    """Share `known` among passages by their scores, which are log-odds: (k,) how likely each holds the answer."""
    odds = np.exp(scores - scores.max(initial=-np.inf))
    likelihoods: Floats = known * odds / max(float(odds.sum()), 1e-9)
    return likelihoods


class Baselines:
    """The baselines of graphs, each kept until its graph has grown."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._questions: Mapping[str, list[tuple[str, Extraction]]] | None = None
        self._of_graph: WeakKeyDictionary[Graph, tuple[int, float]] = WeakKeyDictionary()

    def of(self, graph: Graph) -> float:
        """Return the baseline of a graph."""
        view = graph.view()
        upto = rounded(view.turns)
        turns, baseline = self._of_graph.get(graph, (-1, 0.0))
        if turns != upto:
            baseline = compute_baseline(view, self._general(), upto)
            self._of_graph[graph] = upto, baseline
        return baseline

    def _general(self) -> Mapping[str, list[tuple[str, Extraction]]]:
        """Extract the concepts of general questions, once: by language."""
        if self._questions is None:
            questions: dict[str, list[tuple[str, Extraction]]] = {}
            for language, text in rows(__package__, "general"):
                questions.setdefault(language, []).append((text, self._extractor.of_query(text)))
            self._questions = questions
        return self._questions


def rounded(turns: int) -> int:
    """Round a number of turns down, so that it changes when they have grown by about one part of STEPS."""
    step: int = 1 << max(0, turns.bit_length() - STEPS.bit_length())
    return turns // step * step


def compute_baseline(
    view: GraphView,
    general: Mapping[str, list[tuple[str, Extraction]]],
    upto: int,
    weights: Weights = WEIGHTS,
) -> float:
    """Compute the baseline of the first `upto` turns of a graph, from general questions by language."""
    nothing = np.zeros(view.concepts)

    def of_question(text: str, question: Extraction) -> float:
        inquiry = Inquiry(view, find_query_terms(view, question, text), nothing)
        return float(weights.evidence @ find_evidence(inquiry, question, text, upto))

    return max(float(np.median([of_question(*each) for each in questions])) for questions in general.values())
