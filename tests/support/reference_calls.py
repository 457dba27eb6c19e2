"""The calls that the reference of the routes prints: read from its page, made as printed, and their answers recorded.

    python -m tests.support.reference_calls      writes emgas/schema/recorded/answers.json again

The memory is empty and real, its clock stands still but for a minute before each call, and the model is a small server.
"""

from __future__ import annotations

import asyncio
import html
import re
import shlex
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2 as httpx
import orjson
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from emgas import MemoryClient
from gateway.doors.chat import ChatModel
from gateway.routes.examples import FROM_THE_WIRE
from tests.support.clocks import PATIENCE
from tests.support.served import listening, serving

FILE = Path(__file__).resolve().parents[2] / "emgas" / "schema" / "recorded" / "answers.json"
FIRST_DAY = 1_780_304_400.0  # 2026-06-01T09:00:00Z, a Monday
MINUTE = 60
ROUTE = re.compile(
    r'<details class="route"><summary><b class="\w+">(\w+)</b> <code>(.*?)</code>'
    r".*?<h4>Try.*?</h4><pre>(.*?)</pre>",
    re.DOTALL,
)
PLAIN_URL = re.compile(r"http://[\w.:]+/[\w./~%?&=+-]*")  # no shell and no curl reads anything into it
ID = re.compile(r"\b[0-9a-f]{32}\b")
AN_ID = "2f0c4e7a9b1d4c3e8a5f6b7c8d9e0f1a"
DIGITS = 6
LONG_NUMBER = re.compile(rf"\b\d+\.\d{{{DIGITS},}}")
WATERMARK = re.compile(r'\\?"watermark\\?": ?\d+')
DURATIONS = {"waited_ms": 0.1, "recall_ms": 1.4}
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_780_304_400,
    "model": "llama3.2",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Ear drops."}, "finish_reason": "stop"}],
}
MODELS = {"object": "list", "data": [{"id": "llama3.2", "object": "model"}]}


class Call(NamedTuple):
    """A call as it is printed: the operation, and the words of the command."""

    operation: str
    words: list[str]

    def request(self) -> httpx.Request:
        """Read the command as curl does.  Raises AssertionError for an option or an address that it should not have."""
        method, headers, body, url = "GET", {}, None, ""
        words = iter(self.words[2:])
        assert self.words[:2] == ["curl", "-s"]
        for word in words:
            if word == "-X":
                method = next(words)
            elif word == "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            elif word in ("-d", "--data-binary"):
                body = next(words)
            else:
                assert not url, self.words
                assert PLAIN_URL.fullmatch(word), self.words
                url = word
        return httpx.Request(method, url, headers=headers, content=body)


def calls(page: str, document: Any) -> Iterator[Call]:
    """Yield the calls in the order in which the page prints them."""
    for method, path, command in ROUTE.findall(page):
        operation = document["paths"][html.unescape(path)][method.lower()]["operationId"]
        yield Call(operation, shlex.split(html.unescape(command)))


@contextmanager
def slow_clock() -> Iterator[dict[str, float]]:
    """Stop the time of day at FIRST_DAY; add to `now` to move it."""
    at = {"now": FIRST_DAY}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: at["now"])
        patch.setattr(time, "time_ns", lambda: round(at["now"] * 1_000_000_000))
        yield at


@asynccontextmanager
async def a_chat_model() -> AsyncIterator[str]:
    """Serve a model of chat completions; yield its address."""

    async def answer(request: Request) -> Response:
        return JSONResponse(MODELS if request.method == "GET" else COMPLETION)

    paths = ("/v1/models", "/v1/chat/completions")
    async with listening(Starlette(routes=[Route(path, answer, methods=["GET", "POST"]) for path in paths])) as url:
        yield f"{url}/v1"


async def responses(data: Path) -> AsyncIterator[tuple[Call, httpx.Response]]:
    """Make each printed call on an empty memory in `data`; yield it with the response."""
    with slow_clock() as clock:
        async with AsyncExitStack() as opened:
            model = ChatModel(await opened.enter_async_context(a_chat_model()))
            memory = await opened.enter_async_context(MemoryClient(f"embedded:{data}", timeout=PATIENCE))
            url = await opened.enter_async_context(serving(memory, model=model))
            http = await opened.enter_async_context(httpx.AsyncClient(base_url=url, timeout=PATIENCE))
            page, document = (await http.get("/docs")).text, (await http.get("/openapi.json")).json()
            for call in calls(page, document):
                clock["now"] += MINUTE
                yield call, await http.send(call.request())


def answer_of(response: httpx.Response) -> dict[str, Any]:
    """Return what a response is in the file of answers."""
    media = response.headers["content-type"].partition(";")[0]
    example = response.json() if media == "application/json" else response.text
    return {"status": str(response.status_code), "media": media, "example": steady(example)}


def steady(value: Any) -> Any:
    """Replace what differs from run to run: durations, ids that the gateway makes up, and the last digits of scores."""
    if isinstance(value, dict):
        return {name: DURATIONS if name == "timing" else steady(each) for name, each in value.items()}
    if isinstance(value, list):
        return [steady(each) for each in value]
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, str):
        return LONG_NUMBER.sub(lambda match: str(round(float(match[0]), DIGITS)), ID.sub(AN_ID, value))
    return value


def without_watermarks(answer: Any) -> str:
    """Write an answer without the positions in the log up to which a graph is read: they depend on how records meet."""
    return WATERMARK.sub("", orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode())


async def recorded() -> dict[str, Any]:
    """Make all calls; return the answers by operation."""
    with tempfile.TemporaryDirectory() as folder:
        made = [(call.operation, answer_of(response)) async for call, response in responses(Path(folder))]
    return {operation: answer for operation, answer in made if operation not in FROM_THE_WIRE}


if __name__ == "__main__":
    FILE.write_bytes(orjson.dumps(asyncio.run(recorded()), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
