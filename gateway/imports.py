"""Imports over HTTP: a chat's export goes in as the body, and how far it is comes back as server-sent events.

    POST /v1/graphs/{graph}/import?format=&name=&date_order=&timezone=&dry_run=      body: the file, or a ZIP

    event: progress   {"published": 50, "accepted": 48, "duplicates": 2, "rejected": 0}    so much is folded
    event: rejected   {"reason": "line 3: text: is missing"}                               and is left out
    event: done       as progress: all of it
    event: failed     a problem: the memory answers no more; importing again goes on where it ended

What cannot be read at all is a problem with a status, before the first event.  Whatever the file says, every turn goes
to the graph of the path: else a key of one graph would reach another.  The body waits in a file without a name, which
ends with the request.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, Annotated, Literal

import orjson
from fastapi import APIRouter, Depends, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from emgas.client.client import MemoryClient
from emgas.errors import EmgasError
from emgas.importers.registry import NAMES, BadLine, Item, Options, read
from emgas.messages.fields import Zone
from emgas.messages.turns import Outcome, Turn
from gateway.access import may
from gateway.errors import REFUSALS, failed
from gateway.graphs import Graph, Memory

router = APIRouter(prefix="/v1/graphs/{graph}", responses=REFUSALS)
AT_ONCE = 128  # turns on their way: others want to be remembered meanwhile
AHEAD = 50  # items read at a time, and folded from one event to the next
RESULTS = {"accepted": "accepted", "duplicate": "duplicates", "rejected": "rejected"}
BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@dataclass(frozen=True)
class Reading:
    """A file whose beginning could be read.  `items` come from it as they are asked for."""

    graph: str
    items: Iterator[Item]
    dry_run: bool


async def begun(
    request: Request,
    graph: Annotated[Graph, may("write", "format", "name", "date_order", "timezone", "dry_run")],
    *,
    format: Annotated[str | None, Query(description=f"one of {NAMES}; else it is recognised")] = None,
    name: Annotated[str, Query(max_length=256, description="of the file: some formats are told by it")] = "file",
    date_order: Annotated[
        Literal["dmy", "mdy", "ymd"] | None, Query(description="of WhatsApp's dates, where they do not tell")
    ] = None,
    timezone: Annotated[Zone, Query(description="of times that come without one, as Europe/Berlin")] = "UTC",
    dry_run: Annotated[bool, Query(description="only read it, and say what would be published")] = False,
) -> AsyncIterator[Reading]:
    """Take the body in, and begin to read it: of what nothing can be read is a problem with a status."""
    with tempfile.TemporaryFile() as file:
        async for piece in request.stream():
            file.write(piece)
        file.seek(0)
        options = Options(date_order, timezone)
        first, items = await asyncio.to_thread(_opened, file, name, graph, format, options)
        yield Reading(graph, chain(first, items), dry_run)


@router.post("/import", response_class=EventSourceResponse, openapi_extra=BODY)
async def import_file(memory: Memory, reading: Annotated[Reading, Depends(begun)]) -> AsyncIterator[ServerSentEvent]:
    """Import what another program exported, or turns as lines of JSON; tells as server-sent events how far it is."""
    counts: Counter[str] = Counter(dict.fromkeys(("published", *RESULTS.values()), 0))
    rejected: list[str] = []
    turns = _turns(reading, counts, rejected)
    try:
        async with aclosing(_counted(turns) if reading.dry_run else _folded(memory, turns)) as folding:
            async for outcome in folding:
                counts["published"] += 1
                if outcome is not None:
                    counts[RESULTS[outcome.status]] += 1
                if outcome is not None and outcome.status == "rejected":
                    rejected.append(f"turn {outcome.turn}: {outcome.reason}")
                for event in _told(rejected):
                    yield event
                if counts["published"] % AHEAD == 0:
                    yield ServerSentEvent(event="progress", data=dict(counts))
        for event in _told(rejected):
            yield event
    except EmgasError as error:
        yield ServerSentEvent(event="failed", data=orjson.loads(failed(error).body))
        return
    yield ServerSentEvent(event="done", data=dict(counts))


def _opened(
    file: IO[bytes], name: str, graph: str, format: str | None, options: Options
) -> tuple[list[Item], Iterator[Item]]:
    """Read the first item; in a thread, for a document is read whole before it has one."""
    items = read(file, name, graph, format=format, options=options)
    return list(islice(items, 1)), items


async def _turns(reading: Reading, counts: Counter[str], rejected: list[str]) -> AsyncIterator[Turn]:
    """Yield the turns, for the graph of the path; note what can be none."""
    while items := await asyncio.to_thread(lambda: list(islice(reading.items, AHEAD))):
        for item in items:
            if isinstance(item, BadLine):
                counts["published"] += 1
                counts["rejected"] += 1
                rejected.append(item.told)
            else:
                yield item if item.graph == reading.graph else item.model_copy(update={"graph": reading.graph})


async def _folded(memory: MemoryClient, turns: AsyncIterator[Turn]) -> AsyncGenerator[Outcome | None]:
    async for _, outcome in memory.publish_many(turns, window=AT_ONCE):
        yield outcome if isinstance(outcome, Outcome) else None


async def _counted(turns: AsyncIterator[Turn]) -> AsyncGenerator[None]:
    async for _ in turns:
        yield None


def _told(rejected: list[str]) -> Iterator[ServerSentEvent]:
    """Tell what was rejected since the last time."""
    told, rejected[:] = list(rejected), []
    for reason in told:
        yield ServerSentEvent(event="rejected", data={"reason": reason})
