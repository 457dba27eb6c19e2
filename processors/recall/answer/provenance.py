"""Describe how a reply was computed: its mode, the mode's constants, the stages, and the effect of guidance.

Guidance changes the options of a recall (lab/guidance/guide.py), and the description is made from the same options: so
it never reports an effect that did not happen.  SEEDS S7.
"""

from __future__ import annotations

from emgas.messages.queries import Query
from emgas.messages.settings.modes import Guidance, Guided, How
from processors.recall.retrieval.policies import EdgeGroup, GuidanceWords, Retriever
from processors.recall.retrieval.recall import EPISODIC, SEMANTIC, RecallOptions, RecallResult
from processors.text.questions.complexity import complexity
from state.graph.view import GraphView

UNGUIDED = Guidance()


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
