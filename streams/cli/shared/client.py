"""What every command that talks to a memory needs: a connected client, over whichever transport the settings name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emgas.errors import TransportError
from streams.cli.shared import output

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from emgas.client.connection import Connection
    from streams.settings import Settings
    from streams.transport import select


class NobodyAnswersError(TransportError):
    """Nobody works on this broker.  Operator action: start a worker.  Nothing was sent."""


@dataclass(frozen=True)
class Session:
    """An open client."""

    memory: MemoryClient


@asynccontextmanager
async def session(settings: Settings, timeout: float = 10.0, *, begins: bool = True) -> AsyncIterator[Session]:
    """Connect for as long as the block lasts; embedded, that starts a worker in this process.

    timeout  seconds until what is asked must have answered: whether a worker runs, the connection, each question
    begins   whether an embedded memory may begin with it; who only asks makes none, and gets NoMemoryError, or
             NobodyAnswersError at once where no worker runs
    """
    from emgas.client.client import MemoryClient  # here: --help needs none of it
    from streams.transport import select
    from streams.worker.shared_connection import SharedConnection

    if not begins:
        select.check_there(settings)
        found = await _members(settings, timeout)
        if found is not None and not any(found):
            raise NobodyAnswersError(
                "no worker runs, so nobody can answer: start `emgas worker` on this broker, and ask again"
            )
    connection = _connection(settings, timeout)
    async with MemoryClient(connection, timeout=timeout) as memory:
        if isinstance(connection, SharedConnection) and connection.server is not None:
            output.tell(f"process {connection.server.pid} serves this memory: asked at {connection.server.url}")
        yield Session(memory)


async def someone_works(settings: Settings, timeout: float) -> bool:
    """Tell whether somebody folds what is sent: who shares a memory, and its own process do; on Kafka, workers.

    Where an account may not ask, it is believed.  Raises TransportError where nothing answers for `timeout` seconds.
    """
    found = await _members(settings, timeout)
    return found is None or found.folding > 0


async def someone_answers(settings: Settings, timeout: float) -> bool:
    """Tell whether somebody answers questions: as `someone_works`; on Kafka, workers that do not only write."""
    found = await _members(settings, timeout)
    return found is None or found.answering > 0


async def _members(settings: Settings, timeout: float) -> select.Members | None:
    from streams.transport import select  # here: --help needs none of it

    if settings.is_embedded:
        return None
    from emgas.client.kafka import in_time  # here: the embedded log needs no Kafka client

    with in_time(settings.bootstrap, timeout):  # no refusal: who believed it then would wait once more
        try:
            async with asyncio.timeout(timeout):
                return await select.members(settings, timeout)
        except TransportError:
            return None


def _connection(settings: Settings, timeout: float) -> Connection:
    from emgas.client.connect import connect  # here: --help needs none of it
    from streams.worker.shared_connection import SharedConnection

    if settings.broker is None:
        # by an address, it would take all other settings from the environment
        return SharedConnection(settings, timeout)
    return connect(settings.broker, settings.topics, timeout, **settings.security)
