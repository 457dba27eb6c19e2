"""Describe how a reply was computed: its mode, the mode's constants, the stages, and the effect of guidance.

Guidance changes the options of a recall (`apply_guidance`), and the description is made from the same options: so it
never reports an effect that did not happen.  SEEDS S7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from emgas.messages.queries import Query
from emgas.messages.settings.modes import Guidance, Guided, How
from processors.extraction.extractor import Extractor
from processors.recall.retrieval.policies import EdgeGroup, Retriever
from processors.recall.retrieval.recall import EPISODIC, SEMANTIC, RecallOptions, RecallResult
from processors.text.moods import depth_of
from processors.text.questions.complexity import complexity
from state.graph.view import GraphView

UNGUIDED = Guidance()


@dataclass(frozen=True)
class GuidanceWords:
    """The words of a mood and a role: those that the graph knows, and those that it does not."""

    existing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


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
    if guidance == UNGUIDED:
        return options
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


def describe_method(
    query: Query,
    view: GraphView,
    options: RecallOptions,
    result: RecallResult,
    *,
    meant: GuidanceWords,
    retriever: Retriever,
) -> How | None:
    """Return how a question was answered, if it wants to know, or was guided."""
    if not query.explain and query.guidance == UNGUIDED:
        return None
    spreading = options.spreading
    return How(
        mode=query.retriever,
        source=retriever.source,
        weighting=spreading.weighting,
        window=spreading.window if isinstance(spreading.window, str) else f"{spreading.window} turns",
        constants={name: float(getattr(spreading, name)) for name in retriever.fields},
        complexity=round(complexity(query.text), 4),
        stages=list(result.stages),
        guidance=None if query.guidance == UNGUIDED else _guided(view, options, result, meant, retriever),
    )


def _guided(
    view: GraphView, options: RecallOptions, result: RecallResult, meant: GuidanceWords, retriever: Retriever
) -> Guided:
    return Guided(
        words=list(options.weak),
        unknown=[*meant.unknown, *(meant.existing if not options.weak else ())],
        depth=options.depth,
        passages=result.depth,
        weights=_weights(view, options, retriever.edges_used(result)),
    )


def _weights(view: GraphView, options: RecallOptions, edges: frozenset[EdgeGroup]) -> dict[str, float]:
    """Return the changed weights by name: relations that the graph has, and edges that the retriever follows."""
    types = view.relations.types() if "relations" in edges else frozenset()
    weights = {str(name): weight for name, weight in options.spreading.type_weights.items() if name in types}
    if options.episodic != 1.0:
        names = (*(EPISODIC if "flow" in edges else ()), *(("mention",) if "mentions" in edges else ()))
        weights |= dict.fromkeys(names, options.episodic)
    if options.semantic != 1.0:
        names = (*(SEMANTIC if "flow" in edges else ()), *(("association",) if "associations" in edges else ()))
        weights |= dict.fromkeys(names, options.semantic)
    return weights
