"""The routes that messages declare (emgas/messages/requests.py): `route="POST /pin"` is POST /v1/graphs/{graph}/pin.

The body of a command is the message without what the path names.  The parameters of a question are its fields, under
the names that its class declares.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from starlette.responses import JSONResponse

from emgas.client.client import MemoryClient
from emgas.messages.fields import Message, Position
from emgas.messages.requests import GraphQuestion, Outcome, Question, Request, Sendable
from emgas.messages.topics import COMMANDS, QUESTIONS
from emgas.messages.views import Explore
from emgas.validation import build
from gateway.auth.access import may
from gateway.http.errors import (
    NO_GRAPH,
    REFUSALS,
    GatewayError,
    RequestRejectedError,
    UnknownConceptError,
    UnknownGraphError,
)
from gateway.routes.bodies import named_later, without
from gateway.routes.dependencies import Graph, IdempotencyKey, Memory
from gateway.routes.examples import TAGS, operation_of

router = APIRouter(prefix="/v1/graphs/{graph}", responses=REFUSALS)
OF_PATH = ("graph", "kind")
DryRun = Annotated[bool, Query(description="return what would be done; nothing is changed")]
NO_CONCEPT = (
    "this graph has no such concept, or had none at that time: find its concepts with POST …/query, which takes words "
    "of your own, or with GET …/picture"
)
NEVER = (*OF_PATH, "after")  # clients over HTTP have no offset to wait for


def _add_command(message: type[Request], method: str, path: str) -> None:
    route, answer, parameters = _command_route(message)
    body_type = named_later(without(message, f"{message.__name__}Body", *OF_PATH))
    route.__annotations__ |= {"graph": Annotated[Graph, may(message.right, *parameters)], "body": body_type}
    router.add_api_route(path, route, methods=[method], response_model=answer, **_described(message))


def _command_route(message: type[Request]) -> tuple[Callable[..., Any], Any, Sequence[str]]:
    """Return the function of a command's route, the model of its answer, and its parameters."""

    async def change(graph: str, body: Any, memory: Memory, idempotency_key: IdempotencyKey = None) -> Response:
        request = build(message, command_fields(graph, body, idempotency_key))
        return outcome_response(await memory.send(request), 200)

    if (preview := message.preview) is None:
        return change, Outcome, ()

    async def change_or_preview(
        graph: str, body: Any, memory: Memory, *, idempotency_key: IdempotencyKey = None, dry_run: DryRun = False
    ) -> Response:
        if not dry_run:
            return await change(graph, body, memory, idempotency_key)
        answer: Any = await memory.send(_preview(preview, graph, body))
        if not answer.found:
            raise UnknownGraphError(NO_GRAPH)
        return JSONResponse(answer.model_dump())

    return change_or_preview, Outcome | preview.answer, ("dry_run",)


def _preview(kind: type[Question], graph: str, body: BaseModel) -> Any:
    """Build the question what a command would do, from those fields of the command that it has, too."""
    fields = {name: value for name, value in body.model_dump(exclude_unset=True).items() if name in kind.model_fields}
    return build(kind, {**fields, "graph": graph})


def _add_question(message: type[GraphQuestion], method: str, path: str) -> None:
    parameters = dict(_parameters(message))

    async def ask(graph: str, memory: Memory, response: Response, **values: Any) -> Any:
        fields: dict[str, Any] = {"graph": graph}
        for name, value in values.items():
            field, _, part = parameters[name].partition(".")
            if part:
                fields.setdefault(field, {})[part] = value
            else:
                fields[field] = value
        answer: Any = await memory.send(build(message, fields))
        if not answer.found:
            raise await _not_found(memory, graph, message)
        response.headers["ETag"] = etag(answer.position)
        return answer

    in_query = [name for name in parameters if f"{{{name}}}" not in path]
    fixed = {"graph": Annotated[Graph, may(message.right, *in_query)], "memory": Memory, "response": Response}
    ask.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            *(_keyword(name, annotation) for name, annotation in fixed.items()),
            *(_parameter(name, field_at(message, at), path) for name, at in parameters.items()),
        ]
    )
    described = _described(message, " ETag: the position in the graph's log.")
    if "{" not in path and "{" in str(message.route):
        described["name"] = path.rpartition("/")[2]
    router.add_api_route(path, ask, methods=[method], response_model=message.answer, **described)


def _routes(path: str) -> Iterator[str]:
    """Yield the paths of a question: where the last part of one is a parameter, also without it."""
    yield path
    if path.endswith("}"):
        yield path.rpartition("/")[0]


def _described(message: type[Sendable], more: str = "") -> dict[str, Any]:
    """Return the name of a route, and what it does: the first paragraph of the message's own description."""
    paragraph = inspect.cleandoc(message.__doc__ or "").partition("\n\n")[0]
    tag = "changes" if issubclass(message, Request) else TAGS.get(message, "views")
    return {"name": operation_of(message), "description": paragraph.replace("\n", " ") + more, "tags": [tag]}


def _parameters(message: type[GraphQuestion]) -> Iterator[tuple[str, str]]:
    """Yield the parameters of a route, each with the field that it sets, or the part of one."""
    renamed = {at.partition(".")[0] for at in message.parameters.values()}
    yield from message.parameters.items()
    yield from ((name, name) for name in message.model_fields if name not in renamed and name not in NEVER)


def field_at(message: type[Message], at: str) -> FieldInfo:
    """Return a field of a message, or the part of one: `only.speakers`."""
    name, _, part = at.partition(".")
    field = message.model_fields[name]
    return field_at(field.annotation, part) if part else field  # type: ignore[arg-type]


def _parameter(name: str, field: FieldInfo, path: str) -> inspect.Parameter:
    """Build the parameter of a route for a field: with its bounds, its description and its default."""
    if f"{{{name}}}" in path:
        return _keyword(name, Annotated[str, *field.metadata, Path(description=field.description)])
    default = field.get_default(call_default_factory=True)
    parts = (field.annotation, *field.metadata, Query(description=field.description))
    return _keyword(name, Annotated[parts], inspect.Parameter.empty if default is PydanticUndefined else default)


def _keyword(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


async def _not_found(memory: MemoryClient, graph: str, question: type[GraphQuestion]) -> GatewayError:
    """Return what is missing: the graph, or of a question for a concept perhaps only that."""
    if question is Explore and (await memory.describe(graph)).found:
        return UnknownConceptError(NO_CONCEPT)
    return UnknownGraphError(NO_GRAPH)


def etag(position: Position) -> str:
    """Return the ETag of an answer: the position in the graph's log."""
    return f'"{position.partition}-{position.watermark}"'


def command_fields(graph_id: str, body: BaseModel, key: str | None) -> Mapping[str, Any]:
    """Return the fields of a command: those of the body, with the graph of the path and an id."""
    fields = {**body.model_dump(exclude_unset=True), "graph": graph_id}
    if fields.get("id") is None:
        fields["id"] = key or uuid4().hex
    return fields


def outcome_response(outcome: Outcome, accepted: int) -> Response:
    """Return an outcome, with the status `accepted` if it is.  Raises RequestRejectedError."""
    if outcome.status == "rejected":
        raise RequestRejectedError(outcome.reason)
    return JSONResponse(outcome.model_dump(), accepted if outcome.status == "accepted" else 200)


for _message in (*COMMANDS, *QUESTIONS):
    if _message.route is not None:
        _method, _path = _message.route.split(" ")
        if issubclass(_message, Request):
            _add_command(_message, _method, _path)
        elif issubclass(_message, GraphQuestion):
            for _each in _routes(_path):
                _add_question(_message, _method, _each)
