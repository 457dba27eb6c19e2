"""Forgetting concepts, turns and sessions: in parts where one record cannot hold them all."""

from __future__ import annotations

from collections.abc import Sequence

from emgas.messages.turns import Forget
from processors.lifecycle.decay.forgetting import Leaving, everything, requested
from processors.lifecycle.parts import parts
from state.events.events import UNSTAMPED, DataEvent, Forgotten
from state.graph.graph import Graph
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import Deciding, decides
from streams.ingest.verbs.refusals import existing


@decides(Forget)
def forget(request: Forget, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Forget what the graph has of a request.

    Only the last part accounts for the record: if the worker dies before it, the request is read again and finds what
    is left.
    """
    graph = existing(request, graph)
    concepts = [concept for text in request.concepts for concept in context.concept_ids(graph, text)]
    named = requested(graph, concepts, request.turns, request.sessions)
    leaving = everything(graph) if request.everything else named
    if not any(leaving):
        raise RejectedError("none of these is in the graph: nothing to forget")
    return [
        Forgotten(graph=request.graph, concepts=part["concepts"], turns=part["turns"], **UNSTAMPED)
        for part in _resumable_parts(leaving, concepts)
    ]


def _resumable_parts(leaving: Leaving, named: Sequence[str]) -> list[dict[str, list[str]]]:
    """Cut what leaves, if it is too much for one record, so that the same request finds the rest until all is gone.

    named  the concepts of the request: they lead to turns that leave with them, so they leave last
    """
    whole = list(parts(leaving._asdict()))
    if len(whole) == 1:
        return whole
    others = [concept for concept in leaving.concepts if concept not in named]
    last = [concept for concept in leaving.concepts if concept in named]
    cut = [*parts({"concepts": others, "turns": leaving.turns}), *parts({"concepts": last, "turns": []})]
    return [part for part in cut if any(part.values())]
