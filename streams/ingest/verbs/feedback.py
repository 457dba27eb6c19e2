"""Decide on feedback for turns of an answer: find the concepts to link."""

from __future__ import annotations

from emgas.messages.turns import Feedback
from processors.lifecycle.turns.feedback import answering
from state.events.events import UNSTAMPED, DataEvent, FeedbackGiven
from state.graph.graph import Graph
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import Deciding, decides


@decides(Feedback)
def feedback(request: Feedback, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Record a judgement of turns, with the concepts by which they answer the question."""
    turns = [] if graph is None else [turn for turn in request.turns if turn in graph.passages.numbers]
    if graph is None or not turns:
        raise RejectedError(f"graph {request.graph!r} holds none of these turns")
    query = [] if request.query is None else context.extractor.of_query(request.query, graph.clock).concepts
    named = (concept for turn in turns for concept in answering(graph, turn, [each.id for each in query]))
    concepts, value = list(dict.fromkeys(named)), request.value
    return [
        FeedbackGiven(src=context.source, graph=request.graph, turns=turns, concepts=concepts, value=value, **UNSTAMPED)
    ]
