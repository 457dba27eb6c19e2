"""`python -m bench.torture` itself: a long run ends early where a command that it gives is spelled otherwise by now."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.kafka

ROOT = Path(__file__).parents[2]
# Between them they give every command that it has.
KINDS = [
    "garbage in events",
    "broker restarted",
    "turns made anew",
    "branched",
    "graph moved to another partition",
    "graph moved to another memory",
    "memory repartitioned",
]
MUST_BE_NONE = ("lost", "duplicated", "stuck", "diverged", "unexplained", "broken")
AN_INSTANT = "0.01"  # minutes: what has begun when they are over is ended, and examined


@pytest.mark.parametrize("name", KINDS)
async def test_a_fault_is_done_outlived_and_told_on_one_line(kafka_address: str, name: str) -> None:
    """Its brokers are its own: the fixture only sees to it that there may be any."""
    options = ["--minutes", AN_INSTANT, "--seed", str(7000 + KINDS.index(name)), "--kinds", name, "--json"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.torture", *options), cwd=ROOT, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    report = json.loads(out)
    assert (report["faults"], report["kinds"]) == (1, 1)
    assert bool(report["moved"]) == ("moved" in name or "repartitioned" in name)
    assert {name: report[name] for name in MUST_BE_NONE} == dict.fromkeys(MUST_BE_NONE, 0) | {"broken": []}
