"""A move that dies at any of its steps, on Kafka: a second run finishes it (`python -m bench.service.transfers`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.service.transfers import tortured
from streams.transport.failpoints import MoveStep

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


async def test_a_graph_is_whole_wherever_its_move_died(kafka_address: str, tmp_path: Path) -> None:
    findings = await tortured(kafka_address, tmp_path, kills=2, seed=7)
    assert findings.killed == dict.fromkeys(MoveStep, 2)
    assert findings.back.total() == 1
    assert findings.workers.total(), "a worker died on the way, too"
    assert findings.acknowledged
    assert (findings.lost, findings.doubled) == (0, 0)
    assert (findings.differing, findings.unfinished, findings.broken) == ([], [], [])
