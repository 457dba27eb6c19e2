"""Every call that the reference of the routes prints succeeds as printed, and gets the answer that is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from emgas.schema.examples import RECORDED
from gateway.openapi import FILE as DOCUMENT
from gateway.routes.examples import FROM_THE_WIRE
from gateway.routes.reference import reference
from tests.support.reference_calls import Call, answer_of, calls, responses, without_watermarks

RECORD = "run `python -m tests.support.reference_calls`, then `python -m gateway.openapi`"


@pytest.fixture(scope="module")
def document() -> Any:
    return orjson.loads(DOCUMENT.read_bytes())


async def test_each_printed_call_succeeds_in_the_printed_order_and_gets_the_printed_answer(tmp_path: Path) -> None:
    made = [(call, response) async for call, response in responses(tmp_path)]
    failed = [(" ".join(call.words), response.text) for call, response in made if not response.is_success]
    assert failed == []
    for call, response in made:
        if call.operation not in FROM_THE_WIRE:
            answer, printed = answer_of(response), RECORDED.get(call.operation)
            assert without_watermarks(answer) == without_watermarks(printed), f"{call.operation}: {RECORD}"


def test_every_operation_has_one_call_and_one_answer(document: Any) -> None:
    names = {operation["operationId"] for path in document["paths"].values() for operation in path.values()}
    page = reference(document, "http://127.0.0.1:8088")
    printed = [call.operation for call in calls(page, document)]
    assert sorted(printed) == sorted(names)
    assert page.count('<pre class="answer">') == len(names)
    assert RECORDED.keys() == names - set(FROM_THE_WIRE)


def test_the_document_has_the_example_of_each_answer_under_its_status(document: Any) -> None:
    for path in document["paths"].values():
        for operation in path.values():
            successes = [answer for status, answer in operation["responses"].items() if int(status) < 300]
            contents = [content for answer in successes for content in answer.get("content", {}).values()]
            assert sum("example" in content for content in contents) == 1, operation["operationId"]


def test_calls_name_the_server_that_prints_them(document: Any) -> None:
    page = reference(document, "http://localhost:9000")
    addresses = [word for call in calls(page, document) for word in call.words if "://" in word]
    assert len(addresses) == page.count("<h4>Try")
    assert all(each.startswith("http://localhost:9000/") for each in addresses)


@pytest.mark.parametrize("address", ["http://a'b", "http://<b>"])
def test_what_a_caller_claims_to_be_the_address_is_quoted(address: str, document: Any) -> None:
    page = reference(document, address)
    assert address not in page
    assert f"{address}/v1/graphs" in [word for call in calls(page, document) for word in call.words]


@pytest.mark.parametrize("word", ["http://127.0.0.1:8088/v1/graphs/a b", "http://127.0.0.1:8088/v1/[1]", "--upload"])
def test_a_call_that_curl_would_not_make_is_noticed(word: str) -> None:
    with pytest.raises(AssertionError):
        Call("list_graphs", ["curl", "-s", word]).request()
