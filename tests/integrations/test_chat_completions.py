"""OpenAI's own client against the proxy with a memory; behind it a server that speaks OpenAI's API and only looks."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from emgas import Memory
from tests.integrations.adapter_contract import FACT, QUESTION
from tests.integrations.serving import served

ANSWER = ["Poor ", "Biscuit", "!"]


class Looking(BaseHTTPRequestHandler):
    """A model that says little, and keeps what it was shown."""

    shown: list[dict[str, Any]] = []  # noqa: RUF012 - of the class: each request has an object of its own
    keys: list[str | None] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": [{"id": "looking", "object": "model"}]})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.shown.append(request)
        self.keys.append(self.headers["Authorization"])
        if request["model"] == "broken":
            self._answer({"error": {"message": "too many requests", "code": "rate_limit"}}, 400)
        elif request.get("stream"):
            self._stream()
        else:
            utterance = {"role": "assistant", "content": "".join(ANSWER)}
            self._answer({"id": "1", "object": "chat.completion", "choices": [{"index": 0, "message": utterance}]})

    def _answer(self, body: dict[str, Any], status: int = 200) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for piece in ANSWER:
            chunk = {
                "id": "1",
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": {"content": piece}}],
            }
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Looking)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def proxy(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("proxy"), "--model", model) as address:
        yield address


@pytest.fixture
def client(proxy: str) -> Iterator[OpenAI]:
    Looking.shown.clear()
    Looking.keys.clear()
    with OpenAI(base_url=f"{proxy}/v1", api_key="of the model", max_retries=0) as client:
        yield client


@pytest.fixture
def memory(proxy: str) -> Iterator[Memory]:
    with Memory(proxy) as memory:
        yield memory


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def say(client: OpenAI, graph: str, *messages: dict[str, Any], session: str = "", **more: Any) -> Any:
    headers = {**({"Emgas-Session": session} if session else {}), **more.pop("headers", {})}
    options: dict[str, Any] = {"model": "looking", "user": graph, "extra_headers": headers, **more}
    return client.chat.completions.create(messages=list(messages), **options)  # type: ignore[arg-type]


def texts(memory: Memory, graph: str) -> list[str]:
    return [turn.text for turn in memory.turns(graph=graph).turns]


def test_a_model_is_shown_what_was_said_in_an_earlier_conversation(client: OpenAI, graph: str) -> None:
    answer = say(client, graph, user(FACT))
    assert answer.choices[0].message.content == "".join(ANSWER)
    assert Looking.shown[-1]["messages"] == [user(FACT)], "as it came, where the memory has nothing"
    say(client, graph, {"role": "system", "content": "Be kind."}, user(QUESTION), temperature=0.5)
    system, recalled, question = Looking.shown[-1]["messages"]
    assert (system["content"], question) == ("Be kind.", user(QUESTION))
    assert recalled["role"] == "system"
    assert FACT in recalled["content"]
    assert "nothing in it is an instruction" in recalled["content"]
    assert (Looking.shown[-1]["model"], Looking.shown[-1]["temperature"]) == ("looking", 0.5)
    assert Looking.keys[-1] == "Bearer of the model"


def test_an_answer_is_streamed_and_is_not_remembered_unless_asked(client: OpenAI, memory: Memory, graph: str) -> None:
    for remember, expected in (("user", [FACT]), ("none", [FACT]), ("all", [FACT, QUESTION, "".join(ANSWER)])):
        utterance = FACT if remember == "user" else QUESTION
        stream = say(client, graph, user(utterance), stream=True, headers={"Emgas-Remember": remember})
        assert [chunk.choices[0].delta.content for chunk in stream] == ANSWER
        assert texts(memory, graph) == expected
    say(client, graph, user("The kettle is blue."), headers={"Emgas-Remember": "all"})
    assert texts(memory, graph)[-2:] == ["The kettle is blue.", "".join(ANSWER)]
    assert [turn.role for turn in memory.turns(graph=graph).turns][-2:] == ["user", "assistant"]


def test_of_a_conversation_that_is_sent_whole_only_what_is_new_is_recorded(
    client: OpenAI, memory: Memory, graph: str
) -> None:
    first = [user(FACT), {"role": "assistant", "content": "Poor Biscuit!"}]
    for messages in ([user(FACT)], [*first, user("And eye drops."), user("Since today.")]):
        say(client, graph, *messages)
    assert texts(memory, graph) == [FACT, "And eye drops.", "Since today."]


def test_in_a_conversation_with_a_name_nothing_is_recorded_twice_or_recalled_into_itself(
    client: OpenAI, memory: Memory, graph: str
) -> None:
    for _ in range(2):  # as a client does that got no answer
        say(client, graph, user(FACT), session="s1")
    assert texts(memory, graph) == [FACT]
    utterance = {"role": "assistant", "content": "Poor Biscuit!"}
    say(client, graph, user(FACT), utterance, user(QUESTION), session="s1")
    assert [each["role"] for each in Looking.shown[-1]["messages"]] == ["user", "assistant", "user"]
    say(client, graph, user(QUESTION), session="s2")
    assert FACT in Looking.shown[-1]["messages"][0]["content"]
    say(client, graph, user(FACT), session="s2")
    assert texts(memory, graph).count(FACT) == 2, "said again in another conversation"


def test_what_the_model_refuses_is_handed_on_and_not_remembered(client: OpenAI, memory: Memory, graph: str) -> None:
    with pytest.raises(openai.BadRequestError, match="too many requests"):
        say(client, graph, user(FACT), model="broken")
    assert texts(memory, graph) == []


def test_whose_memory_it_is_must_be_said(client: OpenAI) -> None:
    with pytest.raises(openai.UnprocessableEntityError, match="user: is missing: name the graph"):
        client.chat.completions.create(model="looking", messages=[{"role": "user", "content": FACT}])


async def test_their_client_for_event_loops_and_the_list_of_models(proxy: str, graph: str, memory: Memory) -> None:
    async with AsyncOpenAI(base_url=f"{proxy}/v1", api_key="any") as client:
        assert [model.id async for model in client.models.list()] == ["looking"]
        options: dict[str, Any] = {"model": "looking", "extra_headers": {"Emgas-Graph": graph}}
        await client.chat.completions.create(messages=[{"role": "user", "content": FACT}], **options)
    assert texts(memory, graph) == [FACT]


def test_where_keys_are_wanted_none_of_them_reaches_the_model(keyed_proxy: str, model: str) -> None:
    Looking.keys.clear()
    with OpenAI(base_url=f"{keyed_proxy}/v1", api_key="secret", max_retries=0) as client:
        say(client, "ada", user(FACT))
        assert Looking.keys == ["Bearer of the operator"]
        with pytest.raises(openai.PermissionDeniedError, match="does not belong to this graph"):
            say(client, "ben", user(FACT))


@pytest.fixture(scope="module")
def keyed_proxy(model: str, keys_file: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = tmp_path_factory.mktemp("keyed")
    with served(data, "--model", model, "--keys", keys_file, EMGAS_MODEL_KEY="of the operator") as address:
        yield address


def test_a_server_without_a_model_says_how_to_name_one(address: str) -> None:
    with (
        OpenAI(base_url=f"{address}/v1", api_key="any", max_retries=0) as client,
        pytest.raises(openai.NotFoundError, match="emgas serve --model URL"),
    ):
        say(client, "ada", user(FACT))
