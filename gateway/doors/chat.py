"""A proxy that adds a memory to any server with OpenAI's API of chat completions.

    OpenAI(base_url="http://127.0.0.1:8088/v1", api_key="emgas_…")     where `emgas serve --model URL` runs

A request is forwarded to the model with one more message: what the memory knows about the user's last message.  Users'
messages are recorded once the model has accepted the request.  The model's own answers are stored only if you ask.

    Emgas-Graph      whose memory; else the body's `user`
    Emgas-Session    names the conversation: then nothing of it is recorded twice, however often a request is repeated,
                     and what stands in the request is not recalled into it
    Emgas-Remember   user (what is meant without it), all (answers too), or none
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal
from uuid import uuid4

import httpx2 as httpx
import orjson
from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from emgas.client.client import MemoryClient
from emgas.errors import EmgasError, InvalidMessageError
from emgas.integrations.remembering import HEADING
from emgas.limits import EXCLUDED, TEXT_BYTES
from emgas.logs import logger
from emgas.messages.fields import GraphId, Name
from emgas.messages.turns import Turn
from emgas.pieces import fitted, in_pieces, pieces
from emgas.validation import build
from gateway.auth.access import any_key, caller
from gateway.http.errors import (
    PROBLEM_JSON,
    REFUSALS,
    GatewayError,
    ModelError,
    NoModelError,
    Problem,
    RequestRejectedError,
)
from gateway.routes.dependencies import Memory

router = APIRouter(
    prefix="/v1", tags=["OpenAI"], responses={**REFUSALS, 502: {"model": Problem, "description": "no model answers"}}
)
log = logger("gateway")
BUDGET = 1000  # tokens of context that are put before a request
LONGEST_SECONDS = 600.0  # until a model begins to answer, or goes on
FIRST = ("system", "developer")  # roles of what stands before the talk: the memory comes behind it
MEDIA = ("application/json", "text/event-stream")  # what of a model is handed on
PLAIN = {"Accept-Encoding": "identity"}  # a few bytes that are compressed unpack to any number
WHOLE_BYTES = 16 * 1024 * 1024  # of an answer that is held in memory
STREAM_BYTES = 64 * 1024 * 1024  # and of one that is handed on as it comes
HANDED_ON = ("content-type", "x-request-id", "retry-after")
EVENT, END = b"data:", b"[DONE]"
PATHS = ("/v1/chat/completions", "/v1/models")


@dataclass(frozen=True)
class ChatModel:
    """The model's server.  `url`: its base, before /chat/completions; `key`: the API key for it."""

    url: str
    key: str | None = None


class ChatMessage(BaseModel):
    """One message.  Other fields are forwarded unchanged."""

    model_config = ConfigDict(extra="allow")
    role: str
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """Join the text parts of the content."""
        if isinstance(self.content, list):
            return "\n".join(part["text"] for part in self.content if isinstance(part.get("text"), str))
        return self.content or ""


class ChatBody(BaseModel):
    """A request for a completion, as in OpenAI's API.  Other fields are forwarded unchanged."""

    model_config = ConfigDict(extra="allow")
    messages: list[ChatMessage] = Field(min_length=1)
    user: GraphId | None = Field(None, description="whose memory, without a header Emgas-Graph")
    stream: bool | None = None


@dataclass(frozen=True)
class Talk:
    """A conversation as a request shows it.  `session` None: it has no name."""

    graph: str
    session: str | None
    messages: Sequence[ChatMessage]

    def question(self) -> str:
        """Return the user's last message, cut to the length of a question; "" if there is none."""
        last = next((each.text for each in reversed(self.messages) if each.role == "user"), "")
        return next(iter(pieces(last, TEXT_BYTES)), "")

    def news(self) -> list[int]:
        """Return the positions of the user's messages since the model's last one."""
        spoke = [place for place, each in enumerate(self.messages) if each.role == "assistant"]
        return [
            place for place, each in enumerate(self.messages) if each.role == "user" and place > max(spoke, default=-1)
        ]

    def turns(self, place: int, message: ChatMessage) -> list[Turn]:
        """Build the turns of the message at a place of the conversation: several if it is long."""
        name = uuid4().hex if self.session is None else self._name(place, message)
        common = {"graph": self.graph, "session": fitted(self.session or "main"), "role": message.role}
        whole = {**common, "id": name, "speaker": speaker_of(message), "text": message.text}
        return [build(Turn, piece) for piece in in_pieces(whole)]

    def shown(self) -> list[str]:
        """Return the ids of the latest turns in the request; none if the conversation has no name."""
        if self.session is None:
            return []
        spoken = [(place, each) for place, each in enumerate(self.messages) if each.role in ("user", "assistant")]
        return [turn.id for place, each in spoken[-EXCLUDED:] for turn in self.turns(place, each)][-EXCLUDED:]

    def _name(self, place: int, message: ChatMessage) -> str:
        """Return an id for a message: a hash of the conversation up to it."""
        named = self._until[place].copy()
        named.update(_hashed(message))
        return str(named.hexdigest()[:32])

    @cached_property
    def _until(self) -> list[Any]:
        """Hash the conversation up to each place, without system messages."""
        until = [hashlib.sha256(json.dumps(self.session).encode())]
        for each in self.messages:
            until.append(until[-1].copy())
            if each.role not in FIRST:
                until[-1].update(_hashed(each))
        return until


def speaker_of(message: ChatMessage) -> str:
    """Return the speaker's name."""
    return fitted(message.name or message.role)


def _hashed(message: ChatMessage) -> bytes:
    return json.dumps([message.role, message.text]).encode()


class ErrorsAsOpenAI:
    """Adds the member `error` to each problem of these routes, because OpenAI's clients read and show it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["path"] not in PATHS:
            await self._app(scope, receive, send)
            return
        head: Message | None = None

        async def send_problem(message: Message) -> None:
            nonlocal head
            if message["type"] == "http.response.start":
                is_problem = Headers(raw=message["headers"]).get("content-type") == PROBLEM_JSON
                head = message if is_problem else None
                if is_problem:
                    return
            if head is not None:  # the whole body of a problem: it is made in one piece
                problem = orjson.loads(message["body"])
                shown = {"message": problem["detail"], "type": problem["title"], "code": problem["code"]}
                message["body"] = orjson.dumps({**problem, "error": shown})
                MutableHeaders(raw=head["headers"])["content-length"] = str(len(message["body"]))
                await send(head)
                head = None
            await send(message)

        await self._app(scope, receive, send_problem)


def client() -> httpx.AsyncClient:
    """Build the HTTP client for models; it opens no connection yet."""
    return httpx.AsyncClient(timeout=httpx.Timeout(LONGEST_SECONDS, connect=10.0))


@router.post("/chat/completions", response_class=Response, dependencies=[any_key()])
async def complete(
    request: Request,
    body: ChatBody,
    memory: Memory,
    *,
    emgas_graph: Annotated[GraphId | None, Header()] = None,
    emgas_session: Annotated[Name | None, Header()] = None,
    emgas_remember: Annotated[Literal["user", "all", "none"], Header()] = "user",
) -> Response:
    """Ask the model, with what the memory knows about the user's last message."""
    graph_id = emgas_graph or body.user
    if graph_id is None:
        raise InvalidMessageError("user: is missing: name the graph in `user` or in the header Emgas-Graph")
    caller().check("read", graph_id)
    if emgas_remember != "none":
        caller().check("write", graph_id)
    model = _model(request)
    talk = Talk(graph_id, emgas_session, body.messages)
    sent = body.model_dump(mode="json", exclude_unset=True)
    sent["messages"] = _with(sent["messages"], await _recalled(memory, talk))
    answer = await _complete(request, model, sent)
    if not answer.is_success:
        return Response(await _whole(answer), answer.status_code, _handed_on(answer))
    if emgas_remember != "none":
        await _remember_news(memory, talk, answer)
    keeping = Keeping(memory, talk) if emgas_remember == "all" else None
    if body.stream:
        return StreamingResponse(_passed_on(answer, keeping), answer.status_code, _handed_on(answer))
    whole = await _whole(answer)
    if keeping is not None:
        await keeping.keep(_message(whole))
    return Response(whole, answer.status_code, _handed_on(answer))


@router.get("/models", response_class=Response, dependencies=[any_key()])
async def models(request: Request) -> Response:
    """List the models, as their server does."""
    answer = await _sent(request, _model(request), "GET", "/models")
    return Response(await _whole(answer), answer.status_code, _handed_on(answer))


async def _remember_news(memory: MemoryClient, talk: Talk, answer: httpx.Response) -> None:
    """Record what the user said since the model spoke last; close the model's answer if that fails."""
    try:
        await _record(memory, [turn for place in talk.news() for turn in talk.turns(place, talk.messages[place])])
    except BaseException:
        await answer.aclose()
        raise


@dataclass(frozen=True)
class Keeping:
    """Records the model's answers."""

    memory: MemoryClient
    talk: Talk

    async def keep(self, text: str) -> None:
        """Record an answer.  It is already on its way to the user, so a failure is only logged."""
        message = ChatMessage(role="assistant", content=text)
        try:
            await _record(self.memory, self.talk.turns(len(self.talk.messages), message))
        except (EmgasError, GatewayError) as error:
            log.warning("an answer was not remembered", error=str(error))


async def _recalled(memory: MemoryClient, talk: Talk) -> str:
    question = talk.question()
    if not question:
        return ""
    only = {"exclude": talk.shown()}
    reply = await memory.query(talk.graph, question, budget=BUDGET, top_concepts=0, only=only)
    return reply.context


async def _record(memory: MemoryClient, turns: Sequence[Turn]) -> None:
    """Record turns.  Raises RequestRejectedError, and what a client raises."""
    for turn in turns:
        outcome = await memory.record(turn)
        if outcome.status == "rejected":
            raise RequestRejectedError(outcome.reason)


def _with(messages: list[dict[str, Any]], context: str) -> list[dict[str, Any]]:
    """Insert the context after the system's messages, under a heading."""
    if not context:
        return messages
    place = next((number for number, each in enumerate(messages) if each["role"] not in FIRST), len(messages))
    return [*messages[:place], {"role": "system", "content": f"{HEADING}\n{context}"}, *messages[place:]]


def _model(request: Request) -> ChatModel:
    model: ChatModel | None = request.app.state.model
    if model is None:
        raise NoModelError("no model is served here: start `emgas serve --model URL`")
    return model


async def _complete(request: Request, model: ChatModel, sent: Mapping[str, Any]) -> httpx.Response:
    return await _sent(request, model, "POST", "/chat/completions", orjson.dumps(sent))


async def _sent(
    request: Request, model: ChatModel, method: str, path: str, content: bytes | None = None
) -> httpx.Response:
    """Send a request to the model; return once it answers in a media type that we forward.  Raises ModelError."""
    client: httpx.AsyncClient = request.app.state.models
    headers = {"Content-Type": "application/json", **PLAIN, "Authorization": _authorization(request, model)}
    sent_headers = {name: value for name, value in headers.items() if value is not None}
    try:
        built = client.build_request(method, f"{model.url.rstrip('/')}{path}", content=content, headers=sent_headers)
        answer = await client.send(built, stream=True)
    except httpx.HTTPError as error:
        raise ModelError(f"the model cannot be reached ({type(error).__name__})") from error
    if not _is_handed_on(answer):
        await answer.aclose()
        raise ModelError(f"the model's server answered {answer.status_code} with neither JSON nor an event stream")
    return answer


def _is_handed_on(answer: httpx.Response) -> bool:
    """Check that an answer is JSON or an event stream, not compressed: a page would be shown in the memory's origin."""
    media = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media in MEDIA and answer.headers.get("content-encoding", "identity") == "identity"


def _authorization(request: Request, model: ChatModel) -> str | None:
    """Return the key for the model's server: the operator's, else the caller's if this server has no keys."""
    if model.key is not None:
        return f"Bearer {model.key}"
    return None if request.app.state.wants_keys else request.headers.get("authorization")


async def _whole(answer: httpx.Response) -> bytes:
    return b"".join([piece async for piece in _pieces(answer, WHOLE_BYTES)])


async def _pieces(answer: httpx.Response, most: int) -> AsyncIterator[bytes]:
    """Read an answer piece by piece, and close it.  Raises ModelError if it breaks off, or is larger than `most`."""
    read = 0
    try:
        async for piece in answer.aiter_raw():
            read += len(piece)
            if read > most:
                raise ModelError(f"the model's answer has more than {most} bytes: ask for a shorter one")
            yield piece
    except httpx.HTTPError as error:
        raise ModelError(f"the model's answer broke off ({type(error).__name__})") from error
    finally:
        await answer.aclose()


async def _passed_on(answer: httpx.Response, keeping: Keeping | None) -> AsyncIterator[bytes]:
    """Forward an answer event by event; record it before its last event is forwarded."""
    deltas, rest, is_kept = list[str](), b"", keeping is None
    try:
        async for piece in _pieces(answer, STREAM_BYTES):
            if keeping is not None and not is_kept:
                *lines, rest = (rest + piece).split(b"\n")
                deltas += [_delta(line) for line in lines]
                is_kept = any(_is_end(line) for line in lines)
                if is_kept:
                    await keeping.keep("".join(deltas))
            yield piece
    except ModelError as error:  # the status is sent already: clients of OpenAI's API read such an event as an error
        yield b"\n\ndata: " + orjson.dumps({"error": {"message": str(error), "code": error.code}}) + b"\n\n"
        return
    if keeping is not None and not is_kept:
        await keeping.keep("".join([*deltas, _delta(rest)]))


def _is_end(line: bytes) -> bool:
    return line.removeprefix(EVENT).strip() == END


def _delta(line: bytes) -> str:
    event = line.strip().removeprefix(EVENT).strip()
    return _text(event, "delta") if line.startswith(EVENT) and event != END else ""


def _message(whole: bytes) -> str:
    return _text(whole, "message")


def _text(raw: bytes, where: str) -> str:
    """Read the text of the first choice; "" if there is none."""
    try:
        content = orjson.loads(raw)["choices"][0][where]["content"]
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return ""
    return content if isinstance(content, str) else ""


def _handed_on(answer: httpx.Response) -> dict[str, str]:
    return {name: answer.headers[name] for name in HANDED_ON if name in answer.headers}
