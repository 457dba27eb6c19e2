"""Read the latest names of a session from the graph: the pronouns of the next turn may mean them."""

from __future__ import annotations

from itertools import islice
from typing import cast

from emgas.messages.relations import Kind
from processors.text.facts.facts import names_in
from processors.text.pronouns.mentions import TurnBefore, is_meant
from state.events.extraction_types import Concept
from state.graph.graph import Graph

_SPEAKER = "@speaker:"


def preceding_turns(graph: Graph, session: str, most: int) -> list[TurnBefore]:
    """List the last turns of a session, at most so many, the latest first; those that wait to be counted as well."""
    passages, concepts = graph.passages, graph.concepts
    number = passages.sessions.get(session)
    if number is None:
        return []
    preceding = []
    for passage in islice(passages.backwards(number), most):
        contents = [each for each in passages.concepts_of(passage) if concepts.ids[each] in concepts.numbers]
        speaker = next((concepts.ids[each] for each in contents if concepts.ids[each].startswith(_SPEAKER)), "")
        meant = [
            (concepts.ids[each], kind) for each in contents if is_meant(concepts.ids[each], kind := concepts.kind(each))
        ]
        named = (Concept(name, name, 0.5, 1, cast(Kind, kind)) for name, kind in meant)
        _, stated = graph.people.of_turn(passages.ids[passage])
        preceding.append(TurnBefore(speaker, tuple(named), names=names_in(stated)))
    return preceding
