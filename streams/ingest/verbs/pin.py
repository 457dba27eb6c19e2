"""Pinning concepts and turns, and unpinning them."""

from __future__ import annotations

from emgas.messages.turns import Pin, Unpin
from state.events.events import UNSTAMPED, DataEvent, Pinned, Unpinned
from state.graph.graph import Graph
from state.graph.pieces import with_pieces
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import Deciding, decides
from streams.ingest.verbs.refusals import existing


@decides(Pin, Unpin)
def pin(request: Pin | Unpin, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Pin or unpin what the graph has of a request."""
    graph = existing(request, graph)
    named = (concept for text in request.concepts for concept in context.concept_ids(graph, text))
    concepts = [concept for concept in dict.fromkeys(named) if concept in graph.concepts.numbers]
    whole = with_pieces(graph, request.turns, context.state.text_of)
    turns = [turn for turn in dict.fromkeys(whole) if turn in graph.passages.numbers]
    if not (concepts or turns):
        raise RejectedError(f"none of these is in the graph: nothing to {request.kind}")
    kind = Pinned if isinstance(request, Pin) else Unpinned
    return [kind(src=context.source, graph=request.graph, concepts=concepts, turns=turns, **UNSTAMPED)]
