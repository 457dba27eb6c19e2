"""Two servers share one quota, on a real Kafka: the writer counts, so together they get in as much as it allows."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import httpx2 as httpx
import pytest

from emgas import MemoryClient
from emgas.messages.rights import Quota
from tests.kafka.test_pipeline import on_kafka
from tests.support.clocks import PATIENCE
from tests.support.pipeline import Pipeline
from tests.support.served import serving

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
MOST = 20
LIVES = 3  # of the worker; in each, as many turns are sent as the quota allows in all


async def say(url: str, life: int, server: int) -> list[httpx.Response]:
    """Have a server record half as many turns as the quota allows, at once."""
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
        turns = [{"id": f"{life}-{server}-{n}", "speaker": "Ada", "text": f"The kettle {n}."} for n in range(MOST // 2)]
        return await asyncio.gather(*(http.post("/v1/graphs/ada/turns", json=turn) for turn in turns))


async def test_two_servers_that_share_a_quota_get_in_exactly_what_it_allows(kafka_address: str, tmp_path: Path) -> None:
    async with on_kafka(kafka_address, tmp_path, batch_turns=4) as pipeline:
        await pipeline.memory.send(Quota(graph="ada", turns=MOST + MOST // 2))
        answers = list[httpx.Response]()
        for life in range(LIVES):
            answers += await _of_two_servers(pipeline, life)
            await pipeline.restart()
        statuses = Counter(answer.status_code for answer in answers)
        assert statuses == {201: MOST + MOST // 2, 429: (LIVES - 1) * MOST - MOST // 2}
        problem = next(answer.json() for answer in answers if answer.status_code == 429)
        assert problem["code"] == "over-quota"
        assert "ask your operator for a higher quota" in problem["detail"]
        assert len(pipeline.ids("ada")) == MOST + MOST // 2


async def _of_two_servers(pipeline: Pipeline, life: int) -> list[httpx.Response]:
    broker, prefix = pipeline.settings.broker, pipeline.settings.prefix
    async with (
        MemoryClient(broker, prefix=prefix, timeout=PATIENCE) as one,
        MemoryClient(broker, prefix=prefix, timeout=PATIENCE) as other,
        serving(one) as first,
        serving(other) as second,
    ):
        both = await asyncio.gather(say(first, life, 1), say(second, life, 2))
    return [answer for answers in both for answer in answers]
