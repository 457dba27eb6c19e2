"""Records over HTTP: the third transport of `MemoryClient` (emgas/client/http.py speaks it).

    GET  /v1/partitions                                       how many partitions the keyed topics share
    POST /v1/records/{turns,queries}?key=&partition=&seconds= body: the record's value, as on the wire

    answer=false   202, once the log has it
    answer=true    200, once the log has it; the body is the answer's bytes, and comes when there is one.  The memory's
                   failures too are answers here, as on the wire; where none comes in time, the body stays empty
    headers        Emgas-Partition, Emgas-Offset, Emgas-Timestamp: the receipt

    POST /v1/records/turns/batch?seconds=&answer=             body: a list of values; each names its graph

The response of a batch has a line of JSON with all receipts, and then the answers, one a line, in the order of the
records.  A record that the log refused has a problem in place of its receipt.  If one record may not be sent, none is.

The value's graph must be the key, and the caller must have the rights that its kind needs: otherwise a key of one graph
would reach another.  A question for a list of graphs goes on with the patterns of the caller's key, so that the memory
filters names before it counts them.  Every answer is passed on as it came, unread.

`send` is what the document describes.  Nearly all requests are `PlainRecords`': those that every client makes, without
the framework's detours, which cost more than all else that a request does here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal, NamedTuple, cast
from urllib.parse import parse_qsl
from uuid import uuid4

import orjson
from fastapi import APIRouter, Query, Request, Response
from pydantic import TypeAdapter, ValidationError
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from emgas.client.request_reply import RequestReply
from emgas.errors import EmgasError, InvalidMessageError
from emgas.limits import BATCH_TURNS, RECORD_BYTES
from emgas.messages.contents import List
from emgas.messages.requests import Command, GraphQuestion, Question
from emgas.messages.topics import INBOUND, REQUEST
from emgas.validation import describe
from emgas.wire import Headers, ProducerRecord, Receipt, cloud_event
from gateway.auth.access import any_key, caller
from gateway.http.errors import REFUSALS, NotJsonError, failed

LONGEST_SECONDS = 600.0
LARGEST_PARTITION = 2**31 - 1
READERS: dict[str, TypeAdapter[Any]] = {"turns": INBOUND, "queries": REQUEST}
TOPICS = {f"/v1/records/{topic}": topic for topic in READERS}
ANSWERS = {"true": True, "false": False}
SECONDS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,20})?")
RECEIPT = {
    f"Emgas-{name}": {"description": f"the record's {name.lower()}", "schema": {"type": "integer"}}
    for name in ("Partition", "Offset", "Timestamp")
}
VALUE = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "object", "description": "the record's value, as docs/wire.md has it"}
            }
        },
    }
}
VALUES = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": BATCH_TURNS,
                    "items": {"type": "object", "description": "a record's value, as docs/wire.md has it"},
                }
            }
        },
    }
}
ANSWERED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "the log has it; the answer",
        "content": {"application/json": {"schema": {"type": "object", "description": "as docs/wire.md has it"}}},
        "headers": RECEIPT,
    },
    202: {"description": "the log has it", "headers": RECEIPT},
}
router = APIRouter(prefix="/v1", responses=REFUSALS, tags=["records"])


@router.get("/partitions", dependencies=[any_key()])
async def partitions(request: Request) -> int:
    """Return the number of partitions that turns, events and queries share."""
    return await _exchange(request).connection.partitions()


@router.post(
    "/records/{topic}",
    response_class=Response,
    responses=ANSWERED,
    openapi_extra=VALUE,
    dependencies=[any_key("key", "partition", "seconds", "answer")],
)
async def send(
    topic: Literal["turns", "queries"],
    request: Request,
    *,
    key: Annotated[str | None, Query(description="the graph; leave it out for a question to a partition")] = None,
    partition: Annotated[int | None, Query(ge=0, le=LARGEST_PARTITION)] = None,
    seconds: Annotated[float, Query(gt=0, le=LONGEST_SECONDS)] = 10.0,
    answer: Annotated[bool, Query()] = True,
) -> Response:
    """Append a record; return the memory's answer, or the record's position."""
    record_request = RecordRequest(topic=topic, key=key, partition=partition, seconds=seconds, answer=answer)
    return await _sent(request, record_request)


@router.post(
    "/records/turns/batch",
    response_class=Response,
    responses={200: {"description": "the receipts, then the answers", "content": {"application/x-ndjson": {}}}},
    openapi_extra=VALUES,
    dependencies=[any_key("seconds", "answer")],
)
async def send_batch(
    request: Request,
    *,
    seconds: Annotated[float, Query(gt=0, le=LONGEST_SECONDS)] = 10.0,
    answer: Annotated[bool, Query()] = True,
) -> Response:
    """Append up to 1,000 records in their order; return their positions, then the memory's answers."""
    exchange, records = _exchange(request), list[ProducerRecord]()
    for value in _values(await request.body()):
        message = cast("Command", _read("turns", value))
        _check(message, message.graph)
        key = message.graph.encode()
        records.append(ProducerRecord(exchange.connection.topics.turns, key, value, _headers(message)))
    lines = (_answer_lines if answer else _appended_lines)(exchange, records, seconds)
    return StreamingResponse(lines, media_type="application/x-ndjson")


def _values(body: bytes) -> list[bytes]:
    """Return the values of a batch, each as JSON of its own.  Raises NotJsonError, InvalidMessageError."""
    try:
        values = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NotJsonError("send one JSON list in UTF-8") from None
    if not isinstance(values, list) or not 1 <= len(values) <= BATCH_TURNS:
        raise InvalidMessageError(f"batch: send a list of 1 to {BATCH_TURNS} records")
    return [orjson.dumps(value) for value in values]


async def _appended_lines(
    exchange: RequestReply, records: list[ProducerRecord], seconds: float
) -> AsyncIterator[bytes]:
    appending = [exchange.append(record, seconds) for record in records]
    receipts = await asyncio.gather(*appending, return_exceptions=True)
    yield orjson.dumps([_receipt_or_problem(receipt) for receipt in receipts]) + b"\n"


async def _answer_lines(exchange: RequestReply, records: list[ProducerRecord], seconds: float) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    places: list[asyncio.Future[Receipt]] = [loop.create_future() for _ in records]
    asking = [
        asyncio.create_task(exchange.ask_unread(record, seconds, place.set_result))
        for record, place in zip(records, places, strict=True)
    ]
    try:
        for task, place in zip(asking, places, strict=True):
            await asyncio.wait((task, place), return_when=asyncio.FIRST_COMPLETED)
        receipts = [p.result() if p.done() else t.exception() for t, p in zip(asking, places, strict=True)]
        yield orjson.dumps([_receipt_or_problem(receipt) for receipt in receipts]) + b"\n"
        for task in asking:
            await asyncio.wait((task,))
            yield (b"" if isinstance(task.exception(), EmgasError) else task.result()) + b"\n"
    finally:
        for task in asking:
            task.cancel()


def _receipt_or_problem(receipt: Receipt | BaseException | None) -> Any:
    """Return a receipt as numbers, or the problem of a record that the log lacks.  Raises other errors."""
    if isinstance(receipt, EmgasError):
        return orjson.loads(failed(receipt).body)
    if isinstance(receipt, BaseException):
        raise receipt
    return receipt and list(receipt)


class RecordRequest(NamedTuple):
    """The path and the query of a request for one record."""

    topic: str
    key: str | None
    partition: int | None
    seconds: float
    answer: bool


class PlainRecords(BaseRoute):
    """A fast route for records as our clients send them.  `send` handles requests in any other form."""

    path = "/v1/records/{topic}"  # as metrics name it

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        record_request = _record_request(scope) if scope["type"] == "http" and scope["method"] == "POST" else None
        return (
            (Match.NONE, {})
            if record_request is None
            else (Match.FULL, {"route": self, "record_request": record_request})
        )

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await _sent(Request(scope, receive), scope["record_request"])
        await response(scope, receive, send)


def _record_request(scope: Scope) -> RecordRequest | None:
    """Parse the path and the query of a request; None unless they are as our clients write them."""
    topic = TOPICS.get(scope["path"])
    if topic is None:
        return None
    fields = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    others = dict(fields)
    key, seconds, answer = others.pop("key", None), others.pop("seconds", "10"), others.pop("answer", "true")
    if others or len(fields) > 3 or answer not in ANSWERS or not SECONDS.fullmatch(seconds):
        return None
    if not 0 < float(seconds) <= LONGEST_SECONDS:
        return None
    return RecordRequest(topic, key, None, float(seconds), ANSWERS[answer])


async def _sent(request: Request, record_request: RecordRequest) -> Response:
    value = await request.body()
    message = _read(record_request.topic, value)
    _check(message, record_request.key)
    exchange, partition = _exchange(request), record_request.partition
    if partition is not None and partition >= await exchange.connection.partitions():
        raise InvalidMessageError("partition: there is none with this number")
    topics = exchange.connection.topics
    name = topics.turns if record_request.topic == "turns" else topics.queries
    key = None if record_request.key is None else record_request.key.encode()
    record = ProducerRecord(name, key, _limited(message, value), _headers(message), partition)
    if not record_request.answer:
        return Response(status_code=202, headers=_receipt(await exchange.append(record, record_request.seconds)))
    return await _answered(exchange, record, record_request.seconds)


def _exchange(request: Request) -> RequestReply:
    exchange: RequestReply = request.app.state.memory.request_reply
    return exchange


def _receipt(there: Receipt) -> dict[str, str]:
    return {f"Emgas-{name}": str(n) for name, n in zip(("Partition", "Offset", "Timestamp"), there, strict=True)}


async def _answered(exchange: RequestReply, record: ProducerRecord, seconds: float) -> Response:
    """Respond as soon as the log has a record, with a body that waits for the answer."""
    appended: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
    asking = asyncio.create_task(exchange.ask_unread(record, seconds, appended.set_result))
    try:
        await asyncio.wait((asking, appended), return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        asking.cancel()
        raise
    if not appended.done():  # raises why it was not appended, or was answered before that
        return Response(await asking, media_type="application/json")
    return AnswerToCome(asking, _receipt(appended.result()))


class AnswerToCome(Response):
    """A response that begins at once, and goes on when the answer is there; with nothing where none comes in time.

    The caller's own deadline has passed by then.  If the caller disconnects, the question is cancelled.
    """

    media_type = "application/json"

    def __init__(self, asking: asyncio.Task[bytes], headers: dict[str, str]) -> None:
        super().__init__(headers=headers)
        del self.headers["content-length"]  # not known yet
        self._asking = asking

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        leaving = asyncio.ensure_future(receive())
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await asyncio.wait((self._asking, leaving), return_when=asyncio.FIRST_COMPLETED)
            is_there = self._asking.done() and not isinstance(self._asking.exception(), EmgasError)
            body = self._asking.result() if is_there else b""
            await send({"type": "http.response.body", "body": body})
        finally:
            leaving.cancel()
            self._asking.cancel()


def _limited(message: Command | Question, value: bytes) -> bytes:
    """Add the caller's patterns to a request for a list of graphs; return every other value unchanged."""
    patterns = caller().patterns
    if not isinstance(message, List) or patterns is None:
        return value
    return message.model_copy(update={"patterns": patterns}).model_dump_json().encode()


def _read(topic: str, value: bytes) -> Command | Question:
    """Read a record's value.  Raises NotJsonError, InvalidMessageError."""
    if len(value) > RECORD_BYTES:
        raise InvalidMessageError(f"record: is {len(value)} bytes of JSON, the limit is {RECORD_BYTES}")
    try:
        message: Command | Question = READERS[topic].validate_json(value)
    except ValidationError as error:
        if error.errors(include_input=False)[0]["type"] == "json_invalid":
            raise NotJsonError("send one JSON object in UTF-8") from None
        raise InvalidMessageError(describe(error)) from None
    return message


def _check(message: Command | Question, key: str | None) -> None:
    """Raise NotAllowedError unless the caller may send this, InvalidMessageError if the key names another graph."""
    if isinstance(message, List) and message.patterns is not None and caller().patterns is not None:
        raise InvalidMessageError("patterns: your key already says which graphs to list; leave them out")
    if not isinstance(message, Command | GraphQuestion):
        caller().check("admin", None) if message.right == "admin" else caller().check_right(message.right)
        return
    for right in message.needed_rights():
        caller().check(right, message.graph)
    if key != message.graph:
        raise InvalidMessageError("key: must be the graph that the record names")


def _headers(message: Command | Question) -> Headers:
    if isinstance(message, Command):
        return cloud_event(message.tag(), message.id, message.graph)
    return cloud_event("query", uuid4().hex, getattr(message, "graph", "partition"))
