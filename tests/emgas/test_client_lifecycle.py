"""The client's words about a graph itself: configure and forget go among the turns, describe goes among the queries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from emgas import Description, MemoryClient, Theme, Turn
from emgas.errors import InvalidMessageError, QueryFailedError, TransportError
from emgas.messages.forgetting import Forget
from emgas.messages.requests import Failure
from emgas.messages.settings.memory_settings import Settings
from emgas.messages.topics import ANSWER, INBOUND
from emgas.messages.turns import Configure, Undo
from emgas.times import DAY_MS
from emgas.wire import Receipt, partition_of
from tests.emgas.connections import POSITION, MemoryConnection, Sent, outcome

THEME = Theme(id="topic-0", label="tea", concepts=["tea", "milk"], born=5)
DESCRIPTION = Description(
    graph="ada", found=True, settings={"half_life": 7, "prune_below": 0.5}, themes=[THEME], position=POSITION
)


def accept(sent: Sent) -> bytes:
    return outcome(orjson.loads(sent.value)["id"])


def describe(sent: Sent) -> bytes:
    return ANSWER.dump_json(DESCRIPTION)


async def test_a_configuration_goes_among_the_turns_of_its_graph() -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory:
        result = await memory.configure("ada", preset="forgetful", half_life=5, id="c1")
    (sent,) = connection.log
    assert (result.status, result.turn) == ("accepted", "c1")
    assert (sent.topic, sent.key, sent.headers["ce_type"]) == ("emgas.turns", b"ada", b"io.emgas.configure.v1")
    command = Configure(kind="configure", id="c1", graph="ada", preset="forgetful", settings=Settings(half_life=5))
    assert INBOUND.validate_json(sent.value) == command


async def test_a_wish_to_forget_goes_among_the_turns_of_its_graph() -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory:
        await memory.forget("ada", ["tea"], turns=("t1", "t2"), sessions=["main"], id="f1")
    (sent,) = connection.log
    assert (sent.topic, sent.key, sent.headers["ce_type"]) == ("emgas.turns", b"ada", b"io.emgas.forget.v1")
    command = Forget(kind="forget", id="f1", graph="ada", concepts=["tea"], turns=["t1", "t2"], sessions=["main"])
    assert INBOUND.validate_json(sent.value) == command


async def test_a_wish_to_undo_goes_among_the_turns_of_its_graph() -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory:
        await memory.send(Undo(graph="ada", first=3, last=5, id="u1"))
        await memory.send(Undo(graph="ada", first=3, id="u2"))
    one, other = connection.log
    assert (one.topic, one.key, one.headers["ce_type"]) == ("emgas.turns", b"ada", b"io.emgas.undo.v1")
    assert INBOUND.validate_json(one.value) == Undo(kind="undo", id="u1", graph="ada", first=3, last=5)
    assert INBOUND.validate_json(other.value) == Undo(kind="undo", id="u2", graph="ada", first=3, last=None)


async def test_wishes_without_an_id_get_ids_of_their_own() -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory:
        await memory.configure("ada")
        await memory.forget("ada", ["tea"])
    ids = {orjson.loads(sent.value)["id"] for sent in connection.log}
    assert [len(name) for name in ids] == [32, 32]


@pytest.mark.parametrize(
    ("call", "fields", "problem"),
    [
        ("configure", {"preset": "goldfish"}, "preset: there is no such preset: choose one of default"),
        ("configure", {"halflife": 5}, "halflife: is not a known field"),
        ("configure", {"half_life": 0}, "half_life: must be at least 1"),
        ("configure", {"half_life": 40_000 * DAY_MS}, "half_life: must be at most 3162240000000"),
        ("configure", {"half_life": 10**30}, "half_life: must be at most 3162240000000"),
        ("configure", {"half_life": 1e30}, "half_life: must be a whole number"),
        ("configure", {"grace": 10**15}, "grace: must be at most 31622400000"),
        ("configure", {"long_windows": 2**64}, "long_windows: must be at most 9007199254740992"),
        ("configure", {"long_recalls": 2**64}, "long_recalls: must be at most 9007199254740992"),
        ("configure", {"half_life": 1.5}, "half_life: must be a whole number"),
        ("forget", {"concepts": "tea"}, "concepts: must be a list"),
        ("forget", {"turns": [""]}, "turns.0: must have at least 1 character"),
        ("forget", {"sessions": ["s"] * 101}, "sessions: must have at most 100 items"),
    ],
)
async def test_a_wish_that_breaks_the_contract_is_never_sent(call: str, fields: dict[str, Any], problem: str) -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory:
        with pytest.raises(InvalidMessageError, match=problem):
            await getattr(memory, call)("ada", **fields)
    assert connection.log == []


async def test_describing_asks_the_graphs_owner_and_returns_what_it_says() -> None:
    connection = MemoryConnection(describe)
    async with MemoryClient(connection) as memory:
        assert await memory.describe("ada", after=3) == DESCRIPTION
    (sent,) = connection.log
    assert (sent.topic, sent.key, sent.partition) == ("emgas.queries", b"ada", partition_of("ada", 4))
    assert orjson.loads(sent.value) == {"kind": "describe", "graph": "ada", "after": 3}


async def test_describing_after_what_publish_returned_waits_for_it() -> None:
    connection = MemoryConnection(describe)
    async with MemoryClient(connection) as memory:
        there = await memory.publish(Turn(id="1", graph="ada", speaker="Ada", text="Tea?"))
        await memory.describe("ada", after=there)
        with pytest.raises(InvalidMessageError, match="after: is a receipt from another partition"):
            await memory.describe("ada", after=Receipt((there.partition + 1) % 4, 0, 0))
    assert orjson.loads(connection.log[-1].value)["after"] == there.offset


async def test_a_description_that_fails_is_raised_with_its_code() -> None:
    failure = Failure(code="not-yet", message="later")
    async with MemoryClient(MemoryConnection(lambda sent: failure.model_dump_json().encode())) as memory:
        with pytest.raises(QueryFailedError, match="not-yet: later"):
            await memory.describe("ada")


async def test_an_argument_that_no_address_knows_is_told_with_the_way_to_name_a_memory(tmp_path: Path) -> None:
    wrong: dict[str, Any] = {"data": str(tmp_path)}
    with pytest.raises(TransportError, match=r"data: not for embedded: addresses.*'embedded:DIRECTORY'"):
        await MemoryClient(f"embedded:{tmp_path}", **wrong).open()
