"""Build the memories of `emgas measure eval`: publish a data set as the product does, and read the log back.

    turns ── client ──▶ turns topic ──▶ worker: extraction, events, windows ──▶ log ── refold ──▶ graphs

The worker is the one that every command runs, on an embedded log in a temporary directory; what its windows forget
or merge is gone here too.  The graphs are then folded once more from its log, because a ranking in process needs their
arrays, and a fold of the log equals the state of the worker, bit for bit (`emgas replay verify`).  Questions are
extracted and ranked in this process; times do not include topics (bench/service/pipeline.py measures those).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from emgas.client.client import MemoryClient
from emgas.errors import InvalidMessageError
from emgas.messages.requests import Outcome
from evaluation.measure import Examined
from evaluation.memory import EvaluatedMemory
from evaluation.questions.labelled import DataSet
from processors.extraction.extractor import Extractor
from replay.rebuild.rebuild import refold
from state.store.store import MemoryStore
from streams.cli.shared.client import Session, session
from streams.plugins import extractors
from streams.settings import WorkerSettings
from streams.transport.select import connect

Advance = Callable[[], None]
Ask = Callable[[MemoryClient], Awaitable[None]]
PATIENCE = 60.0  # seconds without an answer until publishing fails
EMBEDDING = 600.0  # the same, where each turn on the way is embedded


async def remember(
    data: DataSet, settings: WorkerSettings, advance: Advance, ask: Ask | None = None, embedder: Path | None = None
) -> tuple[list[Examined], float]:
    """Publish the turns of `data`; return its graphs with their questions, and the milliseconds per turn.

    ask       what to do with the memory while its worker runs
    embedder  the model by which its worker embeds turns; none by default, whatever the settings name

    Raises InvalidMessageError when a turn is refused.
    """
    with tempfile.TemporaryDirectory(prefix="emgas-eval-") as directory:
        apart = settings.model_copy(update={"broker": None, "data": Path(directory), "embedder": embedder})
        async with session(apart, EMBEDDING if embedder else PATIENCE) as connected:
            started = time.perf_counter()
            await _publish(connected, data, advance)
            seconds = time.perf_counter() - started
            if ask is not None:
                await ask(connected.memory)
        extractor = extractors.load(settings.extractor, settings.language, settings.own_words)
        examined = [each async for each in _graphs(apart, data, extractor)]
    return examined, 1000 * seconds / max(len(data.turns), 1)


async def _publish(connected: Session, data: DataSet, advance: Advance) -> None:
    async for turn, outcome in connected.memory.publish_many(data.turns):
        if isinstance(outcome, Outcome) and outcome.status == "rejected":
            raise InvalidMessageError(f"turn {turn.id}: {outcome.reason}")
        advance()


async def _graphs(settings: WorkerSettings, data: DataSet, extractor: Extractor) -> AsyncIterator[Examined]:
    async with connect(settings) as transport:
        log = transport.reader(settings.topics.events)
        for partition in range(transport.partitions):
            _, end = await log.bounds(partition)
            state = await refold(log, partition, end, MemoryStore())
            for graph in state.graphs():
                turns = [state.text_of(graph, number) for number in range(graph.view().turns)]
                memory = EvaluatedMemory(graph.view(), [turn.text for turn in turns], extractor)
                of_graph = data.questions.get(graph.graph_id, []), data.patterns.get(graph.graph_id, ())
                yield Examined(memory, of_graph[0], patterns=of_graph[1], graph=graph, turns=turns)
