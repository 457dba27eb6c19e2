"""Faust's recovery and fetching as they are set here: what was fetched of a log is lost only with its partition."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from faust.tables.recovery import RebalanceAgain
from faust.transport.consumer import Consumer
from faust.types import TP

from streams.recovery.table_manager import LoudRecovery, PromptTableManager
from streams.transport.source_offsets import PositionedConsumer
from tests.support.tiny_app import TinyApp
from tests.support.transports import sqlite_transport


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[TinyApp]:
    async with sqlite_transport(tmp_path / "log") as transport:
        yield TinyApp(transport.driver, "test", tmp_path)


@pytest.fixture
def tables(app: TinyApp) -> PromptTableManager:
    return cast(PromptTableManager, app.tables)


def test_what_a_standby_has_fetched_outlives_that_the_flow_is_resumed(app: TinyApp, tables: PromptTableManager) -> None:
    app.flow_control.resume()
    tables.changelog_queue.put_nowait("fetched, not folded yet")
    app.flow_control.resume()  # Faust, when all actives are claimed
    assert tables.changelog_queue.qsize() == 1


async def test_what_a_standby_has_fetched_outlives_that_the_sources_are_positioned(
    app: TinyApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = cast(PositionedConsumer, app.consumer)
    turn, event = TP(app.names.turns, 0), TP(app.names.events, 0)

    async def fetched(*_: Any) -> AsyncIterator[tuple[TP, str]]:
        yield turn, "stands where the group committed"
        yield event, "first"
        consumer._seeks += 1  # noqa: SLF001 - as a seek does that comes in between
        yield turn, "the next one of those"
        yield event, "second"

    monkeypatch.setattr(Consumer, "getmany", fetched)
    seen: list[Any] = [each async for each in consumer.getmany(1.0)]
    assert seen == [(turn, "stands where the group committed"), (event, "first"), (event, "second")]


def test_what_was_fetched_of_partitions_is_forgotten_when_they_are_taken_away(tables: PromptTableManager) -> None:
    tables.changelog_queue.put_nowait("fetched, not folded yet")
    tables.on_partitions_revoked(set())
    assert tables.changelog_queue.empty()


@pytest.mark.parametrize(("rebalanced", "expected"), [(True, RebalanceAgain), (False, ValueError)])
async def test_a_step_that_fails_while_another_rebalance_begins_stops_nothing(
    tables: PromptTableManager, rebalanced: bool, expected: type[Exception]
) -> None:
    recovery = cast(LoudRecovery, tables.recovery)

    async def seek() -> None:
        if rebalanced:
            recovery.signal_recovery_start.set()
        raise ValueError("Offset must be a positive integer")

    with pytest.raises(expected):
        await recovery._wait(seek())  # noqa: SLF001 - the step of Faust's that ours replaces
