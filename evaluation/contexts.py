"""Measure contexts: the evidence in the context of an answer, at 1,000 tokens, with a user's question.

the default    the product's own answer: its graph's clock, its silence, its cut, its lines
other methods  their turns in the order in which they rank them, packed into the same lines, without silence
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from emgas.messages.fields import Position
from emgas.messages.queries import Query, Reply
from emgas.times import wall_clock
from evaluation.measure import Examined
from evaluation.methods import Method
from evaluation.questions.labelled import LabelledQuestion
from lab.catalogue import POLICIES
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.context.context import ContextPacker, ContextPassage, PackedContext
from processors.recall.ranking.dense import Embedder
from state.arrays import Floats

BUDGET: Final = 1000
COLUMNS: Final = ("context_recall", "context_precision", "context_tokens", "first_turn")
NOWHERE: Final = Position(partition=0, watermark=0, source=0)


class ShownContext(NamedTuple):
    """A reply, and the numbers of the turns in its context."""

    reply: Reply
    turns: Sequence[int]


@dataclass(frozen=True)
class ExaminedMemory:
    """A memory that is asked as a query of the wire asks it."""

    examined: Examined
    answerer: Answerer

    @classmethod
    def of(cls, examined: Examined, embedder: Embedder | None = None) -> ExaminedMemory:
        """Prepare a memory to be asked, by words alone or with a model, too."""
        return cls(examined, Answerer(examined.memory.extractor, embedder, POLICIES))

    def ask(self, text: str, **options: object) -> ShownContext:
        """Return the product's answer."""
        query = Query.model_validate({"graph": "eval", "text": text, "budget": BUDGET, **options})
        turns = self.examined.turns
        graph = QueriedGraph(self.examined.graph, lambda _, number: turns[number], NOWHERE)
        answer = in_one_go(self.answerer.answer(query, graph))
        return ShownContext(answer.reply, answer.shown)


def of_product(examined: Examined, memory: ExaminedMemory | None = None, **options: object) -> Floats:
    """Measure COLUMNS of the product's contexts for every question: (q, 4).  options: of the queries."""
    memory = memory or ExaminedMemory.of(examined)
    shown = (memory.ask(question.text, **options) for question in examined.questions)
    return _rows(
        (*_against(examined, each.turns, question, each.reply.tokens), _is_first(each.reply, question))
        for each, question in zip(shown, examined.questions, strict=True)
    )


def of_method(examined: Examined, method: Method) -> Floats:
    """Measure COLUMNS of contexts that are packed in the order of a method: (q, 4)."""
    ranker = method(examined.memory)
    rows = []
    for question in examined.questions:
        order = ranker(examined.memory.question(question.text), question.text).packed
        context = pack(examined, order.tolist(), BUDGET)
        is_first = bool(len(order)) and examined.memory.view.passage_id[order[0]] in question.evidence
        rows.append((*_against(examined, context.passages, question, context.tokens), float(is_first)))
    return _rows(rows)


def pack(examined: Examined, order: Iterable[int], budget: int) -> PackedContext:
    """Pack turns, best first, into the lines of a context."""
    packer = ContextPacker(budget)
    for number in order:
        turn = examined.turns[number]
        line = ContextPassage(number, wall_clock(turn.at, "UTC"), turn.speaker, turn.text, session=turn.session)
        if not packer.add(line):
            break
    return packer.context()


def _against(
    examined: Examined, turns: Sequence[int], question: LabelledQuestion, tokens: int
) -> tuple[float, float, float]:
    """Compare the turns of one context with the evidence."""
    ids = examined.memory.view.passage_id
    hits = sum(ids[number] in question.evidence for number in turns)
    needed = 1 if question.any_of else len(question.evidence)
    return min(1.0, hits / needed), hits / max(len(turns), 1), float(tokens)


def _is_first(reply: Reply, question: LabelledQuestion) -> float:
    """Return 1 where the first turn of a reply is evidence."""
    return float(any(each.id in question.evidence for each in reply.passages[:1]))


def _rows(rows: Iterable[tuple[float, ...]]) -> Floats:
    return np.array(list(rows), np.float64).reshape(-1, len(COLUMNS))
