"""Backups: what lines say, that damage is named, and that an export which was cut off anywhere is completed."""

from __future__ import annotations

import hashlib
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emgas.wire import Record, partition_of
from replay.backup.backup import BackupSummary, records, write
from replay.backup.lines import Header, Stored, header_of, is_backup, seal
from replay.errors import BackupDamagedError, NoBackupError
from tests.support.fakes import ListReader
from tests.support.logs import golden_log

BEGAN = 1_700_000_000_123
ODD = [
    b"",
    b"\xff\xfe",
    b"no JSON",
    b'{"v":1, "kind":"Claim"}',  # a space that writing JSON again would lose
    b'{"a":1,"a":2}',
    b'{"n":12345678901234567890123}',
    b'{"n":1.0000000000000000001}',
    b"[" * 400 + b"]" * 400,
    b'{"kind":"../../x","v":1}',
    b'{"kind":"NewerEvent","v":7,"x":"\\u2028"}',
    b'"\xe2\x80\xa8 text"',
    b"5",
]


def keyed(records: list[tuple[int, bytes]], timestamp: int = BEGAN) -> list[Record]:
    """Return records as an owner appends them: graph events under their graph's key."""
    keys_of = []
    for offset, value in records:
        graph = json.loads(value).get("graph") if json.loads(value)["kind"] != "TurnDuplicated" else None
        keys_of.append(Record(offset, timestamp + offset, graph.encode() if graph else None, value))
    return keys_of


def log_of(*partitions: list[Record]) -> ListReader:
    return ListReader(partitions)


def golden() -> ListReader:
    return log_of(keyed(golden_log().records), keyed(golden_log().records[:3]))


async def header(log: ListReader, graph: str | None = None, began: int = BEGAN) -> Header:
    bounds = tuple([await log.bounds(partition) for partition in range(await log.partitions())])
    return Header("emgas", graph, bounds, "0.1.0", began)


async def backup(log: ListReader, graph: str | None = None, into: bytes = b"") -> tuple[bytes, BackupSummary]:
    file = io.BytesIO(into)
    written = await write(log, file, await header(log, graph, BEGAN if not into else BEGAN + 5))
    return file.getvalue(), written


def read(raw: bytes) -> list[Stored]:
    return list(records(io.BytesIO(raw)))


def all_of(log: ListReader) -> list[Stored]:
    return [Stored(number, record) for number, partition in enumerate(log.records) for record in partition]


async def test_what_was_written_is_read_back_byte_for_byte() -> None:
    log = golden()
    raw, written = await backup(log)
    assert read(raw) == all_of(log)
    assert written == BackupSummary(len(all_of(log)), 0, True)


async def test_every_line_is_a_cloud_event() -> None:
    raw, _ = await backup(golden())
    first, *between, last = [json.loads(line) for line in raw.splitlines()]
    for event in (first, *between, last):
        assert event["specversion"] == "1.0"
        assert event["source"] == "emgas.events"
        assert all(name.islower() and name.isalnum() for name in event if name != "data_base64")
    assert len({event["id"] for event in (first, *between, last)}) == len(between) + 2
    assert first["data"]["bounds"] == [[0, len(golden_log().records)], [0, 3]]
    turn = between[2]
    assert (turn["id"], turn["subject"], turn["type"]) == ("emgas/0/2", "ada", "io.emgas.turn-recorded.v2")
    assert (turn["emgaspartition"], turn["emgasoffset"]) == (0, 2)
    assert turn["time"] == "2023-11-14T22:13:20.125Z"
    assert turn["data"]["kind"] == "TurnRecorded"
    assert last["data"]["count"] == len(between)


@pytest.mark.parametrize("value", ODD)
async def test_values_that_are_not_quite_json_come_back_as_they_were(value: bytes) -> None:
    log = log_of([Record(0, 5, b"ada", value)])
    raw, _ = await backup(log)
    assert len(raw.splitlines()) == 3
    assert read(raw) == all_of(log)


@given(
    key=st.none() | st.binary(max_size=20) | st.text(max_size=5).map(str.encode),
    value=st.binary(max_size=50),
    timestamp=st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-1, 2**41),
    headers=st.lists(st.tuples(st.text(max_size=5), st.binary(max_size=5)), max_size=3).map(tuple),
)
async def test_any_record_comes_back(key: bytes | None, value: bytes, timestamp: int, headers: Any) -> None:
    log = log_of([Record(0, timestamp, key, value, headers)])
    assert read((await backup(log))[0]) == all_of(log)


async def test_an_export_that_was_cut_off_anywhere_is_completed() -> None:
    log = golden()
    whole, _ = await backup(log)
    for cut in (0, 1, 26, 27, 100, *range(200, len(whole), 97), len(whole) - 1):
        raw, written = await backup(log, into=whole[:cut])
        assert read(raw) == all_of(log), cut
        if cut > whole.index(b"\n"):
            assert raw == whole, cut
            lines = whole[:cut].count(b"\n") - 1
            assert written.found in (lines, lines - 1), "the lines that were there are not written again"


async def test_an_export_that_is_complete_is_left_alone_though_the_log_has_grown() -> None:
    log = golden()
    whole, _ = await backup(log)
    grown = log_of(keyed(golden_log().records), keyed(golden_log().records))
    assert await backup(grown, into=whole) == (whole, BackupSummary(len(all_of(log)), len(all_of(log)), True))


async def test_an_export_does_not_touch_a_file_that_holds_something_else() -> None:
    log = golden()
    whole, _ = await backup(log)
    other_graph, _ = await backup(log, "ada")
    for raw in (b"Dear diary", b"Dear diary\n", b'{"specversion"\n', other_graph):
        file = io.BytesIO(raw)
        with pytest.raises(NoBackupError):
            await write(log, file, await header(log))
        assert file.getvalue() == raw
    shorter = log_of(keyed(golden_log().records[:4]), [])
    with pytest.raises(NoBackupError, match="the log is shorter"):
        await backup(shorter, into=whole)
    with pytest.raises(BackupDamagedError, match="the file goes on after its last line"):
        await backup(log, into=whole + b"x")


async def test_an_export_of_another_log_is_not_continued() -> None:
    whole, _ = await backup(golden())
    other = log_of(keyed(golden_log().records), [Record(n, 0, None, b"{}") for n in range(3)])
    with pytest.raises(BackupDamagedError, match="is not what the log holds"):
        await backup(other, into=whole)


async def test_any_flipped_byte_is_noticed_and_its_line_named() -> None:
    raw, _ = await backup(log_of(keyed(golden_log().records[:4])))
    ends = [place for place, byte in enumerate(raw) if byte == ord("\n")]
    for place in range(0, len(raw), 7):
        flipped = raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]
        line = 1 + sum(end < place for end in ends)
        with pytest.raises((BackupDamagedError, NoBackupError)) as raised:
            read(flipped)
        assert f"line {line} " in str(raised.value) or "no backup" in str(raised.value), place


async def test_lines_that_are_missing_or_changed_places_are_noticed() -> None:
    raw, _ = await backup(golden())
    lines = raw.splitlines(keepends=True)
    with pytest.raises(BackupDamagedError, match="line 3 is not as it was written"):
        read(b"".join([*lines[:2], *lines[3:]]))
    with pytest.raises(BackupDamagedError, match="line 3 "):
        read(b"".join([*lines[:2], lines[3], lines[2], *lines[4:]]))
    with pytest.raises(BackupDamagedError, match="the file ends before the last line"):
        read(b"".join(lines[:-1]))
    with pytest.raises(BackupDamagedError, match="is cut off"):
        read(raw[:-5])


async def test_a_backup_of_one_graph_holds_its_events_and_says_so() -> None:
    graph = "ada"
    number = partition_of(graph, 2)
    partitions: list[list[Record]] = [[], []]
    partitions[number] = keyed(golden_log().records)
    raw, written = await backup(ListReader(partitions), graph)
    assert header_of(raw.splitlines(keepends=True)[0]).graph == graph
    assert [stored.record for stored in read(raw)] == [record for record in partitions[number] if record.key == b"ada"]
    assert not written.whole


async def test_a_log_with_gaps_is_exported_and_known_to_be_no_whole_log() -> None:
    late = [Record(offset, 0, None, b"{}") for offset in (3, 4, 9)]
    raw, written = await backup(log_of(late))
    assert not written.whole
    assert read(raw) == [Stored(0, record) for record in late]


@settings(max_examples=300)
@given(st.binary(max_size=300), st.booleans())
def test_bytes_that_are_no_backup_raise_nothing_else(raw: bytes, begun: bool) -> None:
    raw = b'{"specversion":"1.0","id":"' * begun + raw
    with pytest.raises((NoBackupError, BackupDamagedError)):
        read(raw)
    assert not is_backup(raw[:10])


HOSTILE: list[dict[str, Any]] = [
    {"emgaspartition": 5},
    {"emgaspartition": -1},
    {"emgaspartition": True},
    {"emgasoffset": 10**30},
    {"emgasoffset": "1"},
    {"time": "yesterday"},
    {"subject": 5},
    {"emgaskey": "%%%"},
    {"emgasheaders": "{"},
    {"emgasheaders": '[["a"]]'},
    {"data": None, "data_base64": 5},
    {"type": 7},
]


@pytest.mark.parametrize("change", HOSTILE, ids=str)
async def test_a_forged_line_with_a_right_check_is_still_a_line_in_words(change: dict[str, Any]) -> None:
    """Whoever forges a backup can compute the checks."""
    raw, _ = await backup(log_of(keyed(golden_log().records[:3])))
    running, forged = hashlib.sha256(), b""
    for number, line in enumerate(raw.splitlines(), start=1):
        event = json.loads(line)
        del event["emgascheck"]
        event |= change if number == 3 else {}
        if event.get("data_base64") == 5:
            del event["data"]
        opened = json.dumps(event, separators=(",", ":")).encode()[:-1]
        forged += opened + seal(running, opened)
    with pytest.raises(BackupDamagedError, match="line 3 is no line of a backup"):
        read(forged)


@pytest.mark.parametrize(
    "bounds", [[], [[0, 1]] * 10_001, [[0]], [[-1, 1]], [["0", 1]], {"0": 1}, None], ids=lambda _: ""
)
async def test_a_forged_header_is_told_before_anything_is_made_of_it(bounds: Any) -> None:
    raw, _ = await backup(golden())
    event = json.loads(raw.splitlines()[0])
    del event["emgascheck"]
    event["data"]["bounds"] = bounds
    opened = json.dumps(event, separators=(",", ":")).encode()[:-1]
    with pytest.raises(BackupDamagedError, match="line 1 is no line of a backup"):
        header_of(opened + seal(hashlib.sha256(), opened))
