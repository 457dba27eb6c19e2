"""From a question to what a retriever behind the seam needs, and from what it found to a result of recall.

RecallRequest ─▶ ModeInput ─▶ find() ─▶ ModeResult ─▶ filter, archive ─▶ RecallResult
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from lab.retrievers.seam import ModeInput, ModeResult
from lab.retrievers.seeds import put_in
from lab.retrievers.ways import likeliest
from processors.recall.ranking.activation import DEFAULT, Activation, SpreadingParameters
from processors.recall.ranking.archive import behind
from processors.recall.ranking.filters import Allowed
from processors.recall.retrieval.policies import RecallRequest
from processors.recall.retrieval.recall import (
    MOST_RECALLED,
    NOTHING,
    RecallResult,
    described,
    needs,
    ranked,
    recalled,
    seeds_of,
    shown,
    strongest_of,
)
from processors.recall.retrieval.retrieval import score_terms
from processors.text.language import clean
from processors.text.questions.answer_kinds import greets
from state.arrays import Integers

# `propagation_decay` is D, the share that goes on over an edge (of a walk: that does not restart); `max_iterations` how
# many edges far; `delta` when it stops, of `ppr-push` its ε.
WALK: Final = replace(
    DEFAULT, propagation_decay=0.5, max_iterations=0, delta=1e-8, weighting="ppmi", recall_links=0.0, marks=True
)
Find = Callable[[ModeInput], ModeResult]


def by_walk(
    find: Find, *, passages: int | None = None, by_vectors: bool = False
) -> Callable[[RecallRequest], RecallResult]:
    """Make a retriever of a walk.

    passages    how many come back by default, None for as many as the question needs
    by_vectors  whether vectors alone find something
    """

    def retrieve(request: RecallRequest) -> RecallResult:
        inputs = mode_input(request)
        if is_empty(request, inputs, by_vectors=by_vectors):
            return NOTHING
        return result_of(request, inputs, find(inputs), passages)

    return retrieve


def mode_input(request: RecallRequest, how: SpreadingParameters | None = None) -> ModeInput:
    """Return what a walk needs: with the question's own constants, or with those of another retriever."""
    options = request.options
    how = replace(how or options.spreading, type_weights=options.spreading.type_weights)
    energy = put_in(request.view, request.question, request.meant)
    return ModeInput(request.view, energy, how, request.cosine, options.episodic, options.semantic)


def is_empty(request: RecallRequest, inputs: ModeInput, *, by_vectors: bool) -> bool:
    """Return whether a question is a greeting, or nothing of it leads into the graph."""
    leads = bool(inputs.put_in.any()) or (by_vectors and request.cosine is not None)
    return greets(clean(request.text)) or not leads


def result_of(
    request: RecallRequest, inputs: ModeInput, result: ModeResult, passages: int | None = None
) -> RecallResult:
    """Filter the results of a walk, put archived ones last, and return the activated concepts with them."""
    view, options = request.view, request.options
    places = np.flatnonzero(Allowed(view, options.only).passes(result.passages))
    scores = behind(view, result.passages[places], result.scores[places], options.mode)
    order = np.argsort(-scores, kind="stable")
    needed = passages if passages and options.depth is None else needs(request.text, request.meant, options)
    order = order[: needed if options.passages is None else options.passages]
    places, scores = places[order], scores[order]
    activation = _activation(inputs, result)
    awake = np.flatnonzero(result.energy > 0)
    words = awake[~view.marks(awake)]
    seeds = seeds_of(view, request.meant)
    strongest = strongest_of(activation, words, options.looked_at)
    numbers = result.passages[places]
    return RecallResult(
        seeds=described(view, activation, seeds),
        concepts=shown(view, activation, strongest, options),
        passages=ranked(numbers, scores),
        woken=len(awake),
        clamped=False,
        depth=needed,
        recalled=recalled(view, seeds, strongest[:MOST_RECALLED], result.energy),
        stages=result.stages,
        terms=score_terms(view, numbers, {name: values[places] for name, values in result.terms.items()}),
        topics=_topics(numbers, result.topic, places),
        activation=activation,
    )


def _activation(inputs: ModeInput, result: ModeResult) -> Activation:
    """Describe what a walk left behind as spreading does: a walk has no ways of its own."""
    before = result.predecessor
    if before is None:
        woke = result.energy is not inputs.put_in
        before = likeliest(inputs, result.energy) if woke else np.full(len(result.energy), -1)
    return Activation(result.energy, before, np.where(inputs.put_in > 0, 0, -1), 0, clamped=False)


def _topics(passages: Integers, topic: Integers | None, places: Integers) -> dict[int, int]:
    if topic is None:
        return {}
    pairs = zip(passages.tolist(), topic[places].tolist(), strict=True)
    return {passage: concept for passage, concept in pairs if concept >= 0}
