"""Answers go only where they may, stop nothing when they are lost, and a dead letter is never lost in silence."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.errors import TransportError
from emgas.messages.requests import Failure
from emgas.wire import Headers, ProducerRecord, Record, ReplyAddress, as_mapping
from streams.transport import sender as sender_module
from streams.transport.sender import ANSWERS_AT_ONCE, TOGETHER_BYTES, MessageSender, error_headers
from streams.transport.topic_plan import RECORD_BYTES
from tests.support.clocks import eventually
from tests.support.fakes import DEAD_LETTERS, REPLIES, SentRecords

FAILURE = Failure(code="overloaded", message="ask again later")
ADDRESS = ReplyAddress(REPLIES, 3, b"\x00\xff")


def asking(headers: Headers) -> Record:
    return Record(0, 0, None, b"", headers)


def test_an_address_is_read_from_the_headers() -> None:
    sender = SentRecords().sender()
    assert sender.address(asking(ADDRESS.headers(0))) == ADDRESS
    assert sender.address(asking((("reply-to", REPLIES.encode()),))) == ReplyAddress(REPLIES, 0, b"")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"correlation-id": b"1"},
        {"reply-to": b""},
        {"reply-to": b"emgas.events"},
        {"reply-to": b"emgas.replies "},
        {"reply-to": b"emgas.replies\x00"},
        {"reply-to": b"\xff"},
        {"reply-to": b"emgas.replies", "reply-partition": b"4"},
        {"reply-to": b"emgas.replies", "reply-partition": b"-1"},
        {"reply-to": b"emgas.replies", "reply-partition": b""},
        {"reply-to": b"emgas.replies", "reply-partition": b"1 "},
        {"reply-to": b"emgas.replies", "reply-partition": b"9" * 10_000},
        {"reply-to": b"emgas.replies", "reply-partition": "²".encode()},
    ],
)
def test_nothing_else_is_an_address(headers: dict[str, bytes]) -> None:
    assert SentRecords().sender().address(asking(tuple(headers.items()))) is None


@given(st.dictionaries(st.sampled_from(["reply-to", "reply-partition", "correlation-id"]), st.binary(max_size=20)))
def test_no_header_leads_anywhere_but_to_the_allowed_partitions(headers: dict[str, bytes]) -> None:
    address = SentRecords().sender().address(asking(tuple(headers.items())))
    assert address is None or (address.topic == REPLIES and 0 <= address.partition < 4)


async def test_an_answer_carries_the_correlation_id_and_says_what_it_is() -> None:
    sent = SentRecords()
    await sent.sender().answer(ADDRESS, "failure", FAILURE)
    (answer,) = sent.all
    assert (answer.topic, answer.partition, answer.key) == (REPLIES, 3, None)
    assert answer.message == {"kind": "failure", "code": "overloaded", "message": "ask again later"}
    headers = dict(answer.headers)
    assert headers["correlation-id"] == b"\x00\xff"
    assert headers["ce_type"] == b"io.emgas.failure.v1"


async def test_who_wants_no_answer_gets_none() -> None:
    sent = SentRecords()
    await sent.sender().answer(None, "failure", FAILURE)
    assert sent.all == []


async def test_an_answer_that_is_refused_or_lost_stops_nothing() -> None:
    sent = SentRecords()
    sender = sent.sender()
    sent.refusal = TransportError("too large")
    await sender.answer(ADDRESS, "failure", FAILURE)
    sent.refusal, sent.loss = None, TransportError("the broker is gone")
    await sender.answer(ADDRESS, "failure", FAILURE)
    sent.loss = None
    await sender.answer(ADDRESS, "failure", FAILURE)
    await asyncio.sleep(0)
    assert len(sent.all) == 1
    assert sender.unacknowledged == 0


async def test_an_answer_that_is_refused_at_once_costs_none_that_waits_behind_it() -> None:
    sent, done = SentRecords(), list[str]()

    async def send(record: ProducerRecord) -> Awaitable[object]:
        sent.refusal = TransportError("too large") if sent.refusal is None and not sent.all else None
        return await sent.send(record)

    sender = MessageSender(DEAD_LETTERS, {REPLIES: 4}, send)
    for name in ("first", "second"):
        sender.start(ADDRESS, "failure", FAILURE, partial(done.append, name))
    await eventually(lambda: done == ["first", "second"])
    assert (len(sent.all), sender.dropped, sender.unacknowledged) == (1, 1, 0)


async def test_what_waits_behind_one_that_waited_in_vain_for_a_topic_is_lost_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sender_module, "WAITED_SECONDS", -1.0)  # however soon it fails
    sent, done, tries = SentRecords(), list[str](), list[ProducerRecord]()

    async def send(record: ProducerRecord) -> Awaitable[object]:
        tries.append(record)
        raise TransportError("the topic is gone")

    sender = MessageSender(DEAD_LETTERS, {REPLIES: 4}, send)
    for name in ("first", "second", "third"):
        sender.start(ADDRESS, "failure", FAILURE, partial(done.append, name))
    await eventually(lambda: done == ["first", "second", "third"])
    assert (len(tries), sender.dropped, sender.unacknowledged, sent.all) == (1, 3, 0, [])


class SentTogether(SentRecords):
    """Takes several records at once, too, and remembers which came together."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[int] = []

    async def together(self, records: Sequence[ProducerRecord]) -> Awaitable[object]:
        self.runs.append(len(records))
        return asyncio.gather(*[await self.send(record) for record in records])

    def sender(self) -> MessageSender:
        return MessageSender(DEAD_LETTERS, {REPLIES: 4}, self.send, self.together)


def numbered(number: int, partition: int = 3, correlation: bytes = b"") -> ReplyAddress:
    return ReplyAddress(REPLIES, partition, b"%d" % number + correlation)


async def test_what_waits_for_one_partition_is_sent_together_in_order_and_each_is_told_once() -> None:
    sent, done = SentTogether(), list[int]()
    sender = sent.sender()
    for number in range(20):
        sender.start(numbered(number), "failure", FAILURE, partial(done.append, number))
    await eventually(lambda: done == list(range(20)))
    assert [dict(each.headers)["correlation-id"] for each in sent.all] == [b"%d" % number for number in range(20)]
    assert (sent.runs, sender.unacknowledged, sender.dropped) == ([20], 0, 0)


async def test_answers_to_several_partitions_are_not_mixed() -> None:
    sent, done = SentTogether(), list[int]()
    sender = sent.sender()
    for number, partition in enumerate([0, 0, 1, 0, 0, 0]):
        sender.start(numbered(number, partition), "failure", FAILURE, partial(done.append, number))
    await eventually(lambda: sorted(done) == list(range(6)))
    assert sent.runs == [2, 3]
    assert [each.partition for each in sent.all] == [0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize("large", ["what it says", "its correlation id"])
async def test_a_large_answer_goes_by_itself(large: str) -> None:
    sent, done = SentTogether(), list[int]()
    sender, many = sent.sender(), "x" * TOGETHER_BYTES
    text = Failure(code="internal", message=many) if large == "what it says" else FAILURE
    correlation = many.encode() if large == "its correlation id" else b""
    for number in range(3):
        is_large = number == 1
        address = numbered(number, correlation=correlation if is_large else b"")
        sender.start(address, "failure", text if is_large else FAILURE, partial(done.append, number))
    await eventually(lambda: done == [0, 1, 2])
    assert sent.runs == []
    assert len(sent.all) == 3


@pytest.mark.parametrize("how", ["refusal", "loss"])
async def test_what_was_sent_together_and_is_lost_is_counted_one_by_one(how: str) -> None:
    sent, done = SentTogether(), list[int]()
    sender = sent.sender()
    setattr(sent, how, TransportError("the broker is gone"))
    for number in range(3):
        sender.start(numbered(number), "failure", FAILURE, partial(done.append, number))
    await eventually(lambda: done == [0, 1, 2])
    assert (sent.all, sender.dropped, sender.unacknowledged) == ([], 3, 0)


async def test_an_answer_that_cannot_be_written_is_lost_alone() -> None:
    sent, done = SentTogether(), list[int]()
    sender = sent.sender()
    sender.start(ADDRESS, "failure", Failure(code="internal", message="\ud800"), partial(done.append, 0))
    sender.start(ADDRESS, "failure", FAILURE, partial(done.append, 1))
    await eventually(lambda: done == [0, 1])
    assert (len(sent.all), sender.dropped, sender.unacknowledged) == (1, 1, 0)


async def test_a_dead_letter_holds_the_untouched_record_and_why() -> None:
    sent = SentRecords()
    errors = error_headers("emgas.turns", 3, 42, "größer als erlaubt")
    await sent.sender().dead_letter(Record(42, 0, b"\xff", b"\x00{", (("own", b"\x01"),)), errors)
    (letter,) = sent.all
    assert (letter.topic, letter.key, letter.value) == (DEAD_LETTERS, b"\xff", b"\x00{")
    assert dict(letter.headers) == {
        "own": b"\x01",
        "emgas.errors.message": "größer als erlaubt".encode(),
        "emgas.errors.topic": b"emgas.turns",
        "emgas.errors.partition": b"3",
        "emgas.errors.offset": b"42",
    }


async def test_a_sender_cannot_forge_the_reason_of_its_dead_letter() -> None:
    sent = SentRecords()
    forged = asking((("emgas.errors.message", b"all is well"),))
    await sent.sender().dead_letter(forged, error_headers("emgas.turns", 0, 0, "not JSON"))
    assert as_mapping(sent.all[0].headers)["emgas.errors.message"] == b"not JSON"


@pytest.mark.parametrize("how", ["refusal", "loss"])
async def test_a_dead_letter_that_cannot_be_kept_is_an_error(how: str) -> None:
    sent = SentRecords()
    setattr(sent, how, TransportError("the broker is gone"))
    with pytest.raises(TransportError):
        await sent.sender().dead_letter(asking(()), ())


@pytest.mark.parametrize(
    "record",
    [
        Record(42, 0, b"ada", b"x" * (12 << 20), (("own", b"\x01"),)),
        Record(42, 0, b"k" * (12 << 20), b"x", (("own", b"\x01"),)),
        Record(42, 0, b"ada", b"x", (("own", b"\x01"), ("large", bytes(12 << 20)))),
        Record(42, 0, b"ada", b"x", (("own", b"\x01"), *[("n" * 1000, b"")] * 20_000)),
    ],
    ids=["value", "key", "a header", "names of headers"],
)
async def test_a_dead_letter_that_no_topic_would_take_is_cut_and_says_what_it_was(record: Record) -> None:
    """What was packed on its way may be larger than any request."""
    sent = SentRecords()
    await sent.sender().dead_letter(record, error_headers("emgas.turns", 3, 42, "too large"))
    (letter,) = sent.all
    headers = as_mapping(letter.headers)
    size = (
        len(letter.key or b"") + len(letter.value or b"") + sum(len(name) + len(text) for name, text in letter.headers)
    )
    assert size < RECORD_BYTES
    assert headers["own"] == b"\x01"
    assert headers["emgas.errors.message"] == b"too large"
    assert headers["emgas.errors.bytes"] == str(len(record.value)).encode()
    assert headers["emgas.errors.sha256"] == hashlib.sha256(record.value).hexdigest().encode()
    assert record.value.startswith(letter.value or b"")


async def test_answers_that_nobody_takes_are_bounded_and_counted() -> None:
    """As when the topic for answers is gone: a producer waits a minute for it."""
    sent = SentRecords()
    sent.silent = True
    sender = sent.sender()
    for _ in range(ANSWERS_AT_ONCE + 7):
        await sender.answer(ADDRESS, "failure", FAILURE)
    assert (sender.unacknowledged, sender.dropped) == (ANSWERS_AT_ONCE, 7)


def test_nothing_is_allowed_by_default() -> None:
    assert MessageSender(DEAD_LETTERS, {}, SentRecords().send).address(asking(ADDRESS.headers(0))) is None
