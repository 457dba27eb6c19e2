"""Memory: the same client for programs without an event loop.

    with Memory(graph="ada") as memory:
        memory.add("The kettle broke again.", speaker="Ada")
        print(memory.search("what broke?").context)

A loop of its own runs in a thread of its own, and every call waits there for its answer; so any number of threads may
share one Memory.  Who forgets to close it loses nothing (every call has returned what the log acknowledged) and does
not hang: the thread is a daemon, and closes the client when the interpreter ends.
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

from emgas.client.client import MemoryClient
from emgas.errors import InvalidMessageError, TransportError
from emgas.messages.contents import Turns
from emgas.messages.pictures import Compared, Pictured
from emgas.messages.queries import Description, Reply
from emgas.messages.rights import Right
from emgas.messages.sessions import InMind
from emgas.messages.several import Merged
from emgas.messages.turns import Outcome
from emgas.messages.views import Explored, Recapped, Recurring, Trended

T = TypeVar("T")
CLOSING_SECONDS = 30.0  # an embedded worker hands over its partitions


class Memory:
    """A blocking client of one EMGAS; `graph` is whose memory a call means that names none."""

    def __init__(self, url: str | None = None, *, graph: str | None = None, **options: Any) -> None:
        """`url` and `options`: as those of MemoryClient."""
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
        """Connect; what `with` does."""
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
        """Let go.  Doing so twice does nothing."""
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
        """Remember something that was said; returns once it can be found.

        `at`: when it was said (ISO 8601, a datetime, or ms), now if not given.  The same `id` again has no effect.
        """
        name = id or uuid4().hex
        turn = {"id": name, "graph": self._named(graph), "speaker": speaker, "text": text, "session": session}
        return self._wait(self._client.record({**turn, "at": at, "metadata": dict(metadata or {})}))

    def search(self, question: str, *, graph: str | None = None, **options: Any) -> Reply:
        """Find what answers a question.  `options`: those of MemoryClient.query."""
        return self._wait(self._client.query(self._named(graph), question, **options))

    def search_several(self, question: str, graphs: Sequence[str], **options: Any) -> Merged:
        """Find what answers a question in several graphs.  `options`: those of MemoryClient.query_several."""
        return self._wait(self._client.query_several(graphs, question, **options))

    def describe(self, graph: str | None = None) -> Description:
        """Tell what a graph holds: its themes, its settings, how much."""
        return self._wait(self._client.describe(self._named(graph)))

    def turns(self, *, graph: str | None = None, **wanted: Any) -> Turns:
        """Read turns as they were said, a page of them.  `wanted`: what MemoryClient.turns takes."""
        return self._wait(self._client.turns(self._named(graph), **wanted))

    def graphs(self) -> list[str]:
        """List the graphs that there are."""
        return self._wait(self._client.graphs())

    def picture(self, *, graph: str | None = None, **wanted: Any) -> Pictured:
        """Tell what a graph looks like.  `wanted`: what MemoryClient.picture takes."""
        return self._wait(self._client.picture(self._named(graph), **wanted))

    def compare(
        self,
        since: datetime | str | int,
        until: datetime | str | int | None = None,
        *,
        graph: str | None = None,
        limit: int = 100,
    ) -> Compared:
        """Tell what changed in a graph between two times."""
        return self._wait(self._client.compare(self._named(graph), since, until, limit=limit))

    def recap(self, *, sessions: Sequence[str] = (), graph: str | None = None, **wanted: Any) -> Recapped:
        """Tell what conversations were about.  `wanted`: what MemoryClient.recap takes."""
        return self._wait(self._client.recap(self._named(graph), sessions, **wanted))

    def trend(self, text: str | None = None, *, graph: str | None = None, **wanted: Any) -> Trended:
        """Tell how often something is spoken of.  `wanted`: what MemoryClient.trend takes."""
        return self._wait(self._client.trend(self._named(graph), text, **wanted))

    def habits(self, text: str | None = None, *, graph: str | None = None, **wanted: Any) -> Recurring:
        """Tell what recurs.  `wanted`: what MemoryClient.habits takes."""
        return self._wait(self._client.habits(self._named(graph), text, **wanted))

    def explore(self, concept: str, *, graph: str | None = None, **wanted: Any) -> Explored:
        """Tell what a concept is to a graph.  `wanted`: what MemoryClient.explore takes."""
        return self._wait(self._client.explore(self._named(graph), concept, **wanted))

    def recent(self, session: str | None = None, *, graph: str | None = None, **wanted: Any) -> InMind:
        """Tell what is in mind of a conversation.  `wanted`: what MemoryClient.recent takes."""
        return self._wait(self._client.recent(self._named(graph), session, **wanted))

    def end_session(self, session: str = "main", *, graph: str | None = None) -> Outcome:
        """Say that a conversation is over."""
        return self._wait(self._client.end_session(self._named(graph), session))

    def pause(self, *, recording: bool = True, recalling: bool = True, graph: str | None = None) -> Outcome:
        """Let a graph record nothing, or bring back nothing, or both, until `resume`."""
        return self._wait(self._client.pause(self._named(graph), recording=recording, recalling=recalling))

    def resume(self, *, recording: bool = True, recalling: bool = True, graph: str | None = None) -> Outcome:
        """Let a graph that was paused record, or bring back, again."""
        return self._wait(self._client.resume(self._named(graph), recording=recording, recalling=recalling))

    def grant(self, subject: str, rights: Sequence[Right], *, graph: str | None = None) -> Outcome:
        """Let a subject do this in a graph."""
        return self._wait(self._client.grant(self._named(graph), subject, rights))

    def revoke(self, subject: str, rights: Sequence[Right], *, graph: str | None = None) -> Outcome:
        """Let a subject no longer do this in a graph."""
        return self._wait(self._client.revoke(self._named(graph), subject, rights))

    def configure(self, preset: str = "default", *, graph: str | None = None, **settings: Any) -> Outcome:
        """Say how a graph is to live from here on."""
        return self._wait(self._client.configure(self._named(graph), preset, **settings))

    def erase(
        self, *, turn: str | None = None, speaker: str | None = None, whole: bool = False, graph: str | None = None
    ) -> Outcome:
        """Erase for ever one turn of an encrypted graph, or all that a speaker said in it, or the whole graph."""
        return self._wait(self._client.erase(self._named(graph), turn=turn, speaker=speaker, whole=whole))

    def forget(
        self,
        *,
        concepts: Sequence[str] = (),
        turns: Sequence[str] = (),
        sessions: Sequence[str] = (),
        everything: bool = False,
        graph: str | None = None,
    ) -> Outcome:
        """Let a graph forget concepts, turns and sessions, or everything."""
        name = self._named(graph)
        return self._wait(self._client.forget(name, concepts, turns, sessions=sessions, everything=everything))

    def pin(self, *, concepts: Sequence[str] = (), turns: Sequence[str] = (), graph: str | None = None) -> Outcome:
        """Keep concepts and turns in mind: they do not fade until they are unpinned."""
        return self._wait(self._client.pin(self._named(graph), concepts, turns))

    def unpin(self, *, concepts: Sequence[str] = (), turns: Sequence[str] = (), graph: str | None = None) -> Outcome:
        """Let concepts and turns that were pinned fade again."""
        return self._wait(self._client.unpin(self._named(graph), concepts, turns))

    def feedback(
        self, turns: Sequence[str], value: float, *, query: str | None = None, graph: str | None = None
    ) -> Outcome:
        """Say of turns that came back whether they were right, 1, or wrong, −1."""
        return self._wait(self._client.feedback(self._named(graph), turns, value, query=query))

    def undo(self, first: int, last: int | None = None, *, graph: str | None = None) -> Outcome:
        """Take back a graph's events `first`..`last`."""
        return self._wait(self._client.undo(self._named(graph), first, last))

    async def call(self, call: Callable[[MemoryClient], Coroutine[Any, Any, T]]) -> T:
        """Await a call of the client beneath, from whichever event loop."""
        loop = self._opened()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(call(self._client), loop))

    def _opened(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            raise TransportError("this memory is not open: use `with Memory(...) as memory`, or call open()")
        return self._loop

    def _named(self, graph: str | None) -> str:
        name = graph or self._graph
        if name is None:
            raise InvalidMessageError('graph: say whose memory this is: Memory(graph="ada"), or graph= in the call')
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
