"""What windows decided goes out once, in order, under ids that stay the same when it has to be sent again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from emgas.errors import TransportError
from emgas.wire import as_mapping
from state.events.events import Claim, ConsolidationWindowClosed, DecayWindowClosed, decode, encode
from streams.ingest.change_feed import EVENT_OFFSET
from streams.ingest.partition_writer import AppendedEvent
from tests.support.builders import consolidation_closed
from tests.support.fakes import MemoryLog, Sent, SentRecords
from tests.support.logs import LogWriter
from tests.support.window_timers import CHANGES, caught_up_feed, feed_of

HERE = 2


def a_log() -> LogWriter:
    """Return a log with window events at the offsets 2, 4 and 5."""
    log = LogWriter()
    log.turn()
    log.decay(turns="t0")
    log.turn()
    log.consolidation()
    log.decay(concepts="tea")
    log.turn()
    return log


def appended(records: Iterable[tuple[int, bytes]]) -> list[AppendedEvent]:
    """List the data events of `records`, as the writer that appended them does."""
    decoded = [(offset, decode(value), value) for offset, value in records]
    return [AppendedEvent(offset, event, value) for offset, event, value in decoded if not isinstance(event, Claim)]


def written(log: LogWriter) -> MemoryLog:
    """Return the topic `events` with what `log` holds in one partition."""
    events = MemoryLog(4)
    for _, value in log.records:
        events.put(value, partition=HERE)
    return events


def topic_of(sent: list[Sent]) -> MemoryLog:
    """Return the topic `changes` as it is once `sent` has arrived."""
    changes = MemoryLog(4)
    for each in sent:
        changes.put(each.value, each.key, HERE)
        changes.records[HERE][-1] = changes.records[HERE][-1]._replace(headers=each.headers)
    return changes


def offsets(sent: SentRecords) -> list[int]:
    return [int(as_mapping(each.headers)[EVENT_OFFSET]) for each in sent.to(CHANGES)]


async def test_window_events_are_sent_as_they_lie_in_the_log_and_nothing_else_is() -> None:
    log, sent = a_log(), SentRecords()
    await (await caught_up_feed(HERE, sent)).publish(appended(log.records))
    assert offsets(sent) == [2, 4, 5]
    assert [each.value for each in sent.all] == [dict(log.records)[offset] for offset in (2, 4, 5)]
    kinds = [type(decode(each.value)) for each in sent.all]
    assert kinds == [DecayWindowClosed, ConsolidationWindowClosed, DecayWindowClosed]
    assert {(each.topic, each.partition, each.key) for each in sent.all} == {(CHANGES, HERE, b"ada")}


async def test_a_change_is_a_cloud_event_whose_id_is_the_place_of_its_event() -> None:
    sent = SentRecords()
    await (await caught_up_feed(HERE, sent)).publish(appended(a_log().records))
    headers = [as_mapping(each.headers) for each in sent.all]
    assert [each["ce_id"] for each in headers] == [b"2-2", b"2-4", b"2-5"]
    assert {(each["ce_type"], each["ce_subject"]) for each in headers} == {(b"io.emgas.change.v1", b"ada")}


@pytest.mark.parametrize("failure", ["refusal", "loss"])
async def test_a_change_that_is_not_acknowledged_is_told(failure: str) -> None:
    sent = SentRecords()
    setattr(sent, failure, TransportError("the broker is gone"))
    with pytest.raises(TransportError):
        await (await caught_up_feed(HERE, sent)).publish(appended(a_log().records))


@pytest.mark.parametrize(("before", "after"), [(0, [2, 4, 5]), (1, [4, 5]), (2, [5]), (3, [])])
async def test_a_new_owner_sends_what_the_one_before_did_not(before: int, after: list[int]) -> None:
    events, first, second = written(a_log()), SentRecords(), SentRecords()
    await (await caught_up_feed(HERE, first)).publish(appended(events.values(HERE)))
    earlier = topic_of(first.all[:before])
    await feed_of(HERE, events, second, earlier).catch_up(lambda: 6)
    assert offsets(second) == after
    assert second.all == first.all[before:], "under the same ids, byte by byte"


async def test_only_what_is_folded_is_caught_up_with() -> None:
    sent = SentRecords()
    await feed_of(HERE, written(a_log()), sent).catch_up(lambda: 4)
    assert offsets(sent) == [2, 4]


async def test_who_has_caught_up_sends_nothing_twice() -> None:
    events, sent, again = written(a_log()), SentRecords(), SentRecords()
    await feed_of(HERE, events, sent).catch_up(lambda: 6)
    await feed_of(HERE, events, again, topic_of(sent.all)).catch_up(lambda: 6)
    assert again.all == []


async def test_a_record_that_a_stranger_put_there_costs_only_a_repetition() -> None:
    events, sent = written(a_log()), SentRecords()
    stranger: Any = MemoryLog(4)
    stranger.put(b"hello", partition=HERE)
    await feed_of(HERE, events, sent, stranger).catch_up(lambda: 6)
    assert offsets(sent) == [2, 4, 5]


async def test_the_search_for_the_last_change_looks_behind_what_strangers_put_there() -> None:
    events, first, again = written(a_log()), SentRecords(), SentRecords()
    await feed_of(HERE, events, first).catch_up(lambda: 4)
    earlier = topic_of(first.all)
    earlier.put(b"hello", partition=HERE)
    await feed_of(HERE, events, again, earlier).catch_up(lambda: 6)
    assert offsets(again) == [5]


async def test_a_last_change_that_is_none_in_this_log_makes_all_be_sent() -> None:
    events, first, again = written(a_log()), SentRecords(), SentRecords()
    await feed_of(HERE, events, first).catch_up(lambda: 6)
    del events.records[HERE][3:]
    await feed_of(HERE, events, again, topic_of(first.all)).catch_up(lambda: 2)
    assert offsets(again) == [2]


def a_log_with_a_zombie() -> LogWriter:
    """Return a log in which a worker goes on after another has claimed: windows at 2, 4 (its own, too late) and 5."""
    log = LogWriter()
    log.turn()
    log.decay(turns="t0")
    stale = log.link
    log.claim()
    log.append(encode(consolidation_closed(**stale)))
    log.decay(concepts="tea")
    return log


@pytest.mark.parametrize("sent_before", [0, 1])
async def test_the_windows_of_a_worker_that_was_no_owner_any_more_are_not_sent(sent_before: int) -> None:
    events, first, second = written(a_log_with_a_zombie()), SentRecords(), SentRecords()
    await feed_of(HERE, events, first).catch_up(lambda: 2)
    earlier = topic_of(first.all[:sent_before])
    await feed_of(HERE, events, second, earlier).catch_up(lambda: 5)
    assert offsets(second) == [2, 5][sent_before:]


async def test_what_is_appended_while_it_catches_up_is_sent_in_its_place_and_once() -> None:
    log = a_log()
    sent = SentRecords()
    feed = feed_of(HERE, written(log), sent)
    await feed.publish(appended(log.records[5:]))
    assert sent.all == [], "it would hide from the next owner that those before it are missing"
    watermarks = iter([4, 6, 6])
    await feed.catch_up(lambda: next(watermarks))
    assert offsets(sent) == [2, 4, 5]
    await feed.publish(appended(log.records[5:]))
    assert offsets(sent) == [2, 4, 5]


@pytest.mark.parametrize("header", [b"9" * 5000, b"9" * 20, "٣".encode(), b"-1", b""])
async def test_a_header_that_names_no_offset_of_the_log_is_passed_over(header: bytes) -> None:
    """Others may write to `changes`, whatever they like."""
    log, before, after = a_log(), SentRecords(), SentRecords()
    await (await caught_up_feed(HERE, before)).publish(appended(log.records[:5]))
    changes = topic_of(before.to(CHANGES))
    changes.put(b"hostile", b"ada", HERE)
    changes.records[HERE][-1] = changes.records[HERE][-1]._replace(headers=((EVENT_OFFSET, header),))
    await feed_of(HERE, written(log), after, changes).catch_up(lambda: log.records[-1][0])
    assert offsets(after) == [5]
