"""ChatGPT and ShareGPT: exports become turns, and what is wrong in one is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from emgas.importers.registry import read_folder
from emgas.messages.turns import Turn
from tests.support.chats import (
    AT,
    CHATGPT,
    SHAREGPT,
    conversation,
    items,
    message,
    reasons,
    turns,
    zipped,
)


def test_the_branch_that_chatgpt_shows_becomes_turns() -> None:
    first, second = turns(items(orjson.dumps([CHATGPT]), "conversations.json"))
    assert first == Turn(
        id="m3",
        graph="chatgpt-c-1",
        session="c-1",
        speaker="user",
        role="user",
        text="We adopted a ginger cat.\n[shares an image]",
        at=AT + 500,
        metadata={"origin": "import:chatgpt", "title": "A cat"},
    )
    assert (second.id, second.text, second.at) == ("m7", "Lovely!", AT - 60_000)


@pytest.mark.parametrize("names", [["conversations.json"], ["conversations-000.json", "conversations-001.json"]])
def test_chatgpts_zip_is_read_as_it_came(names: list[str], tmp_path: Path) -> None:
    other = orjson.loads(orjson.dumps(CHATGPT).replace(b'"c-1"', b'"c-2"'))
    files = {name: orjson.dumps([each]) for name, each in zip(names, [CHATGPT, other], strict=False)}
    files |= {"chat.html": b"<html>", "user.json": b"{}", "dalle/conversations.json.png": b""}
    results = turns(items(zipped(files), "export.zip", "me"))
    assert [turn.text for turn in results[::2]] == ["We adopted a ginger cat.\n[shares an image]"] * len(names)
    assert {turn.graph for turn in results} == {"me"}
    assert {turn.session for turn in results} == {"c-1", "c-2"} if len(names) > 1 else {"c-1"}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert list(read_folder(tmp_path, "me")) == results


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (5, "conversation: must be an object"),
        ({"mapping": []}, "conversation: must be an object"),
        ({**CHATGPT, "conversation_id": None}, "conversation_id: is missing"),
        ({**CHATGPT, "current_node": None}, "current_node: is missing"),
        ({**CHATGPT, "current_node": "gone"}, "mapping: lacks a message"),
        (conversation(message("m1", "gone", "user", "Hi")), "mapping: lacks a message"),
        (conversation(("m1", {"parent": "root", "message": 5})), "message: must be an object"),
        (conversation(message("m1", "root", "user", "Hi", content=5)), "message: content: must be"),
        (conversation(message("m1", "root", "user", "Hi", id=None)), "message: id: must be"),
        (conversation(message("m1", "root", "user", "Hi", create_time="x")), "message: time: must be"),
        (conversation(message("m1", "root", "user", "Hi", create_time=1e300)), "message: time: must be"),
    ],
)
def test_what_is_wrong_in_one_chatgpt_conversation_is_reported_and_the_rest_is_read(broken: Any, reason: str) -> None:
    results = items(orjson.dumps([broken, CHATGPT]), format="chatgpt")
    assert [description.startswith(reason) for description in reasons(results)] == [True]
    assert turns([item for item in results if isinstance(item, Turn)]) == turns(items(orjson.dumps([CHATGPT])))


def test_parents_that_go_round_in_a_circle_come_to_an_end() -> None:
    circle = conversation(message("m1", "m2", "user", "One"), message("m2", "m1", "assistant", "Two"))
    assert [turn.text for turn in turns(items(orjson.dumps([circle])))] == ["One", "Two"]


@pytest.mark.parametrize(
    "raw", [orjson.dumps([SHAREGPT, SHAREGPT]), orjson.dumps(SHAREGPT) + b"\n" + orjson.dumps(SHAREGPT)]
)
def test_sharegpt_is_read_as_an_array_and_as_lines(raw: bytes) -> None:
    first, second, again, _ = turns(items(raw, "data.json"))
    assert (first.graph, first.session, first.speaker, first.role, first.text) == (
        "sharegpt-x1",
        "x1",
        "human",
        "user",
        "Hi",
    )
    assert (second.speaker, second.role, second.at) == ("gpt", "assistant", None)
    assert first.id == again.id != second.id


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[5]", "conversation: must be an object"),
        (b'{"conversations":[]}', "id: is missing"),
        (b'{"id":"x","conversations":[{"from":"alien","value":"x"}]}', "conversations[0]: must be"),
        (b'{"id":"x","conversations":[{"from":"gpt","value":5}]}', "conversations[0]: must be"),
        (b'{"id":"x","conversations":[', "this is not valid JSON"),
        (b"[", "file: is not valid JSON"),
    ],
)
def test_what_is_no_sharegpt_conversation_is_a_bad_line(raw: bytes, reason: str) -> None:
    (description,) = reasons(items(raw, format="sharegpt"))
    assert description.startswith(reason)


def test_sharegpt_without_ids_goes_into_a_graph_that_is_named() -> None:
    nameless = {"conversations": SHAREGPT["conversations"]}
    results = turns(items(orjson.dumps([nameless, nameless]), "x", "ada"))
    assert {turn.session for turn in results} == {"conversation-1", "conversation-2"}
    assert len({turn.id for turn in results}) == 4
