"""Which questions of the torture's traffic are explained, and by which fault (bench/torture/explained.py)."""

from __future__ import annotations

import time

import pytest

from bench.torture import keeping_faults, load_faults, network_faults, process_faults, record_faults, store_faults
from bench.torture.explained import CAUSES, InForce, Questions
from bench.torture.kinds import KINDS
from emgas.errors import EmgasError, NoAnswerError, QueryFailedError, TransportError

FAULTS = (keeping_faults, load_faults, network_faults, process_faults, record_faults, store_faults)


def ended(error: EmgasError, *faults: InForce) -> Questions:
    questions = Questions(faults=list(faults))
    with questions.asking("ada"):
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
        (QueryFailedError("overloaded", "too many"), "flood of questions"),
        (TransportError("no broker"), "broker killed"),
    ],
)
def test_a_question_is_explained_by_a_fault_in_force_that_does_that(error: EmgasError, fault: str) -> None:
    now = time.monotonic()
    questions = ended(error, InForce("garbage in turns", now - 5), InForce(fault, now - 1))
    assert not questions.unexplained
    assert [told.endswith(fault) for told in questions.explained] == [True]


@pytest.mark.parametrize(
    ("error", "fault", "until"),
    [
        (NoAnswerError("none"), "garbage in turns", 0.0),
        (NoAnswerError("none"), "worker killed", -1.0),
        (QueryFailedError("internal", "this answer failed, and no other: the log says how"), "worker killed", 0.0),
        (QueryFailedError("forbidden", "you may not"), "worker killed", 0.0),
        (TransportError("no broker"), "worker killed", 0.0),
    ],
)
def test_what_no_fault_in_force_does_is_unexplained(error: EmgasError, fault: str, until: float) -> None:
    now = time.monotonic()
    questions = ended(error, InForce(fault, now - 5, now + until if until else float("inf")))
    assert not questions.explained
    assert len(questions.unexplained) == 1
