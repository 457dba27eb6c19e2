"""Which questions of the torture's traffic are explained, and by which fault (bench/torture/explained.py)."""

from __future__ import annotations

import time

import pytest

from bench.torture import keeping_faults, load_faults, network_faults, process_faults, record_faults, store_faults
from bench.torture.explained import CAUSES, FaultInForce, Questions, is_crowded
from bench.torture.kinds import KINDS
from emgas import MemoryClient
from emgas.client import request_reply
from emgas.errors import EmgasError, NoAnswerError, QueryFailedError, TransportError
from tests.emgas.connections import MemoryConnection
from tests.support.clocks import eventually
from tests.support.fakes import REPLIES
from tests.support.query_handlers import Answering, a_query

HERE = 1  # the partition that is asked
CROWDED = "256 questions wait, and at most 256 may at once: ask again later"
FAULTS = (keeping_faults, load_faults, network_faults, process_faults, record_faults, store_faults)


def ended(error: EmgasError, *faults: FaultInForce) -> Questions:
    questions = Questions(faults=list(faults))
    with questions.asking("ada", HERE):
        raise error
    return questions


def test_every_cause_names_kinds_of_faults_that_there_are() -> None:
    assert all(FAULTS)
    assert {name for cause in CAUSES for name in cause.faults} <= set(KINDS)


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (NoAnswerError("none"), "worker killed"),
        (QueryFailedError("internal", "partition 1 has halted: why"), "garbage in events"),
        (QueryFailedError("internal", "the partition failed and is mended: ask again"), "network cut"),
        (QueryFailedError("overloaded", CROWDED), "flood of questions"),
        (QueryFailedError("overloaded", CROWDED), "flood of turns"),
        (QueryFailedError("overloaded", "its turn did not come in time"), "flood of questions"),
        (TransportError("no broker"), "broker killed"),
    ],
)
def test_a_question_is_explained_by_a_fault_in_force_that_does_that(error: EmgasError, fault: str) -> None:
    now = time.monotonic()
    questions = ended(error, FaultInForce("garbage in turns", now - 5), FaultInForce(fault, now - 1))
    assert not questions.unexplained
    assert [question.endswith(fault) for question in questions.explained] == [True]


@pytest.mark.parametrize(
    ("error", "fault", "until"),
    [
        (NoAnswerError("none"), "garbage in turns", 0.0),
        (NoAnswerError("none"), "worker killed", -1.0),
        (QueryFailedError("internal", "this answer failed, and no other: the log says how"), "worker killed", 0.0),
        (QueryFailedError("forbidden", "you may not"), "worker killed", 0.0),
        (TransportError("no broker"), "worker killed", 0.0),
        (QueryFailedError("overloaded", CROWDED), "worker killed", 0.0),
        (QueryFailedError("overloaded", CROWDED.replace("256 questions", "255 questions")), "flood of questions", 0.0),
        (QueryFailedError("overloaded", "its turn did not come in time"), "worker killed", 0.0),
    ],
)
def test_what_no_fault_in_force_does_is_unexplained(error: EmgasError, fault: str, until: float) -> None:
    now = time.monotonic()
    questions = ended(error, FaultInForce(fault, now - 5, now + until if until else float("inf")))
    assert not questions.explained
    assert len(questions.unexplained) == 1


@pytest.mark.parametrize(("partitions", "explained"), [(None, 1), ({0, HERE}, 1), ({0, 2}, 0)])
def test_a_fault_explains_nothing_in_a_partition_that_it_does_not_harm(
    partitions: set[int] | None, explained: int
) -> None:
    error = QueryFailedError("internal", "partition 1 has halted: why")
    questions = ended(error, FaultInForce("garbage in events", time.monotonic() - 1, partitions=partitions))
    assert questions.explained.total() == explained
    assert len(questions.unexplained) == 1 - explained


async def test_what_workers_and_clients_tell_a_crowd_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the texts that the product has: another wording there is to be noticed here."""
    worker = Answering(queries_at_once=1)
    await worker.remember("t0")
    for _ in range(2):
        await worker.ask(a_query(after=1))
    await eventually(lambda: worker.sent.to(REPLIES))
    (question,) = (sent.message["message"] for sent in worker.sent.to(REPLIES))
    assert is_crowded(question)
    await worker.handler.drop()
    monkeypatch.setattr(request_reply, "QUESTIONS_AT_ONCE", 0)
    async with MemoryClient(MemoryConnection()) as memory:
        with pytest.raises(QueryFailedError) as caught:
            await memory.query("ada", "kettle")
    assert is_crowded(str(caught.value))
