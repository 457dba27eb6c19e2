"""Questions of all kinds while turns come, events are taken back, snapshots are taken and partitions move."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

from emgas import Turn
from emgas.messages.operator import Checkpoint
from emgas.messages.turns import Undo
from tests.pipeline.test_embedded import embedded
from tests.support.clocks import DAY, NOON, PATIENCE
from tests.support.pipeline import Pipeline, a_turn

GRAPHS = [f"g{number}" for number in range(6)]
WORDS = ("kettle", "tea", "garden", "fence", "cat", "mouse", "piano", "lesson", "river", "boat", "anchor", "basil")


class Users:
    """Many who use one worker at once, each in its own way; `seeded` says what they do."""

    def __init__(self, pipeline: Pipeline, seeded: random.Random) -> None:
        self._pipeline, self._memory = pipeline, pipeline.memory
        self._seeded = seeded
        self._published = dict.fromkeys(GRAPHS, 0)

    def _text(self, words: int = 2) -> str:
        return " ".join(self._seeded.sample(WORDS, words))

    def _graph(self) -> str:
        return self._seeded.choice(GRAPHS)

    async def speak(self) -> None:
        graph = self._graph()
        first = self._published[graph]
        self._published[graph] += 8
        turns = [
            Turn(**a_turn(graph, f"t{n}", self._text(5), at=NOON + n * DAY // 5, metadata={"n": n % 4}))
            for n in range(first, first + 8)
        ]
        outcomes = {turn.id: outcome async for turn, outcome in self._memory.publish_many(turns)}
        assert len(outcomes) == len(turns)

    async def ask(self) -> None:
        await self._memory.query(self._graph(), self._text(), reinforce=self._seeded.random() < 0.5)

    async def ask_at_length(self) -> None:
        filters = {"metadata": {"n": 3}} if self._seeded.random() < 0.5 else None
        await self._memory.query(self._graph(), self._text(), only=filters, budget=32_000, explain=True)

    async def ask_about_the_past(self) -> None:
        at = NOON + self._seeded.randint(0, 20 * DAY)
        await self._memory.query(self._graph(), self._text(), as_of=at)

    async def take_back(self) -> None:
        graph = self._graph()
        await self._memory.send(Undo(graph=graph, first=max(0, self._published[graph] - self._seeded.randint(1, 20))))

    async def snapshot(self) -> None:
        await self._memory.send(Checkpoint(), partition=self._pipeline.place(self._graph()))

    async def move(self) -> None:
        consumer = self._pipeline.app.consumer
        self._pipeline.app.ready.clear()
        await consumer.subscribe({tp.topic for tp in consumer.assignment()})  # the embedded log's rebalance
        await asyncio.wait_for(self._pipeline.app.ready.wait(), PATIENCE)


async def often(do: Callable[[], Awaitable[None]], times: int) -> None:
    for _ in range(times):
        await do()


async def test_whatever_is_asked_meanwhile_the_state_is_the_fold_and_nobody_goes_without_an_answer(
    tmp_path: Path,
) -> None:
    async with embedded(tmp_path, snapshots=str(tmp_path / "snapshots"), queries_at_once=100) as pipeline:
        users = Users(pipeline, random.Random(1))
        await often(users.speak, 12)
        await asyncio.gather(
            *(often(users.speak, 10) for _ in range(2)),
            *(often(users.ask, 15) for _ in range(3)),
            *(often(users.ask_at_length, 10) for _ in range(2)),
            *(often(users.ask_about_the_past, 15) for _ in range(3)),
            often(users.take_back, 6),
            often(users.snapshot, 3),
            often(users.move, 3),
        )
        assert pipeline.app.halted is None
        assert pipeline.app._query_handler.answering == 0  # noqa: SLF001 - whether it is idle, no user asks
        assert all(each.match for each in await pipeline.verified())
