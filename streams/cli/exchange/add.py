"""`emgas add GRAPH TEXT`: store one memory by hand; a long text is stored in pieces, as an import does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from emgas.errors import EmgasError
from emgas.pieces import in_pieces
from streams.cli.shared import output
from streams.cli.shared.client import accepted, has_writer, session
from streams.cli.shared.lasting import ExpiresAt, ExpiresIn, Origin, lasting
from streams.cli.shared.times import METAVAR

if TYPE_CHECKING:
    from emgas import Turn
    from emgas.messages.requests import Outcome


def add(
    graph: output.Graph,
    text: Annotated[str, typer.Argument(help="What to remember.")],
    *,
    speaker: Annotated[str, typer.Option(help="Who says it.")] = "user",
    conversation: Annotated[str, typer.Option("--session", help="Conversation that it belongs to.")] = "main",
    at: Annotated[
        str | None, typer.Option(metavar=METAVAR, help="When it was said: 2023-05-08T14:00; now by default.")
    ] = None,
    origin: Origin = None,
    expires_in: ExpiresIn = None,
    expires_at: ExpiresAt = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Store one memory, and wait until it can be queried."""
    marked = lasting(origin, expires_in, expires_at, now_ms)
    turn = {"id": uuid4().hex, "graph": graph, "text": text, "speaker": speaker, "session": conversation, "at": at}
    pieces = in_pieces(turn) or [turn]  # an empty text is refused as a turn
    outcomes = output.run(_add(pieces, marked, timeout))
    if json:
        for outcome in outcomes:
            output.print_json(outcome.model_dump())
        return
    parts = f", in {len(outcomes)} pieces" if len(outcomes) > 1 else ""
    output.out.print(f"stored in {graph}{parts}", markup=False)


def now_ms() -> int:
    """Return the present, ms since 1970."""
    return time.time_ns() // 1_000_000


async def _add(turns: list[dict[str, Any]], marked: Callable[[Turn], Turn], timeout: float) -> list[Outcome]:
    from emgas.messages.turns import Turn  # here: --help needs none of it
    from emgas.validation import build

    checked = [marked(build(Turn, turn)) for turn in turns]  # a wrong call creates no memory
    settings = output.settings()
    async with session(settings, timeout) as connected:
        if not await has_writer(settings, timeout):
            raise EmgasError("no worker is running: start `emgas worker` on this broker, and add it again")
        return [accepted(await connected.memory.record(turn)) for turn in checked]
