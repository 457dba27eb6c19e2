"""An attacker on loopback, against `emgas serve` as an operator starts it: others are answered, and all is let go.

`python -m bench.service.attacker` measures how long an answer takes; here, there is one while the attack is held open.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench.service.attacker import ATTACKS, attacked, served
from gateway.http.connections import raise_descriptors
from tests.support.clocks import PATIENCE

MOST_MB = 600
QUESTIONS = 5


async def test_attacks_keep_nobody_out_and_leave_nothing(tmp_path: Path) -> None:
    raise_descriptors()
    async with served(tmp_path) as target:
        await target.honest()
        for name, attack in ATTACKS.items():
            async with asyncio.timeout(PATIENCE):
                results = await attacked(target, attack, QUESTIONS)  # raises where a question is not answered
            assert results["most_mb"] < MOST_MB, name
        await target.honest()
