"""What the Faust application hands to the parts below it: records as they lay in the log, to the millisecond."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.wire import Record
from streams.ingest.partition_writer import ProducedLog
from streams.transport.routes import KeyValue
from streams.worker.answering_app import record_of
from tests.support.clocks import eventually
from tests.support.fakes import MemoryLog


def event(**message: Any) -> Any:
    fields = {
        "offset": 7,
        "timestamp": 1.5,
        "timestamp_type": 0,
        "key": b"k",
        "value": b"v",
        "headers": [("a", b"1")],
    }
    return cast(Any, SimpleNamespace(message=SimpleNamespace(**{**fields, **message})))


@given(st.integers(0, 253_402_300_799_999))
def test_a_time_that_faust_divided_is_the_same_again(milliseconds: int) -> None:
    assert record_of(event(timestamp=milliseconds / 1000.0)).timestamp == milliseconds


@pytest.mark.parametrize("kind", [0, 1, None])
def test_only_a_time_that_the_broker_gave_counts_as_the_brokers(kind: int | None) -> None:
    assert record_of(event(timestamp_type=kind)).by_broker == (kind == 1)


@pytest.mark.parametrize("headers", [None, [], {}])
def test_a_record_may_have_no_headers_no_key_and_no_value(headers: Any) -> None:
    assert record_of(event(headers=headers, key=None, value=None)) == Record(7, 1500, None, b"")


async def test_events_are_sent_to_their_partition_together_and_acknowledged_together() -> None:
    sent: list[tuple[int, Sequence[KeyValue]]] = []
    acknowledged = asyncio.Event()

    async def send_all(partition: int, records: Sequence[KeyValue]) -> list[int]:
        sent.append((partition, records))
        await acknowledged.wait()
        return [5, 6]

    events = ProducedLog(MemoryLog(2), send_all, lambda partition: ("route to", partition))
    appending = asyncio.create_task(events.append(1, [(b"a", b"1"), (None, b"2")]))
    await eventually(lambda: sent)
    assert sent == [(1, [(b"a", b"1"), (None, b"2")])]
    assert not appending.done()
    acknowledged.set()
    assert await appending == [5, 6]
    assert await events.partitions() == 2
    assert events.route(1) == ("route to", 1)
