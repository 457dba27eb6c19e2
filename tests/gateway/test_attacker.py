"""An attacker on loopback, against `emgas serve` as an operator starts it: others are answered, and all is let go.

An answer may take the server a second of CPU time, whatever else the machine does; `python -m bench.service.attacker`
measures how long it takes, too.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bench.service.attacker import ATTACKS, attacked, served
from gateway.http.connections import raise_descriptors
from tests.support.clocks import PATIENCE

MOST_MB, MOST_CPU_MS = 600, 1000
QUESTIONS = 5


@pytest.mark.slow
async def test_attacks_keep_nobody_out_and_leave_nothing(tmp_path: Path) -> None:
    raise_descriptors()
    async with served(tmp_path) as target:
        await target.honest()
        for name, attack in ATTACKS.items():
            async with asyncio.timeout(PATIENCE):
                results = await attacked(target, attack, QUESTIONS)  # raises where a question is not answered
            assert results["most_mb"] < MOST_MB, name
            assert results["most_cpu_ms"] < MOST_CPU_MS, name
        await target.honest()
