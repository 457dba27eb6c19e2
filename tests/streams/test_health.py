"""A worker is seen from outside: it is alive, it is ready or says why not, and its numbers are those of what it did."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import ClientSession
from prometheus_client.parser import text_string_to_metric_families
from pydantic import ValidationError

from emgas import MemoryClient
from emgas.errors import QueryFailedError, TransportError
from emgas.wire import ProducerRecord, partition_of
from state.errors import StoreCorruptError
from streams.settings import WorkerSettings
from streams.worker.app import MemoryApp
from streams.worker.embedded_connection import EmbeddedConnection
from streams.worker.metrics import WorkerMetrics
from tests.support.pipeline import settings_for

ROOT = Path(__file__).resolve().parents[2]
OWNER = partition_of("ada", 2)
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@dataclass
class Watched:
    """A worker on the embedded log, its client, and whoever looks at it."""

    memory: MemoryClient
    app: MemoryApp
    http: ClientSession

    async def get(self, path: str) -> tuple[int, str]:
        async with self.http.get(f"http://127.0.0.1:{self.app.health_port}{path}") as response:
            return response.status, await response.text()

    async def scrape(self) -> Samples:
        """Return value by (name, labels) of all samples."""
        status, text = await self.get("/metrics")
        assert status == 200
        families = text_string_to_metric_families(text)
        return {(s.name, tuple(sorted(s.labels.items()))): s.value for f in families for s in f.samples}

    async def value(self, name: str, **labels: str) -> float:
        return (await self.scrape())[name, tuple(sorted(labels.items()))]


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    connection = EmbeddedConnection(settings_for(tmp_path, "watched", None, health="0"))
    async with MemoryClient(connection) as memory, ClientSession() as http:
        yield Watched(memory, connection.app, http)


def turn(id: str, text: str = "The kettle broke again.") -> dict[str, Any]:
    return {"id": id, "graph": "ada", "speaker": "Ada", "text": text}


async def test_turns_are_counted_by_what_became_of_them(watched: Watched) -> None:
    for id in ("1", "2", "3", "1"):
        await watched.memory.record(turn(id))
    refused = ProducerRecord(watched.memory._open.connection.topics.turns, b"ada", b"{")  # noqa: SLF001 - only from inside can this be told
    await watched.memory._open.connection.send(refused)  # noqa: SLF001 - only from inside can this be told
    await watched.memory.record(turn("4"))  # behind it
    samples = await watched.scrape()
    results = {labels[0][1]: value for (name, labels), value in samples.items() if name == "emgas_turns_total"}
    assert results == {"accepted": 4, "duplicate": 1, "rejected": 1}
    assert samples["emgas_dead_letters_total", ()] == 1


async def test_positions_and_sizes_are_those_of_the_partition(watched: Watched) -> None:
    for id in ("1", "2", "3"):
        await watched.memory.record(turn(id))
    samples, position = await watched.scrape(), watched.app.folds.open[OWNER].position
    answer = {name: value for (name, labels), value in samples.items() if labels == (("partition", str(OWNER)),)}
    assert answer["emgas_source_offset"] == position.source == 2
    assert answer["emgas_watermark_offset"] == position.watermark
    assert (answer["emgas_graphs"], answer["emgas_held_turns"], answer["emgas_lag_turns"]) == (1, 3, 0)
    assert answer["emgas_store_bytes"] > 0
    assert answer["emgas_last_fold_timestamp_seconds"] > samples["process_start_time_seconds", ()]
    assert (samples["emgas_owned_partitions", ()], samples["emgas_claims_total", ()]) == (2, 2)


async def test_lag_is_what_lies_in_the_log_and_is_not_folded(watched: Watched) -> None:
    await watched.memory.record(turn("1"))
    async with watched.app.ownership.timers[OWNER].lock:  # as long as a window is closed, no turn is folded
        for id in ("2", "3", "4"):
            await watched.memory.publish(turn(id))
        assert await watched.value("emgas_lag_turns", partition=str(OWNER)) == 3
    await watched.memory.record(turn("5"))
    assert await watched.value("emgas_lag_turns", partition=str(OWNER)) == 0


async def test_appends_folds_and_answers_are_timed(watched: Watched) -> None:
    before = await watched.scrape()
    await watched.memory.record(turn("1"))
    await watched.memory.query("ada", "what broke?")
    after = await watched.scrape()
    for name in ("append", "fold", "answer"):
        count = f"emgas_{name}_seconds_count", ()
        assert after[count] == before[count] + 1
        assert after[f"emgas_{name}_seconds_sum", ()] > before[f"emgas_{name}_seconds_sum", ()]


async def test_answers_are_counted_by_kind_and_failures_by_their_code(watched: Watched) -> None:
    await watched.memory.query("nobody", "anything?")
    with pytest.raises(QueryFailedError):  # at once: there is no such turn
        await watched.memory.query("ada", "what broke?", after=99)
    assert await watched.value("emgas_answers_total", result="reply") == 1
    assert await watched.value("emgas_answers_total", result="not-yet") == 1


async def test_a_worker_that_owns_its_partitions_is_alive_and_ready(watched: Watched) -> None:
    assert await watched.get("/livez") == (200, "ok\n")
    status, answer = await watched.get("/readyz")
    assert (status, json.loads(answer)) == (200, {"ready": True, "role": "all", "partitions": [0, 1], "problems": []})
    assert await watched.value("emgas_ready") == 1


async def test_a_partition_that_was_taken_away_or_claimed_by_another_is_named(watched: Watched) -> None:
    writer = watched.app.ownership.writers[OWNER]
    writer._epoch -= 1  # noqa: SLF001 - as if a claim of somebody else had been folded
    status, answer = await watched.get("/readyz")
    assert (status, json.loads(answer)["problems"]) == (503, [f"partition {OWNER} was claimed by another worker"])
    writer._epoch += 1  # noqa: SLF001 - only from inside can this be told
    await watched.app.ownership.release()
    status, answer = await watched.get("/readyz")
    assert status == 503
    assert json.loads(answer) == {
        "ready": False,
        "role": "all",
        "partitions": [],
        "problems": ["partitions are being assigned, recovered or claimed"],
    }
    assert (await watched.get("/livez"))[0] == 200
    assert await watched.value("emgas_ready") == 0


async def test_a_worker_that_halted_says_so_and_not_whose_memory_it_was(watched: Watched) -> None:
    watched.app.halt(StoreCorruptError("graph ada should have 3 events and has 2"))
    status, answer = await watched.get("/readyz")
    assert (status, json.loads(answer)["problems"]) == (503, ["the worker has halted: StoreCorruptError"])
    assert await watched.value("emgas_halts_total", what="worker", error="StoreCorruptError") == 1


async def test_a_partition_that_halts_alone_is_named_and_counted(watched: Watched) -> None:
    watched.app.ownership.fail(OWNER, StoreCorruptError("graph ada should have 3 events and has 2"))
    status, answer = await watched.get("/readyz")
    assert status == 503
    assert f"partition {OWNER} has halted: StoreCorruptError" in json.loads(answer)["problems"]
    assert await watched.value("emgas_halts_total", what="partition", error="StoreCorruptError") == 1
    assert (await watched.get("/livez"))[0] == 200


async def test_no_sample_names_a_graph_a_speaker_or_a_turn(watched: Watched) -> None:
    named = {"id": "turn-of-mine", "graph": "graph-of-mine", "speaker": "speaker-of-mine", "text": "Text of mine."}
    await watched.memory.record(named)
    await watched.memory.query("graph-of-mine", "what of mine?")
    answer = (await watched.get("/metrics"))[1] + (await watched.get("/readyz"))[1]
    assert "mine" not in answer


async def test_the_names_follow_the_rules_of_prometheus(watched: Watched) -> None:
    text = (await watched.get("/metrics"))[1]
    for family in text_string_to_metric_families(text):
        name = family.name
        assert re.fullmatch(r"(emgas|process)_[a-z_]+[a-z]", name)
        assert family.documentation
        assert not re.search(r"_(ms|millis|minutes|kb|mb|percent)$", name), "base units"


def names_of_worker() -> set[str]:
    """Name what a worker tells, with what Prometheus adds to counters and histograms."""
    contents = WorkerMetrics().registry.collect()
    samples = {sample.name for family in contents for sample in family.samples}
    declared = {family.name + "_total" for family in WorkerMetrics().registry.collect() if family.type == "counter"}
    return samples | declared


def paths_in(text: str) -> set[str]:
    return set(re.findall(r"\b(?:emgas|process)_[a-z_]+\b", text))


def expressions() -> dict[str, str]:
    """Collect what the dashboard and the alerts ask Prometheus, by where."""
    alerts = yaml.safe_load((ROOT / "deploy/alerts.yaml").read_text())
    dashboard = json.loads((ROOT / "deploy/grafana-dashboard.json").read_text())
    rules = {rule["alert"]: rule["expr"] for group in alerts["groups"] for rule in group["rules"]}
    panels = {p["title"]: " ".join(target["expr"] for target in p["targets"]) for p in dashboard["panels"]}
    assert rules
    assert panels
    return {**rules, **panels}


async def test_all_that_the_dashboard_and_the_alerts_ask_for_is_told(watched: Watched) -> None:
    answer = {name for name, _ in await watched.scrape()} | names_of_worker()
    for where, expression in expressions().items():
        request = paths_in(expression)
        assert request, where
        assert request <= answer, where


async def test_the_page_on_operations_lists_every_metric_and_no_other(watched: Watched) -> None:
    await watched.memory.record(turn("1"))
    families = {family.name for family in text_string_to_metric_families((await watched.get("/metrics"))[1])}
    answer = {name for name in families if name.startswith("emgas_") and not name.endswith("_created")}
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(emgas_[a-z_]+)` \|", page, re.MULTILINE)
    listed = {name.removesuffix("_total").removesuffix("_info") for name in rows}
    assert {name.removesuffix("_info") for name in answer} == listed


@pytest.mark.parametrize(
    ("options", "address"),
    [
        ("", None),
        ("9464", ("127.0.0.1", 9464)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),  # noqa: S104 - whoever says so
        ("[::1]:9464", ("::1", 9464)),
    ],
)
def test_health_is_told_where_it_is_wanted_and_else_nowhere(options: str, address: tuple[str, int] | None) -> None:
    assert WorkerSettings(health=options).health_address == address


@pytest.mark.parametrize("address", ["nine", "host:", "host:65536", "host", "host:-1", ":9464"])
def test_an_address_that_cannot_be_is_refused(address: str) -> None:
    with pytest.raises(ValidationError, match="host:port"):
        WorkerSettings(health=address)


async def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        connection = EmbeddedConnection(settings_for(tmp_path, "watched", None, health=str(taken.getsockname()[1])))
        with pytest.raises(TransportError, match=r"EMGAS_HEALTH: cannot listen on 127\.0\.0\.1"):
            await asyncio.wait_for(connection.open(), 30)
