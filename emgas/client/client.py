"""MemoryClient: publish turns, ask questions, and await the answers, over Kafka, HTTP or the embedded log.

    async with MemoryClient("kafka://localhost:9092") as memory:
        turn = Turn(id="42", graph="ada", speaker="Ada", text="The kettle broke again.")
        there = await memory.publish(turn)
        reply = await memory.query("ada", "what broke?", after=there)

A typed method builds its message and passes it to `send`, which takes every message.  emgas/client/request_reply.py
matches answers to calls, and a `Connection` carries the records.  The client is stateless: you can repeat any call, on
any client.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, Unpack
from uuid import uuid4

from emgas import messages
from emgas.client.connect import connect, is_redacting, named_topics
from emgas.client.connection import Connection
from emgas.client.request_reply import RequestReply
from emgas.client.traces import operation, traced
from emgas.errors import InvalidMessageError, QueryFailedError, TransportError, WrongEventLoopError
from emgas.messages.requests import (
    AnswerMessage,
    Command,
    Failure,
    GraphQuestion,
    Outcome,
    PartitionQuestion,
    Question,
)
from emgas.redaction import redact_message
from emgas.times import milliseconds
from emgas.validation import build, checked_graph, encode
from emgas.wire import ProducerRecord, Receipt, cloud_event, partition_of

if TYPE_CHECKING:
    from emgas.client.bulk import Turns as Published
    from emgas.client.kafka import Security
    from emgas.messages.contents import List, Turns
    from emgas.messages.filters import Filter
    from emgas.messages.people import Profiled
    from emgas.messages.queries import Description, Fallback, MemoryKind, Render, Reply
    from emgas.messages.settings.modes import Guidance, Mode
    from emgas.messages.settings.spreading import Spreading
    from emgas.messages.turns import Turn

When = datetime | str | int  # as emgas.times reads it
Subject = str | Callable[[], str | None]
AGAIN_SECONDS = (0.05, 0.1, 0.2, 0.4, 1.25)  # before what came while its graph was on its way is sent again
A = TypeVar("A", bound=AnswerMessage)
A_co = TypeVar("A_co", bound=AnswerMessage, covariant=True)


class Asks(Protocol[A_co]):
    """A message whose class declares the class of its answer."""

    @property
    def answer(self) -> type[A_co]:
        """The class of its answer."""


class MemoryClient:
    """A client of one EMGAS.  Any number of calls may run at once, all in one event loop.

    Every call raises TransportError if the log cannot be reached or refuses, NoAnswerError after `timeout` seconds, and
    InvalidMessageError, before anything is sent, for an invalid message.  Questions raise QueryFailedError if the
    worker answers with a failure.

    These arguments mean the same in every method:

    after    a Receipt or an offset: wait until that turn is in the graph before answering
    as_of    answer from the graph as it was at this time: ISO 8601, a datetime (UTC if it has no zone), or ms
    id       sending a request again with the same id has no effect; a new id by default
    timeout  seconds to wait, instead of the client's own
    """

    def __init__(
        self,
        url: str | Connection | None = None,
        *,
        prefix: str | None = None,
        timeout: float = 10.0,
        key: str | None = None,
        subject: Subject | None = None,
        redact: bool | None = None,
        **security: Unpack[Security],
    ) -> None:
        """Set the address of the memory; `open` connects to it.

        url       kafka://host:port[,host:port], embedded:DIRECTORY, http://host:port (`emgas serve`), or a Connection;
                  by default $EMGAS_BROKER, else the embedded log in $EMGAS_DATA
        prefix    of the topics; by default $EMGAS_PREFIX, else emgas
        timeout   seconds that each call waits, unless it has its own
        key       for http:// only; by default $EMGAS_KEY
        subject   on whose behalf you call, for graphs that grant rights (`grant`): a name, or a function that returns
                  it for each call; None: the operator, with all rights.  A gateway uses the name of the key instead
        redact    replace keys, tokens and passwords in texts before they are sent; by default unless EMGAS_REDACT=off
        security  for kafka:// only: the fields of emgas.client.kafka.Security; by default from EMGAS_* variables
        """
        self._url = url
        self._prefix = prefix
        self._timeout = timeout
        self._key = key
        self._subject = subject
        self._redact = is_redacting() if redact is None else redact
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
        """Connect to the memory; `async with` calls this."""
        if self._request_reply is not None:
            raise TransportError("this client is open already")
        topics = named_topics(self._prefix)
        connection = traced(connect(self._url, topics, self._timeout, key=self._key, **self._security))
        request_reply = RequestReply(connection, self._subject)
        await request_reply.open()
        self._request_reply, self._loop = request_reply, asyncio.get_running_loop()
        return self

    def on_behalf_of(
        self,
        subject: Subject | None,
        rights: Callable[[], Collection[str] | None] | None = None,
        asker: Callable[[], str | None] | None = None,
    ) -> None:
        """Make all further calls on behalf of another subject.  A gateway does this for each request.

        rights    returns the most that the subject may do, for each call; None: everything
        asker     returns the name of the user that asks, for each call: one asker has a share of the questions at once
        """
        self._subject = self._open.subject = subject
        self._open.rights, self._open.asker = rights or (lambda: None), asker or (lambda: None)

    async def close(self) -> None:
        """Disconnect.  Closing twice is harmless."""
        if self._request_reply is None:
            return
        request_reply, self._request_reply = self._open, None
        await request_reply.close()

    async def send(
        self,
        request: Asks[A],
        *,
        after: Receipt | int | None = None,
        partition: int | None = None,
        timeout: float | None = None,
    ) -> A:
        """Send any message and return its answer: an Outcome for a turn or a command, or what a question asks for.

            outcome = await memory.send(Pin(graph="ada", concepts=["kettle"]))
            recap = await memory.send(Recap(graph="ada", limit=3), after=receipt)

        The methods below build the messages that programs send most often.  What comes while its graph is on its way
        from one memory to another is sent again, for up to two seconds.

        request    any message of emgas/messages/; docs/wire.md lists them
        after      for questions to a graph
        partition  its number, for questions to a partition: the other messages name a graph
        """
        with operation(request):
            record = await self._record(request, after, partition)
            return _expect(request.answer, await self._asked(record, self._seconds(timeout), request.answer))

    async def _asked(self, record: ProducerRecord, seconds: float, expected: type[AnswerMessage]) -> AnswerMessage:
        """Return the answer to a record.  One that was rejected only for a moment had no effect: it is sent again."""
        for pause in AGAIN_SECONDS:
            answer = await self._open.ask(record, seconds, expected)
            if not (isinstance(answer, Outcome) and answer.again):
                return answer
            await asyncio.sleep(pause)
        return await self._open.ask(record, seconds, expected)

    async def publish(self, turn: Turn | Mapping[str, Any], timeout: float | None = None) -> Receipt:
        """Append a turn to the log and return once the log has it, before it is in the graph.  See `record`."""
        for each in _turns(turn):
            with operation(each):
                receipt = await self._open.append(self._command_record(each), self._seconds(timeout))
        return receipt

    async def record(self, turn: Turn | Mapping[str, Any], timeout: float | None = None) -> Outcome:
        """Append a turn and return once it is in the graph: accepted, duplicate, or rejected with a reason.

        A mapping with a text that is too long for one turn becomes several (emgas/pieces.py), which are forgotten
        together.  The outcome is that of the first that is rejected, or of the last.
        """
        pieces = _turns(turn)
        if len(pieces) == 1:
            return await self.send(pieces[0], timeout=timeout)
        outcomes = [await self.send(piece, timeout=timeout) for piece in pieces]
        return Outcome.of_pieces(pieces[0].id, outcomes)

    def publish_many(
        self,
        turns: Published,
        *,
        window: int = 500,
        outcomes: bool = True,
        tries: int = 5,
        timeout: float | None = None,
    ) -> AsyncIterator[tuple[Turn, Outcome | Receipt]]:
        """Publish many turns, at most `window` at a time, and yield each with its outcome, in their order.

        With `outcomes=False`, each turn comes with the log's receipt instead, which is faster.  A turn without an
        answer is sent again, up to `tries` times in all, before NoAnswerError is raised (emgas/client/bulk.py).
        """
        from emgas.client.bulk import publish_all  # here: most programs send a turn at a time

        async def send(turn: Turn) -> Outcome | Receipt:
            return await (self.record(turn, timeout) if outcomes else self.publish(turn, timeout))

        return publish_all(turns, send, window, tries=tries)

    async def query(
        self,
        graph: str,
        text: str,
        *,
        after: Receipt | int | None = None,
        as_of: When | None = None,
        session: str | None = None,
        asker: str | None = None,
        timezone: str | None = None,
        only: Filter | Mapping[str, Any] | None = None,
        memory: MemoryKind | None = None,
        mode: str | None = None,
        rerank: str | None = None,
        weighting: str | None = None,
        spreading: Spreading | Mapping[str, Any] | None = None,
        guidance: Guidance | None = None,
        top_passages: int | None = None,
        top_concepts: int | None = None,
        budget: int | None = None,
        context_passages: int | None = None,
        load: float | None = None,
        like: str | None = None,
        render: Render | None = None,
        clear_from: float | None = None,
        hint_from: float | None = None,
        explain: bool = False,
        reinforce: bool = False,
        fallback: Fallback | None = None,
        min_likelihood: float | None = None,
        timeout: float | None = None,
    ) -> Reply:
        """Ask a graph a question; return the turns that answer it, and a context for a prompt.

        spreading  how activation spreads: the fields of emgas.Spreading
        only       which turns may come back: the fields of emgas.Filter; its times as `as_of`

        The other arguments are the fields of emgas.Query, which describes them; None: the default there.  A time
        without a zone is in `timezone`, if you pass it.
        """
        options: dict[str, Any] = {
            "session": session,
            "asker": asker,
            "timezone": timezone,
            "memory": memory,
            "mode": mode,
            "rerank": rerank,
            "weighting": weighting,
            "guidance": guidance,
            "top_passages": top_passages,
            "top_concepts": top_concepts,
            "budget": budget,
            "context_passages": context_passages,
            "load": load,
            "like": like,
            "render": render,
            "clear_from": clear_from,
            "hint_from": hint_from,
            "explain": explain,
            "reinforce": reinforce,
            "fallback": fallback,
            "min_likelihood": min_likelihood,
        }
        named = {name: value for name, value in options.items() if value is not None}
        graph = checked_graph(graph)
        fields = {"graph": graph, "text": text, "after": await self._offset(graph, after), "as_of": as_of}
        from emgas.client.query_arguments import build_query  # here: most of its messages are only for questions

        query = build_query(spreading, only, named | fields)
        return await self.send(query, timeout=timeout)

    async def describe(
        self,
        graph: str,
        after: Receipt | int | None = None,
        timeout: float | None = None,
        *,
        measures: bool = False,
    ) -> Description:
        """Return what a graph holds: its topics, its settings, and how many turns and concepts.

        measures  also measure how well it is connected, which takes some milliseconds
        """
        graph = checked_graph(graph)
        fields = {"graph": graph, "after": await self._offset(graph, after), "measures": measures}
        return await self.send(build(messages.queries.Describe, fields), timeout=timeout)

    async def turns(
        self,
        graph: str,
        *,
        ids: Sequence[str] = (),
        session: str | None = None,
        concept: str | None = None,
        newest: bool = False,
        cursor: int | None = None,
        limit: int = 20,
        advised: bool = False,
        after: Receipt | int | None = None,
        as_of: When | None = None,
        timeout: float | None = None,
    ) -> Turns:
        """Read one page of a graph's turns, in the order in which they were recorded.

        ids      these turns; or else all turns of a session, or with a concept, or of the whole graph
        cursor   `next` of the last page
        advised  with the advice on them
        """
        fields = {**_name_lists(ids=ids), "session": session, "concept": concept, "newest": newest, "cursor": cursor}
        fields |= {"limit": limit, "advised": advised, **await self._moment(graph, after, as_of)}
        return await self.send(build(messages.contents.Read, fields), timeout=timeout)

    async def graphs(self, timeout: float | None = None, *, patterns: Sequence[str] | None = None) -> list[str]:
        """List the graphs that you may read.

        patterns  only graphs that match one of these: a name, or a prefix and *
        """
        request = messages.contents.List(patterns=None if patterns is None else list(patterns))
        listed = [await self._graphs_of(partition, request, timeout) for partition in range(await self.partitions())]
        return sorted(name for names in listed for name in names)

    async def _graphs_of(self, partition: int, request: List, timeout: float | None) -> list[str]:
        page = await self.send(request, partition=partition, timeout=timeout)
        names = list(page.graphs)
        while page.next is not None:
            following = request.model_copy(update={"after": page.next})
            page = await self.send(following, partition=partition, timeout=timeout)
            names += page.graphs
        return names

    async def profile(
        self,
        graph: str,
        name: str | None = None,
        *,
        limit: int = 20,
        after: Receipt | int | None = None,
        as_of: When | None = None,
        timeout: float | None = None,
    ) -> Profiled:
        """Return what a graph knows of a person, or of everybody: values, history, evidence, and what has changed."""
        fields = {"name": name, "limit": limit, **await self._moment(graph, after, as_of)}
        return await self.send(build(messages.people.Profile, fields), timeout=timeout)

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
        """Configure a graph: a preset, and the fields of emgas.Settings that differ from it.

        A call replaces all settings of earlier calls: a setting that you leave out gets the preset's value.

        weights   of the features of a turn in recall (docs/recall.md), replacing all others; None: unchanged
        mode      of questions without one; None: unchanged
        rerank    the formula that orders their results, "none" for none; None: unchanged
        timezone  as Europe/Berlin, of turns and questions without one; None: unchanged
        """
        from emgas.messages.settings.memory_settings import Settings  # here: few programs need it

        fields: dict[str, Any] = {"preset": preset, "settings": build(Settings, settings)}
        fields |= {"mode": mode, "rerank": rerank, "timezone": timezone, "weights": weights and dict(weights)}
        return await self._command(messages.turns.Configure, graph, id=id, timeout=timeout, fields=fields)

    async def forget(
        self,
        graph: str,
        concepts: Sequence[str] = (),
        turns: Sequence[str] = (),
        *,
        sessions: Sequence[str] = (),
        everything: bool = False,
        word_only: bool = False,
        expected: int | None = None,
        id: str | None = None,
        timeout: float | None = None,
    ) -> Outcome:
        """Forget concepts (by id or as written) with the turns that mention them, turns, sessions, or everything.

        The log still holds what was forgotten, so an undo can restore it; `erase` destroys it.  The outcome is
        `rejected` if the graph has none of these, else `remains` says what remains.

        word_only  keep the turns that mention the concepts and something else
        expected   refuse unless exactly so many turns are forgotten, as PreviewForget counted them
        """
        from emgas.messages.forgetting import Forget  # here: few programs need it

        fields = {
            **_name_lists(concepts=concepts, turns=turns, sessions=sessions),
            **({"everything": True} if everything else {}),
            **({"word_only": True} if word_only else {}),
            **({} if expected is None else {"expected": expected}),
        }
        return await self._command(Forget, graph, id=id, timeout=timeout, fields=fields)

    async def partitions(self) -> int:
        """Count the partitions that `turns`, `events` and `queries` each have."""
        return await self._open.connection.partitions()

    @property
    def request_reply(self) -> RequestReply:
        """The records of the open connection, for a program that forwards requests of others (the gateway)."""
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

    def _command_record(self, command: Command) -> ProducerRecord:
        """Build the record of `turns` in which a command takes its place among the turns of its graph."""
        if self._redact:
            command = redact_message(command)
        headers = cloud_event(command.tag(), command.id, command.graph)
        return ProducerRecord(self._open.connection.topics.turns, command.graph.encode(), encode(command), headers)

    async def _command(
        self, kind: type[Command], graph: str, *, id: str | None, timeout: float | None, fields: Mapping[str, Any]
    ) -> Outcome:
        return await self.send(build(kind, {**fields, "id": id or uuid4().hex, "graph": graph}), timeout=timeout)

    async def _moment(self, graph: str, after: Receipt | int | None, as_of: When | None) -> dict[str, Any]:
        """Return the fields that most questions share: the graph, `after` as an offset, `as_of` as ms."""
        return {"graph": graph, "after": await self._offset(graph, after), "as_of": _milliseconds(as_of)}

    async def _offset(self, graph: str, after: Receipt | int | None) -> int | None:
        # Offsets count per partition: another partition's could mean a wait for a turn that never comes.
        if isinstance(after, Receipt) and after.partition != partition_of(
            checked_graph(graph), await self.partitions()
        ):
            raise InvalidMessageError("after: is a receipt from another partition: pass a receipt of this graph")
        return after.offset if isinstance(after, Receipt) else after

    async def _record(self, request: object, after: Receipt | int | None, partition: int | None) -> ProducerRecord:
        match request:
            case Command():
                return self._command_record(request if request.id else request.model_copy(update={"id": uuid4().hex}))
            case GraphQuestion():
                if after is not None:
                    request = request.model_copy(update={"after": await self._offset(request.graph, after)})
                return self._question_record(request, request.graph.encode(), request.graph)
            case PartitionQuestion() if partition is None:
                number = await self._any_partition(request)
                return self._question_record(request, None, f"partition {number}", number)
            case PartitionQuestion():
                return self._question_record(request, None, f"partition {partition}", partition)
        raise TypeError(f"{type(request).__name__} is no message that can be sent: see emgas/messages/")

    async def _any_partition(self, request: PartitionQuestion) -> int:
        """Choose a partition for what every worker answers alike.  Raises InvalidMessageError for other questions."""
        from emgas.messages.extracts import Extract  # here: few programs need it

        if not isinstance(request, Extract):
            raise InvalidMessageError(f"partition: `{request.kind}` asks one partition: pass its number")
        return partition_of(request.turns[0].text, await self.partitions())

    def _question_record(
        self, question: Question, key: bytes | None, subject: str, partition: int | None = None
    ) -> ProducerRecord:
        if self._redact:
            question = redact_message(question)
        headers = cloud_event("query", uuid4().hex, subject)
        return ProducerRecord(self._open.connection.topics.queries, key, encode(question), headers, partition)


def _turns(turn: Turn | Mapping[str, Any]) -> list[Turn]:
    """Return a turn, or those that a mapping with a long text becomes: one at least."""
    if isinstance(turn, messages.turns.Turn):
        return [turn]
    from emgas.pieces import in_pieces_if_long  # here: most programs send turns that fit

    return [build(messages.turns.Turn, piece) for piece in in_pieces_if_long(turn)]


def _name_lists(**names: Sequence[str]) -> dict[str, Any]:
    # A single string is a sequence of its letters: it goes on as it is, and the message refuses it.
    return {field: these if isinstance(these, str) else list(these) for field, these in names.items()}


def _milliseconds(when: When | None) -> int | None:
    return None if when is None else milliseconds(when)


def _expect(kind: type[A], answer: AnswerMessage) -> A:
    """Return an answer of `kind`.  Raises QueryFailedError for a Failure, TransportError for another kind."""
    if isinstance(answer, Failure):
        raise QueryFailedError(answer.code, answer.message, answer.moved_to)
    if not isinstance(answer, kind):
        raise TransportError(f"the worker answered with another kind, {answer.kind}: use the client of its version")
    return answer
