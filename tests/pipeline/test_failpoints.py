"""A worker that is killed at each step of a turn, a window, a snapshot and a recovery comes back whole, and alive.

`python -m bench.service.failpoints` sweeps more ordinals of every step.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from streams.transport import failpoints
from streams.transport.failpoints import Step
from tests.support.cli import PATIENCE

WITH_EVERYTHING = {
    *("links", "MemoryArchived", "MemoryConsolidated", "SessionEnded", "SessionSummarised", "Superseded", "Pinned"),
    *("FeedbackGiven", "Forgotten", "ConceptsRecalled", "ConsolidationWindowClosed", "TurnNotRecorded"),
    *("AccessGranted", "MemoryReplayed"),
}


@pytest.mark.slow
def test_a_memory_that_dies_at_every_step_loses_nothing_doubles_nothing_and_lives_again() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.service.failpoints", "--ordinals", "2", "--json"],
        capture_output=True, text=True, timeout=4 * PATIENCE, env={**os.environ, "EMGAS_LOG_LEVEL": "ERROR"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["killed"] == dict.fromkeys(Step, 1)
    assert (report["wedged"], report["lost"], report["doubled"], report["match"]) == ([], 0, 0, True)
    assert report["legible"] == 0
    assert report["acknowledged"] >= len(Step)
    assert report["happened"].keys() >= WITH_EVERYTHING
    assert len(report["recovered_s"]) == len(Step), (
        "each life but the one that dies while it recovers, and the last one"
    )


def test_only_the_passage_that_is_named_is_fatal(monkeypatch: pytest.MonkeyPatch) -> None:
    deaths: list[int] = []
    monkeypatch.setattr(failpoints.os, "kill", lambda pid, signal: deaths.append(signal))
    failpoints.arm("ack:3")
    try:
        for step in [Step.ACK, Step.FOLD, Step.ACK, Step.TURN]:
            failpoints.passing(step)
        assert deaths == []
        failpoints.passing(Step.ACK)
        assert deaths == [9]
        failpoints.passing(Step.ACK)
        assert deaths == [9]
    finally:
        failpoints.arm(None)
    failpoints.passing(Step.ACK)
    assert deaths == [9]


@pytest.mark.parametrize("where", ["nowhere:1", "ack:soon"])
def test_a_place_that_is_none_is_refused(where: str) -> None:
    with pytest.raises(ValueError, match=where.rpartition(":")[0 if where.endswith("1") else 2]):
        failpoints.arm(where)
