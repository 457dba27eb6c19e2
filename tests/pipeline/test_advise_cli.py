"""`emgas advise`, as a user calls it, before a server that speaks the API: what fits is recorded, and shown beside."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import emgas
from tests.support.models import Fault, a_model, each

TURNS = (
    {"id": "t1", "text": "Biscuit the cat has ear mites, the vet says."},
    {"id": "t2", "text": "The vet prescribed ear drops, twice a day."},
)


def say(item: dict[str, Any]) -> dict[str, Any]:
    """Answer whatever is asked."""
    if "said" in item:
        return {"worth": 0.9, "keywords": ["drops"]}
    if "pairs" in item:
        return {"ratings": [0.8] * len(item["pairs"])}
    if "role" in item:
        return {"text": "Arr, the vet finds mites in the ear of cat Biscuit!"}
    return {"parts": item["text"].split(", ")}


def published(data: Path) -> None:
    lines = [json.dumps({"graph": "ada", "speaker": "Ada", **turn}) for turn in TURNS]
    emgas(data, "publish", "-", stdin="\n".join(lines).encode())


@pytest.mark.slow
@pytest.mark.source("S31", "M11", "E40")
async def test_advice_that_a_user_asks_for_is_recorded_and_shown_beside_what_was_said(tmp_path: Path) -> None:
    await asyncio.to_thread(published, tmp_path)
    key = tmp_path / "key"
    key.write_text("sesame")
    options = ("--rewrite", "t1", "--role", "a sailor", "--split", "t2", "--judge", "t2", "--rate", "cat,vet")
    async with a_model(each(say)) as model:
        settings = {"advisor": model.url, "advisor_model": "tiny", "advisor_key_file": str(key)}
        result = await asyncio.to_thread(emgas, tmp_path, "advise", "ada", *options, "--json", **settings)
    assert {one["kind"]: one["result"] for one in result.json["advice"]} == dict.fromkeys(
        ("rewrite", "split", "judge", "rate"), "accepted"
    )
    assert all(headers["Authorization"] == "Bearer sesame" for headers, _ in model.requests)
    shown = (await asyncio.to_thread(emgas, tmp_path, "turns", "ada", "--advised", "--json")).json["turns"]
    assert [turn["text"] for turn in shown] == [turn["text"] for turn in TURNS]
    assert shown[0]["advised"]["rewritten"].startswith("Arr")
    assert (shown[1]["advised"]["worth"], len(shown[1]["advised"]["parts"])) == (0.9, 2)
    lines = (await asyncio.to_thread(emgas, tmp_path, "turns", "ada", "--advised")).out
    assert "in other words as a sailor: Arr" in lines


@pytest.mark.slow
async def test_an_advisor_that_fails_is_told_and_nothing_is_recorded(tmp_path: Path) -> None:
    await asyncio.to_thread(published, tmp_path)
    async with a_model(lambda *_: Fault(status=500)) as model:
        settings = {"advisor": model.url, "advisor_model": "tiny"}
        result = await asyncio.to_thread(emgas, tmp_path, "advise", "ada", "--judge", "t1", code=1, **settings)
    assert "status 500" in result.out
    alone = await asyncio.to_thread(emgas, tmp_path, "advise", "ada", "--judge", "t1", code=2)
    assert "EMGAS_ADVISOR" in alone.err
    await asyncio.to_thread(emgas, tmp_path, "advise", "ada", code=2)
    unknown = {"advisor": "http://127.0.0.1:9/v1", "advisor_model": "tiny"}
    await asyncio.to_thread(emgas, tmp_path, "advise", "nobody", "--themes", code=3, **unknown)
