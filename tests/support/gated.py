"""A graph with gates that hears texts as a worker does: extracted, decided, recorded, folded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from emgas.messages.fields import Position
from emgas.messages.queries import Query, Reply
from emgas.messages.turns import Turn
from lab.catalogue import GATES, POLICIES
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from streams.ingest.turns import importance_of, stated_by, with_gates
from tests.support.builders import graph_configured, turn_recorded
from tests.support.clocks import NOON
from tests.support.memories import extractor

MINUTE = 60_000
HERE = Position(partition=0, watermark=0, source=0)


class Gated:
    """What was said to a graph of these settings, and what became of it."""

    def __init__(self, **settings: Any) -> None:
        self.configured = graph_configured(**settings)
        self.graph = Graph("ada")
        self.graph.fold(self.configured)
        self.turns: list[TurnRecorded] = []

    def say(self, *texts: str, session: str = "s", **more: Any) -> list[TurnRecorded]:
        """Say texts, a minute apart; give the events that they were recorded as."""
        return [self._turn(text, session, **more) for text in texts]

    def _turn(self, text: str, session: str, at: int | None = None, importance: float | None = None) -> TurnRecorded:
        at = NOON + len(self.turns) * MINUTE if at is None else at
        turn = Turn(
            id=f"t{len(self.turns)}", graph="ada", speaker="Ada", text=text, session=session, importance=importance
        )
        extraction = extractor().of_turn(text, speaker="Ada", at=at)
        facts = {"concepts": [*extraction.concepts, *extraction.phrases], "relations": list(extraction.relations)}
        facts |= {
            "times": list(extraction.times),
            "tokens": extraction.tokens,
            "question": extraction.question,
            "at": at,
        }
        event = turn_recorded(
            id=turn.id, text=text, session=session, statements=stated_by(turn), **facts, **importance_of(turn)
        )
        event = with_gates(
            event, text, graph=self.graph, settings=self.graph.settings, extractor=extractor(), gate=GATES.__getitem__
        )
        self.graph.fold(event)
        self.turns.append(event)
        return event

    def ask(self, text: str, **options: Any) -> Reply:
        """Ask the graph, as it is at its own time."""
        now = options.pop("now", None)
        memory = QueriedGraph(
            self.graph, lambda graph, number: self.turns[int(graph.passages.ids[number][1:])], HERE, now
        )
        query = Query(graph="ada", text=text, **options)
        return in_one_go(Answerer(extractor(), policies=POLICIES).answer(query, memory)).reply

    def together(self, one: str, other: str, window: str = "exchange") -> int:
        """Count how often two words were counted as said together."""
        concepts = self.graph.view().numbers
        if one not in concepts or other not in concepts:
            return 0
        pairs = self.graph.pairs[window]  # type: ignore[index]
        _, neighbours, times = pairs.neighbours(np.array([concepts[one]], np.int64))
        return dict(zip(neighbours.tolist(), times.tolist(), strict=True)).get(concepts[other], 0)


def why(turns: Sequence[TurnRecorded]) -> list[str]:
    """List why each turn was not counted, "" for those that were."""
    return [turn.uncounted for turn in turns]
