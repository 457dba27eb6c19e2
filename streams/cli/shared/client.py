"""A connected client for every command that talks to a memory, over the transport that the settings name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from emgas.errors import EmgasError, TransportError
from streams.cli.shared import output

if TYPE_CHECKING:
    from emgas.client.client import Asks, MemoryClient
    from emgas.client.connection import Connection
    from emgas.messages.requests import AnswerMessage, Outcome
    from streams.settings import WorkerSettings
    from streams.transport import select

A = TypeVar("A", bound="AnswerMessage")


class NoWorkerError(TransportError):
    """No worker runs on this broker.  Operator action: start a worker.  Nothing was sent."""


@dataclass(frozen=True)
class Session:
    """An open client.

    is_served  whether another process has the memory, and carries turns and questions alone
    """

    memory: MemoryClient
    is_served: bool = False


@asynccontextmanager
async def session(
    settings: WorkerSettings, timeout: float = output.TIMEOUT, *, begins: bool = True, fills: bool = False
) -> AsyncIterator[Session]:
    """Connect for as long as the block lasts; embedded, that starts a worker in this process.

    timeout  seconds for each step: finding a worker, connecting, each query
    begins   whether this command may create an embedded memory; otherwise raises NoMemoryError if there is none, or
             NoWorkerError at once if no worker runs
    fills    whether this command may write to an unfinished branch; otherwise raises TransportError if it is one
    """
    from emgas.client.client import MemoryClient  # here: --help needs none of it
    from streams.worker.shared_connection import SharedConnection

    if not fills:
        await _check_finished(settings, timeout)
    if not begins:
        await _check_there(settings, timeout)
    connection = _connection(settings, timeout)
    async with MemoryClient(connection, timeout=timeout) as memory:
        is_served = isinstance(connection, SharedConnection) and connection.server is not None
        yield Session(memory, is_served=is_served)


def ask(kind: type[Asks[A]], fields: Mapping[str, Any], timeout: float) -> A:
    """Ask a question of a memory that exists, and return the answer.  Exits if the question or the memory is wrong."""
    from emgas.validation import build  # here: --help needs none of it

    async def asked(request: Asks[A]) -> A:
        async with session(output.settings(), timeout, begins=False) as connected:
            return await connected.memory.send(request)

    with output.explained():
        request: Asks[A] = build(cast("type[Any]", kind), fields)
    return output.run(asked(request))


def accepted(outcome: Outcome) -> Outcome:
    """Return the outcome of a command.  Raises EmgasError with the reason if it was rejected."""
    if outcome.status == "rejected":
        raise EmgasError(outcome.reason or "the memory refused this")
    return outcome


async def _check_there(settings: WorkerSettings, timeout: float) -> None:
    """Raise NoMemoryError where the embedded memory does not exist, NoWorkerError where no worker runs on Kafka."""
    from streams.transport.embedded.lock import announcement_in  # here: --help needs none of it

    if settings.is_embedded and announcement_in(settings.home) is not None:
        return  # a server has announced it: what reads a log need not be imported
    from streams.transport import select

    select.check_there(settings)
    members = await _members(settings, timeout)
    if members is not None and not any(members):
        raise NoWorkerError("no worker is running: start `emgas worker` on this broker, and ask again")


async def _check_finished(settings: WorkerSettings, timeout: float) -> None:
    """Raise TransportError where a memory on Kafka is an unfinished branch."""
    if not settings.is_embedded:
        from streams.transport import select  # here: the embedded log needs no Kafka client

        await select.check_finished(settings, timeout)


async def has_writer(settings: WorkerSettings, timeout: float) -> bool:
    """Return whether turns are folded: by this process or the one that shares the memory; on Kafka, by workers.

    Assumes so if the account may not list the groups.  Raises TransportError if nothing answers in `timeout` seconds.
    """
    members = await _members(settings, timeout)
    return members is None or members.folding > 0


async def has_reader(settings: WorkerSettings, timeout: float) -> bool:
    """Return whether queries are answered: as `has_writer`; on Kafka, by workers that do not only write."""
    members = await _members(settings, timeout)
    return members is None or members.answering > 0


async def _members(settings: WorkerSettings, timeout: float) -> select.Members | None:
    if settings.is_embedded:
        return None
    from emgas.client.kafka import in_time  # here: the embedded log needs no Kafka client
    from streams.transport import select  # here: the embedded log needs no Kafka client

    with in_time(settings.bootstrap, timeout):  # a timeout is an error here: assuming a worker would wait once more
        try:
            async with asyncio.timeout(timeout):
                return await select.members(settings, timeout)
        except TransportError:
            return None


def _connection(settings: WorkerSettings, timeout: float) -> Connection:
    from emgas.client.connect import connect  # here: --help needs none of it
    from streams.worker.shared_connection import SharedConnection

    if settings.broker is None:
        # by an address, it would take all other settings from the environment
        return SharedConnection(settings, timeout, brief=True)
    return connect(settings.broker, settings.topics, timeout, **settings.security)
