"""Long questions: others are let in meanwhile, and the answer is that of one moment, whatever happens in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from emgas.messages.queries import Query
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import Steps, in_one_go
from processors.recall.answer import answer, turn_facts
from processors.recall.answer.answer import Answer, Answerer, is_long
from processors.recall.answer.prepared_query import QueriedGraph
from processors.recall.answer.turn_facts import GraphChangedError
from state import partition as partitions
from state.events.events import TurnRecorded
from state.graph.counting import cooccurrence, stored_pairs
from state.graph.counting.stored_pairs import StoredPairs
from state.graph.graph import Graph
from state.lsm import compaction, table, tree
from tests.support.builders import decay_closed, turn_recorded
from tests.support.clocks import NOW, eventually
from tests.support.query_handlers import ANSWERER, Answering

TURNS = 250
WORDS = 13
RARE = {"only": {"metadata": {"n": 3}}}
NONE = {"only": {"metadata": {"n": 99}}}
WIDE = {"budget": 4000}
EXPLAINED = {"explain": True, "top_passages": 100}


def turn(source: int, **changes: Any) -> TurnRecorded:
    text = f"The kettle number {source} whistles in the kitchen of house {source * source}."
    message = {"id": f"t{source}", "text": text, "at": NOW - 10**6 + source, "metadata": {"n": source % 9}}
    return turn_recorded(src=source, **{"concepts": "kettle kitchen", "tokens": 10, **message, **changes})


async def grown(answerer: Answerer = ANSWERER, **changes: Any) -> Answering:
    """Make a handler whose graph "ada" holds TURNS turns about kettles."""
    worker = Answering(answerer)
    await worker.writer.claim()
    await worker.timer.catch_up()
    await worker.writer.append([turn(source, **changes) for source in range(TURNS)])
    return worker


def query(**fields: Any) -> Query:
    return Query.model_validate({"graph": "ada", "text": "the kettle", **fields})


def expected(worker: Answering, **fields: Any) -> dict[str, Any]:
    return outcome_of(in_one_go(ANSWERER.answer(query(**fields), worker.memory())).reply.model_dump(mode="json"))


def outcome_of(reply: dict[str, Any]) -> dict[str, Any]:
    """Leave out of a reply how long it took."""
    return {name: value for name, value in reply.items() if name != "timing"}


def query_bytes(**fields: Any) -> bytes:
    return json.dumps({"kind": "query", "graph": "ada", "text": "the kettle", **fields}).encode()


@pytest.mark.parametrize("fields", [RARE, NONE, WIDE, EXPLAINED, {**RARE, **WIDE, **EXPLAINED}])
async def test_a_long_question_gets_the_answer_that_it_gets_in_one_go(fields: dict[str, Any]) -> None:
    worker = await grown()
    await worker.ask(query_bytes(**fields))
    await worker.ask(query_bytes(**fields, as_of=NOW))
    for reply in await worker.answers():
        assert outcome_of(reply) == expected(worker, **fields)
        assert reply["position"]["watermark"] == TURNS


@pytest.mark.parametrize(
    ("fields", "constant"),
    [(NONE, "READ_AT_ONCE"), (WIDE, "PACKED_AT_ONCE"), (EXPLAINED, "EXPLAINED_AT_ONCE"), ({}, None)],
)
async def test_others_are_let_in_every_few_turns_of_a_long_question_only(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], constant: str | None
) -> None:
    for name in ("READ_AT_ONCE", "PACKED_AT_ONCE", "EXPLAINED_AT_ONCE"):
        room = turn_facts if name == "READ_AT_ONCE" else answer
        monkeypatch.setattr(room, name, 5 if name == constant else 10**9)
    worker = await grown()
    steps = sum(1 for _ in ANSWERER.answer(query(**fields), worker.memory()))
    assert is_long(query(**fields)) == bool(fields)
    assert steps >= 100 // 5 if fields else steps == 0


async def test_a_turn_is_read_once_even_if_the_answer_begins_again() -> None:
    worker = await grown()
    read: list[int] = []

    def text_of(graph: Graph, number: int) -> TurnRecorded:
        read.append(number)
        return worker.state.text_of(graph, number)

    at_hand = dict[int, TurnRecorded]()
    for _ in range(2):
        memory = worker.memory()._replace(text_of=text_of)
        in_one_go(ANSWERER.answer(query(**RARE, **WIDE), memory, at_hand))
    assert read[:TURNS] == list(range(TURNS)), "what turns tell of themselves"
    assert len(set(read[TURNS:])) == len(read[TURNS:]) < TURNS / 9 + 1, "and what is shown"


async def one_more(worker: Answering) -> None:
    await worker.writer.append([turn(TURNS, metadata={"n": 3})])


async def forget_half(worker: Answering) -> None:
    """Forget every other turn; their rows stay until something compacts the graph."""
    gone = [f"t{number}" for number in range(0, TURNS, 2)]
    await worker.writer.append([decay_closed(at=NOW, concepts=[], turns=gone)])


async def some_forgotten(worker: Answering) -> None:
    await forget_half(worker)
    graph = worker.state.graph("ada")
    assert graph is not None
    graph.compact()
    assert len(graph.passages) < TURNS


async def some_forgotten_and_their_texts_too(worker: Answering) -> None:
    await some_forgotten(worker)
    store = worker.store
    store.write({key: None for key, value in store.scan(b"e", b"e") if b'"id":"t40"' in value})


@pytest.mark.parametrize("fields", [RARE, NONE, WIDE, EXPLAINED, {**RARE, **WIDE, **EXPLAINED}])
@pytest.mark.parametrize("happens", [one_more, some_forgotten, some_forgotten_and_their_texts_too])
async def test_an_answer_is_that_of_the_moment_which_it_names_whatever_happens_meanwhile(
    monkeypatch: pytest.MonkeyPatch, happens: Callable[[Answering], Any], fields: dict[str, Any]
) -> None:
    monkeypatch.setattr(turn_facts, "READ_AT_ONCE", 5)
    worker = await grown()
    before = expected(worker, **fields)
    await worker.ask(query_bytes(**fields))
    await asyncio.sleep(0)  # it has begun
    await happens(worker)
    (reply,) = await worker.answers()
    assert outcome_of(reply) in (before, expected(worker, **fields))
    assert worker.halted == []


@pytest.mark.parametrize("fields", [NONE, EXPLAINED])
async def test_what_is_searched_or_explained_in_a_graph_that_changed_begins_again(fields: dict[str, Any]) -> None:
    worker = await grown()
    steps = ANSWERER.answer(query(**fields), worker.memory())
    next(steps)
    await one_more(worker)
    with pytest.raises(GraphChangedError):
        in_one_go(steps)


async def test_facts_are_not_read_on_once_turns_have_other_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_facts, "READ_AT_ONCE", 5)
    worker = await grown()
    await forget_half(worker)
    steps = ANSWERER.answer(query(**RARE), worker.memory())
    next(steps)
    in_one_go(ANSWERER.answer(query(), worker.memory()))  # another question compacts the graph, which is no event
    with pytest.raises(GraphChangedError):
        in_one_go(steps)


@pytest.mark.parametrize("fields", [{}, WIDE, EXPLAINED])
async def test_an_answer_that_begins_again_shows_nothing_that_was_forgotten_meanwhile(fields: dict[str, Any]) -> None:
    worker, read = await grown(), dict[int, TurnRecorded]()
    in_one_go(ANSWERER.answer(query(**fields), worker.memory(), read))
    await forget_half(worker)
    again = in_one_go(ANSWERER.answer(query(**fields), worker.memory(), read)).reply
    assert {int(each.id[1:]) % 2 for each in again.passages} == {1}
    assert outcome_of(again.model_dump(mode="json")) == expected(worker, **fields)


async def test_a_context_is_packed_on_while_the_graph_grows_and_begins_again_once_turns_have_other_numbers() -> None:
    worker = await grown()
    before = expected(worker, **WIDE)
    steps, others = (ANSWERER.answer(query(**WIDE), worker.memory()) for _ in range(2))
    next(steps), next(others)
    await one_more(worker)
    assert outcome_of(in_one_go(steps).reply.model_dump(mode="json")) == before
    await some_forgotten(worker)
    with pytest.raises(GraphChangedError):
        in_one_go(others)


async def test_a_text_that_is_missing_for_good_makes_its_graph_unavailable_and_no_other() -> None:
    worker = await grown()
    store = worker.store
    store.write({key: None for key, value in store.scan(b"e", b"e") if b'"id":"t40"' in value})
    await worker.ask(query_bytes(**RARE))
    (failure,) = await worker.answers()
    assert failure["code"] == "unavailable"
    assert list(worker.state.unavailable) == ["ada"]
    assert worker.halted == []


@pytest.fixture
def resting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the pairs of a small graph rest in the store until somebody asks, and be read one by one."""
    monkeypatch.setattr(cooccurrence, "SPILL_ABOVE", 1)
    monkeypatch.setattr(stored_pairs, "PIECE", 1)
    monkeypatch.setattr(partitions, "STORED_AFTER", 1)
    monkeypatch.setattr(partitions, "PREPARED_AT_ONCE", 1)
    small = {name: section._replace(page=1) for name, section in table.SECTION.items()}
    for module in (table, compaction):
        monkeypatch.setattr(module, "SECTIONS", tuple(small.values()))
    for module in (table, tree):
        monkeypatch.setattr(module, "SECTION", small)


async def grown_unasked() -> tuple[Answering, StoredPairs]:
    """Make a handler whose graph rests in the store."""
    worker = await grown(concepts=" ".join(["kettle", *(f"word{number}" for number in range(1, WORDS))]))
    graph = worker.state.graph("ada")
    assert graph is not None
    stored = graph.pairs["exchange"].stored
    assert stored is not None
    assert stored.grows
    return worker, stored


@pytest.mark.usefixtures("resting")
async def test_others_are_let_in_while_what_nobody_asked_yet_is_read_for_a_question() -> None:
    worker, _ = await grown_unasked()
    passes, loading = 0, True
    await worker.ask(query_bytes())
    while loading:
        await asyncio.sleep(0)
        passes, graph = passes + 1, worker.state.graph("ada")
        loading = graph is not None and graph.pairs["exchange"].stored is not None
    assert passes >= WORDS * (WORDS - 1), "a pass of the loop for each pair, in either direction"
    (reply,) = await worker.answers()
    assert outcome_of(reply) == expected(worker)


@pytest.mark.usefixtures("resting")
async def test_who_has_no_time_to_wait_for_that_is_told_to_ask_again_and_does_not_begin_anew() -> None:
    worker, stored = await grown_unasked()
    await worker.ask(query_bytes(), deadline=b"%d" % (NOW + 20))
    worker.monotonic += 20
    (late,) = await worker.answers()
    assert late["code"] == "not-yet"
    read = stored.size
    assert read > 0
    assert not stored.grows
    await worker.ask(query_bytes())
    assert outcome_of((await worker.answers())[-1]) == expected(worker)


class Slow(Answerer):
    """Answers questions about metadata once `may_end` is set, and all others at once."""

    def __init__(self, may_end: asyncio.Event) -> None:
        super().__init__(YakeExtractor(language="en"))
        self._may_end = may_end

    def answer(self, query: Query, memory: QueriedGraph, read: dict[int, TurnRecorded] | None = None) -> Steps[Answer]:
        while query.only.metadata and not self._may_end.is_set():
            yield
        return (yield from super().answer(query, memory, read))


async def test_who_would_wait_too_long_behind_other_long_questions_is_told_so_in_time() -> None:
    may_end = asyncio.Event()
    worker = await grown(Slow(may_end))
    await worker.ask(query_bytes(**RARE))
    await worker.ask(query_bytes(**RARE), deadline=b"%d" % (NOW + 20))
    await worker.ask(query_bytes(), deadline=b"%d" % (NOW + 20))
    await eventually(lambda: worker.handler.answering == 1)
    may_end.set()
    short, late, slow = await worker.answers()
    assert (short["kind"], late["code"], slow["kind"]) == ("reply", "overloaded", "reply")
    await worker.ask(query_bytes(**RARE))
    assert (await worker.answers())[-1]["kind"] == "reply", "it is its turn"
