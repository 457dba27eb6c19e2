"""What any program may put into a topic is read: header names of any bytes, and batches that unpack to too much."""

from __future__ import annotations

from typing import Any

import pytest
from aiokafka.consumer import fetcher
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy as Builder

from emgas.client import kafka, lenient_records
from emgas.client.lenient_records import UNREADABLE, LenientRecords

PLAIN, GZIP, SNAPPY, LZ4, ZSTD = range(5)


def batch(*names: bytes, codec: int = PLAIN, value: bytes = bytes(1000), base: int = 0) -> bytes:
    """Make a batch of one record for each header name."""
    builder: Any = Builder(
        magic=2,
        compression_type=codec,
        is_transactional=False,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1 << 30,
    )
    for offset, name in enumerate(names):
        builder.append(offset, 1000 + offset, b"key", value, [("?" * len(name), b"x")])
        at = builder._buffer.rindex(b"?" * len(name))  # noqa: SLF001 - only from inside can this be told
        builder._buffer[at : at + len(name)] = name  # noqa: SLF001 - only from inside can this be told
    made = bytearray(builder.build())
    made[:8] = base.to_bytes(8, "big")  # no part of the checksum
    return bytes(made)


def read(fetched: bytes) -> list[Any]:
    records, results = LenientRecords(fetched), []
    while records.has_next():
        results += list(records.next_batch())
    return results


def test_every_consumer_of_this_process_reads_leniently() -> None:
    assert kafka.lenient_records is lenient_records
    assert fetcher.MemoryRecords is LenientRecords


@pytest.mark.parametrize("codec", [PLAIN, GZIP, SNAPPY, LZ4, ZSTD])
def test_a_header_name_that_is_not_utf_8_stops_no_consumer(codec: int) -> None:
    results = read(batch(b"first", b"\xffname", b"last", codec=codec))
    assert [record.headers for record in results] == [[("first", b"x")], [("\\xffname", b"x")], [("last", b"x")]]
    assert [record.offset for record in results] == [0, 1, 2]
    assert {(record.key, record.value) for record in results} == {(b"key", bytes(1000))}


def test_what_lies_in_other_batches_is_read_as_ever() -> None:
    results = read(batch(b"a", b"b") + batch(b"\xfe", base=2) + batch("größe".encode(), base=3))
    assert [(record.offset, record.headers[0][0]) for record in results] == [
        (0, "a"),
        (1, "b"),
        (2, "\\xfe"),
        (3, "größe"),
    ]


def test_a_response_may_end_within_a_batch() -> None:
    whole = batch(b"\xff") + batch(b"b", base=1)
    assert [record.offset for record in read(whole[:-1])] == [0]


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_a_batch_that_unpacks_to_too_much_is_told_record_by_record(codec: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lenient_records, "UNPACKED_BYTES", 1 << 20)
    fits, bomb = batch(b"a", codec=codec, value=bytes(1 << 19)), batch(b"b", b"c", codec=codec, value=bytes(1 << 20))
    assert [len(record.value) for record in read(fits)] == [1 << 19]
    placeholders = read(bomb)
    assert [record.offset for record in placeholders] == [0, 1]
    assert {(record.key, record.value, record.headers[0][0]) for record in placeholders} == {(None, None, UNREADABLE)}


def test_a_batch_that_does_not_unpack_is_told_too() -> None:
    packed = bytearray(batch(b"a", codec=ZSTD))
    packed[61:65] = b"junk"
    assert [record.headers[0][0] for record in read(bytes(packed))] == [UNREADABLE]
