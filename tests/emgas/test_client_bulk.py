"""Publishing in bulk, and where a client finds its connection."""

from __future__ import annotations

import asyncio
from importlib.metadata import EntryPoint
from typing import Any

import orjson
import pytest

from emgas import MemoryClient, Outcome, Turn
from emgas.client.bulk import publish_all
from emgas.client.connect import connect, named_topics
from emgas.client.kafka import KafkaConnection
from emgas.errors import NoAnswerError, NotInstalledError, TransportError
from emgas.wire import Receipt, TopicNames
from tests.emgas.connections import AT_ONCE, POSITION, MemoryConnection, accept, outcome, sent_records


def turns(count: int) -> list[Turn]:
    return [Turn(id=str(n), graph=f"g{n % 3}", speaker="Ada", text=f"number {n}") for n in range(count)]


async def test_bulk_publishing_yields_every_turn_with_its_outcome_in_order() -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory:
        done = [(turn, result) async for turn, result in memory.publish_many(turns(50), window=7)]
    assert [turn for turn, _ in done] == turns(50)
    assert [result.turn for _, result in done if isinstance(result, Outcome)] == [str(n) for n in range(50)]
    assert [orjson.loads(sent.value)["id"] for sent in connection.log] == [str(n) for n in range(50)]


async def test_bulk_publishing_without_outcomes_yields_acknowledgements() -> None:
    connection = MemoryConnection()

    async def source() -> Any:
        for turn in turns(5):
            yield turn

    async with MemoryClient(connection) as memory:
        done = [result async for _, result in memory.publish_many(source(), outcomes=False)]
    assert [type(result) for result in done] == [Receipt] * 5


async def test_bulk_publishing_keeps_no_more_than_its_window_in_flight() -> None:
    gate = asyncio.Event()
    connection = MemoryConnection(hold=gate)
    async with MemoryClient(connection) as memory:
        many = memory.publish_many(turns(20), window=4, outcomes=False)
        first = asyncio.ensure_future(anext(many))
        assert [sent.offset for sent in await sent_records(connection, 4)]
        drawn = len(connection.log)
        gate.set()
        assert (await first)[0].id == "0"
        rest = [turn.id async for turn, _ in many]
    assert drawn == 4
    assert rest == [str(n) for n in range(1, 20)]


async def test_a_turn_whose_outcome_was_lost_is_sent_again_and_its_duplicate_counts_as_accepted() -> None:
    sent: list[str] = []

    async def lose_the_first(turn: Turn) -> Outcome:
        sent.append(turn.id)
        if len(sent) == 1:
            raise NoAnswerError("the answer was lost")
        return Outcome(status="duplicate", turn=turn.id, position=POSITION)

    done = [result async for _, result in publish_all(turns(1), lose_the_first, window=1, tries=2)]
    assert done == [Outcome(status="accepted", turn="0", position=POSITION)]
    assert sent == ["0", "0"]


async def test_a_rejected_turn_is_handed_back_and_the_others_go_on() -> None:
    connection = MemoryConnection(lambda sent: outcome("?", "rejected" if sent.offset == 0 else "accepted"))
    async with MemoryClient(connection) as memory:
        same_graph = [turn.model_copy(update={"graph": "g"}) for turn in turns(3)]
        done = [result async for _, result in memory.publish_many(same_graph)]
    assert [result.status for result in done if isinstance(result, Outcome)] == ["rejected", "accepted", "accepted"]


async def test_a_turn_that_was_known_before_stays_a_duplicate() -> None:
    connection = MemoryConnection(lambda sent: outcome("0", "duplicate"))
    async with MemoryClient(connection) as memory:
        done = [result async for _, result in memory.publish_many(turns(1))]
    assert [result.status for result in done if isinstance(result, Outcome)] == ["duplicate"]


async def test_bulk_publishing_gives_up_after_its_tries() -> None:
    connection = MemoryConnection()
    async with MemoryClient(connection) as memory:
        with pytest.raises(NoAnswerError):
            await anext(memory.publish_many(turns(1), tries=3, timeout=AT_ONCE))
    assert [orjson.loads(sent.value)["id"] for sent in connection.log] == ["0"] * 3


async def test_leaving_bulk_publishing_early_leaves_no_task_behind() -> None:
    connection = MemoryConnection(accept)
    async with MemoryClient(connection) as memory:
        before = asyncio.all_tasks()
        many = memory.publish_many(turns(50), window=10)
        await anext(many)
        await many.aclose()  # type: ignore[attr-defined]
        assert asyncio.all_tasks() == before


@pytest.mark.parametrize("url", ["kafka:", "kafka://", "kafka://user:secret@host:9092", "kafka://host/path"])
def test_an_address_that_cannot_be_one_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(TransportError, match="kafka://host:port") as caught:
        connect(url, TopicNames(), 1)
    assert "secret" not in str(caught.value)


def test_a_kafka_address_makes_a_kafka_connection_with_the_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMGAS_BROKER", "kafka://one:9092,two:9092")
    made = connect(None, TopicNames("mine"), 1, security_protocol="PLAINTEXT")
    assert isinstance(made, KafkaConnection)
    assert made.topics.turns == "mine.turns"


def test_a_client_that_is_told_no_prefix_has_that_of_workers_and_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    assert named_topics(None).turns == "emgas.turns"
    monkeypatch.setenv("EMGAS_PREFIX", "mine")
    assert named_topics(None).turns == "mine.turns"
    assert named_topics("other").turns == "other.turns"


def test_a_scheme_that_nothing_carries_names_those_that_are() -> None:
    with pytest.raises(NotInstalledError, match=r"pigeon: addresses.*http://host:port, kafka://host:port"):
        connect("pigeon://loft", TopicNames(), 1)


def test_a_registered_scheme_is_carried_by_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "tests.emgas.connections:connect")
    made = connect("pigeon:loft", TopicNames("mine"), 1)
    assert isinstance(made, MemoryConnection)
    assert made.topics.turns == "mine.turns"


def test_a_registered_scheme_whose_package_is_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "tests.emgas.nowhere:connect")
    with pytest.raises(NotInstalledError, match=r"pigeon: tests\.emgas\.nowhere:connect cannot be imported"):
        connect("pigeon:loft", TopicNames(), 1)


def register(monkeypatch: pytest.MonkeyPatch, factory: str) -> None:
    """Register a factory for pigeon: addresses, as an installed package would."""
    entry = EntryPoint("pigeon", factory, "emgas.connections")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group, name: [entry])


def test_security_settings_are_refused_where_they_would_be_ignored() -> None:
    with pytest.raises(TransportError, match="sasl_mechanism"):
        connect("embedded:somewhere", TopicNames(), 1, sasl_mechanism="PLAIN")
