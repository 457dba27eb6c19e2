"""Real `emgas worker` processes on eight partitions of a real Kafka, and how to see that they are well.

async with topics(address, prefix, home) as (settings, memory):
with worker(settings, home / "1") as first:
first.kill(), first.start(), first.stop()     exit code
first.owns, first.said                        what its log tells
await lives(memory)                           each partition accounts for a new turn and answers
mismatches(await verify(settings, memory))    none: each holds the fold of its log
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from emgas import MemoryClient, Turn
from emgas.messages.operator import Inspect
from emgas.wire import partition_of
from replay.verify.verify import Verification, verify_partition
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.kafka.reader import KafkaReader
from tests.support.cli import COMMAND, environment
from tests.support.pipeline import settings_for

PARTITIONS = 8
STOPS_WITHIN = 30.0  # seconds that an orchestrator grants after SIGTERM
PATIENCE = 120.0  # seconds; only a hanging test ever waits that long


class Worker:
    """An `emgas worker` in a process of its own.  Its data directory outlives it."""

    def __init__(self, settings: WorkerSettings, home: Path, **more: str) -> None:
        assert settings.broker
        self._environment = environment(
            home,
            broker=settings.broker,
            prefix=settings.prefix,
            session_timeout=str(settings.session_timeout),
            queued_turns="2",  # so that the agent waits for room in a queue whenever a rebalance comes
            batch_turns="4",
            **more,
        )
        self._log = home.with_suffix(".log")
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._started_at = log.tell()
            self.process = subprocess.Popen([*COMMAND, "worker"], env=self._environment, stdout=log, stderr=log)

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait(PATIENCE) == -signal.SIGKILL, self.log_lines

    def stop(self) -> int:
        """Tell it to stop, as an orchestrator would; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOPS_WITHIN)

    @property
    def log_lines(self) -> list[dict[str, Any]]:
        """Return what it logged since it was last started, a JSON object per line."""
        lines = self._log.read_bytes()[self._started_at :].splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.startswith(b"{") and line.endswith(b"\n")]

    @property
    def follows(self) -> list[int]:
        """Return the partitions that it follows, as it said last: of a reader."""
        return next((line["partitions"] for line in reversed(self.log_lines) if line["event"] == "follows"), [])

    @property
    def owns(self) -> list[int]:
        """Return the partitions that it took last."""
        return next((line["partitions"] for line in reversed(self.log_lines) if line["event"] == "owns"), [])


@contextmanager
def worker(settings: WorkerSettings, home: Path, **more: str) -> Iterator[Worker]:
    started = Worker(settings, home, **more)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()


@asynccontextmanager
async def topics(
    address: str, prefix: str, home: Path, **changes: Any
) -> AsyncIterator[tuple[WorkerSettings, MemoryClient]]:
    settings = settings_for(home, prefix, f"kafka://{address}", partitions=PARTITIONS, **changes)
    await select.create(settings)
    async with MemoryClient(settings.broker, prefix=prefix, timeout=PATIENCE) as memory:
        yield settings, memory


async def until(condition: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  (what other processes do has no event here)
            await asyncio.sleep(0.05)


async def answering(memory: MemoryClient) -> None:
    """Return once every partition has an owner that answers."""
    await asyncio.gather(*(memory.send(Inspect(digest=False), partition=partition) for partition in range(PARTITIONS)))


async def lives(memory: MemoryClient, partitions: Iterable[int] = range(PARTITIONS)) -> None:
    """See each partition account for a new turn and answer a question about it."""
    await asyncio.gather(*(_alive(memory, partition) for partition in partitions))


async def _alive(memory: MemoryClient, partition: int) -> None:
    name = next(name for name in map(str, range(1000)) if partition_of(name, PARTITIONS) == partition)
    turn = Turn(id=uuid4().hex, graph=name, speaker="Ada", text="The lantern hangs in the orchard.")
    async for _, outcome in memory.publish_many([turn], timeout=15.0):  # asks again, as whoever asks may have to
        assert outcome.status == "accepted"
        reply = await memory.query(name, "the lantern", after=outcome.position.source, top_passages=50)
        assert turn.id in {passage.id for passage in reply.passages}


async def verify(settings: WorkerSettings, memory: MemoryClient) -> list[Verification]:
    """Compare every partition."""
    log = KafkaReader(settings.bootstrap, settings.topics.events)
    verified = []
    for partition in range(PARTITIONS):
        live = await memory.send(Inspect(), partition=partition)
        verified.append(await verify_partition(log, partition, live.position.watermark, live.digest or ""))
    return verified


def mismatches(verified: list[Verification]) -> list[Verification]:
    return [each for each in verified if each.digest_live != each.digest_replayed]
