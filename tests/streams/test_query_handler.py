"""Questions to a worker: who is answered, when, and what a question leaves behind."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from emgas.wire import partition_of
from state.events.events import ConceptsRecalled, ConsolidationWindowClosed, decode
from streams.errors import AppendFailedError
from streams.query.query_handler import LONGEST_MS, PATIENCE_MS
from tests.support.fakes import DEAD_LETTERS, REPLIES
from tests.support.logs import fold
from tests.support.pipeline import eventually
from tests.support.query_handlers import HERE, NOW, PARTITIONS, Counter, a_query
from tests.support.window_timers import CHANGES


async def test_a_question_is_answered_at_a_position() -> None:
    counter = Counter()
    await counter.remember("t1")
    await counter.ask()
    (reply,) = await counter.answers()
    assert (reply["kind"], reply["found"], reply["passages"][0]["id"]) == ("reply", True, "t1")
    assert reply["position"] == {"partition": HERE, "watermark": 1, "source": 0}


async def test_who_asks_for_no_answer_costs_no_answer() -> None:
    counter = Counter()
    await counter.remember("t1")
    await counter.ask(asks=False)
    await counter.ask(b"{", asks=False)
    assert await counter.answers() == []
    assert len(counter.sent.to(DEAD_LETTERS)) == 1


async def test_a_partition_that_was_taken_away_answers_nothing() -> None:
    counter = Counter()
    await counter.remember("t1")
    counter.owners.clear()
    await counter.ask()
    assert await counter.answers() == []


@pytest.mark.parametrize(("deadline", "answered"), [(NOW + 1, True), (NOW, False), (NOW - 1, False), (0, False)])
async def test_after_the_deadline_nobody_is_answered(deadline: int, answered: bool) -> None:
    counter = Counter()
    await counter.remember("t1")
    await counter.ask(deadline=b"%d" % deadline)
    assert bool(await counter.answers()) == answered
    assert counter.halted == []


@pytest.mark.parametrize("deadline", [b"", b"soon", b"-1", b"1e20", b"9" * 30, "²".encode()])
async def test_a_deadline_that_is_no_number_counts_as_none(deadline: bytes) -> None:
    counter = Counter()
    await counter.remember("t1")
    counter.now = NOW + PATIENCE_MS - 1
    await counter.ask(deadline=deadline)
    assert len(await counter.answers()) == 1
    counter.now = NOW + PATIENCE_MS
    await counter.ask(deadline=deadline)
    assert len(await counter.answers()) == 1


async def test_no_deadline_holds_a_place_for_ever() -> None:
    counter = Counter()
    await counter.remember("t1")
    counter.now = NOW + LONGEST_MS
    await counter.ask(deadline=b"9" * 15)
    assert await counter.answers() == []


async def test_after_is_answered_once_it_is_folded() -> None:
    counter = Counter()
    await counter.remember("t0")
    await counter.ask(a_query(after=1))
    await asyncio.sleep(0)
    assert counter.sent.all == []
    await counter.remember("t1")
    (reply,) = await counter.answers()
    assert {passage["id"] for passage in reply["passages"]} == {"t0", "t1"}


async def test_what_is_not_folded_in_time_is_told_before_the_deadline() -> None:
    counter = Counter()
    await counter.remember("t0")
    await counter.ask(a_query(after=1), deadline=b"%d" % (NOW + 20))
    (failure,) = await counter.answers()
    assert (failure["kind"], failure["code"]) == ("failure", "not-yet")
    assert failure["message"] == "turn 1 is not folded yet, the state is at 0"


async def test_too_many_questions_are_refused_and_a_free_place_is_given_again() -> None:
    counter = Counter(queries_at_once=2)
    await counter.remember("t0")
    for _ in range(3):
        await counter.ask(a_query(after=1))
    assert [sent.message["code"] for sent in counter.sent.to(REPLIES)] == ["overloaded"]
    await counter.remember("t1")
    assert [answer["kind"] for answer in await counter.answers()] == ["failure", "reply", "reply"]
    await counter.ask()
    assert (await counter.answers())[-1]["kind"] == "reply"


async def test_a_graph_of_another_partition_is_refused() -> None:
    counter = Counter()
    await counter.remember("t0")
    stray = next(name for name in ("bob", "eve", "joe", "kim") if partition_of(name, PARTITIONS) != HERE)
    await counter.ask(a_query(graph=stray))
    (failure,) = await counter.answers()
    assert failure["code"] == "wrong-partition"
    assert counter.sent.to(DEAD_LETTERS) == []


@pytest.mark.parametrize(
    "value", [b"", b"{", b"[]", a_query(mode="wild"), a_query(top_passages=101), a_query(after=-1)]
)
async def test_what_is_no_question_gets_a_failure_and_is_kept(value: bytes) -> None:
    counter = Counter()
    await counter.remember("t0")
    await counter.ask(value)
    (failure,) = await counter.answers()
    (letter,) = counter.sent.to(DEAD_LETTERS)
    assert failure["code"] == "invalid"
    assert letter.value == value
    assert dict(letter.headers)["emgas.errors.message"].decode() == failure["message"]


async def test_a_reinforcing_question_is_answered_first_and_then_appends_what_it_woke() -> None:
    counter = Counter()
    await counter.remember("t0")
    answered_at_append: list[int] = []
    counter.log.before = lambda: answered_at_append.append(len(counter.sent.to(REPLIES)))
    await counter.ask(a_query(reinforce=True))
    assert len(await counter.answers()) == 1
    assert answered_at_append == [1]
    event = decode(counter.log.values(HERE)[-1][1])
    assert isinstance(event, ConceptsRecalled)
    assert (event.graph, event.at) == ("ada", NOW)
    assert "kettle" in event.concepts
    assert counter.state.digest() == fold(counter.log.values(HERE)).digest()


@pytest.mark.parametrize("changes", [{"reinforce": False}, {"reinforce": True, "text": "submarine"}])
async def test_a_question_that_wakes_nothing_or_only_asks_appends_nothing(changes: dict[str, Any]) -> None:
    counter = Counter()
    await counter.remember("t0")
    await counter.ask(a_query(**changes))
    await counter.answers()
    assert len(counter.log.records[HERE]) == 2


async def test_a_time_of_recall_in_the_future_is_clamped() -> None:
    counter = Counter(skew_ms=1000)
    await counter.remember("t0")
    await counter.ask(a_query(reinforce=True), timestamp=NOW + 60_000)
    await counter.answers()
    event = decode(counter.log.values(HERE)[-1][1])
    assert isinstance(event, ConceptsRecalled)
    assert event.at == NOW + 1000


async def test_a_worker_that_fails_says_so_once_and_halts() -> None:
    counter = Counter()
    await counter.remember("t0")
    counter.log.broken = ConnectionError("the broker is gone")
    await counter.ask(a_query(reinforce=True))
    answers = await counter.answers()
    assert [answer["kind"] for answer in answers] == ["reply", "failure"]
    assert answers[1]["code"] == "internal"
    assert [type(error) for error in counter.halted] == [AppendFailedError]


async def test_who_waits_at_a_desk_that_closes_gets_nothing() -> None:
    counter = Counter()
    await counter.remember("t0")
    await counter.ask(a_query(after=1))
    await counter.desk.drop()
    assert await counter.answers() == []
    assert counter.halted == []


async def test_what_a_question_is_appending_is_finished_when_partitions_are_taken_away() -> None:
    counter = Counter()
    await counter.remember("t0")
    counter.log.slow = asyncio.Event()
    await counter.ask(a_query(reinforce=True))
    await counter.ask(a_query(after=9))
    await eventually(lambda: len(counter.log.records[HERE]) == 3)
    dropping = asyncio.create_task(counter.desk.drop())
    await eventually(lambda: len(counter.desk._tasks) == 1)
    counter.log.slow.set()
    await dropping
    assert isinstance(decode(counter.log.values(HERE)[-1][1]), ConceptsRecalled)
    assert counter.state.head.watermark == 2, "the state has all that the log has"
    await counter.remember("t1")
    assert counter.halted == []


async def test_a_desk_that_closes_on_a_halt_waits_for_nothing() -> None:
    counter = Counter()
    await counter.remember("t0")
    appending = asyncio.Event()
    counter.log.before, counter.log.silent = appending.set, True
    await counter.ask(a_query(reinforce=True))
    await appending.wait()
    await counter.desk.drop(halted=True)
    assert not counter.desk._tasks


async def test_a_partition_tells_what_it_holds() -> None:
    counter = Counter()
    await counter.remember("t0", "t1")
    await counter.ask(b'{"kind":"inspect"}', key=None)
    await counter.ask(b'{"kind":"inspect","digest":false}', key=None)
    full, short = await counter.answers()
    assert full["digest"] == counter.state.digest()
    assert short["digest"] is None
    assert (full["graphs"], full["turns"], full["concepts"], full["pairs"]) == (1, 2, 2, 1)


async def test_a_reinforcing_question_closes_the_windows_that_end_before_it() -> None:
    counter = Counter()
    await counter.remember(*(f"t{n}" for n in range(12)))
    counter.now = NOW + 3_600_000
    await counter.ask(a_query(reinforce=True), timestamp=counter.now)
    assert len(await counter.answers()) == 1
    window, recalled = (decode(value) for _, value in counter.log.values(HERE)[-2:])
    assert isinstance(window, ConsolidationWindowClosed)
    assert isinstance(recalled, ConceptsRecalled)
    assert [sent.value for sent in counter.sent.to(CHANGES)] == [counter.log.values(HERE)[-2][1]]
    assert counter.state.digest() == fold(counter.log.values(HERE)).digest()


async def test_a_question_waits_with_its_effect_while_a_window_is_closed() -> None:
    counter = Counter()
    await counter.remember("t0")
    async with counter.keeper.lock:
        await counter.ask(a_query(reinforce=True))
        await eventually(lambda: bool(counter.keeper.lock._waiters))
        assert len(counter.sent.to(REPLIES)) == 1
        assert len(counter.log.records[HERE]) == 2
    await counter.answers()
    assert len(counter.log.records[HERE]) == 3
