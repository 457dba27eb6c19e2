"""What a reply says of how it was found: its mode, the mode's constants, the stages, and what guidance did.

Guidance becomes options of recall (`guided`), and what it did is told from the same (`how`): nothing is said that did
not happen.  SEEDS S7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from emgas.messages.modes import Guidance, Guided, How, Mode
from emgas.messages.queries import Query
from processors.extraction.extractor import Extractor
from processors.recall.retrieval.modes.constants import MODES
from processors.recall.retrieval.recall import EPISODIC, SEMANTIC, RecallOptions, RecallResult
from processors.text.complexity import complexity
from processors.text.moods import depth_of
from state.graph.view import GraphView

UNGUIDED = Guidance()


@dataclass(frozen=True)
class GuidanceWords:
    """The words of a mood and a role: those that the graph knows, and those that it does not."""

    known: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def find_guidance_words(guidance: Guidance, view: GraphView, extractor: Extractor) -> GuidanceWords:
    """Find the concepts of mood and role."""
    said = ". ".join(each for each in (guidance.mood, guidance.role) if each)
    if not said:
        return GuidanceWords()
    found = _words(extractor, said)
    known = tuple(each for each in found if view.number(each) is not None)
    did = {*known, *(_words(extractor, guidance.mood or "") if _mood_says(guidance) else ())}
    return GuidanceWords(known, tuple(each for each in found if each not in did))


def _words(extractor: Extractor, said: str) -> list[str]:
    return [each.id for each in extractor.of_query(said).concepts if not each.id.startswith("@")]


def _mood_says(guidance: Guidance) -> bool:
    """Return whether a mood says how thoroughly to search: whatever words it has, they did that."""
    return guidance.depth is None and guidance.mood is not None and depth_of(guidance.mood) is not None


def apply_guidance(options: RecallOptions, query: Query, meant: GuidanceWords) -> RecallOptions:
    """Let guidance change what is recalled."""
    guidance = query.guidance
    if guidance == UNGUIDED:
        return options
    type_weights = {**guidance.type_weights, **options.spreading.type_weights}
    return replace(
        options,
        spreading=replace(options.spreading, type_weights=type_weights),
        weak=() if options.mode == "literal" else meant.known,
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
    query: Query, view: GraphView, options: RecallOptions, found: RecallResult, meant: GuidanceWords
) -> How | None:
    """Return how a question was answered, if it wants to know, or was guided."""
    if not query.explain and query.guidance == UNGUIDED:
        return None
    facts, spreading = MODES[query.retriever], options.spreading
    return How(
        mode=query.retriever,
        source=facts.source,
        weighting=spreading.weighting,
        window=spreading.window if isinstance(spreading.window, str) else f"{spreading.window} turns",
        constants={name: float(getattr(spreading, name)) for name in facts.fields},
        complexity=round(complexity(query.text), 4),
        stages=list(found.stages),
        guidance=None if query.guidance == UNGUIDED else _guided(view, options, found, meant),
    )


def _guided(view: GraphView, options: RecallOptions, found: RecallResult, meant: GuidanceWords) -> Guided:
    return Guided(
        words=list(options.weak),
        unknown=[*meant.unknown, *(meant.known if not options.weak else ())],
        depth=options.depth,
        passages=found.depth,
        weights=_weights(view, options, _asked(options, found)),
    )


def _weights(view: GraphView, options: RecallOptions, asked: frozenset[Mode]) -> dict[str, float]:
    """Name what counted more or less than by itself: relations that the graph has, edges that a mode goes over."""
    held = view.relations.types() if asked & BY_RELATIONS else frozenset()
    weights = {str(name): weight for name, weight in options.spreading.type_weights.items() if name in held}
    if options.episodic != 1.0:
        names = (*(EPISODIC if "default" in asked else ()), *(("mention",) if asked & BY_MENTIONS else ()))
        weights |= dict.fromkeys(names, options.episodic)
    if options.semantic != 1.0:
        names = (*(SEMANTIC if "default" in asked else ()), *(("association",) if asked & BY_ASSOCIATIONS else ()))
        weights |= dict.fromkeys(names, options.semantic)
    return weights


def _asked(options: RecallOptions, found: RecallResult) -> frozenset[Mode]:
    """Name the modes that were asked: of `staged`, those of the stages that it came to."""
    if options.mode != "staged":
        return frozenset({options.mode})
    return frozenset(mode for stage in found.stages for mode in OF_STAGES.get(stage.name, ()))


OF_STAGES: Final[dict[str, tuple[Mode, ...]]] = {
    "spread": ("default",),
    "ppr": ("ppr",),
    "exhaustive": ("default", "path"),
}
# Modes in which such edges may count more or less; in `steady-state` all of them do alike, so that nothing changes
BY_MENTIONS: Final[frozenset[Mode]] = frozenset({"ppr", "ppr-push"})
BY_ASSOCIATIONS: Final[frozenset[Mode]] = BY_MENTIONS | {"subtractive", "path"}
BY_RELATIONS: Final[frozenset[Mode]] = BY_ASSOCIATIONS | {"default", "literal", "steady-state"}
