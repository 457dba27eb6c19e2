"""The smallest Faust app that has what the transports rest on: an agent, a table over `events`, positions in a state.

    app = TinyApp(transport.driver, prefix, directory, positions={0: 6})
    async with app.running(): await app.seen(3)

`positions` stands for the state: partition of `turns` → next offset to read; the agent moves it on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import faust
from faust.types import TP, AppT, StreamT
from faust.types.transports import TransportT

from emgas.wire import TopicNames
from state.errors import LogRewrittenError
from streams.recovery.table_manager import PromptTableManager
from streams.transport.runs import run_in
from tests.support.clocks import PATIENCE

RAW: dict[str, Any] = {
    "key_type": bytes,
    "value_type": bytes,
    "key_serializer": "raw",
    "value_serializer": "raw",
}


class TinyApp(faust.App):
    def __init__(
        self,
        driver: Callable[[AppT], TransportT],
        prefix: str,
        home: Path,
        positions: dict[int, int] | None = None,
        **settings: Any,
    ) -> None:
        names = TopicNames(prefix)
        self.names = names
        self.positions = positions
        self.fetches_of_questions = 0
        self.received: asyncio.Queue[tuple[str, int, int, bytes]] = asyncio.Queue()
        self.failure: asyncio.Queue[BaseException] = asyncio.Queue()
        super().__init__(
            prefix, datadir=str(home), store="memory://", web_enabled=False,
            topic_allow_declare=False, topic_disable_leader=True, TableManager=PromptTableManager,
            stream_wait_empty=False, broker_commit_interval=0.05, broker_session_timeout=6.0,
            broker_heartbeat_interval=0.5, broker_rebalance_timeout=10.0, logging_config=None, loghandlers=[],
            **settings,
        )  # fmt: skip
        self.transport = self.producer_transport = driver(self)
        events = self.topic(names.events, **RAW, internal=True, acks=False, allow_empty=True)
        self.table = self.Table("table", changelog_topic=events, partitions=2, key_type=bytes, value_type=bytes)
        for name in (names.turns, names.queries):
            self.agent(self.topic(name, **RAW), name=name)(self._take)

    def source_position(self, tp: TP) -> int | None:
        if tp.topic != self.names.turns or self.positions is None:
            return None
        return self.positions.get(tp.partition, 0)

    def source_goes_back(self, tp: TP) -> None:
        raise LogRewrittenError(f"{tp} goes back")

    def questions_came(self) -> None:
        self.fetches_of_questions += 1

    def comes_first(self, tp: TP) -> bool:
        return tp.topic == self.names.queries

    def _crash(self, reason: BaseException) -> None:
        self.failure.put_nowait(reason)
        super()._crash(reason)

    async def _take(self, stream: StreamT[bytes]) -> None:
        async for event in stream.events():
            message = event.message
            if message.topic == self.names.turns and self.positions is not None:
                self.positions[message.partition] = max(message.offset + 1, self.positions.get(message.partition, 0))
            for each in run_in(message) or [message]:
                self.received.put_nowait((message.topic, message.partition, each.offset, each.value or b""))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self.finalize()
        await self.start()
        try:
            yield
        finally:
            await self.stop()

    async def seen(self, count: int) -> list[tuple[str, int, int]]:
        """Return (topic, partition, offset) of the next `count` messages that agents see."""
        return [await self._next_seen() for _ in range(count)]

    async def _next_seen(self) -> tuple[str, int, int]:
        async with asyncio.timeout(PATIENCE):  # for each: thousands may take long on a machine that is busy
            return (await self.received.get())[:3]

    async def failed(self) -> BaseException:
        """Return why the app crashed, once it has."""
        async with asyncio.timeout(PATIENCE):
            return await self.failure.get()

    async def send(self, topic: str, *values: bytes, partition: int = 0) -> list[int]:
        """Append `values` at once; return their offsets."""
        sent = [await self.producer.send(topic, b"key", value, partition, None, {"n": b"1"}) for value in values]
        return [metadata.offset for metadata in await asyncio.gather(*sent)]
