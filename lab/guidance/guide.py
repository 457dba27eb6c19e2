"""Follow what a question says of how to search: its mood, its role, its depth, and a second round.  SEEDS S7, P32."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from emgas.messages.queries import Query
from emgas.messages.settings.modes import Guidance, Stage
from lab.guidance.moods import depth_of
from processors.extraction.extractor import Extractor
from processors.recall.ranking.bm25 import idf
from processors.recall.retrieval.policies import GuidanceWords, Guide, RecallRequest, Retriever
from processors.recall.retrieval.recall import RecallOptions, RecallResult
from processors.text.questions.complexity import complexity
from state.graph.view import GraphView

READ_AGAIN: Final = 8  # of the best passages of a first round, whose words a second one seeks too,
FURTHER: Final = 8  # so many words at most


def find_guidance_words(guidance: Guidance, view: GraphView, extractor: Extractor) -> GuidanceWords:
    """Find the concepts of mood and role."""
    text = ". ".join(each for each in (guidance.mood, guidance.role) if each)
    if not text:
        return GuidanceWords()
    names = _words(extractor, text)
    existing = tuple(each for each in names if view.number(each) is not None)
    did = {*existing, *(_words(extractor, guidance.mood or "") if _mood_says(guidance) else ())}
    return GuidanceWords(existing, tuple(each for each in names if each not in did))


def _words(extractor: Extractor, text: str) -> list[str]:
    return [each.id for each in extractor.of_query(text).concepts if not each.id.startswith("@")]


def _mood_says(guidance: Guidance) -> bool:
    """Return whether a mood says how thoroughly to search: whatever words it has, they did that."""
    return guidance.depth is None and guidance.mood is not None and depth_of(guidance.mood) is not None


def apply_guidance(options: RecallOptions, query: Query, meant: GuidanceWords, retriever: Retriever) -> RecallOptions:
    """Return the options of a recall, changed by the query's guidance."""
    guidance = query.guidance
    type_weights = {**guidance.type_weights, **options.spreading.type_weights}
    return replace(
        options,
        spreading=replace(options.spreading, type_weights=type_weights),
        weak=meant.existing if retriever.seeks_weak_words else (),
        depth=options.depth if (depth := _depth(guidance, query.text)) is None else depth,
        rounds=guidance.rounds,
        episodic=guidance.kinds.get("episodic", 1.0),
        semantic=guidance.kinds.get("semantic", 1.0),
    )


def _depth(guidance: Guidance, text: str) -> float | None:
    """Return how thoroughly to search: as it is said, or as the mood says, or as the question's complexity does."""
    if guidance.depth is not None:
        return guidance.depth
    mood = None if guidance.mood is None else depth_of(guidance.mood)
    return complexity(text) if mood is None and guidance.by_complexity else mood


def second_round(request: RecallRequest, retriever: Retriever, first: RecallResult) -> RecallResult:
    """Ask again, seeking weakly what the best passages of the first round hold besides (SEEDS P32)."""
    further = _further(request, [each.number for each in first.passages[:READ_AGAIN]])
    weak = (*request.options.weak, *further)
    result = retriever.retrieve(replace(request, options=replace(request.options, weak=weak)))
    stage = Stage(name="second-round", found=len(result.passages))
    return replace(result, stages=(*result.stages, stage))


def _further(request: RecallRequest, best: list[int]) -> tuple[str, ...]:
    """Return the ids of the words outside the question that the best passages hold most, weighted by rarity."""
    view = request.view
    _, concept, _ = view.concepts_of_turns(np.array(best, np.int64))
    words, times = np.unique(concept[~view.marks(concept)], return_counts=True)
    new = ~np.isin(words, request.meant.words)
    words, times = words[new], times[new]
    worth = times * idf(view.turns, view.holding(words))
    return tuple(view.ids[number] for number in words[np.lexsort((words, -worth))][:FURTHER].tolist())


GUIDE: Final = Guide(find_guidance_words, apply_guidance, second_round)
