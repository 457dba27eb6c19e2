"""Ask several graphs one question, and merge their answers: each graph is answered by its own owner.

merged by rank   score = 1 / (60 + rank) (reciprocal rank fusion: Cormack, Clarke & Büttcher 2009), of equal ones in
the order in which the graphs were named: scores of two graphs do not measure the same
a budget         is divided equally; each context is under the name of its graph
one that fails   (its subject may not read it, it cannot be answered in time) reports its error, and the others answer
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import Field

from emgas.errors import InvalidMessageError, NoAnswerError, QueryFailedError
from emgas.limits import SEVERAL_GRAPHS
from emgas.messages.fields import Message
from emgas.messages.queries import RecalledPassage, Reply
from emgas.messages.requests import Failure, FailureCode
from emgas.validation import checked_graph

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient

SMOOTHING: Final = 60
TOKENS_PER_WORD: Final = 1.3

AskGraph = Callable[[str, int], Awaitable[Reply]]  # (graph, tokens of context)


class GraphPassage(Message):
    """An old turn of one of the graphs.  `score` is comparable over graphs: it falls with the rank in its own."""

    graph: str
    rank: int
    score: float
    passage: RecalledPassage


class AskedGraph(Message):
    """What became of a question to one graph.  failure: why it gave no answer, as where its subject may not read."""

    graph: str
    found: bool = False
    matched: bool = False
    paused: bool = False
    failure: Failure | None = None


class Merged(Message):
    """The answers of several graphs to one question.

    graphs   what became of it in each, in the order asked     passages  best first, each with its graph
    context  of each graph that answered, under its name       tokens    of it, estimated
    """

    graphs: list[AskedGraph]
    passages: list[GraphPassage] = Field(default_factory=list)
    context: str = ""
    tokens: int = 0


def distinct_graphs(graphs: Sequence[str]) -> list[str]:
    """Return the named graphs, each once.  Raises InvalidMessageError for none, or too many."""
    names = list(dict.fromkeys([graphs] if isinstance(graphs, str) else graphs))
    if not 1 <= len(names) <= SEVERAL_GRAPHS:
        raise InvalidMessageError(f"graphs: name 1 to {SEVERAL_GRAPHS} of them")
    return names


async def query_several(
    memory: MemoryClient,
    graphs: Sequence[str],
    text: str,
    *,
    top_passages: int | None = None,
    budget: int = 1000,
    timeout: float | None = None,
    **options: Any,
) -> Merged:
    """Ask several graphs one question, as `MemoryClient.query` does, and merge the answers by rank.

    Each passage names its graph.  If a graph fails, its failure is in the answer beside the others' passages.
    """
    names = [checked_graph(graph) for graph in distinct_graphs(graphs)]
    options |= {"top_passages": top_passages, "timeout": timeout}
    return await query_all(
        names, lambda graph, share: memory.query(graph, text, budget=share, **options), budget, top_passages
    )


async def query_all(graphs: Sequence[str], ask: AskGraph, budget: int, top: int | None) -> Merged:
    """Ask each of `graphs` at once, and merge the answers: `top` passages, or as many as one graph gave at most."""
    shares = [max(0, budget // len(graphs) - _cost(graph)) for graph in graphs]
    answers = await asyncio.gather(*(_answer(ask, *each) for each in zip(graphs, shares, strict=True)))
    replies = {graph: each for graph, each in zip(graphs, answers, strict=True) if isinstance(each, Reply)}
    shown = {graph: reply for graph, reply in replies.items() if reply.context}
    return Merged(
        graphs=[_graph_result(graph, answer) for graph, answer in zip(graphs, answers, strict=True)],
        passages=merged(replies, top),
        context="\n\n".join(f"{_heading(graph)}\n{reply.context}" for graph, reply in shown.items()),
        tokens=sum(reply.tokens + _cost(graph) for graph, reply in shown.items()),
    )


def merged(replies: dict[str, Reply], top: int | None) -> list[GraphPassage]:
    """Merge the passages of replies by their ranks."""
    most = max((len(reply.passages) for reply in replies.values()), default=0) if top is None else top
    passages = [
        GraphPassage(graph=graph, rank=rank, score=1 / (SMOOTHING + rank), passage=passage)
        for graph, reply in replies.items()
        for rank, passage in enumerate(reply.passages, 1)
    ]
    return sorted(passages, key=lambda each: each.rank)[:most]


async def _answer(ask: AskGraph, graph: str, budget: int) -> Reply | Failure:
    try:
        return await ask(graph, budget)
    except QueryFailedError as error:
        return Failure(code=cast(FailureCode, error.code), message=error.message)
    except NoAnswerError as error:
        return Failure(code="expired", message=str(error))


def _graph_result(graph: str, answer: Reply | Failure) -> AskedGraph:
    if isinstance(answer, Failure):
        return AskedGraph(graph=graph, failure=answer)
    return AskedGraph(graph=graph, found=answer.found, matched=answer.found and answer.matched, paused=answer.paused)


def _heading(graph: str) -> str:
    return f"# {graph}"


def _cost(graph: str) -> int:
    return ceil(TOKENS_PER_WORD * len(_heading(graph).split()))
