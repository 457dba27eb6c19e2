"""Imports over HTTP: a chat's export goes in as the body, and how far it is comes back as server-sent events.

    POST /v1/graphs/{graph}/import?format=&name=&date_order=&timezone=&dry_run=      body: the file, or a ZIP

    event: progress   {"published": 50, "accepted": 48, "duplicates": 2, "rejected": 0}    so much is folded
    event: rejected   {"reason": "line 3: text: is missing"}                               left out; the first
                      LISTED ones are listed, the others only counted
    event: done       as progress: all of it
    event: failed     a problem: the memory does not answer; importing again continues where it stopped

An unreadable file gets a problem with a status, before the first event.  Every turn goes to the graph of the path,
whatever the file says: otherwise a key of one graph could write to another.  The body is kept in an unnamed temporary
file, until the request ends.

A key may have one import at a time, and the server AT_ONCE_OF_ALL: files are read in threads of their own, so that
nothing else waits for them.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import IO, Annotated, Any, Literal, TypeVar

import orjson
from fastapi import APIRouter, Depends, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent

from emgas.client.client import MemoryClient
from emgas.errors import EmgasError
from emgas.importers.registry import NAMES, BadLine, Item, Options, read
from emgas.messages.fields import Zone
from emgas.messages.requests import Outcome
from emgas.messages.turns import Turn
from gateway.auth.access import IMPORT_BYTES, caller, may
from gateway.http.errors import REFUSALS, ImportRunningError, failed
from gateway.routes.dependencies import Graph, Memory

T = TypeVar("T")
router = APIRouter(prefix="/v1/graphs/{graph}", responses=REFUSALS, tags=["turns"])
AT_ONCE_OF_ALL = 2
VALUES = 2_000_000  # of a JSON document: some 160 MB of memory while it is imported
LISTED = 1000  # rejections of an import
AT_ONCE = 128  # turns on their way: others want to be remembered meanwhile
AHEAD = 50  # items read at a time, and folded from one event to the next
RESULTS = {"accepted": "accepted", "duplicate": "duplicates", "rejected": "rejected"}
BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class Imports:
    """The imports that run, by the name of their caller."""

    def __init__(self) -> None:
        self._running: set[str] = set()
        self._threads = ThreadPoolExecutor(AT_ONCE_OF_ALL, "imports")

    @contextmanager
    def slot(self, caller: str) -> Iterator[Slot]:
        """Reserve an import for a caller until the block ends and its thread is done.  Raises ImportRunningError."""
        if caller in self._running:
            raise ImportRunningError(
                "an import with this key is running: wait until it is done, or close its connection"
            )
        if len(self._running) >= AT_ONCE_OF_ALL:
            raise ImportRunningError(
                f"{AT_ONCE_OF_ALL} imports are running, the most at a time: wait until one is done"
            )
        self._running.add(caller)
        slot = Slot(self._threads)
        try:
            yield slot
        finally:
            slot.when_done(lambda: self._running.discard(caller))


class Slot:
    """The right to import, with a thread that reads the file."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads
        self._reading: asyncio.Future[Any] | None = None

    async def read(self, do: Callable[[], T]) -> T:
        """Run a function that reads the file, in a thread."""
        reading = asyncio.get_running_loop().run_in_executor(self._threads, do)
        self._reading = reading
        return await asyncio.shield(reading)

    def when_done(self, do: Callable[[], None]) -> None:
        """Call `do` once the thread is done, which can be after the request was cancelled."""
        if self._reading is None or self._reading.done():
            do()
            return
        self._reading.add_done_callback(asyncio.Future.exception)  # of a file that was closed
        self._reading.add_done_callback(lambda _: do())


def imports_of(request: Request) -> Imports:
    """Return the imports of this gateway."""
    running: Imports = request.app.state.imports
    return running


@dataclass(frozen=True)
class OpenedImport:
    """An import whose first item could be read.  `items` are read from the file one by one."""

    graph: str
    items: Iterator[Item]
    dry_run: bool
    slot: Slot


async def begun(
    request: Request,
    graph: Annotated[Graph, may("write", "format", "name", "date_order", "timezone", "dry_run")],
    *,
    format: Annotated[str | None, Query(description=f"one of {NAMES}; recognised by default")] = None,
    name: Annotated[str, Query(max_length=256, description="of the file: some formats are told by it")] = "file",
    date_order: Annotated[
        Literal["dmy", "mdy", "ymd"] | None, Query(description="of WhatsApp's dates, where they do not tell")
    ] = None,
    timezone: Annotated[Zone, Query(description="of times that come without one, as Europe/Berlin")] = "UTC",
    dry_run: Annotated[bool, Query(description="only read it, and say what would be published")] = False,
) -> AsyncIterator[OpenedImport]:
    """Receive the body and read its first item, so that an unreadable file still gets a status."""
    with imports_of(request).slot(caller().name) as slot, tempfile.TemporaryFile() as file:
        async for piece in request.stream():
            file.write(piece)
        file.seek(0)
        options = Options(date_order, timezone, bytes=IMPORT_BYTES, values=VALUES)
        first, items = await slot.read(partial(_opened, file, name, graph, format, options))
        yield OpenedImport(graph, chain(first, items), dry_run, slot)


@router.post("/import", response_class=EventSourceResponse, openapi_extra=BODY)
async def import_file(
    memory: Memory, opened: Annotated[OpenedImport, Depends(begun)]
) -> AsyncIterator[ServerSentEvent]:
    """Import another program's export, or turns as lines of JSON; report progress as server-sent events."""
    counts: Counter[str] = Counter(dict.fromkeys(("published", *RESULTS.values()), 0))
    rejected = Rejections()
    turns = _turns(opened, counts, rejected)
    try:
        async with aclosing(_counted(turns) if opened.dry_run else _folded(memory, turns)) as folding:
            async for outcome in folding:
                counts["published"] += 1
                if outcome is not None:
                    counts[RESULTS[outcome.status]] += 1
                if outcome is not None and outcome.status == "rejected":
                    rejected.add(f"turn {outcome.turn}: {outcome.reason}")
                for event in rejected.events():
                    yield event
                if counts["published"] % AHEAD == 0:
                    yield ServerSentEvent(event="progress", data=dict(counts))
        for event in rejected.events():
            yield event
    except EmgasError as error:
        yield ServerSentEvent(event="failed", data=orjson.loads(failed(error).body))
        return
    yield ServerSentEvent(event="done", data=dict(counts))


def _opened(
    file: IO[bytes], name: str, graph: str, format: str | None, options: Options
) -> tuple[list[Item], Iterator[Item]]:
    """Read the first item; in a thread, because a JSON document is read whole first."""
    items = read(file, name, graph, format=format, options=options)
    return list(islice(items, 1)), items


async def _turns(opened: OpenedImport, counts: Counter[str], rejected: Rejections) -> AsyncIterator[Turn]:
    """Yield the turns, moved to the graph of the path; count and list the bad lines."""
    while items := await opened.slot.read(lambda: list(islice(opened.items, AHEAD))):
        for item in items:
            if isinstance(item, BadLine):
                counts["published"] += 1
                counts["rejected"] += 1
                rejected.add(item.description)
            else:
                yield item if item.graph == opened.graph else item.model_copy(update={"graph": opened.graph})


async def _folded(memory: MemoryClient, turns: AsyncIterator[Turn]) -> AsyncGenerator[Outcome | None]:
    async for _, outcome in memory.publish_many(turns, window=AT_ONCE):
        yield outcome if isinstance(outcome, Outcome) else None


async def _counted(turns: AsyncIterator[Turn]) -> AsyncGenerator[None]:
    async for _ in turns:
        yield None


class Rejections:
    """The reasons that are still to be listed; of an import, LISTED ones at most."""

    def __init__(self) -> None:
        self._reasons: list[str] = []
        self._listed = 0

    def add(self, reason: str) -> None:
        """Append a reason, up to LISTED of them."""
        if self._listed < LISTED:
            self._listed += 1
            self._reasons.append(reason)

    def events(self) -> Iterator[ServerSentEvent]:
        """Yield the reasons since the last call."""
        reasons, self._reasons = self._reasons, []
        for reason in reasons:
            yield ServerSentEvent(event="rejected", data={"reason": reason})
