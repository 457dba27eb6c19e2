"""Records over HTTP: the third carrier of `MemoryClient` (emgas/client/http.py speaks it).

    GET  /v1/partitions                                       how many partitions the keyed topics share
    POST /v1/records/{turns,queries}?key=&partition=&seconds= body: the record's value, as on the wire

    answer=false   202, once the log has it; headers Emgas-Partition, Emgas-Offset, Emgas-Timestamp
    answer=true    200 and the answer's bytes; the memory's failures too are answers here, as on the wire

The value's graph must be the key, and the caller must have the right that its kind needs: otherwise a key of one graph
would reach another.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import TypeAdapter, ValidationError

from emgas.client.request_reply import Outgoing, RequestReply
from emgas.errors import InvalidMessageError
from emgas.messages.operator import Checkpoint, Inspect
from emgas.messages.topics import INBOUND, REQUEST
from emgas.messages.turns import Configure, Turn
from emgas.validation import describe
from emgas.wire import cloud_event
from gateway.access import caller, may_everywhere
from gateway.errors import NotAllowedError
from gateway.graphs import REFUSALS
from gateway.keys import Right

LONGEST_SECONDS = 600.0
READERS: dict[str, TypeAdapter[object]] = {"turns": INBOUND, "queries": REQUEST}  # type: ignore[dict-item]
router = APIRouter(prefix="/v1", responses=REFUSALS)


@router.get("/partitions", dependencies=[may_everywhere("read")])
async def partitions(request: Request) -> int:
    """Tell the partition count that turns, events and queries share."""
    return await _exchange(request).connection.partitions()


@router.post("/records/{topic}", response_class=Response)
async def send(
    topic: Literal["turns", "queries"],
    request: Request,
    key: Annotated[str | None, Query()] = None,
    partition: Annotated[int | None, Query(ge=0)] = None,
    seconds: Annotated[float, Query(gt=0, le=LONGEST_SECONDS)] = 10.0,
    answer: Annotated[bool, Query()] = True,
) -> Response:
    """Append a record; answer what came back, or where it lies."""
    value = await request.body()
    subject = _checked(topic, value, key)
    exchange = _exchange(request)
    topics = exchange.connection.topics
    name = topics.turns if topic == "turns" else topics.queries
    record = Outgoing(name, None if key is None else key.encode(), value, cloud_event(topic, "-", subject), partition)
    if not answer:
        there = await exchange.append(record, seconds)
        headers = {"Emgas-Partition": there.partition, "Emgas-Offset": there.offset, "Emgas-Timestamp": there.timestamp}
        return Response(status_code=202, headers={name: str(number) for name, number in headers.items()})
    found = await exchange.ask(record, seconds)
    return Response(found.model_dump_json(), media_type="application/json")


def _exchange(request: Request) -> RequestReply:
    exchange: RequestReply = request.app.state.exchange
    return exchange


def _checked(topic: str, value: bytes, key: str | None) -> str:
    """Find the graph of a record and check that the caller may send it.

    Raises InvalidMessageError, NotAllowedError.
    """
    try:
        message = READERS[topic].validate_json(value)
    except ValidationError as error:
        raise InvalidMessageError(describe(error)) from None
    if isinstance(message, Inspect | Checkpoint):
        caller().check("admin", None)
        if not caller().may_see("*"):
            raise NotAllowedError('partitions hold every graph: this needs a key for all of them (graphs = ["*"])')
        return "partition"
    graph_id: str = message.graph  # type: ignore[attr-defined]  # every other message names its graph
    if key != graph_id:
        raise InvalidMessageError("key: must be the graph that the record names")
    caller().check(_right(topic, message), graph_id)
    return graph_id


def _right(topic: str, message: object) -> Right:
    if topic == "queries":
        return "read"
    if isinstance(message, Turn):
        return "write"
    return "admin" if isinstance(message, Configure) else "forget"
