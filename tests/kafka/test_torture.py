"""`python -m bench.torture` itself: a long run ends early where a command that it gives is spelled otherwise by now."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from bench.torture.moving_faults import GRAPHS

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

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


async def test_faults_are_done_outlived_and_told_on_one_line(kafka_address: str) -> None:
    """Its brokers are its own: the fixture only sees to it that there may be any."""
    options = ["--once", "--seed", "7001", "--kinds", ",".join(KINDS), "--json"]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.torture", *options), cwd=ROOT, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, error = await process.communicate()
    assert process.returncode == 0, error.decode()
    report = json.loads(out)
    assert (report["faults"], report["kinds"]) == (len(KINDS), len(KINDS))
    assert report["moved"] == 2 + 2 + GRAPHS, "to and fro, twice, and a whole memory"
    assert {name: report[name] for name in MUST_BE_NONE} == dict.fromkeys(MUST_BE_NONE, 0) | {"broken": []}
