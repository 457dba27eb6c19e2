"""A branch on Kafka: marked by a topic until everything is in it."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from emgas.errors import NoAnswerError, TransportError
from streams.cli.replay import branch as branching
from streams.cli.shared.client import session
from streams.settings import WorkerSettings
from streams.transport import select
from streams.transport.kafka.admin import KafkaTopics
from tests.support.pipeline import Pipeline, settings_for
from tests.support.transports import kafka_transport

pytestmark = [pytest.mark.kafka, pytest.mark.slow]


async def test_an_unfinished_branch_does_not_open_until_the_same_command_finishes_it(
    kafka_address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def memory(name: str) -> WorkerSettings:
        return settings_for(tmp_path / name, f"test-{uuid.uuid4().hex[:12]}", f"kafka://{kafka_address}")

    source, target = memory("source"), memory("branch")
    await select.create(source)
    async with kafka_transport(kafka_address) as transport:
        async with Pipeline(source, transport) as pipeline:
            for graph in ("ada", "bob"):
                await pipeline.record(graph)
            sent = {graph: pipeline.ids(graph) for graph in ("ada", "bob")}
        with monkeypatch.context() as hasty:
            hasty.setattr(branching, "TIMEOUT", 2.0)
            with pytest.raises((NoAnswerError, TransportError)):  # no worker folds it
                await branching.send_branch(source, target, None, frozenset())
        for opening in OPENINGS:
            with pytest.raises(TransportError, match=f"{target.prefix} is an unfinished branch"):
                await opening(target)
        async with Pipeline(target.model_copy(update={"role": "writer"}), transport):
            await branching.send_branch(source, target, None, frozenset())
        assert not await KafkaTopics(target.bootstrap).exist([target.topics.branch])
        for opening in OPENINGS:
            await opening(target)
        async with Pipeline(target, transport) as whole:
            assert {graph: whole.ids(graph) for graph in sent} == sent


async def _work(settings: WorkerSettings) -> None:
    async with select.connect(settings):
        pass


async def _follow(settings: WorkerSettings) -> None:
    async with select.connect(settings.model_copy(update={"role": "reader"})):
        pass


async def _read(settings: WorkerSettings) -> None:
    async with select.readable(settings):
        pass


async def _ask(settings: WorkerSettings) -> None:
    async with session(settings):
        pass


OPENINGS: list[Callable[[WorkerSettings], Awaitable[Any]]] = [_work, _follow, _read, _ask]
