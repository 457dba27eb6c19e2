"""Memory: the same client for programs without an event loop.

    with Memory(graph="ada") as memory:
        memory.add("The kettle broke again.", speaker="Ada")
        print(memory.search("what broke?").context)

An event loop runs in a background thread, and every call waits for its answer there, so any number of threads can
share one Memory.  If you forget to close it, nothing is lost and nothing hangs: the thread is a daemon, and the client
is closed when the interpreter exits.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import uuid4

from emgas.client.client import A, Asks, MemoryClient
from emgas.errors import InvalidMessageError, TransportError
from emgas.messages.contents import Turns
from emgas.messages.people import Profiled
from emgas.messages.queries import Description, Reply
from emgas.messages.requests import Outcome
from emgas.wire import Receipt

T = TypeVar("T")
CLOSING_SECONDS = 30.0  # an embedded worker hands over its partitions


class Memory:
    """A blocking client of one EMGAS.  Its methods are those of MemoryClient, with `graph` as a keyword.

    A call without `graph` uses the graph of the Memory.
    """

    def __init__(self, url: str | None = None, *, graph: str | None = None, **options: Any) -> None:
        """Set the address of the memory; `open` connects to it.

        graph         whose memory this is, for calls that do not name one
        url, options  as those of MemoryClient
        """
        self._graph = graph
        self._client = MemoryClient(url, **options)
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> Self:
        """Connect to the memory; `with` calls this."""
        if self._loop is not None:
            raise TransportError("this memory is open already")
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="emgas-memory", daemon=True)
        thread.start()
        self._loop, self._thread = loop, thread
        try:
            self._wait(self._client.open())
        except BaseException:
            self._end()
            raise
        atexit.register(self.close)
        return self

    def close(self) -> None:
        """Disconnect.  Closing twice is harmless."""
        if self._loop is None:
            return
        atexit.unregister(self.close)
        try:
            self._wait(self._client.close(), CLOSING_SECONDS)
        finally:
            self._end()

    def add(
        self,
        text: str,
        *,
        speaker: str = "user",
        graph: str | None = None,
        session: str = "main",
        id: str | None = None,
        at: datetime | str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Remember an utterance; return once a search can find it.

        at  when it was said: ISO 8601, a datetime, or ms; now by default
        id  adding the same id again has no effect; a new one by default
        """
        name = id or uuid4().hex
        turn = {"id": name, "graph": self._named(graph), "speaker": speaker, "text": text, "session": session}
        return self._wait(self._client.record({**turn, "at": at, "metadata": dict(metadata or {})}))

    def search(self, question: str, *, graph: str | None = None, **options: Any) -> Reply:
        """Return the turns that answer a question, and a context for a prompt.  `options`: as MemoryClient.query."""
        return self._wait(self._client.query(self._named(graph), question, **options))

    def send(self, request: Asks[A], *, after: Receipt | int | None = None) -> A:
        """Send any message and return its answer, as MemoryClient.send: `memory.send(Recap(graph="ada", limit=3))`."""
        return self._wait(self._client.send(request, after=after))

    def describe(self, graph: str | None = None) -> Description:
        """Return what a graph holds: its themes, its settings, and how many turns and concepts."""
        return self._wait(self._client.describe(self._named(graph)))

    def turns(self, *, graph: str | None = None, **options: Any) -> Turns:
        """Read one page of a graph's turns.  `options`: as MemoryClient.turns."""
        return self._wait(self._client.turns(self._named(graph), **options))

    def graphs(self) -> list[str]:
        """List the graphs that you may read."""
        return self._wait(self._client.graphs())

    def profile(self, name: str | None = None, *, graph: str | None = None, **options: Any) -> Profiled:
        """Return what a graph knows of a person, or of everybody.  `options`: as MemoryClient.profile."""
        return self._wait(self._client.profile(self._named(graph), name, **options))

    def configure(self, preset: str = "default", *, graph: str | None = None, **settings: Any) -> Outcome:
        """Configure a graph, replacing all earlier settings.  `settings`: as MemoryClient.configure."""
        return self._wait(self._client.configure(self._named(graph), preset, **settings))

    def forget(
        self,
        *,
        concepts: Sequence[str] = (),
        turns: Sequence[str] = (),
        sessions: Sequence[str] = (),
        everything: bool = False,
        word_only: bool = False,
        graph: str | None = None,
    ) -> Outcome:
        """Forget concepts with the turns that mention them, turns and sessions of a graph, or everything in it."""
        options: dict[str, Any] = {"everything": everything, "word_only": word_only}
        return self._wait(self._client.forget(self._named(graph), concepts, turns, sessions=sessions, **options))

    async def call(self, call: Callable[[MemoryClient], Coroutine[Any, Any, T]]) -> T:
        """Await a call of the underlying MemoryClient, from any event loop."""
        loop = self._opened()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call(self._client), loop))

    def _opened(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise TransportError("this memory is not open: use `with Memory(...) as memory`, or call open()")
        return self._loop

    def _named(self, graph: str | None) -> str:
        name = graph or self._graph
        if name is None:
            raise InvalidMessageError('graph: is missing: name it in Memory(graph="ada"), or in the call')
        return name

    def _wait(self, call: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        try:
            loop = self._opened()
        except TransportError:
            call.close()
            raise
        return asyncio.run_coroutine_threadsafe(call, loop).result(seconds)

    def _end(self) -> None:
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join(CLOSING_SECONDS)
            loop.close()
