"""Decide what a user's rating of an answer strengthens: concepts of the question and of the turn.  SEEDS S9, S11."""

from __future__ import annotations

from collections.abc import Iterable

from state.graph.graph import Graph

MOST = 6  # words of a turn that are linked with a question: the rarest, which say most


def answering(graph: Graph, turn: str, query_concepts: Iterable[str]) -> list[str]:
    """List the concepts to link when `turn` was right: known ones of the question, then the turn's rarest.

    Nothing without a question: then no one knows what the turn was right for.
    """
    graph.settle()
    concepts = graph.concepts
    existing = [concept for concept in dict.fromkeys(query_concepts) if concept in concepts.numbers]
    if not existing:
        return []
    in_turn = graph.passages.concepts_of(graph.passages.numbers[turn])
    words = [number for number in in_turn if concepts.alive[number] and not concepts.is_mark[number]]
    rarest = sorted(words, key=lambda number: (concepts.in_turns[number], number))[:MOST]
    return list(dict.fromkeys([*existing, *(concepts.ids[number] for number in rarest)]))
