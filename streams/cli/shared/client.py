"""What every command that talks to a memory needs: a connected client, over whichever transport the settings name."""

from __future__ import annotations

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
    """An open client and the connection below it, for records that are no turns (dead letters)."""

    memory: MemoryClient
    connection: Connection


@asynccontextmanager
async def session(settings: Settings, timeout: float = 10.0, *, begins: bool = True) -> AsyncIterator[Session]:
    """Connect for as long as the block lasts; embedded, that starts a worker in this process.

    begins  whether an embedded memory may begin with it; who only asks makes none, and gets NoMemoryError, or
            NobodyAnswersError at once where no worker runs
    """
    from emgas.client.client import MemoryClient  # here: --help needs none of it
    from streams.transport import select
    from streams.worker.shared_connection import SharedConnection

    if not begins:
        select.check_there(settings)
        if not (await someone_works(settings) or await someone_answers(settings)):
            raise NobodyAnswersError(
                "no worker runs, so nobody can answer: start `emgas worker` on this broker, and ask again"
            )
    connection = _connection(settings, timeout)
    async with MemoryClient(connection, timeout=timeout) as memory:
        if isinstance(connection, SharedConnection) and connection.server is not None:
            output.tell(f"process {connection.server.pid} serves this memory: asked at {connection.server.url}")
        yield Session(memory, connection)


async def someone_works(settings: Settings) -> bool:
    """Tell whether somebody folds what is sent: who shares a memory, and its own process do; on Kafka, workers.

    Where an account may not ask, it is believed.
    """
    found = await _members(settings)
    return found is None or found.folding > 0


async def someone_answers(settings: Settings) -> bool:
    """Tell whether somebody answers questions: as `someone_works`; on Kafka, workers that do not only write."""
    found = await _members(settings)
    return found is None or found.answering > 0


async def _members(settings: Settings) -> select.Members | None:
    from streams.transport import select  # here: --help needs none of it

    try:
        return await select.members(settings)
    except TransportError:
        return None


def _connection(settings: Settings, timeout: float) -> Connection:
    from emgas.client.connect import connect  # here: --help needs none of it
    from streams.worker.shared_connection import SharedConnection

    if settings.broker is None:
        return SharedConnection(settings)  # by an address, it would take all other settings from the environment
    return connect(settings.broker, settings.topics, timeout, **settings.security)
