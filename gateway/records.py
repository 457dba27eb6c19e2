"""Records over HTTP: the third transport of `MemoryClient` (emgas/client/http.py speaks it).

    GET  /v1/partitions                                       how many partitions the keyed topics share
    POST /v1/records/{turns,queries}?key=&partition=&seconds= body: the record's value, as on the wire

    answer=false   202, once the log has it
    answer=true    200, once the log has it; the body is the answer's bytes, and comes when there is one.  The memory's
                   failures too are answers here, as on the wire; where none comes in time, the body stays empty
    headers        Emgas-Partition, Emgas-Offset, Emgas-Timestamp: the receipt

The value's graph must be the key, and the caller must have the rights that its kind needs: otherwise a key of one graph
would reach another.  A list of graphs names those alone that the caller may see.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import TypeAdapter, ValidationError

from emgas.client.request_reply import RequestReply
from emgas.errors import EmgasError, InvalidMessageError
from emgas.limits import RECORD_BYTES
from emgas.messages import queries, turns
from emgas.messages.advice import Advice
from emgas.messages.contents import Graphs, List
from emgas.messages.operator import Checkpoint, Inspect
from emgas.messages.rights import Grant, Revoke
from emgas.messages.sessions import EndSession
from emgas.messages.topics import ANSWER, INBOUND, REQUEST, Answer, Question
from emgas.validation import describe
from emgas.wire import Headers, ProducerRecord, Receipt, cloud_event
from gateway.access import caller, known
from gateway.errors import REFUSALS, NotJsonError
from gateway.keys import Caller

LONGEST_SECONDS = 600.0
LARGEST_PARTITION = 2**31 - 1
READERS: dict[str, TypeAdapter[Any]] = {"turns": INBOUND, "queries": REQUEST}
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
ANSWERED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "the log has it; the answer",
        "content": {"application/json": {"schema": {"type": "object", "description": "as docs/wire.md has it"}}},
        "headers": RECEIPT,
    },
    202: {"description": "the log has it", "headers": RECEIPT},
}
router = APIRouter(prefix="/v1", responses=REFUSALS)


@router.get("/partitions", dependencies=[known()])
async def partitions(request: Request) -> int:
    """Tell the partition count that turns, events and queries share."""
    return await _exchange(request).connection.partitions()


@router.post(
    "/records/{topic}",
    response_class=Response,
    responses=ANSWERED,
    openapi_extra=VALUE,
    dependencies=[known("key", "partition", "seconds", "answer")],
)
async def send(
    topic: Literal["turns", "queries"],
    request: Request,
    *,
    key: Annotated[str | None, Query(description="the graph; nothing for a question to a partition")] = None,
    partition: Annotated[int | None, Query(ge=0, le=LARGEST_PARTITION)] = None,
    seconds: Annotated[float, Query(gt=0, le=LONGEST_SECONDS)] = 10.0,
    answer: Annotated[bool, Query()] = True,
) -> Response:
    """Append a record; answer what came back, or where it lies."""
    value = await request.body()
    message = _read(topic, value)
    _check(message, key)
    exchange = _exchange(request)
    if partition is not None and partition >= await exchange.connection.partitions():
        raise InvalidMessageError("partition: there is none of that number")
    topics = exchange.connection.topics
    name = topics.turns if topic == "turns" else topics.queries
    record = ProducerRecord(name, None if key is None else key.encode(), value, _headers(message), partition)
    if not answer:
        return Response(status_code=202, headers=_receipt(await exchange.append(record, seconds)))
    return await _answered(exchange, record, seconds)


def _exchange(request: Request) -> RequestReply:
    exchange: RequestReply = request.app.state.memory.request_reply
    return exchange


def _receipt(there: Receipt) -> dict[str, str]:
    return {f"Emgas-{name}": str(n) for name, n in zip(("Partition", "Offset", "Timestamp"), there, strict=True)}


async def _answered(exchange: RequestReply, record: ProducerRecord, seconds: float) -> Response:
    """Respond as soon as the log has a record, with a body that waits for the answer."""
    appended: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
    asking = asyncio.create_task(exchange.ask(record, seconds, appended.set_result))
    try:
        await asyncio.wait((asking, appended), return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        asking.cancel()
        raise
    if not appended.done():
        return _json(await asking)  # raises why it was not appended
    headers = _receipt(appended.result())
    return StreamingResponse(_body(asking, caller()), media_type="application/json", headers=headers)


async def _body(asking: asyncio.Task[Answer], who: Caller) -> AsyncIterator[bytes]:
    try:
        with contextlib.suppress(EmgasError):  # no answer came: what the caller, who knows the deadline, finds as well
            yield ANSWER.dump_json(seen_by(who, await asking))
    finally:
        asking.cancel()


def seen_by(who: Caller, answer: Answer) -> Answer:
    """Leave out of a list the graphs that the caller may not see."""
    if not isinstance(answer, Graphs):
        return answer
    return answer.model_copy(update={"graphs": [name for name in answer.graphs if who.may_see(name)]})


def _json(answer: Answer) -> Response:
    return Response(ANSWER.dump_json(seen_by(caller(), answer)), media_type="application/json")


def _read(topic: str, value: bytes) -> Any:
    """Read a record's value.  Raises NotJsonError, InvalidMessageError."""
    if len(value) > RECORD_BYTES:
        raise InvalidMessageError(f"record: is {len(value)} bytes of JSON, the limit is {RECORD_BYTES}")
    try:
        return READERS[topic].validate_json(value)
    except ValidationError as error:
        if error.errors(include_input=False)[0]["type"] == "json_invalid":
            raise NotJsonError("send one JSON object in UTF-8") from None
        raise InvalidMessageError(describe(error)) from None


def _check(message: Any, key: str | None) -> None:
    """Raise NotAllowedError unless the caller may send this, InvalidMessageError where the key is another graph's."""
    match message:
        case Inspect() | Checkpoint():
            caller().check("admin", None)
            return
        case List():
            caller().check_right("read")
            return
        case turns.Turn() | turns.Pin() | turns.Unpin() | turns.Feedback() | turns.Reinforce() | EndSession():
            caller().check("write", message.graph)
        case turns.Configure() | turns.Erase() | Grant() | Revoke() | Advice():
            caller().check("admin", message.graph)
        case turns.Forget() | turns.Undo():
            caller().check("forget", message.graph)
        case _:
            caller().check("read", message.graph)
    if isinstance(message, queries.Query) and message.reinforce:
        caller().check("write", message.graph)
    if key != message.graph:
        raise InvalidMessageError("key: must be the graph that the record names")


def _headers(message: Any) -> Headers:
    kind = getattr(message, "kind", "turn")
    is_query = isinstance(message, Question)
    identity = getattr(message, "id", None) or uuid4().hex
    return cloud_event("query" if is_query else kind, identity, getattr(message, "graph", "partition"))
