"""Questions to a worker: who is answered, when, and what a question leaves behind."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
import pytest_asyncio

from emgas.errors import TransportError
from emgas.times import DAY_MS
from emgas.wire import partition_of
from processors.extraction.extractor import Extraction
from processors.extraction.yake_extractor import YakeExtractor
from processors.recall.answer.answer import Answerer
from processors.recall.retrieval.recall import MOST_RECALLED
from state.events.events import (
    UNSTAMPED,
    ConceptsRecalled,
    ConsolidationWindowClosed,
    GraphReceived,
    MemoryArchived,
    MemoryRestored,
    WindowEvent,
    decode,
)
from state.graph.graph import Graph
from streams.errors import AppendFailedError
from streams.query import waiting
from streams.query.admission import LONGEST_MS, PART_IN_QUEUE, PATIENCE_MS
from tests.support.builders import turn_recorded
from tests.support.clocks import NOW, PATIENCE, eventually
from tests.support.fakes import DEAD_LETTERS, REPLIES
from tests.support.logged import capture_logs
from tests.support.logs import fold
from tests.support.query_handlers import HERE, PARTITIONS, Answering, a_query
from tests.support.window_timers import CHANGES


@pytest_asyncio.fixture
async def worker() -> Answering:
    """Return a worker that has heard one turn, t0."""
    worker = Answering()
    await worker.remember("t0")
    return worker


async def test_a_question_is_answered_at_a_position() -> None:
    worker = Answering()
    await worker.remember("t1")
    await worker.ask()
    (reply,) = await worker.answers()
    assert (reply["kind"], reply["found"], reply["passages"][0]["id"]) == ("reply", True, "t1")
    assert reply["position"] == {"partition": HERE, "watermark": 1, "source": 0}


async def test_who_asks_for_no_answer_costs_no_answer(worker: Answering) -> None:
    await worker.ask(asks=False)
    await worker.ask(b"{", asks=False)
    assert await worker.answers() == []
    assert len(worker.sent.to(DEAD_LETTERS)) == 1


async def test_counting_what_many_graphs_hold_lets_others_in_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    worker, passes, seen, compact = Answering(), 0, [], Graph.compact
    await worker.remember("t1")
    names = [name for name in map("g{}".format, range(60)) if partition_of(name, PARTITIONS) == HERE]
    for source, name in enumerate(names, 1):
        await worker.writer.append([turn_recorded(src=source, id="t1", graph=name, at=NOW, concepts="tea")])

    def counting(graph: Graph) -> None:
        seen.append(passes)
        compact(graph)

    monkeypatch.setattr(Graph, "compact", counting)
    await worker.ask(b'{"kind":"inspect","digest":false}')
    while worker.handler.answering:
        passes += 1
        await asyncio.sleep(0)
    (answer,) = await worker.answers()
    assert answer["graphs"] == len(names) + 1 == len(set(seen)), (
        "no two graphs are counted in one pass of the event loop"
    )


async def test_a_partition_that_was_taken_away_answers_nothing(worker: Answering) -> None:
    worker.writers.clear()
    await worker.ask()
    assert await worker.answers() == []


@pytest.mark.parametrize(
    ("deadline", "kind"), [(NOW + 1, "reply"), (NOW, "failure"), (NOW - 1, "failure"), (0, "failure")]
)
async def test_after_the_deadline_the_asker_is_told_so(worker: Answering, deadline: int, kind: str) -> None:
    await worker.ask(deadline=b"%d" % deadline)
    (answer,) = await worker.answers()
    assert answer["kind"] == kind
    assert answer.get("code", "expired") == "expired"
    assert worker.halted == []


@pytest.mark.parametrize("deadline", [b"", b"soon", b"-1", b"1e20", b"9" * 30, "²".encode()])
async def test_a_deadline_that_is_no_number_counts_as_none(worker: Answering, deadline: bytes) -> None:
    await worker.waited(PATIENCE_MS * PART_IN_QUEUE)
    await worker.ask(deadline=deadline, by_broker=True)
    assert [answer["kind"] for answer in await worker.answers()] == ["reply"]
    await worker.waited(PATIENCE_MS)
    await worker.ask(deadline=deadline, by_broker=True)
    assert [answer.get("code") for answer in await worker.answers()] == [None, "expired"]


async def test_no_deadline_holds_a_place_for_ever(worker: Answering) -> None:
    await worker.waited(LONGEST_MS)
    await worker.ask(deadline=b"9" * 15, by_broker=True)
    assert [answer["code"] for answer in await worker.answers()] == ["expired"]


@pytest.mark.parametrize("wrong", [15_000, DAY_MS, -15_000, -DAY_MS])
async def test_a_worker_whose_clock_is_wrong_answers_as_ever(worker: Answering, wrong: int) -> None:
    worker.now += wrong
    for _ in range(3):
        await worker.ask(deadline=b"%d" % (NOW + 10_000), by_broker=True)
    assert [answer["kind"] for answer in await worker.answers()] == ["reply"] * 3


async def test_a_question_that_lay_in_the_log_for_long_is_told_before_its_asker_gives_up() -> None:
    """What lies behind it has waited as long: all would be answered too late, and none be told."""
    worker = Answering(queries_at_once=8)
    await worker.remember("t0")
    await worker.waited(PART_IN_QUEUE * PATIENCE_MS + 1)
    for _ in range(2):
        await worker.ask(a_query(after=1))
    await worker.ask(deadline=b"%d" % (NOW + PATIENCE_MS), by_broker=True)
    await eventually(lambda: worker.sent.to(REPLIES))
    (answer,) = (sent.message for sent in worker.sent.to(REPLIES))
    assert answer["code"] == "overloaded"
    assert answer["message"].startswith("2 questions wait, and at most 2 may before one that lay in the log for 4.0 s")
    await worker.handler.drop()


async def test_a_question_that_lay_in_the_log_for_long_is_answered_while_few_others_wait() -> None:
    """A busy machine or a new owner read it late: it has most of its time left, and no question lies before it."""
    worker = Answering(queries_at_once=8)
    await worker.remember("t0")
    await worker.waited(PART_IN_QUEUE * PATIENCE_MS + 1)
    await worker.ask(a_query(after=1))
    await worker.ask(deadline=b"%d" % (NOW + PATIENCE_MS), by_broker=True)
    await eventually(lambda: worker.sent.to(REPLIES))
    assert [sent.message["kind"] for sent in worker.sent.to(REPLIES)] == ["reply"]
    await worker.handler.drop()


async def test_a_time_that_the_sender_wrote_tells_nothing(worker: Answering) -> None:
    await worker.ask(timestamp=NOW + DAY_MS)
    await worker.ask()
    assert [answer["kind"] for answer in await worker.answers()] == ["reply"] * 2


async def test_after_is_answered_once_it_is_folded(worker: Answering) -> None:
    await worker.ask(a_query(after=1, top_passages=2))
    await asyncio.sleep(0)
    assert worker.sent.all == []
    await worker.remember("t1")
    (reply,) = await worker.answers()
    assert {passage["id"] for passage in reply["passages"]} == {"t0", "t1"}


async def test_what_is_not_folded_in_time_is_told_before_the_deadline(worker: Answering) -> None:
    await worker.ask(a_query(after=1), deadline=b"%d" % (NOW + 20))
    (failure,) = await worker.answers()
    assert (failure["kind"], failure["code"]) == ("failure", "not-yet")
    assert failure["message"] == "turn 1 is not folded yet, the state is at 0"


def came(*, complete: bool, hop: int = 1) -> GraphReceived:
    return GraphReceived(graph="ada", origin="0" * 64, complete=complete, hop=hop, **UNSTAMPED)


async def test_a_question_that_comes_between_leaving_and_opening_is_answered_once_the_graph_is_open(
    worker: Answering,
) -> None:
    await worker.writer.append([came(complete=False)])
    await worker.ask()
    await asyncio.sleep(0)
    assert worker.sent.all == []
    await worker.writer.append([came(complete=True)])
    assert [answer["kind"] for answer in await worker.answers()] == ["reply"]


async def test_a_question_to_a_graph_whose_move_was_interrupted_is_refused_in_time(worker: Answering) -> None:
    await worker.writer.append([came(complete=False)])
    await worker.ask(deadline=b"%d" % (NOW + 20))
    assert [answer["code"] for answer in await worker.answers()] == ["unavailable"]


async def test_a_question_to_a_graph_that_is_being_copied_is_refused_at_once(
    worker: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "ARRIVAL_SECONDS", 10**6)
    await worker.writer.append([came(complete=False, hop=0)])
    await worker.ask(deadline=b"%d" % (NOW + 600_000))
    assert [answer["code"] for answer in await worker.answers()] == ["unavailable"]


async def test_who_waits_for_a_turn_that_is_not_in_the_log_is_told_at_once(worker: Answering) -> None:
    worker.turns_end = 7
    await worker.ask(a_query(after=7))
    (failure,) = await worker.answers()
    assert (failure["code"], failure["message"]) == (
        "not-yet",
        "there is no turn 7 yet: the log of turns ends before 7",
    )


async def test_who_cannot_learn_where_the_turns_end_is_told(worker: Answering) -> None:
    worker.turns_end = TransportError("the broker is gone")
    await worker.ask(a_query(after=7))
    (failure,) = await worker.answers()
    assert failure["code"] == "internal"
    assert "the broker is gone" in failure["message"]


async def test_a_client_that_holds_all_places_gives_way_to_another_one() -> None:
    worker = Answering(queries_at_once=4)
    await worker.remember("t0")
    for _ in range(4):
        await worker.ask(a_query(after=1), client=1)
    await worker.ask(client=2)
    await eventually(lambda: len(worker.sent.to(REPLIES)) == 2)
    assert {(sent.partition, sent.message["kind"]) for sent in worker.sent.to(REPLIES)} == {
        (1, "failure"),
        (2, "reply"),
    }
    await worker.remember("t1")
    assert [answer["kind"] for answer in await worker.answers()].count("reply") == 4


async def test_a_graph_whose_questions_hold_all_places_gives_way_to_another_one() -> None:
    worker = Answering(queries_at_once=4)
    await worker.remember("t0")
    for client in (1, 2, 1, 2):
        await worker.ask(a_query(after=1), client=client)
    other = next(name for name in ("bob", "eve", "joe", "kim", "lea", "max") if partition_of(name, PARTITIONS) == HERE)
    await worker.ask(a_query(graph=other), key=other.encode(), client=3)
    await eventually(lambda: len(worker.sent.to(REPLIES)) == 2)
    assert sorted(sent.message["kind"] for sent in worker.sent.to(REPLIES)) == ["failure", "reply"]
    await worker.handler.drop()


async def test_256_questions_about_turns_that_are_far_away_shut_nobody_out() -> None:
    worker = Answering()
    worker.turns_end = 1
    await worker.remember("t0")
    for _ in range(256):
        await worker.ask(a_query(after=10**6), deadline=b"%d" % (NOW + 600_000))
    await worker.ask(client=2)
    await worker.answers()
    answers = [(sent.partition, sent.message) for sent in worker.sent.to(REPLIES)]
    report = Counter((client, answer.get("code", answer["kind"])) for client, answer in answers)
    assert report.pop((2, "reply")) == 1
    assert set(report) <= {(1, "not-yet"), (1, "overloaded")}
    assert report.total() == 256


async def test_very_many_questions_at_once_are_each_answered_or_told() -> None:
    worker = Answering(queries_at_once=16)
    await worker.remember("t1")
    for _ in range(200):
        await worker.ask()
    answers = await worker.answers()
    assert len(answers) == 200
    assert {answer.get("code", answer["kind"]) for answer in answers} == {"reply", "overloaded"}


async def test_an_answer_leaves_before_the_next_question_is_answered() -> None:
    looks: list[int] = []

    class Looking(YakeExtractor):
        def of_query(self, text: str, at: int | None = None) -> Extraction:
            if text == "the kettle":  # and no general question, with which a graph is compared once
                looks.append(len(worker.sent.to(REPLIES)))
            return super().of_query(text, at)

    worker = Answering(Answerer(Looking(language="en")))
    await worker.remember("t1")
    worker.sent.passes = 3
    for _ in range(3):
        await worker.ask()
    await worker.answers()
    assert looks == [0, 1, 2]


async def test_what_is_folded_is_told_to_give_way_when_a_question_comes_and_when_it_is_answered(
    worker: Answering,
) -> None:
    await worker.ask()
    assert worker.yields == 1
    await worker.answers()
    assert worker.yields == 2


async def test_who_would_wait_too_long_behind_other_questions_is_told_so_in_time(worker: Answering) -> None:
    async with worker.handler._schedule.short:  # noqa: SLF001 - another one is being answered
        await worker.ask(deadline=b"%d" % (NOW + 20))
        await eventually(lambda: worker.sent.to(REPLIES))
    await worker.ask()
    report = await worker.answers()
    assert [answer.get("code", answer["kind"]) for answer in report] == ["overloaded", "reply"]


async def test_too_many_questions_are_refused_and_a_free_place_is_given_again() -> None:
    worker = Answering(queries_at_once=2)
    await worker.remember("t0")
    for _ in range(3):
        await worker.ask(a_query(after=1))
    await eventually(lambda: worker.sent.to(REPLIES))
    assert [sent.message["code"] for sent in worker.sent.to(REPLIES)] == ["overloaded"]
    await worker.remember("t1")
    assert [answer["kind"] for answer in await worker.answers()] == ["failure", "reply", "reply"]
    await worker.ask()
    assert (await worker.answers())[-1]["kind"] == "reply"


async def test_a_graph_of_another_partition_is_refused(worker: Answering) -> None:
    stray = next(name for name in ("bob", "eve", "joe", "kim") if partition_of(name, PARTITIONS) != HERE)
    await worker.ask(a_query(graph=stray))
    (failure,) = await worker.answers()
    assert failure["code"] == "wrong-partition"
    assert worker.sent.to(DEAD_LETTERS) == []


@pytest.mark.parametrize(
    "value", [b"", b"{", b"[]", a_query(mode="wild"), a_query(top_passages=101), a_query(after=-1)]
)
async def test_what_is_no_question_gets_a_failure_and_is_kept(worker: Answering, value: bytes) -> None:
    await worker.ask(value)
    (failure,) = await worker.answers()
    (letter,) = worker.sent.to(DEAD_LETTERS)
    assert failure["code"] == "invalid"
    assert letter.value == value
    assert dict(letter.headers)["emgas.errors.message"].decode() == failure["message"]


async def test_a_reinforcing_question_is_answered_first_and_then_appends_what_it_woke(worker: Answering) -> None:
    answered_at_append: list[int] = []
    worker.log.before = lambda: answered_at_append.append(len(worker.sent.to(REPLIES)))
    await worker.ask(a_query(reinforce=True))
    assert len(await worker.answers()) == 1
    assert answered_at_append == [1]
    event = decode(worker.log.values(HERE)[-1][1])
    assert isinstance(event, ConceptsRecalled)
    assert (event.graph, event.at) == ("ada", NOW)
    assert "kettle" in event.concepts
    assert worker.state.digest() == fold(worker.log.values(HERE)).digest()


def concepts_recalled(worker: Answering) -> list[str]:
    """Read the concepts of the last event, which records what a question woke."""
    event = decode(worker.log.values(HERE)[-1][1])
    assert isinstance(event, ConceptsRecalled)
    return event.concepts


@pytest.mark.parametrize("shown", [{"top_concepts": 0}, {"top_concepts": 100}, {"top_passages": 0, "budget": 0}])
async def test_what_is_recorded_does_not_depend_on_what_is_shown(shown: dict[str, Any]) -> None:
    texts = ["kettle " + " ".join(f"c{number}" for number in range(30)), *["sea"] * 8]
    turns = [turn_recorded(src=n, id=f"t{n}", at=NOW, concepts=each) for n, each in enumerate(texts)]
    recorded = []
    for changes in ({}, shown):
        worker = Answering()
        await worker.writer.claim()
        await worker.writer.append(turns)
        await worker.ask(a_query(reinforce=True, mode="literal", **changes))
        await worker.answers()
        recorded.append(concepts_recalled(worker))
    assert recorded[0] == recorded[1]
    assert len(recorded[0]) == 1 + MOST_RECALLED, "the seed is none of the strongest here"


@pytest.mark.parametrize("changes", [{"reinforce": False}, {"reinforce": True, "text": "submarine"}])
async def test_a_question_that_wakes_nothing_or_only_asks_appends_nothing(
    worker: Answering, changes: dict[str, Any]
) -> None:
    await worker.ask(a_query(**changes))
    await worker.answers()
    assert len(worker.log.records[HERE]) == 2


async def test_a_time_of_recall_in_the_future_is_clamped() -> None:
    worker = Answering(skew_ms=1000)
    await worker.remember("t0")
    await worker.ask(a_query(reinforce=True), timestamp=NOW + 60_000)
    await worker.answers()
    event = decode(worker.log.values(HERE)[-1][1])
    assert isinstance(event, ConceptsRecalled)
    assert event.at == NOW + 1000


async def test_what_a_question_woke_cannot_be_appended_halts_the_worker_once_it_is_answered(worker: Answering) -> None:
    worker.log.broken = ConnectionError("the broker is gone")
    await worker.ask(a_query(reinforce=True))
    assert [answer["kind"] for answer in await worker.answers()] == ["reply"]
    assert [type(error) for error in worker.halted] == [AppendFailedError]


async def test_whatever_fails_while_an_event_is_appended_halts_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(graph_id: str) -> None:
        raise ZeroDivisionError("a bug of ours")

    worker = Answering()
    await worker.remember("t0")
    monkeypatch.setattr(worker.timer, "look_at", failing)
    await worker.ask(a_query(reinforce=True))
    assert [answer["kind"] for answer in await worker.answers()] == ["reply"]
    assert [type(error) for error in worker.halted] == [ZeroDivisionError]


async def test_what_a_question_woke_is_let_go_of_with_its_partition(worker: Answering) -> None:
    async with worker.timer.lock:
        await worker.ask(a_query(reinforce=True))
        await eventually(lambda: worker.sent.to(REPLIES))
        worker.writers.clear()  # the partition halts, while the question waits for its turn to append
        worker.timers.clear()
    assert [answer["kind"] for answer in await worker.answers()] == ["reply"]
    assert worker.halted == []


class FailingExtractor(YakeExtractor):
    """Fails on one question."""

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        if text == "boom":
            raise ZeroDivisionError("a bug of ours")
        return super().of_query(text, at)


async def test_a_failed_answer_ends_that_answer_and_the_worker_goes_on() -> None:
    worker = Answering(Answerer(FailingExtractor(language="en")))
    await worker.remember("t0")
    with capture_logs() as logs:
        await worker.ask(a_query(text="boom"))
        await worker.ask(a_query(text="boom", as_of=NOW))
        failures = await worker.answers()
    await worker.ask()
    assert [(failure["kind"], failure["code"]) for failure in failures] == [("failure", "internal")] * 2
    assert [(each["event"], each["log_level"]) for each in logs] == [("answer failed", "error")] * 2
    assert all(each["exc_info"] for each in logs), "with its traceback"
    assert (await worker.answers())[-1]["kind"] == "reply"
    assert worker.halted == []


async def test_a_question_is_acknowledged_once_its_answer_is_in_the_log_and_all_before_it_are(
    worker: Answering,
) -> None:
    await worker.ask(a_query(after=1), offset=5)
    await worker.ask(offset=6)
    await worker.ask(b"no question", offset=7)
    await eventually(lambda: len(worker.sent.to(REPLIES)) == 2)
    assert worker.acknowledged == []
    await worker.remember("t1")
    await worker.answers()
    assert worker.acknowledged == [5, 6, 7]


async def test_an_answer_that_the_log_has_not_acknowledged_leaves_its_question_open(worker: Answering) -> None:
    worker.sent.silent = True
    await worker.ask()
    await eventually(lambda: not worker.handler.answering)
    assert worker.acknowledged == []


async def test_who_is_refused_or_gives_way_or_wants_no_answer_is_acknowledged() -> None:
    worker = Answering(queries_at_once=2)
    await worker.remember("t0")
    for offset in range(3):
        await worker.ask(a_query(after=1), offset=offset)
    await worker.ask(offset=3, client=2)
    await worker.ask(offset=4, asks=False)
    await worker.remember("t1")
    await worker.answers()
    assert worker.acknowledged == [0, 1, 2, 3, 4]


async def test_who_waits_when_partitions_are_taken_away_is_left_to_the_next_owner(worker: Answering) -> None:
    await worker.ask(a_query(after=1))
    await worker.handler.drop()
    assert await worker.answers() == []
    assert worker.acknowledged == [], "so it is read again"
    assert worker.halted == []


async def test_who_waits_in_a_partition_that_halts_alone_is_told_as_nobody_reads_the_question_again(
    worker: Answering,
) -> None:
    await worker.ask(a_query(after=1), offset=3)
    await worker.ask(offset=4)
    await eventually(lambda: len(worker.sent.to(REPLIES)) == 1)
    await worker.handler.drop(halted=True, partition=HERE)
    answers = await worker.answers()
    assert [answer.get("code", answer["kind"]) for answer in answers] == ["reply", "internal"]
    assert "ask again" in answers[1]["message"]
    assert worker.acknowledged == [3, 4]


async def test_who_waits_in_a_partition_that_alone_is_given_up_is_left_to_the_next_who_answers_for_it(
    worker: Answering,
) -> None:
    await worker.ask(a_query(after=1), offset=3)
    await worker.handler.drop(partition=HERE, given_up=True)
    assert await worker.answers() == []
    assert worker.acknowledged == [], "so it is read again"
    await worker.ask(offset=4)
    assert [answer["kind"] for answer in await worker.answers()] == ["reply"]
    assert worker.acknowledged == [4], "what was left holds up nothing that comes later"


async def test_a_question_that_comes_while_a_partition_is_nobodys_is_left_to_the_next_owner() -> None:
    worker = Answering()
    await worker.handler.claimed(HERE)
    writer = worker.writers.pop(HERE)
    await worker.ask(offset=0)
    await eventually(lambda: not worker.handler.answering)
    await worker.handler.drop()
    await worker.handler.claimed(HERE)
    worker.writers[HERE] = writer
    await worker.remember("t0")
    await worker.ask(offset=0)
    await worker.ask(offset=1)
    assert [answer["kind"] for answer in await worker.answers()] == ["reply", "reply"]
    assert worker.acknowledged == [0, 1]


@pytest.mark.parametrize(("end", "recalled"), [(4, 0), (3, 1), (TransportError("the broker is gone"), 0)])
async def test_a_question_that_may_have_been_answered_before_is_answered_and_reinforces_nothing(
    end: int | TransportError, recalled: int
) -> None:
    worker = Answering()
    worker.queries_end = end
    await worker.handler.claimed(HERE)
    await worker.remember("t0")
    await worker.ask(a_query(reinforce=True), offset=3)
    assert [answer["kind"] for answer in await worker.answers()] == ["reply"]
    events = [decode(value) for _, value in worker.log.values(HERE)]
    assert sum(isinstance(event, ConceptsRecalled) for event in events) == recalled


async def test_what_halted_alone_and_goes_on_has_no_question_twice() -> None:
    worker = Answering()
    await worker.handler.claimed(HERE)
    worker.queries_end = 9
    await worker.handler.claimed(HERE)  # as it failed, and was claimed again
    await worker.remember("t0")
    await worker.ask(a_query(reinforce=True), offset=3)
    await worker.answers()
    assert isinstance(decode(worker.log.values(HERE)[-1][1]), ConceptsRecalled)


async def test_what_a_question_is_appending_is_finished_when_partitions_are_taken_away(worker: Answering) -> None:
    worker.log.slow = asyncio.Event()
    await worker.ask(a_query(reinforce=True))
    await worker.ask(a_query(after=9))
    await eventually(lambda: len(worker.log.records[HERE]) == 3)
    dropping = asyncio.create_task(worker.handler.drop())
    await eventually(lambda: worker.handler.answering == 1)
    worker.log.slow.set()
    await dropping
    assert isinstance(decode(worker.log.values(HERE)[-1][1]), ConceptsRecalled)
    assert worker.state.position.watermark == 2, "the state has all that the log has"
    await worker.remember("t1")
    assert worker.halted == []


async def test_a_handler_that_is_dropped_on_a_halt_waits_for_nothing(worker: Answering) -> None:
    appending = asyncio.Event()
    worker.log.before, worker.log.silent = appending.set, True
    await worker.ask(a_query(reinforce=True))
    await asyncio.wait_for(appending.wait(), PATIENCE)
    await worker.handler.drop(halted=True)
    assert worker.handler.answering == 0


async def test_a_partition_tells_what_it_holds() -> None:
    worker = Answering()
    await worker.remember("t0", "t1")
    await worker.ask(b'{"kind":"inspect"}', key=None)
    await worker.ask(b'{"kind":"inspect","digest":false}', key=None)
    full, short = await worker.answers()
    assert full["digest"] == worker.state.digest()
    assert short["digest"] is None
    assert (full["graphs"], full["turns"], full["concepts"], full["pairs"]) == (1, 2, 2, 1)


async def test_a_reinforcing_question_closes_the_windows_that_end_before_it() -> None:
    worker = Answering()
    await worker.remember(*(f"t{n}" for n in range(12)))
    worker.now = NOW + 3_600_000
    await worker.ask(a_query(reinforce=True), timestamp=worker.now)
    assert len(await worker.answers()) == 1
    window, recalled = (decode(value) for _, value in worker.log.values(HERE)[-2:])
    assert isinstance(window, ConsolidationWindowClosed)
    assert isinstance(recalled, ConceptsRecalled)
    assert [sent.value for sent in worker.sent.to(CHANGES)] == [worker.log.values(HERE)[-2][1]]
    assert worker.state.digest() == fold(worker.log.values(HERE)).digest()


async def test_a_question_waits_with_its_effect_while_a_window_is_closed(worker: Answering) -> None:
    async with worker.timer.lock:
        await worker.ask(a_query(reinforce=True))
        await eventually(lambda: worker.sent.to(REPLIES))
        for _ in range(20):  # turns of the loop: more than an append takes
            await asyncio.sleep(0)
        assert len(worker.log.records[HERE]) == 2
    await worker.answers()
    assert len(worker.log.records[HERE]) == 3


async def test_a_question_never_tells_an_imported_graph_the_time_of_day() -> None:
    worker, then = Answering(), NOW - 3 * 365 * DAY_MS
    await worker.writer.claim()
    await worker.timer.catch_up()
    turns = [
        turn_recorded(src=n, id=f"t{n}", at=then + n, live=False, concepts=f"kettle word{n}", text="The kettle.")
        for n in range(12)
    ]
    await worker.writer.append(turns)
    graph = worker.state.graph("ada")
    assert graph is not None
    await worker.ask(a_query(reinforce=True))
    assert len(await worker.answers()) == 1
    event = decode(worker.log.values(HERE)[-1][1])
    assert isinstance(event, ConceptsRecalled)
    assert event.at == graph.clock == then + 11
    assert not any(isinstance(decode(value), WindowEvent) for _, value in worker.log.values(HERE))
    assert sum(graph.passages.archived) == 0


async def test_a_reinforcing_question_restores_what_it_brought_back_from_the_archive() -> None:
    worker = Answering()
    await worker.remember("t0", "t1")
    faded = MemoryArchived(graph="ada", at=NOW, concepts=["tea", "kettle"], turns=["t0"], **UNSTAMPED)
    await worker.writer.append([faded])
    await worker.ask(a_query(reinforce=True, top_passages=2))
    (reply,) = await worker.answers()
    assert [(passage["id"], passage.get("archived", False)) for passage in reply["passages"]] == [
        ("t1", False),
        ("t0", True),
    ]
    recalled, restored = (decode(value) for _, value in worker.log.values(HERE)[-2:])
    assert isinstance(recalled, ConceptsRecalled)
    assert isinstance(restored, MemoryRestored)
    assert (restored.turns, restored.at) == (["t0"], recalled.at)
    assert set(restored.concepts) <= set(recalled.concepts) & {"kettle", "tea"}
    graph = worker.state.graph("ada")
    assert graph is not None
    assert sum(graph.passages.archived) == 0
    assert worker.state.digest() == fold(worker.log.values(HERE)).digest()
    await worker.ask(a_query(reinforce=True))
    await worker.answers()
    assert isinstance(decode(worker.log.values(HERE)[-1][1]), ConceptsRecalled), "nothing is left to restore"
