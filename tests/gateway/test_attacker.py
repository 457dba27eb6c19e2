"""An attacker on loopback, against `emgas serve` as an operator starts it: others are answered, and all is let go.

How long an answer takes is told by `python -m bench.attacker`; here, that there is one while the attack is held open.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bench.attacker import ATTACKS, attacked, served
from gateway.connections import raise_descriptors
from tests.support.clocks import PATIENCE

MOST_MB = 600
QUESTIONS = 5


@pytest.mark.parametrize("name", ATTACKS)
async def test_an_attack_keeps_nobody_out_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    raise_descriptors()
    async with asyncio.timeout(PATIENCE), served(tmp_path) as target:
        await target.honest()
        found = await attacked(target, ATTACKS[name], QUESTIONS)  # raises where a question is not answered
        assert found["most_mb"] < MOST_MB
        await target.honest()
