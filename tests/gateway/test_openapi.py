"""The OpenAPI document is what the gateway does: tried with what a generator makes of it, and with what it forbids.

`scripts/check requests` tries 10,000 requests (EMGAS_FUZZ_CASES says how many; 500 are the default).
"""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import orjson
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from emgas import MemoryClient
from emgas.limits import RECORD_BYTES
from gateway.auth.access import BODY_BYTES
from gateway.auth.keys import RIGHTS, Caller, Keys
from gateway.auth.new_keys import digest
from gateway.openapi import FILE, generate
from tests.support.clocks import PATIENCE
from tests.support.served import serving

CASES = int(os.environ.get("EMGAS_FUZZ_CASES", "500"))
KEY = {"Authorization": "Bearer all"}
OPERATIONS = sum(map(len, orjson.loads(FILE.read_bytes())["paths"].values()))  # of the document
SHARE = math.ceil(1.2 * CASES / (2 * OPERATIONS))  # of each, in each mode; of some there are fewer that differ
TRIED: Counter[int] = Counter()  # operation → requests


def keys() -> Keys:
    return Keys([Caller(name="all", sha256=digest("all"), graphs=("*",), rights=RIGHTS)])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve an embedded memory from a thread: the generator of requests is no coroutine."""
    loop, ready, message = asyncio.new_event_loop(), threading.Event(), list[str]()
    ending = asyncio.Event()
    data = tmp_path_factory.mktemp("memory")

    async def serve() -> None:
        async with MemoryClient(f"embedded:{data}", timeout=PATIENCE) as memory, serving(memory, keys()) as url:
            await memory.record({"id": "t0", "graph": "ada", "speaker": "Ada", "text": "The kettle broke."})
            message.append(url)
            ready.set()
            await ending.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(PATIENCE)
    yield message[0]
    loop.call_soon_threadsafe(ending.set)
    thread.join(PATIENCE)


@pytest.fixture(scope="module")
def api(address: str) -> Any:
    return schemathesis.openapi.from_url(f"{address}/openapi.json", timeout=PATIENCE)


REMOVING = ("delete", "forget", "undo")


def test_every_example_is_accepted(address: str) -> None:
    """Send the examples to one memory, before anything else is in it: what removes comes last."""
    for method, path, operation in sorted(operations(), key=lambda each: each[2]["operationId"].startswith(REMOVING)):
        name = operation["operationId"]
        if "OpenAI" in operation["tags"] or name.startswith(("mem0_delete", "mem0_get", "mem0_history")):
            continue  # no model is there; mem0's ids of memories are made by its own `add`
        given = [each for each in operation.get("parameters", ()) if "example" in each]
        where = path.format(**{each["name"]: each["example"] for each in given if each["in"] == "path"})
        query = {each["name"]: each["example"] for each in given if each["in"] == "query"}
        if name in ("read", "list_graphs"):
            query = {name: value for name, value in query.items() if name in ("newest", "limit")}
        ((media, body),) = list(operation.get("requestBody", {}).get("content", {}).items()) or [("", {})]
        example = body.get("example", "")
        content = example if isinstance(example, str) else orjson.dumps(example)
        response = httpx.request(
            method, address + where, params=query, content=content, headers={**KEY, "Content-Type": media}, timeout=60
        )
        # What names a turn or a concept that this short memory lacks is understood, and refused by the memory itself.
        assert response.is_success or response.json()["code"] == "rejected", (name, response.text)


@pytest.mark.hypothesis
@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize("number", range(OPERATIONS))
def test_the_gateway_does_what_its_document_says(number: int, mode: GenerationMode, api: Any) -> None:
    operation = list(api.get_all_operations())[number].ok()

    @settings(max_examples=SHARE, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=mode))
    def agrees(case: schemathesis.Case) -> None:
        TRIED[number] += 1
        if isinstance(case.body, dict):
            case.body.pop(
                "after", None
            )  # a turn that never comes is waited for, and then told by a 503: as it should be
        # No schema can say what text must not hold, or which fields go together: what it allows may be refused.
        # And in a URL everything is text: `app_id=false` was meant as a wrong type, and is a right name.
        in_url = [] if isinstance(case.body, dict) else [negative_data_rejection]
        excluded = [positive_data_acceptance, *in_url]
        case.call_and_validate(headers=KEY, excluded_checks=excluded, timeout=PATIENCE)

    agrees()


def test_every_operation_is_tried(api: Any) -> None:
    assert len(list(api.get_all_operations())) == OPERATIONS


def test_as_many_requests_were_tried_as_were_asked_for() -> None:
    if len(TRIED) < OPERATIONS:
        pytest.skip("not all operations were chosen to be tried")
    assert TRIED.total() >= CASES


def test_the_document_that_is_checked_in_is_the_one_that_the_routes_make() -> None:
    assert FILE.read_bytes() == generate(), "run `python -m gateway.openapi`"


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in orjson.loads(FILE.read_bytes())["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def test_every_operation_has_a_tag_a_name_of_its_own_and_an_example() -> None:
    names = [operation["operationId"] for *_, operation in operations()]
    assert len(set(names)) == len(names) == OPERATIONS
    assert all(name.replace("_", "").isalnum() and name.islower() for name in names)
    for method, path, operation in operations():
        assert operation["tags"], path
        bodies = operation.get("requestBody", {}).get("content", {}).values()
        answers = [each for answer in operation["responses"].values() for each in answer.get("content", {}).values()]
        assert all("example" in body for body in bodies), (method, path)
        assert any("example" in each for each in (*bodies, *operation.get("parameters", ()), *answers)), (method, path)


def test_a_batch_records_its_turns_and_reports_the_rejected_ones(address: str) -> None:
    turns = [{"id": f"b{n}", "speaker": "Ada", "text": f"Kettle number {n} broke."} for n in range(3)]
    turns.append({**turns[0], "text": "Another text."})
    answer = httpx.post(f"{address}/v1/graphs/batch/turns/batch", json={"turns": turns}, headers=KEY, timeout=PATIENCE)
    outcomes = answer.json()["outcomes"]
    assert [outcome["status"] for outcome in outcomes] == ["accepted"] * 3 + ["rejected"]
    assert [outcome["turn"] for outcome in outcomes] == ["b0", "b1", "b2", "b0"]
    many = [{"id": f"c{n}", "speaker": "Ada", "text": "Kettle."} for n in range(1001)]
    check(httpx.post(f"{address}/v1/graphs/batch/turns/batch", json={"turns": many}, headers=KEY), 422)


def test_a_text_over_the_limit_is_stored_in_pieces_and_forgotten_as_one_turn(address: str) -> None:
    graph = f"{address}/v1/graphs/long"
    paragraphs = [f"Paragraph {number} is about kettle number {number}." for number in range(1500)]
    turn = {"id": "d", "speaker": "Ada", "text": "\n\n".join(paragraphs)}
    first = httpx.post(f"{graph}/turns", json=turn, headers=KEY, timeout=PATIENCE)
    assert (first.status_code, first.json()["turn"]) == (201, "d")
    again = httpx.post(f"{graph}/turns/batch", json={"turns": [turn, {**turn, "id": "e", "text": "Tea."}]}, headers=KEY)
    outcomes = again.json()["outcomes"]
    assert [(each["turn"], each["status"]) for each in outcomes] == [("d", "duplicate"), ("e", "accepted")]
    texts = {each["id"]: each["text"] for each in httpx.get(f"{graph}/turns?limit=100", headers=KEY).json()["turns"]}
    kept = ["d", *(f"d/{number}" for number in range(1, len(texts) - 1))]
    assert " ".join(texts[id] for id in kept).split() == turn["text"].split()
    assert httpx.delete(f"{graph}/turns/d", headers=KEY).status_code == 200
    assert [each["id"] for each in httpx.get(f"{graph}/turns?limit=100", headers=KEY).json()["turns"]] == ["e"]


def test_delete_forgets_a_turn_a_conversation_and_a_graph(address: str) -> None:
    graph = f"{address}/v1/graphs/gone"

    def ids() -> list[str]:
        answer = httpx.get(f"{graph}/turns", params={"limit": 1000}, headers=KEY)
        return [turn["id"] for turn in answer.json()["turns"]] if answer.is_success else []

    for name, session in [("a/1", "s/1"), ("b", "s/1"), ("c", "s2"), ("d", "s3")]:
        turn = {"id": name, "session": session, "speaker": "Ada", "text": f"The {name} kettle broke."}
        assert httpx.post(f"{graph}/turns", json=turn, headers=KEY).status_code == 201
    assert httpx.delete(f"{graph}/turns/a%2F1", headers=KEY).json()["status"] == "accepted"
    assert ids() == ["b", "c", "d"]
    assert httpx.delete(f"{graph}/sessions/s%2F1", headers=KEY).json()["status"] == "accepted"
    assert ids() == ["c", "d"]
    assert httpx.delete(graph, headers=KEY).json()["status"] == "accepted"
    assert ids() == []


def test_the_document_knows_no_other_form_of_problem() -> None:
    text = FILE.read_text()
    assert "HTTPValidationError" not in text
    assert '"openapi": "3.1.0"' in text


JSON = {"Content-Type": "application/json", **KEY}
TURN = b'{"id": "t2", "speaker": "Ada", "text": "%s"}'
BAD: dict[str, tuple[bytes, dict[str, str], int, str]] = {
    "nothing": (b"", JSON, 422, "there is no JSON object: send one"),
    "not JSON": (b'{"id": ', JSON, 400, "send one JSON object"),
    "not UTF-8": (TURN % b"\xff", JSON, 400, "send one JSON object in UTF-8"),
    "too deep": (b'{"id":' * 40_000, JSON, 400, "send one JSON object"),
    "too deep lists": (b"[" * 200_000, JSON, 400, "send one JSON object"),
    "an endless number": (b'{"id": ' + b"9" * 5000 + b"}", JSON, 400, "send one JSON object"),
    "not an object": (b"[]", JSON, 422, "this must be a JSON object"),
    "NaN": (b'{"id": "t2", "speaker": "A", "text": "x", "metadata": {"n": NaN}}', JSON, 422, "metadata"),
    "a lone surrogate": (TURN % rb"\ud800", JSON, 422, "text: holds a lone surrogate"),
    "a field that is a lone surrogate": (rb'{"\ud800": 1}', JSON, 422, "lone surrogate"),
    "NUL": (TURN % rb"\u0000", JSON, 422, "U+0000"),
    "another graph in the body": (TURN[:-1] % b"x" + b', "graph": "ben"}', JSON, 422, "graph: is not a known field"),
    "a body over the limit": (TURN % (b"x" * BODY_BYTES), JSON, 413, "more than"),
    "no content type": (TURN % b"x", {**KEY, "Content-Type": ""}, 415, "Content-Type: application/json"),
    "another content type": (TURN % b"x", {**KEY, "Content-Type": "text/plain"}, 415, "Content-Type: application/json"),
    "a key that is too long": (
        b'{"speaker": "A", "text": "x"}',
        {**JSON, "Idempotency-Key": "k" * 300},
        422,
        "idempotency",
    ),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("path", ["/v1/graphs/ada/turns", "/v1/records/turns?key=ada"])
def test_what_the_document_does_not_allow_is_a_problem_that_tells_why(bad: str, path: str, address: str) -> None:
    body, headers, status, detail = BAD[bad]
    if "records" in path and ("key" in bad or "another graph" in bad):
        return  # they are of the other route
    response = httpx.post(address + path, content=body, headers=headers)
    check(response, status if "records" not in path or status not in (400, 422) else (400, 422))
    if "records" not in path:
        assert detail.lower() in response.json()["detail"].lower()


def test_a_body_that_does_not_say_how_long_it_is_is_read_to_the_limit_only(address: str) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(2 * BODY_BYTES // 1024):
            yield b" " * 1024

    check(httpx.post(f"{address}/v1/graphs/ada/turns", content=pieces(), headers=JSON), 413)
    check(httpx.post(f"{address}/v1/records/turns?key=ada", content=pieces(), headers=JSON), 413)


def test_a_record_of_the_largest_size_is_taken(address: str) -> None:
    value = b'{"id": "large", "graph": "ada", "speaker": "Ada", "text": "x"}'.ljust(RECORD_BYTES)
    assert httpx.post(f"{address}/v1/records/turns?key=ada", content=value, headers=JSON).status_code == 200
    check(httpx.post(f"{address}/v1/records/turns?key=ada", content=value + b" ", headers=JSON), 422)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/graphs/ada/forget", 405),
        ("GET", "/v1/graphs/nobody", 404),
        ("GET", "/v1/graphs/ada?budget=3", 422),
    ],
)
def test_what_is_not_there_is_a_problem(method: str, path: str, status: int, address: str) -> None:
    check(httpx.request(method, address + path, headers=KEY), status)


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/nothing"), ("GET", "/v1/graphs/ada/forget")])
def test_a_route_that_is_not_there_says_where_those_are_that_are(method: str, path: str, address: str) -> None:
    message = httpx.request(method, address + path, headers=KEY).json()["detail"]
    for named in ("/openapi.json", "/docs"):
        assert named in message
        assert httpx.get(address + named).is_success


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}, {"Content-Type": "application/json"}])
def test_a_method_that_a_path_does_not_take_is_refused_with_all_that_it_takes(
    headers: dict[str, str], address: str
) -> None:
    response = httpx.put(f"{address}/v1/graphs/ada/turns", headers={**KEY, **headers})
    check(response, 405)
    assert response.headers["Allow"] == "GET, POST"
    assert "GET, POST" in response.json()["detail"]
    assert httpx.request("PATCH", f"{address}/v1/graphs/ada", headers=KEY).headers["Allow"] == "DELETE, GET"


def test_a_method_that_a_path_does_not_take_is_refused_only_to_those_with_a_key(address: str) -> None:
    check(httpx.put(f"{address}/v1/graphs/ada/turns"), 401)


def test_no_problem_repeats_what_was_sent(address: str) -> None:
    utterance = "a-very-private-remark"
    for body in (
        {"text": 1, "speaker": {utterance: utterance}},
        {"id": [utterance]},
        {"metadata": {"k": [utterance]}},
        [utterance],
        utterance,
    ):
        response = httpx.post(f"{address}/v1/graphs/ada/turns", json=body, headers=KEY)
        check(response, 422)
        assert utterance not in response.text
    assert utterance not in httpx.get(f"{address}/v1/graphs/{utterance}%20!", headers=KEY).text


def test_the_same_idempotency_key_again_has_no_effect(address: str) -> None:
    headers, turn = {**KEY, "Idempotency-Key": "once"}, {"speaker": "Ada", "text": "Tea is served."}
    answers = [httpx.post(f"{address}/v1/graphs/idem/turns", json=turn, headers=headers) for _ in range(2)]
    assert [each.status_code for each in answers] == [201, 200]
    assert [each.json()["status"] for each in answers] == ["accepted", "duplicate"]
    other = httpx.post(f"{address}/v1/graphs/idem/turns", json={**turn, "text": "Coffee."}, headers=headers)
    check(other, 409)


def check(response: httpx.Response, status: int | tuple[int, ...]) -> None:
    """Check that a response is a problem of this status."""
    assert response.status_code in ((status,) if isinstance(status, int) else status), response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert set(response.json()) == {"type", "title", "status", "detail", "code"}


def test_the_document_is_made_without_a_warning_on_the_terminal() -> None:
    command = [sys.executable, "-W", "default", "-m", "gateway.openapi", "--check"]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "Warning" not in made.stderr
