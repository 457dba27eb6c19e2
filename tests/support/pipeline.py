"""The whole pipeline in this process, over either transport: a worker, a client, and raw access to the topics.

    async with Pipeline(settings, transport) as pipeline:     raises what the worker halts with before it is ready
        pipeline.memory, pipeline.app
        await pipeline.produce(topic, key, value, …)        bytes as any program may write them
        await pipeline.ask(topic, key, value, …)            the same, with the headers that ask for an answer

`stop` and `start` may be called in between: the log and the stores stay.

Pipeline(settings, transport, reader=changes)   the same with two workers: `app` writes, `reader` answers
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self, cast
from uuid import uuid4

from emgas import MemoryClient
from emgas.messages.operator import Inspect
from emgas.messages.requests import AnswerMessage, Outcome
from emgas.wire import Headers, ProducerRecord, Record, ReplyAddress, partition_of
from replay.log import LogReader
from replay.verify.verify import Verification, verify_partition
from state.events.events import AnyEvent, decode
from state.graph.graph import Graph
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.dead_letters import DeadLetter, read_all
from streams.transport.keys.key_store import KeyStore
from streams.worker.answering_app import AnsweringApp
from streams.worker.app import MemoryApp
from streams.worker.embedded_connection import EmbeddedConnection
from streams.worker.service import running
from tests.support.clocks import PATIENCE, now
from tests.support.own_writes import OwnWrites
from tests.support.transports import SqliteTransport, Transport, kafka_transport


class Pipeline:
    memory: MemoryClient
    app: MemoryApp
    subject: str | None = None  # on whose behalf `memory` calls
    reader: AnsweringApp  # who answers: the same, where there is one worker alone

    def __init__(self, settings: WorkerSettings, transport: Transport, reader: dict[str, Any] | None = None) -> None:
        self._reader_differs = reader
        self.settings = settings
        self.transport = transport
        self.topics = settings.topics
        self.partitions = settings.partitions
        self._running = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start a worker and a client; raise what the worker halts with, if it never becomes ready."""
        async with asyncio.timeout(PATIENCE), AsyncExitStack() as starting:
            if self.settings.is_embedded:
                assert isinstance(self.transport, SqliteTransport)
                connection = EmbeddedConnection(self.settings, self.transport.log)
                self.memory = await starting.enter_async_context(
                    MemoryClient(connection, timeout=PATIENCE, subject=lambda: self.subject)
                )
                self.app = cast(MemoryApp, connection.app)
            else:
                self.app = cast(MemoryApp, await self._started(starting, self.settings))
                client = (OwnWrites if self._reader_differs else MemoryClient)(
                    self.settings.broker, prefix=self.settings.prefix, timeout=PATIENCE, subject=lambda: self.subject
                )
                self.memory = await starting.enter_async_context(client)
            self.reader = self.app
            if self._reader_differs is not None:
                self.reader = await self._started(starting, self.reader_settings)
            self._running = starting.pop_all()

    async def _started(self, starting: AsyncExitStack, settings: WorkerSettings) -> AnsweringApp:
        """Start a worker, on the embedded log if that is what we have, and wait until it is ready."""
        log = self.transport.log if isinstance(self.transport, SqliteTransport) else None
        halted: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        app = await starting.enter_async_context(running(settings, halted.set_result, log))
        ready = asyncio.ensure_future(app.ready.wait())
        await asyncio.wait({ready, halted}, return_when=asyncio.FIRST_COMPLETED)
        if halted.done():
            ready.cancel()
            raise halted.result()
        return app

    @property
    def reader_settings(self) -> WorkerSettings:
        """The settings of the worker that answers."""
        return self.settings.model_copy(update=self._reader_differs or {})

    async def stop(self) -> None:
        async with asyncio.timeout(PATIENCE):
            await self._running.aclose()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    # going in

    def place(self, graph: str) -> int:
        """Return the partition that owns `graph`."""
        return partition_of(graph, self.partitions)

    async def record(self, graph: str, **changes: Any) -> Outcome:
        """Record one good turn of `graph`, and have it accepted."""
        outcome = await self.memory.record(a_turn(graph, **changes))
        assert outcome.status == "accepted", outcome.reason
        return outcome

    async def produce(
        self, topic: str, key: bytes | None, value: bytes | None, partition: int, headers: Headers = ()
    ) -> int:
        """Append a record that no client of ours would; return its offset."""
        (offset,) = await self.transport.append([ProducerRecord(topic, key, value, headers, partition, now())])
        return offset

    async def ask(
        self, topic: str, key: bytes | None, value: bytes, partition: int, headers: Headers = ()
    ) -> AnswerMessage:
        """Append the same, and return the answer."""
        there = self.memory._open  # noqa: SLF001 - a client sends only what is right
        return await there.ask(ProducerRecord(topic, key, value, headers, partition), PATIENCE)

    def address(self, correlation: bytes, topic: str | None = None, partition: int = 0) -> Headers:
        """Return the headers that ask for an answer at `topic`, by default `replies`."""
        return ReplyAddress(topic or self.topics.replies, partition, correlation).headers(now() + int(PATIENCE * 1000))

    # coming out

    async def records(self, topic: str, partition: int, start: int = 0) -> list[Record]:
        reader = self.transport.reader(topic)
        _, end = await reader.bounds(partition)
        return [record async for batch in reader.read(partition, start, end) for record in batch]

    def opening_reader(self) -> LogReader:
        """Return what reads the log, with the keys of this worker."""
        reader = self.transport.reader(self.topics.events)
        reader.graph_keys = self.keys  # type: ignore[attr-defined]
        return reader

    @property
    def keys(self) -> KeyStore:
        return self.app._sealer.keys  # noqa: SLF001 - nothing outside a worker asks for its keys

    async def end(self, topic: str, partition: int) -> int:
        """Return the offset after the last record."""
        return (await self.transport.reader(topic).bounds(partition))[1]

    async def until_end(self, topic: str, partition: int, end: int) -> None:
        """Return once the log of a partition ends at `end`, or behind it."""
        async with asyncio.timeout(PATIENCE):
            while await self.end(topic, partition) < end:  # noqa: ASYNC110  (a log that is asked)
                await asyncio.sleep(0.005)

    @asynccontextmanager
    async def folding_nothing(self, graph: str) -> AsyncIterator[None]:
        """Let no turn of the graph's partition come into its state for as long as the block lasts."""
        async with self.app.ownership.writers[self.place(graph)]._turn_to_append:  # noqa: SLF001 - only from inside can this be told
            yield

    async def events(self, partition: int, start: int = 0) -> list[AnyEvent]:
        return [decode(record.value) for record in await self.records(self.topics.events, partition, start)]

    async def letters(self, topic: str, partition: int, offset: int) -> list[DeadLetter]:
        """Return the dead letters that lay at this place."""
        letters = await read_all(self.transport.reader(self.topics.dead_letters))
        return [letter for letter in letters if letter.origin == f"{topic}/{partition}@{offset}"]

    async def correlations(self, partition: int = 0) -> list[bytes]:
        """Return the correlation ids of all answers in a partition of `replies`."""
        answers = await self.records(self.topics.replies, partition)
        return [dict(answer.headers)["correlation-id"] for answer in answers]

    # how it is

    async def lives(self, *, but: Collection[int] = ()) -> None:
        """See each partition `but` these account for a new turn and answer a question about it."""
        for partition in set(range(self.partitions)) - set(but):
            graph = next(name for name in map(str, range(1000)) if self.place(name) == partition)
            outcome = await self.record(graph, id=uuid4().hex, text="The lantern hangs in the orchard.")
            reply = await self.memory.query(graph, "the lantern", top_passages=100, after=outcome.position.source)
            assert outcome.turn in {passage.id for passage in reply.passages}

    # what is held

    def graph(self, name: str) -> Graph | None:
        return self.app.ownership.writers[self.place(name)].state.graph(name)

    def ids(self, graph: str) -> list[str]:
        """Return the ids of the turns that `graph` holds."""
        opened = self.graph(graph)
        return list(opened.passages.ids) if opened else []

    def digests(self) -> dict[str, str]:
        """Return the digest of every graph of every partition."""
        states = [writer.state for writer in self.app.ownership.writers.values()]
        return {name: digest for state in states for name, digest in state.digests().items()}

    async def verified(self) -> list[Verification]:
        """Return every partition's live digest beside that of an offline fold."""
        log = self.transport.reader(self.topics.events)
        live = [await self.memory.send(Inspect(), partition=partition) for partition in range(self.partitions)]
        return [await verify_partition(log, n, it.position.watermark, it.digest or "") for n, it in enumerate(live)]


def a_turn(graph: str, id: str = "t1", text: str = "The red kettle whistles.", **changes: Any) -> dict[str, Any]:
    return {"id": id, "graph": graph, "speaker": "Ada", "text": text, **changes}


def as_json(message: dict[str, Any]) -> bytes:
    """Return a message as a foreign program would write it."""
    return json.dumps(message, ensure_ascii=False).encode()


def settings_for(data: Any, prefix: str, broker: str | None, **changes: Any) -> WorkerSettings:
    """Return a worker's settings: few partitions, and a broker that soon misses the dead."""
    return WorkerSettings(
        **{"data": data, "prefix": prefix, "broker": broker, "partitions": 2, "session_timeout": 12.0, **changes}
    )


@asynccontextmanager
async def two_memories(address: str, home: Path, here: int, there: int) -> AsyncIterator[tuple[Pipeline, Pipeline]]:
    """Start two memories on a Kafka, with so many partitions: graphs move from one to the other."""
    async with kafka_transport(address) as transport, AsyncExitStack() as running:
        started = []
        for partitions in (here, there):
            prefix = f"test-{uuid4().hex[:12]}"
            settings = settings_for(home / prefix, prefix, f"kafka://{address}", partitions=partitions)
            await select.create(settings)
            started.append(await running.enter_async_context(Pipeline(settings, transport)))
        yield started[0], started[1]


def only(items: Sequence[Any]) -> Any:
    """Return the one item there is."""
    (item,) = items
    return item
