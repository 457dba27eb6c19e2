"""MemoryClient: publish turns, ask questions, and await the answers, over Kafka, HTTP or the embedded log.

    async with MemoryClient("kafka://localhost:9092") as memory:
        turn = Turn(id="42", graph="ada", speaker="Ada", text="The kettle broke again.")
        there = await memory.publish(turn)
        reply = await memory.query("ada", "what broke?", after=there)

This file turns calls into records and answers into results or errors; emgas/client/request_reply.py matches answers to
calls, and a `Connection` carries the records.  No state lives here: every call can be repeated, on any client.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack
from uuid import uuid4

from emgas.client.answers import expect as _expect
from emgas.client.answers import moment as _time
from emgas.client.answers import names as _named
from emgas.client.bulk import Turns as Published
from emgas.client.bulk import publish_all
from emgas.client.connect import connect, named_topics
from emgas.client.connection import Connection
from emgas.client.query_arguments import asking, filtering
from emgas.client.request_reply import RequestReply
from emgas.client.several import asked_of_all, named
from emgas.client.traces import traced
from emgas.errors import InvalidMessageError, TransportError, WrongEventLoopError
from emgas.messages.advice import Advice
from emgas.messages.contents import Graphs, List, Read, Turns
from emgas.messages.filters import Filter
from emgas.messages.memory_settings import Settings
from emgas.messages.modes import Mode
from emgas.messages.operator import Checkpoint, Checkpointed, Inspect, Inspection
from emgas.messages.pictures import Compare, Compared, Picture, Pictured
from emgas.messages.queries import Describe, Description, Query, Reply
from emgas.messages.rights import Grant, Revoke, Right
from emgas.messages.sessions import EndSession, InMind, Recent
from emgas.messages.several import Merged
from emgas.messages.spreading import Spreading
from emgas.messages.topics import Answer, OfGraph, OfPartition
from emgas.messages.turns import Configure, Erase, Feedback, Forget, Outcome, Pin, Turn, Undo, Unpin
from emgas.messages.views import Explore, Explored, Habits, Recap, Recapped, Recurring, Trend, Trended
from emgas.validation import build, checked_graph, encode
from emgas.wire import ProducerRecord, Receipt, cloud_event, partition_of

# How a client says something of what is in a graph: advice, which stands beside what was said.


class Advising:
    """The part of MemoryClient that advises."""

    async def advise(
        self, graph: str, by: str, *, id: str | None = None, timeout: float | None = None, **said: Any
    ) -> Outcome:
        """Say something of what is in a graph; `said`: one of named, rated, summary, rewritten, split, judged (Advice).

        by  who says it, with its version

        The outcome is `rejected` where it does not fit what the graph holds.
        """
        return await self._command(Advice, graph, id=id, timeout=timeout, fields={**said, "by": by})

    async def _command(
        self, kind: Any, graph: str, *, id: str | None, timeout: float | None, fields: Mapping[str, Any]
    ) -> Outcome:
        raise NotImplementedError


if TYPE_CHECKING:
    from emgas.client.kafka import Security

When = datetime | str | int  # as emgas.times reads it
Subject = str | Callable[[], str | None]


class MemoryClient(Advising):
    """A client of one EMGAS.  Any number of calls may wait at once; it belongs to one event loop.

    Every call raises TransportError when the log refuses or is out of reach, NoAnswerError after `timeout` seconds, and
    InvalidMessageError, with nothing sent, for a message that breaks the contract.
    """

    def __init__(
        self,
        url: str | Connection | None = None,
        *,
        prefix: str | None = None,
        timeout: float = 10.0,
        key: str | None = None,
        subject: Subject | None = None,
        **security: Unpack[Security],
    ) -> None:
        """Remember where the memory is.

        url       kafka://host:port[,host:port], embedded:DIRECTORY, http://host:port (`emgas serve`), or a Connection;
                  by default $EMGAS_BROKER, else the embedded log in $EMGAS_DATA; prefix: $EMGAS_PREFIX, else emgas
        key       for http:// only, by default $EMGAS_KEY
        subject   on whose behalf, for graphs that grant rights (`grant`): a name, or what gives it when a call is made;
                  None: of who runs the memory.  A gateway takes the name of the key instead
        security  emgas.client.kafka.Security, for kafka:// only; by default, what EMGAS_* variables say
        """
        self._url = url
        self._prefix = prefix
        self._timeout = timeout
        self._key = key
        self._subject = subject
        self._security = security
        self._loop: asyncio.AbstractEventLoop | None = None
        self._request_reply: RequestReply | None = None

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> Self:
        """Connect; what `async with` does."""
        if self._request_reply is not None:
            raise TransportError("this client is open already")
        topics = named_topics(self._prefix)
        connection = traced(connect(self._url, topics, self._timeout, key=self._key, **self._security))
        request_reply = RequestReply(connection, self._subject)
        await request_reply.open()
        self._request_reply, self._loop = request_reply, asyncio.get_running_loop()
        return self

    def on_behalf_of(self, subject: Subject | None, rights: Callable[[], Collection[str] | None] | None = None) -> None:
        """Call for another subject from here on: a gateway, for who sent the request that it passes on.

        rights    gives what that one may do at most, when a call is made; None: all
        """
        self._subject = self._open.subject = subject
        self._open.rights = rights or (lambda: None)

    async def close(self) -> None:
        """Let go.  Doing so twice does nothing."""
        if self._request_reply is None:
            return
        request_reply, self._request_reply = self._open, None
        await request_reply.close()

    async def publish(self, turn: Turn | Mapping[str, Any], timeout: float | None = None) -> Receipt:
        """Append a turn to the log; return once the log has it.  What becomes of it is not awaited."""
        return await self._open.append(self._turn_record(turn), self._seconds(timeout))

    async def record(self, turn: Turn | Mapping[str, Any], timeout: float | None = None) -> Outcome:
        """Append a turn; return what its graph's owner made of it: accepted, duplicate or rejected."""
        return _expect(Outcome, await self._open.ask(self._turn_record(turn), self._seconds(timeout)))

    def publish_many(
        self,
        turns: Published,
        *,
        window: int = 500,
        outcomes: bool = True,
        tries: int = 5,
        timeout: float | None = None,
    ) -> AsyncIterator[tuple[Turn, Outcome | Receipt]]:
        """Publish many turns, at most `window` in flight, and yield each with its outcome, in the order given.

        With `outcomes=False` each comes with the log's acknowledgement, which is faster.  What gets no answer within
        the timeout is sent again, up to `tries` times in all, before NoAnswerError is raised (emgas/client/bulk.py).
        """

        async def send(turn: Turn) -> Outcome | Receipt:
            return await (self.record(turn, timeout) if outcomes else self.publish(turn, timeout))

        return publish_all(turns, send, window, tries=tries)

    async def query(
        self,
        graph: str,
        text: str,
        *,
        after: Receipt | int | None = None,
        as_of: datetime | str | int | None = None,
        spreading: Spreading | Mapping[str, Any] | None = None,
        only: Filter | Mapping[str, Any] | None = None,
        timeout: float | None = None,
        **options: Any,
    ) -> Reply:
        """Ask a graph; `options`: the other fields of Query.

        after    answer only once that turn is folded
        as_of    answer from the graph as it was then: ISO 8601 or a datetime (without a zone, by `timezone`), or ms
        only     which turns may come back: the fields of emgas.Filter; its times as `as_of`
        """
        graph = checked_graph(graph)
        fields = {"graph": graph, "text": text, "after": await self._offset(graph, after), "as_of": as_of}
        return await self.ask(asking(spreading, only, {**options, **fields}), timeout)

    async def query_several(
        self,
        graphs: Sequence[str],
        text: str,
        *,
        top_passages: int | None = None,
        budget: int = 1000,
        timeout: float | None = None,
        **options: Any,
    ) -> Merged:
        """Ask several graphs at once, as `query` does, and merge the answers by rank; each passage has its graph.

        One that fails, as where the subject may not read it, says so, and the others answer.
        """
        names = [checked_graph(graph) for graph in named(graphs)]
        options |= {"top_passages": top_passages, "timeout": timeout}
        return await asked_of_all(
            names, lambda graph, share: self.query(graph, text, budget=share, **options), budget, top_passages
        )

    async def ask(self, query: Query, timeout: float | None = None) -> Reply:
        """Ask a graph.  Raises QueryFailedError when its owner answers with a failure."""
        return _expect(Reply, await self._asked(query, timeout))

    async def describe(
        self,
        graph: str,
        after: Receipt | int | None = None,
        timeout: float | None = None,
        *,
        measures: bool = False,
    ) -> Description:
        """Ask what a graph holds: its topics, its settings, how much.  Raises QueryFailedError, as `ask` does.

        measures  how it hangs together too, which takes some milliseconds
        """
        graph = checked_graph(graph)
        fields = {"graph": graph, "after": await self._offset(graph, after), "measures": measures}
        describe = build(Describe, fields)
        return _expect(Description, await self._asked(describe, timeout))

    async def turns(
        self,
        graph: str,
        *,
        after: Receipt | int | None = None,
        as_of: When | None = None,
        timeout: float | None = None,
        **wanted: Any,
    ) -> Turns:
        """Read turns as they were said, a page of them; `wanted`: the other fields of Read.  Raises as `ask` does.

        ids; or session, concept, newest, limit, and as `cursor` the `next` of the page before
        """
        moment = await self._moment(graph, after, as_of)
        return _expect(Turns, await self._asked(build(Read, {**wanted, **moment}), timeout))

    async def graphs(self, timeout: float | None = None, *, patterns: Sequence[str] | None = None) -> list[str]:
        """List the graphs that the caller may read.  Raises QueryFailedError, as `ask`.

        patterns  only graphs that one of these fits: a name, or a prefix and *
        """
        wanted = List(patterns=None if patterns is None else list(patterns))
        listed = [await self._graphs_of(partition, wanted, timeout) for partition in range(await self.partitions())]
        return sorted(name for names in listed for name in names)

    async def _graphs_of(self, partition: int, wanted: List, timeout: float | None) -> list[str]:
        page = _expect(Graphs, await self._asked_of(wanted, partition, timeout))
        found = list(page.graphs)
        while page.next is not None:
            following = wanted.model_copy(update={"after": page.next})
            page = _expect(Graphs, await self._asked_of(following, partition, timeout))
            found += page.graphs
        return found

    async def picture(
        self,
        graph: str,
        *,
        after: Receipt | int | None = None,
        as_of: When | None = None,
        timeout: float | None = None,
        **wanted: Any,
    ) -> Pictured:
        """Ask what a graph looks like; `wanted`: around, hops, nodes, links, passages, as Picture has them."""
        moment = await self._moment(graph, after, as_of)
        return _expect(Pictured, await self._asked(build(Picture, {**wanted, **moment}), timeout))

    async def compare(
        self,
        graph: str,
        since: When,
        until: When | None = None,
        *,
        limit: int = 100,
        after: Receipt | int | None = None,
        timeout: float | None = None,
    ) -> Compared:
        """Ask what changed in a graph between two times: what was born, grew, faded and was archived."""
        times = {"since": _time(since), "until": _time(until)}
        fields = {**times, "graph": graph, "limit": limit, "after": await self._offset(graph, after)}
        return _expect(Compared, await self._asked(build(Compare, fields), timeout))

    async def recap(
        self,
        graph: str,
        sessions: Sequence[str] = (),
        *,
        after: Receipt | int | None = None,
        as_of: When | None = None,
        timeout: float | None = None,
        **wanted: Any,
    ) -> Recapped:
        """Ask what conversations were about: these sessions, or the last ones; `wanted`: limit, words."""
        fields = {**wanted, **_named(sessions=sessions), **await self._moment(graph, after, as_of)}
        return _expect(Recapped, await self._asked(build(Recap, fields), timeout))

    async def trend(
        self,
        graph: str,
        text: str | None = None,
        *,
        only: Filter | Mapping[str, Any] | None = None,
        after: Receipt | int | None = None,
        as_of: When | None = None,
        timeout: float | None = None,
        **wanted: Any,
    ) -> Trended:
        """Ask how often something, without a text anything, is said, since when and when not; `wanted`: by, offset."""
        fields = {**wanted, "text": text, "only": filtering(only), **await self._moment(graph, after, as_of)}
        return _expect(Trended, await self._asked(build(Trend, fields), timeout))

    async def habits(
        self,
        graph: str,
        text: str | None = None,
        *,
        after: Receipt | int | None = None,
        as_of: When | None = None,
        timeout: float | None = None,
        **wanted: Any,
    ) -> Recurring:
        """Ask what recurs, how often, since when and when not: all of it, or what a text asks for.

        `wanted`: speaker, limit.
        """
        fields = {**wanted, "text": text, **await self._moment(graph, after, as_of)}
        return _expect(Recurring, await self._asked(build(Habits, fields), timeout))

    async def explore(
        self,
        graph: str,
        concept: str,
        *,
        after: Receipt | int | None = None,
        as_of: When | None = None,
        timeout: float | None = None,
        **wanted: Any,
    ) -> Explored:
        """Ask what a concept is to a graph and what it is linked with; `wanted`: to, hops, relation, limit."""
        fields = {**wanted, "concept": concept, **await self._moment(graph, after, as_of)}
        return _expect(Explored, await self._asked(build(Explore, fields), timeout))

    async def recent(
        self,
        graph: str,
        session: str | None = None,
        *,
        limit: int = 10,
        after: Receipt | int | None = None,
        as_of: When | None = None,
        timeout: float | None = None,
    ) -> InMind:
        """Ask what is in mind of a conversation, the latest one without a name, and what it inherits from the last."""
        fields = {"session": session, "limit": limit, **await self._moment(graph, after, as_of)}
        return _expect(InMind, await self._asked(build(Recent, fields), timeout))

    async def end_session(
        self, graph: str, session: str = "main", *, id: str | None = None, timeout: float | None = None
    ) -> Outcome:
        """Say that a conversation is over: it is summed up, and the next one inherits what it was about."""
        return await self._command(EndSession, graph, id=id, timeout=timeout, fields={"session": session})

    async def pause(
        self, graph: str, *, recording: bool = True, recalling: bool = True, timeout: float | None = None
    ) -> Outcome:
        """Let a graph record nothing, or bring back nothing, or both, until `resume`."""
        return await self._switch(graph, recording=recording, recalling=recalling, value=0, timeout=timeout)

    async def resume(
        self, graph: str, *, recording: bool = True, recalling: bool = True, timeout: float | None = None
    ) -> Outcome:
        """Let a graph that was paused record, or bring back, again."""
        return await self._switch(graph, recording=recording, recalling=recalling, value=1, timeout=timeout)

    async def _switch(
        self, graph: str, *, recording: bool, recalling: bool, value: int, timeout: float | None
    ) -> Outcome:
        """Set switches, and leave all else that a graph lives by as it is."""
        known = await self.describe(graph, timeout=timeout)
        switches = (("recording", recording), ("recalling", recalling))
        changed: dict[str, Any] = known.settings | {name: value for name, on in switches if on}
        return await self.configure(graph, known.preset, timeout=timeout, **changed)

    async def grant(
        self, graph: str, subject: str, rights: Sequence[Right], *, id: str | None = None, timeout: float | None = None
    ) -> Outcome:
        """Let a subject do this in a graph from here on; a graph that grants anything is closed to all others."""
        fields = {"subject": subject, **_named(rights=rights)}
        return await self._command(Grant, graph, id=id, timeout=timeout, fields=fields)

    async def revoke(
        self, graph: str, subject: str, rights: Sequence[Right], *, id: str | None = None, timeout: float | None = None
    ) -> Outcome:
        """Let a subject no longer do this in a graph."""
        fields = {"subject": subject, **_named(rights=rights)}
        return await self._command(Revoke, graph, id=id, timeout=timeout, fields=fields)

    async def configure(
        self,
        graph: str,
        preset: str = "default",
        *,
        weights: Mapping[str, float] | None = None,
        mode: Mode | None = None,
        rerank: str | None = None,
        timezone: str | None = None,
        id: str | None = None,
        timeout: float | None = None,
        **settings: Any,
    ) -> Outcome:
        """Say how a graph is to live from here on: a preset, and the fields of emgas.Settings that differ from it.

        It is the whole of it: what an earlier call changed and this one does not name is the preset's again.

        weights  what features of a turn are worth in recall (docs/recall.md): these alone; None: as they are
        mode     of questions that name none, and rerank: by whose formula they are ordered, "none" for none
        timezone where the graph's people are, as Europe/Berlin: of turns and questions that do not say; None: as it was
        """
        fields: dict[str, Any] = {"preset": preset, "settings": build(Settings, settings)}
        fields |= {"mode": mode, "rerank": rerank, "timezone": timezone, "weights": weights and dict(weights)}
        return await self._command(Configure, graph, id=id, timeout=timeout, fields=fields)

    async def forget(
        self,
        graph: str,
        concepts: Sequence[str] = (),
        turns: Sequence[str] = (),
        *,
        sessions: Sequence[str] = (),
        everything: bool = False,
        id: str | None = None,
        timeout: float | None = None,
    ) -> Outcome:
        """Let a graph forget concepts (by id or as they were written), turns and sessions; the log keeps the past.

        everything  all that it holds

        The outcome is `rejected` when the graph holds nothing of it.
        """
        fields = {
            **_named(concepts=concepts, turns=turns, sessions=sessions),
            **({"everything": True} if everything else {}),
        }
        return await self._command(Forget, graph, id=id, timeout=timeout, fields=fields)

    async def pin(
        self,
        graph: str,
        concepts: Sequence[str] = (),
        turns: Sequence[str] = (),
        *,
        id: str | None = None,
        timeout: float | None = None,
    ) -> Outcome:
        """Keep concepts (by id or as they were written) and turns in mind: they do not fade until they are unpinned.

        The outcome is `rejected` when the graph holds nothing of it.
        """
        fields = _named(concepts=concepts, turns=turns)
        return await self._command(Pin, graph, id=id, timeout=timeout, fields=fields)

    async def unpin(
        self,
        graph: str,
        concepts: Sequence[str] = (),
        turns: Sequence[str] = (),
        *,
        id: str | None = None,
        timeout: float | None = None,
    ) -> Outcome:
        """Let concepts and turns that were pinned fade again, as `pin` names them."""
        fields = _named(concepts=concepts, turns=turns)
        return await self._command(Unpin, graph, id=id, timeout=timeout, fields=fields)

    async def feedback(
        self,
        graph: str,
        turns: Sequence[str],
        value: float,
        *,
        query: str | None = None,
        id: str | None = None,
        timeout: float | None = None,
    ) -> Outcome:
        """Say of turns that came back whether they were right, 1, or wrong, −1, or something between.

        query  the question: what it asks for is linked with what the turns say, if they were right

        The outcome is `rejected` when the graph holds none of them.
        """
        fields = {**_named(turns=turns), "value": float(value), "query": query}
        return await self._command(Feedback, graph, id=id, timeout=timeout, fields=fields)

    async def undo(
        self, graph: str, first: int, last: int | None = None, *, id: str | None = None, timeout: float | None = None
    ) -> Outcome:
        """Take back a graph's events `first`..`last` (None: to the newest), counted from 0, as if they had never been.

        The undo is itself an event: undo it, and they count again.  The outcome is `rejected` where nothing can be.
        """
        return await self._command(Undo, graph, id=id, timeout=timeout, fields={"first": first, "last": last})

    async def erase(
        self,
        graph: str,
        *,
        turn: str | None = None,
        speaker: str | None = None,
        whole: bool = False,
        id: str | None = None,
        timeout: float | None = None,
    ) -> Outcome:
        """Erase for ever one turn of an encrypted graph, or all that a speaker said in it, or the whole graph.

        Its keys are destroyed once the outcome is `accepted`: nobody can read it any more, in the log, in snapshots or
        in backups.  `duplicate`: it was erased before, so if you got no answer, ask again.  `rejected`: there is no
        such thing, or the graph is not encrypted (docs/erasure.md).
        """
        fields = {"turn": turn, "speaker": speaker, "whole": whole}
        return await self._command(Erase, graph, id=id, timeout=timeout, fields=fields)

    async def inspect(self, partition: int, *, digest: bool = True, timeout: float | None = None) -> Inspection:
        """Ask the owner of a partition what it holds, and for its digest.  Raises QueryFailedError, as `ask` does."""
        return _expect(Inspection, await self._asked_of(Inspect(digest=digest), partition, timeout))

    async def digests(self, partition: int, timeout: float | None = None) -> dict[str, str]:
        """Ask the owner of a partition for each graph's digest, in pages.  Raises QueryFailedError, as `ask` does."""
        found, page = dict[str, str](), {"": ""}
        while page:
            wanted = Inspect(digest=False, graphs_after=max(page))
            page = _expect(Inspection, await self._asked_of(wanted, partition, timeout)).digests
            found |= page
        return found

    async def checkpoint(self, partition: int, timeout: float | None = None) -> Checkpointed:
        """Have the owner of a partition write a snapshot of it.  Raises QueryFailedError, as `ask` does."""
        return _expect(Checkpointed, await self._asked_of(Checkpoint(), partition, timeout))

    async def partitions(self) -> int:
        """Count the partitions that `turns`, `events` and `queries` each have."""
        return await self._open.connection.partitions()

    @property
    def request_reply(self) -> RequestReply:
        """The open connection's records, for a program that passes on what others send (the gateway)."""
        return self._open

    @property
    def _open(self) -> RequestReply:
        if self._request_reply is None:
            raise TransportError(
                "this client is not open: use it inside `async with MemoryClient(...) as memory`, or call open()"
            )
        if self._loop is not asyncio.get_running_loop():
            raise WrongEventLoopError(
                "this client was opened in another event loop: open one in each, or share emgas.Memory between threads"
            )
        return self._request_reply

    def _seconds(self, timeout: float | None) -> float:
        return self._timeout if timeout is None else timeout

    def _turn_record(self, turn: Turn | Mapping[str, Any]) -> ProducerRecord:
        turn = turn if isinstance(turn, Turn) else build(Turn, turn)
        headers = cloud_event("turn", turn.id, turn.graph)
        return ProducerRecord(self._open.connection.topics.turns, turn.graph.encode(), encode(turn), headers)

    async def _command(
        self,
        kind: Any,
        graph: str,
        *,
        id: str | None,
        timeout: float | None,
        fields: Mapping[str, Any],
    ) -> Outcome:
        """Append a command to `turns`, where it has its place among the turns; return what became of it."""
        name = kind.__name__.lower()
        command = build(kind, {**fields, "kind": name, "id": id or uuid4().hex, "graph": graph})
        headers = cloud_event(name, command.id, command.graph)
        record = ProducerRecord(self._open.connection.topics.turns, command.graph.encode(), encode(command), headers)
        return _expect(Outcome, await self._open.ask(record, self._seconds(timeout)))

    async def _moment(self, graph: str, after: Receipt | int | None, as_of: When | None) -> dict[str, Any]:
        """Say of which graph something is asked, behind which turn, and as of when."""
        return {"graph": graph, "after": await self._offset(graph, after), "as_of": _time(as_of)}

    async def _offset(self, graph: str, after: Receipt | int | None) -> int | None:
        # Offsets count per partition: another partition's could mean a wait for a turn that never comes.
        if isinstance(after, Receipt) and after.partition != partition_of(
            checked_graph(graph), await self.partitions()
        ):
            raise InvalidMessageError("after: lies in another graph's partition: give this graph's own")
        return after.offset if isinstance(after, Receipt) else after

    async def _asked(self, question: OfGraph, timeout: float | None) -> Answer:
        """Ask the owner of a graph."""
        return await self._open.ask(
            self._question(question, question.graph.encode(), question.graph), self._seconds(timeout)
        )

    async def _asked_of(self, question: OfPartition, partition: int, timeout: float | None) -> Answer:
        """Ask the owner of a partition."""
        record = self._question(question, None, f"partition {partition}", partition=partition)
        return await self._open.ask(record, self._seconds(timeout))

    def _question(
        self, question: OfGraph | OfPartition, key: bytes | None, subject: str, *, partition: int | None = None
    ) -> ProducerRecord:
        headers = cloud_event("query", uuid4().hex, subject)
        return ProducerRecord(self._open.connection.topics.queries, key, encode(question), headers, partition)
