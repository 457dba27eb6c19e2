"""`emgas admin graph copy` and `move`, and the exact exports of `export --exact` and `import`: transfer one graph.

    copy    the destination receives the graph's current events (replay/transfer.py)
    move    the same while the graph is in use here; then it is fenced here, the rest follows and is checked, the graph
            leaves, and is opened there

If either is killed, run it again: events that were already received are skipped.  A move can be cancelled until the
graph has left: what arrived stays closed there, and a later move goes on with it.  So no graph lives in two places.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from emgas.errors import EmgasError
from emgas.wire import partition_of
from streams.cli.shared import output
from streams.cli.shared.client import session
from streams.transport.failpoints import MoveStep, passing

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from emgas.messages.requests import Outcome
    from emgas.messages.transfer import Move, Receive
    from emgas.wire import Record
    from replay.log import LogReader
    from replay.transfer import Survey, Transferred
    from streams.settings import WorkerSettings

TIMEOUT = 60.0  # seconds for each message: it holds up to a thousand events
PREFIX = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")

app = typer.Typer(no_args_is_help=True, help="Copy or move one graph to another memory, exactly.")
To = Annotated[
    str,
    typer.Option(
        metavar="DIR|URL|PREFIX",
        help="Directory of an embedded memory, kafka://HOST:PORT/PREFIX, or another topic prefix here.",
        show_default=False,
    ),
]
As = Annotated[str | None, typer.Option("--as", help="Name of the graph there.", callback=output.graph_id)]


@app.command()
def copy(graph: output.Graph, *, to: To, as_: As = None, json: output.Json = False) -> None:
    """Copy a graph to another memory, as it is now; safe to repeat."""
    show(output.run(_copied(_Transfer(graph, to, as_))), json=json)


@app.command()
def move(
    graph: output.Graph,
    *,
    to: To,
    as_: As = None,
    cancel: Annotated[bool, typer.Option("--cancel", help="Let the graph stay here after all.")] = False,
    json: output.Json = False,
) -> None:
    """Move a graph to another memory; afterwards, this one says where it is.

    If the command is interrupted, run it again to finish the move, or with --cancel. What a cancelled move copied stays
    closed there; moving the graph there again goes on with it.
    """
    transfer = _Transfer(graph, to, as_)
    show(output.run(_cancelled(transfer) if cancel else _moved(transfer)), json=json)


class _Transfer:
    """A graph of this memory, and where it goes."""

    def __init__(self, graph: str, to: str, name: str | None) -> None:
        self.graph, self.name = graph, name or graph
        self.source = output.settings()
        self.target = target_of(self.source, to)
        if is_same(self.source, self.target) and self.graph == self.name:
            output.fail("the graph is there already: give another place (--to) or name (--as)", output.USAGE)

    @property
    def address(self) -> str:
        """Return the address at which users find the graph."""
        return ", ".join([address_of(self.target), *([f"graph {self.name}"] if self.name != self.graph else [])])


def is_same(one: WorkerSettings, other: WorkerSettings) -> bool:
    """Return whether two settings name one memory."""
    return (one.home, one.broker) == (other.home, other.broker)


def address_of(memory: WorkerSettings) -> str:
    """Return the address at which users find a memory."""
    where = memory.broker or f"embedded:{memory.data.expanduser().resolve()}"
    return ", ".join([where, *([f"prefix {memory.prefix}"] if memory.prefix != "emgas" else [])])


def target_of(source: WorkerSettings, to: str) -> WorkerSettings:
    """Build the settings of the memory that `to` names, or exit."""
    from pydantic import ValidationError  # here: --help needs none of it

    from emgas.validation import describe_value
    from streams.settings import WorkerSettings

    changed: dict[str, Any]
    if to.startswith("kafka://"):
        broker, _, prefix = to.removeprefix("kafka://").partition("/")
        changed = {"broker": f"kafka://{broker}", "prefix": prefix or source.prefix}
    elif PREFIX.fullmatch(to) and not Path(to).is_dir():
        changed = {"prefix": to}
    else:
        changed = {"broker": None, "data": Path(to), "graph_keys": None}
    try:
        return WorkerSettings(**{**source.model_dump(), **changed})
    except ValidationError as error:
        output.fail(f"--to: {describe_value(error)}", output.USAGE)


async def outgoing(
    log: LogReader, graph: str, name: str | None = None, *, forks: bool = True
) -> tuple[Survey, Transferred]:
    """Find what a log holds of a graph, and what its receiver must know; exit if there is nothing.

    forks  both live on, so what goes is the beginning of another history
    """
    from replay.transfer import Transferred, folded, forked, restamped, survey  # here: --help needs none of it

    exported = await survey(log, partition_of(graph, await log.partitions()), graph)
    if exported is None:
        output.fail_unknown(graph)
    digest = await folded(restamped(log, exported, name), name or graph)
    origin, hop = (forked(exported.origin), 0) if forks else (exported.origin, exported.hop)
    return exported, Transferred(name or graph, origin, exported.events, digest, exported.is_encrypted, hop)


async def received(stream: IO[bytes], what: Transferred, name: str, *, dry_run: bool) -> dict[str, Any]:
    """Import the graph of an exact export under a name.  Raises BackupDamagedError, before anything is sent."""
    from dataclasses import replace  # here: --help needs none of it

    from replay.errors import BackupDamagedError
    from replay.transfer import folded, renamed

    if await folded(_records(stream), what.graph) != what.digest:
        raise BackupDamagedError("the events do not fold to the digest in the first line: use another copy")
    there = replace(what, graph=name, digest=await folded(renamed(_records(stream), name, what.origin), name))
    if dry_run:
        return {**_report(there, NOTHING), "digest_before": what.digest}
    async with session(output.settings(), TIMEOUT) as target:
        sent = await send(target.memory, renamed(_records(stream), name, what.origin), there)
        sent = await opened(target.memory, there, sent)
    return {**_report(there, sent), "digest_before": what.digest}


async def _records(stream: IO[bytes]) -> AsyncIterator[Record]:
    from replay.backup.backup import records  # here: --help needs none of it

    stream.seek(0)
    for stored in records(stream):
        yield stored.record


class Delivered(NamedTuple):
    """Events that were sent, and the receiver's answer."""

    events: int = 0
    note: str | None = None


NOTHING = Delivered()


async def send(
    memory: MemoryClient,
    records: AsyncIterator[Record],
    what: Transferred,
    *,
    lives_on: bool = False,
    known: int = 0,
    checks: bool = True,
) -> Delivered:
    """Send an export, and have it checked.  Raises EmgasError if a message is rejected.

    Events that the receiver has already may be sent again, and count as sent only if it took some of a message; the
    first `known` ones are not.
    """
    from replay.transfer import messages  # here: --help needs none of it

    count, sends = 0, MoveStep.COPY if lives_on else MoveStep.IMPORT
    if known == what.total:  # none is left to send: this is where that step would be
        passing(sends)
        passing(sends)
    async for message in messages(records, what, opens=False, known=known):
        if not message.events and not checks:
            break
        outcome = await _delivered(memory, message, sends if message.events else MoveStep.VERIFY)
        if outcome.status == "rejected":
            raise EmgasError(f"the receiver rejected the rest: {outcome.reason}")
        count += len(message.events) if outcome.status == "accepted" else 0
    return Delivered(count)


async def opened(memory: MemoryClient, what: Transferred, sent: Delivered = NOTHING) -> Delivered:
    """Let a graph live where all of it was sent, unless it moved on from there.  Raises EmgasError if rejected."""
    outcome = await _delivered(memory, what.message(what.total, []), MoveStep.OPEN)
    if outcome.status == "rejected" and outcome.moved_to is None:
        raise EmgasError(f"the receiver does not open the graph: {outcome.reason}")
    return Delivered(sent.events, outcome.remains)


async def _delivered(memory: MemoryClient, message: Receive, step: MoveStep) -> Outcome:
    passing(step)
    outcome = await memory.send(message, timeout=TIMEOUT)
    passing(step)
    return outcome


def _report(what: Transferred, sent: Delivered) -> dict[str, Any]:
    report = {"graph": what.graph, "events": what.total, "sent": sent.events, "digest": what.digest}
    return {**report, "note": sent.note} if sent.note else report


@asynccontextmanager
async def _connected(transfer: _Transfer) -> AsyncIterator[tuple[LogReader, MemoryClient]]:
    """Open the log that the graph is in, and the memory that it goes to."""
    from streams.transport.event_topic import reading  # here: --help needs none of it

    target = transfer.target
    async with reading(transfer.source) as log, session(target, TIMEOUT, begins=target.is_embedded) as there:
        yield log, there.memory


async def _copied(transfer: _Transfer) -> dict[str, Any]:
    async with _connected(transfer) as (log, there):
        exported, what = await outgoing(log, transfer.graph, transfer.name)
        sent = await _sent(transfer, log, there, (exported, what))
        return await _arrived(transfer, log, (exported, what), await opened(there, what, sent))


async def _sent(
    transfer: _Transfer,
    log: LogReader,
    there: MemoryClient,
    going: tuple[Survey, Transferred],
    *,
    lives_on: bool = False,
    known: int = 0,
) -> Delivered:
    """Send what the log holds of the graph by now, without its first `known` events."""
    from replay.transfer import restamped  # here: --help needs none of it

    return await send(
        there, restamped(log, going[0], transfer.name), going[1], lives_on=lives_on, known=known, checks=not lives_on
    )


async def _arrived(
    transfer: _Transfer, log: LogReader, going: tuple[Survey, Transferred], sent: Delivered
) -> dict[str, Any]:
    """Report what was sent, with the digest that the graph has here."""
    from replay.transfer import folded, restamped  # here: --help needs none of it

    exported, what = going
    before = what.digest if transfer.name == transfer.graph else await folded(restamped(log, exported), transfer.graph)
    return {**_report(what, sent), "digest_before": before}


async def _moved(transfer: _Transfer) -> dict[str, Any]:
    """Copy most of the graph while it lives; fence it, copy the rest, let it leave, and open it there.

    If it left in an earlier run, and what stayed here was erased since, that is sent as well: it must not open there.
    """
    async with _connected(transfer) as (log, there):
        going = await outgoing(log, transfer.graph, transfer.name, forks=False)
        sent = NOTHING
        if not going[0].has_left:
            sent = await _sent(transfer, log, there, going, lives_on=True)
        await _fence(transfer, "begin", going[1])
        if not going[0].has_left:
            known, going = going[1].total, await outgoing(log, transfer.graph, transfer.name, forks=False)
            rest = await _sent(transfer, log, there, going, known=known)
            sent = Delivered(sent.events + rest.events)
            await _fence(transfer, "finish", going[1])
        elif going[0].has_grown:
            sent = await _sent(transfer, log, there, going)
        sent = await opened(there, going[1], sent)
        return {**await _arrived(transfer, log, going, sent), "moved_to": transfer.address}


async def _cancelled(transfer: _Transfer) -> dict[str, Any]:
    await _fence(transfer, "cancel")
    return {"graph": transfer.graph, "stays": True}


async def _fence(
    transfer: _Transfer, phase: Literal["begin", "finish", "cancel"], what: Transferred | None = None
) -> None:
    """Send a phase of the graph's move to its memory.  Raises EmgasError if it is rejected."""
    move = phase_of(transfer.graph, transfer.address, phase, what)
    async with session(transfer.source, TIMEOUT, begins=False) as here:
        await fence(here.memory, move)


def phase_of(graph: str, to: str, phase: Literal["begin", "finish", "cancel"], what: Transferred | None = None) -> Move:
    """Build the request of a phase; to finish, it names the events that arrived."""
    from emgas.messages.transfer import Move  # here: --help needs none of it

    if what is None:
        return Move(graph=graph, to=to, phase=phase)
    events = what.total if phase == "finish" else None
    return Move(graph=graph, to=to, phase=phase, origin=what.origin, events=events, hop=what.hop)


async def fence(memory: MemoryClient, move: Move) -> None:
    """Send a phase of a graph's move to its memory.  Raises EmgasError if it is rejected."""
    passing(MoveStep.FENCE)
    outcome = await memory.send(move, timeout=TIMEOUT)
    passing(MoveStep.FENCE)
    if outcome.status == "rejected":
        raise EmgasError(str(outcome.reason))


def show(report: dict[str, Any], *, json: bool) -> None:
    """Print the result of a transfer."""
    if json:
        output.print_json(report)
    elif "stays" in report:
        output.out.print(f"graph {report['graph']} stays here")
    else:
        moved = f", moved to {report['moved_to']}" if "moved_to" in report else ""
        moved += f"; {report['note']}" if "note" in report else ""
        output.out.print(
            f"graph {report['graph']}: {report['events']} events, {report['sent']} of them sent{moved}\n"
            f"digest before {report['digest_before']}\ndigest there  {report['digest']}"
        )
