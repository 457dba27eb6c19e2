"""What a reply says of how it was found: its mode, the mode's constants, the stages, and what guidance did.

Guidance becomes options of recall (`guided`), and what it did is told from the same (`how`): nothing is said that did
not happen.  SEEDS S7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from emgas.messages.modes import Guidance, Guided, How
from emgas.messages.queries import Query
from processors.extraction.extractor import Extractor
from processors.recall.modes.constants import MODES
from processors.recall.recall import EPISODIC, SEMANTIC, RecallOptions, RecallResult
from processors.text.complexity import complexity
from processors.text.moods import depth_of
from state.graph.view import GraphView

UNGUIDED = Guidance()


@dataclass(frozen=True)
class Meant:
    """The words of a mood and a role: those that the graph knows, and those that it does not."""

    known: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def words_of(guidance: Guidance, view: GraphView, extractor: Extractor) -> Meant:
    """Find the concepts of mood and role."""
    said = ". ".join(each for each in (guidance.mood, guidance.role) if each)
    if not said:
        return Meant()
    found = [each.id for each in extractor.of_query(said).concepts if not each.id.startswith("@")]
    known = tuple(each for each in found if view.number(each) is not None)
    return Meant(known, tuple(each for each in found if each not in known))


def guided(options: RecallOptions, query: Query, meant: Meant) -> RecallOptions:
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
    """Tell how thoroughly to search: as it is said, or as the mood says, or as the question's complexity does."""
    if guidance.depth is not None:
        return guidance.depth
    mood = None if guidance.mood is None else depth_of(guidance.mood)
    return complexity(text) if mood is None and guidance.by_complexity else mood


def how(query: Query, options: RecallOptions, found: RecallResult, meant: Meant) -> How | None:
    """Say how a question was answered, if it wants to know, or was guided."""
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
        guidance=None if query.guidance == UNGUIDED else _guided(options, found, meant),
    )


def _guided(options: RecallOptions, found: RecallResult, meant: Meant) -> Guided:
    weights = {str(name): weight for name, weight in options.spreading.type_weights.items()}
    if options.mode == "default":
        weights |= dict.fromkeys(EPISODIC, options.episodic) if options.episodic != 1.0 else {}
        weights |= dict.fromkeys(SEMANTIC, options.semantic) if options.semantic != 1.0 else {}
    else:
        mentions, associations = options.mode in BY_MENTIONS, options.mode in BY_ASSOCIATIONS
        weights |= {"mention": options.episodic} if mentions and options.episodic != 1.0 else {}
        weights |= {"association": options.semantic} if associations and options.semantic != 1.0 else {}
    return Guided(
        words=list(options.weak),
        unknown=[*meant.unknown, *(meant.known if not options.weak else ())],
        depth=options.depth,
        passages=found.depth,
        weights=weights,
    )


# Modes in which such edges may count more or less; in `steady-state` all of them do alike, so that nothing changes
BY_MENTIONS = frozenset({"ppr", "ppr-push", "staged"})
BY_ASSOCIATIONS = BY_MENTIONS | {"subtractive", "path"}
