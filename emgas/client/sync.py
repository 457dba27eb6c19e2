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

from emgas.client.client import MemoryClient
from emgas.errors import InvalidMessageError, TransportError
from emgas.messages.contents import Turns
from emgas.messages.extracts import Extracted, TurnText
from emgas.messages.people import Profiled
from emgas.messages.pictures import Compared, Pictured
from emgas.messages.queries import Description, Reply
from emgas.messages.requests import Outcome, Right
from emgas.messages.sessions import InMind
from emgas.messages.several import Merged
from emgas.messages.views import Explored, Recapped, Recurring, Trended

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

    def search_several(self, question: str, graphs: Sequence[str], **options: Any) -> Merged:
        """Ask several graphs one question and merge the answers.  `options`: as MemoryClient.query_several."""
        return self._wait(self._client.query_several(graphs, question, **options))

    def describe(self, graph: str | None = None) -> Description:
        """Return what a graph holds: its themes, its settings, and how many turns and concepts."""
        return self._wait(self._client.describe(self._named(graph)))

    def turns(self, *, graph: str | None = None, **options: Any) -> Turns:
        """Read one page of a graph's turns.  `options`: as MemoryClient.turns."""
        return self._wait(self._client.turns(self._named(graph), **options))

    def graphs(self) -> list[str]:
        """List the graphs that you may read."""
        return self._wait(self._client.graphs())

    def picture(self, *, graph: str | None = None, **options: Any) -> Pictured:
        """Return a graph's strongest concepts and links.  `options`: as MemoryClient.picture."""
        return self._wait(self._client.picture(self._named(graph), **options))

    def compare(
        self,
        since: datetime | str | int,
        until: datetime | str | int | None = None,
        *,
        graph: str | None = None,
        limit: int = 100,
    ) -> Compared:
        """Compare a graph at two times: which concepts are new, grew, faded or were archived."""
        return self._wait(self._client.compare(self._named(graph), since, until, limit=limit))

    def recap(self, *, sessions: Sequence[str] = (), graph: str | None = None, **options: Any) -> Recapped:
        """Return what conversations were about: these, or the latest.  `options`: as MemoryClient.recap."""
        return self._wait(self._client.recap(self._named(graph), sessions, **options))

    def trend(self, text: str | None = None, *, graph: str | None = None, **options: Any) -> Trended:
        """Count how often something is mentioned over time.  `options`: as MemoryClient.trend."""
        return self._wait(self._client.trend(self._named(graph), text, **options))

    def profile(self, name: str | None = None, *, graph: str | None = None, **options: Any) -> Profiled:
        """Return what a graph knows of a person, or of everybody.  `options`: as MemoryClient.profile."""
        return self._wait(self._client.profile(self._named(graph), name, **options))

    def habits(self, text: str | None = None, *, graph: str | None = None, **options: Any) -> Recurring:
        """Return what recurs in a graph.  `options`: as MemoryClient.habits."""
        return self._wait(self._client.habits(self._named(graph), text, **options))

    def explore(self, concept: str, *, graph: str | None = None, **options: Any) -> Explored:
        """Return what a graph knows of a concept, and its links.  `options`: as MemoryClient.explore."""
        return self._wait(self._client.explore(self._named(graph), concept, **options))

    def recent(self, session: str | None = None, *, graph: str | None = None, **options: Any) -> InMind:
        """Return a conversation's latest turns and keywords.  `options`: as MemoryClient.recent."""
        return self._wait(self._client.recent(self._named(graph), session, **options))

    def extract(self, turns: Sequence[TurnText | Mapping[str, Any]]) -> Extracted:
        """Return what the memory would understand of turns.  Nothing is stored."""
        return self._wait(self._client.extract(turns))

    def end_session(self, session: str = "main", *, graph: str | None = None) -> Outcome:
        """End a conversation.  It is summarised, and the next one starts with the summary."""
        return self._wait(self._client.end_session(self._named(graph), session))

    def pause(self, *, recording: bool = True, recalling: bool = True, graph: str | None = None) -> Outcome:
        """Stop a graph from recording turns, from answering with them, or both, until `resume`."""
        return self._wait(self._client.pause(self._named(graph), recording=recording, recalling=recalling))

    def resume(self, *, recording: bool = True, recalling: bool = True, graph: str | None = None) -> Outcome:
        """Resume recording turns in a paused graph, or answering with them, or both."""
        return self._wait(self._client.resume(self._named(graph), recording=recording, recalling=recalling))

    def grant(self, subject: str, rights: Sequence[Right], *, graph: str | None = None) -> Outcome:
        """Grant a subject rights in a graph.  From the first grant on, only subjects with a right have access."""
        return self._wait(self._client.grant(self._named(graph), subject, rights))

    def revoke(self, subject: str, rights: Sequence[Right], *, graph: str | None = None) -> Outcome:
        """Revoke rights of a subject in a graph."""
        return self._wait(self._client.revoke(self._named(graph), subject, rights))

    def configure(self, preset: str = "default", *, graph: str | None = None, **settings: Any) -> Outcome:
        """Configure a graph, replacing all earlier settings.  `settings`: as MemoryClient.configure."""
        return self._wait(self._client.configure(self._named(graph), preset, **settings))

    def erase(
        self, *, turn: str | None = None, speaker: str | None = None, whole: bool = False, graph: str | None = None
    ) -> Outcome:
        """Permanently erase one turn of an encrypted graph, all turns of a speaker, or the whole graph."""
        return self._wait(self._client.erase(self._named(graph), turn=turn, speaker=speaker, whole=whole))

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

    def pin(self, *, concepts: Sequence[str] = (), turns: Sequence[str] = (), graph: str | None = None) -> Outcome:
        """Pin concepts and turns: they do not fade until you unpin them."""
        return self._wait(self._client.pin(self._named(graph), concepts, turns))

    def unpin(self, *, concepts: Sequence[str] = (), turns: Sequence[str] = (), graph: str | None = None) -> Outcome:
        """Unpin concepts and turns, so that they fade again."""
        return self._wait(self._client.unpin(self._named(graph), concepts, turns))

    def feedback(
        self, turns: Sequence[str], value: float, *, query: str | None = None, graph: str | None = None
    ) -> Outcome:
        """Rate turns that came back: 1 for right, −1 for wrong, or any number between."""
        return self._wait(self._client.feedback(self._named(graph), turns, value, query=query))

    def undo(self, first: int, last: int | None = None, *, graph: str | None = None) -> Outcome:
        """Undo a graph's events `first`..`last` (None: up to the newest), counted from 0."""
        return self._wait(self._client.undo(self._named(graph), first, last))

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
