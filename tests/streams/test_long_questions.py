"""Long questions: others are let in meanwhile, and the answer is that of one moment, whatever happens in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from emgas.messages.queries import Query, RecalledPassage
from processors.extraction.yake_extractor import YakeExtractor
from processors.recall.explanation import explanations
from state.errors import StoreCorruptError
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from streams.query import answer
from streams.query.answer import Asking, Recalled, recall_from
from tests.support.events import decay_closed, turn_recorded
from tests.support.query_handlers import NOW, Counter

EXTRACTOR = YakeExtractor(language="en")
TURNS = 250
RARE = {"only": {"metadata": {"n": 3}}}
WIDE = {"budget": 4000}
EXPLAINED = {"explain": True, "top_passages": 100}


def turn(source: int, **changes: Any) -> TurnRecorded:
    text = f"The kettle number {source} whistles in the kitchen of house {source * source}."
    said = {"id": f"t{source}", "text": text, "at": NOW - 10**6 + source, "metadata": {"n": source % 9}}
    return turn_recorded(src=source, concepts="kettle kitchen", tokens=10, **{**said, **changes})


async def grown(turns: int = TURNS) -> Counter:
    """Return a desk whose graph "ada" holds so many turns about kettles."""
    counter = Counter()
    await counter.owner.claim()
    await counter.keeper.catch_up()
    await counter.owner.append([turn(source) for source in range(turns)])
    return counter


def query(**fields: Any) -> Query:
    return Query.model_validate({"graph": "ada", "text": "the kettle", **fields})


def expected(counter: Counter, **fields: Any) -> Recalled:
    return recall_from(counter.state.graph("ada"), counter.state.text_of, query(**fields), EXTRACTOR)


def told(recalled: Recalled) -> tuple[list[Any], str, int]:
    """Return what was recalled and why, and the context."""
    passages = [passage.model_dump(mode="json", exclude_none=True) for passage in recalled.passages]
    return passages, recalled.context, recalled.tokens


def from_reply(reply: dict[str, Any]) -> tuple[list[Any], str, int]:
    passages = [RecalledPassage.model_validate(passage) for passage in reply["passages"]]
    return told(Recalled(passages=passages, context=reply["context"], tokens=reply["tokens"]))


def asked(**fields: Any) -> bytes:
    return json.dumps({"kind": "query", "graph": "ada", "text": "the kettle", **fields}).encode()


@asynccontextmanager
async def others() -> AsyncIterator[list[int]]:
    """Count in a list of one how often others get their turn while the block lasts."""
    turns = [0]

    async def count() -> None:
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(count())
    yield turns
    task.cancel()


@pytest.mark.parametrize("fields", [RARE, WIDE, EXPLAINED, {**RARE, **WIDE, **EXPLAINED}])
async def test_a_long_question_gets_the_answer_that_it_gets_in_one_go(fields: dict[str, Any]) -> None:
    counter = await grown()
    await counter.ask(asked(**fields))
    await counter.ask(asked(**fields, as_of=NOW))
    for reply in await counter.answers():
        assert from_reply(reply) == told(expected(counter, **fields))
        assert reply["position"]["watermark"] == TURNS


@pytest.mark.parametrize(("fields", "read"), [(RARE, TURNS), (WIDE, TURNS), ({"budget": 2000}, 0)])
async def test_others_get_their_turn_while_many_turns_are_read(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], read: int
) -> None:
    monkeypatch.setattr(answer, "READ_AT_ONCE", 10)
    counter = await grown()
    graph, asking = counter.state.graph("ada"), Asking(query(**fields), EXTRACTOR)
    async with others() as turns:
        await asking.read_ahead(graph, counter.state.text_of)
    assert len(asking._read) == read
    assert turns[0] == read // 10
    assert told(asking.answer(graph, counter.state.text_of)) == told(expected(counter, **fields))


async def test_others_get_their_turn_while_many_passages_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    counter = await grown()
    graph, asking = counter.state.graph("ada"), Asking(query(**EXPLAINED), EXTRACTOR)
    at_once: list[int] = []

    def counting(*arguments: Any) -> Any:
        at_once.append(len(arguments[3]))
        return explanations(*arguments)

    monkeypatch.setattr(answer, "explanations", counting)
    async with others() as turns:
        await asking.read_ahead(graph, counter.state.text_of)
    assert at_once == [answer.EXPLAINED_AT_ONCE] * 5
    assert turns[0] >= 5
    asking.answer(graph, counter.state.text_of)
    assert len(at_once) == 5, "nothing is explained twice"


async def test_what_is_read_ahead_is_not_read_again() -> None:
    counter = await grown()
    read: list[int] = []

    def text_of(graph: Graph, number: int) -> TurnRecorded:
        read.append(number)
        return counter.state.text_of(graph, number)

    graph, asking = counter.state.graph("ada"), Asking(query(**RARE, **WIDE), EXTRACTOR)
    await asking.read_ahead(graph, text_of)
    asking.answer(graph, text_of)
    assert len(read) == len(set(read)) == TURNS


async def one_more(counter: Counter) -> None:
    await counter.owner.append([turn(TURNS, metadata={"n": 3})])


async def some_forgotten(counter: Counter) -> None:
    gone = [f"t{number}" for number in range(0, TURNS, 2)]
    await counter.owner.append([decay_closed(at=NOW, concepts=[], turns=gone)])
    graph = counter.state.graph("ada")
    assert graph is not None
    graph.compact()
    assert len(graph.passages) == TURNS // 2


async def some_forgotten_and_their_texts_too(counter: Counter) -> None:
    await some_forgotten(counter)
    store = counter.state._store
    store.write({key: None for key, value in store.scan(b"e", b"e") if b'"id":"t40"' in value})


@pytest.mark.parametrize("fields", [RARE, WIDE, EXPLAINED, {**RARE, **WIDE, **EXPLAINED}])
@pytest.mark.parametrize("happens", [one_more, some_forgotten, some_forgotten_and_their_texts_too])
async def test_an_answer_is_that_of_one_moment_whatever_happens_while_turns_are_read(
    monkeypatch: pytest.MonkeyPatch, happens: Callable[[Counter], Any], fields: dict[str, Any]
) -> None:
    monkeypatch.setattr(answer, "READ_AT_ONCE", 5)
    counter = await grown()
    await counter.ask(asked(**fields))
    await asyncio.sleep(0)  # it has begun to read
    await happens(counter)
    (reply,) = await counter.answers()
    assert from_reply(reply) == told(expected(counter, **fields))
    assert reply["position"]["watermark"] == TURNS + 1
    assert counter.halted == []


async def test_more_and_shorter_lines_than_expected_are_packed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "SHORT_LINE", 200)
    counter = await grown()
    await counter.ask(asked(**WIDE))
    (reply,) = await counter.answers()
    assert reply["context"] == expected(counter, **WIDE).context
    assert len(reply["context"].splitlines()) > 4000 // 200


async def test_a_text_that_is_missing_for_good_stops_the_worker() -> None:
    counter = await grown()
    store = counter.state._store
    store.write({key: None for key, value in store.scan(b"e", b"e") if b'"id":"t40"' in value})
    await counter.ask(asked(**RARE))
    (failure,) = await counter.answers()
    assert failure["code"] == "internal"
    assert isinstance(counter.halted[0], StoreCorruptError)


async def test_who_would_wait_too_long_behind_other_long_questions_is_told_so_in_time() -> None:
    counter = await grown()
    async with counter.desk._long:
        await counter.ask(asked(**RARE), deadline=b"%d" % (NOW + 20))
        await counter.ask(asked(), deadline=b"%d" % (NOW + 20))
        short, late = await counter.answers()
    assert (short["kind"], late["code"]) == ("reply", "overloaded")
    await counter.ask(asked(**RARE))
    assert [answer["kind"] for answer in await counter.answers()] == ["reply", "failure", "reply"]
    assert not counter.desk._long.locked()
