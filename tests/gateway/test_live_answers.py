"""Live answers (`/activation`): those of one key wait for one another, and hold up nothing else that it asks."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from emgas.client.shares import Shares
from emgas.messages.queries import Reply
from gateway import app as gateway_app
from gateway.auth.keys import RIGHTS, Caller, Keys
from gateway.auth.new_keys import digest
from gateway.routes.graphs import WATCHED
from tests.pipeline.test_embedded import embedded
from tests.support.clocks import eventually
from tests.support.served import listening

pytestmark = pytest.mark.asyncio
KEYS = [Caller(name=name, sha256=digest(name), graphs=("*",), rights=RIGHTS) for name in ("many", "one")]
STREAMS = 10


async def test_live_answers_of_one_key_in_masses_hold_up_none_of_its_other_questions_nor_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with embedded(tmp_path, partitions=1) as pipeline:
        await pipeline.record("ada")
        query, released, begun = pipeline.memory.query, asyncio.Event(), list[str]()

        async def slow(graph: str, text: str, **options: Any) -> Reply:
            begun.append(text)
            await released.wait()
            return await query(graph, text, **options)

        monkeypatch.setattr(pipeline.memory, "query", slow)
        watched = Shares(WATCHED)
        monkeypatch.setattr(gateway_app, "Shares", lambda most: watched)
        app = gateway_app.gateway(lambda: nullcontext(pipeline.memory), Keys(KEYS))
        async with listening(app) as url, httpx.AsyncClient(base_url=url, timeout=60) as http:

            async def watch(key: str) -> str:
                headers = {"Authorization": f"Bearer {key}"}
                response = await http.get(
                    "/v1/graphs/ada/activation", params={"text": f"the kettle of {key}"}, headers=headers
                )
                return response.text

            async def ask(key: str) -> int:
                headers = {"Authorization": f"Bearer {key}"}
                body = {"text": "the kettle"}
                return (await http.post("/v1/graphs/ada/query", json=body, headers=headers)).status_code

            waiting = watched._requests  # noqa: SLF001 - no public name has what waits
            many = [asyncio.create_task(watch("many")) for _ in range(STREAMS)]
            await eventually(lambda: waiting["many"] == STREAMS)
            assert await ask("many") == 200
            another = asyncio.create_task(watch("one"))
            await eventually(lambda: begun.count("the kettle of one") == 1)
            assert begun.count("the kettle of many") == WATCHED < STREAMS
            released.set()
            answers = await asyncio.gather(*many, another)
        assert ["event: context" in answer for answer in answers] == [True] * (STREAMS + 1)
        assert not waiting, "nothing of them is kept"
