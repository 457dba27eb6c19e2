"""Shares: who asks in masses waits for itself, and another key is answered meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2 as httpx
import pytest
import pytest_asyncio

from emgas.client import shares
from emgas.client.shares import SHARE
from gateway.auth.keys import RIGHTS, Caller, Keys
from gateway.auth.new_keys import digest
from tests.pipeline.test_embedded import embedded
from tests.support.clocks import eventually
from tests.support.pipeline import Pipeline, a_turn, as_json
from tests.support.served import serving

pytestmark = pytest.mark.asyncio
KEYS = [Caller(name=name, sha256=digest(name), graphs=("*",), rights=RIGHTS) for name in ("many", "one")]
WAITING = 64


@pytest_asyncio.fixture
async def pipeline(tmp_path: Path) -> AsyncIterator[Pipeline]:
    async with embedded(tmp_path, partitions=1, queries_at_once=SHARE + 8) as pipeline:
        await pipeline.record("ada")
        yield pipeline


async def test_questions_of_one_key_in_masses_take_its_share_alone_and_another_key_is_answered(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "WAITING", WAITING)
    unbounded = httpx.Limits(max_connections=None)
    async with (
        serving(pipeline.memory, Keys(KEYS)) as url,
        httpx.AsyncClient(base_url=url, timeout=60, limits=unbounded) as http,
    ):

        async def ask(key: str, after: int | None = None) -> int:
            body = {"text": "the kettle", "after": after}
            headers = {"Authorization": f"Bearer {key}"}
            return (await http.post("/v1/graphs/ada/query", json=body, headers=headers)).status_code

        waiting = pipeline.memory.request_reply._waiting  # noqa: SLF001 - what lies in the memory is told to nobody
        async with pipeline.folding_nothing("ada"):
            turn = as_json(a_turn("ada", "late"))
            late = await pipeline.produce(pipeline.topics.turns, b"ada", turn, 0)
            many = [asyncio.create_task(ask("many", late)) for _ in range(SHARE + WAITING)]
            await eventually(lambda: len(waiting) == SHARE)
            for _ in range(8):
                assert await ask("one") == 200
                assert len(waiting) == SHARE
            assert not [task for task in many if task.done()], "none was refused for another"
            await eventually(lambda: pipeline.memory.request_reply._shares.is_full("many"))  # noqa: SLF001 - likewise
            assert await ask("many", late) == 429, "what may not even wait is told so"
            assert await ask("one") == 200
        assert set(await asyncio.gather(*many)) == {200}
        assert await ask("many") == 200
