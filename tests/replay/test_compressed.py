"""Compressed files: what was written is read back, damage is named, and a file that was cut off is continued."""

from __future__ import annotations

import io
from collections.abc import Iterator

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.backup import compressed
from replay.backup.backup import records, write
from replay.backup.compressed import decompressed, frames, is_compressed, packed, resumable
from replay.errors import BackupDamagedError, NoBackupError
from tests.replay.test_backup import all_of, backup, golden, header

SMALL = 512  # bytes of a frame in these tests


@pytest.fixture(autouse=True)
def small_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "FRAME_BYTES", SMALL)
    monkeypatch.setattr(compressed, "_MOST_PACKED", 2 * SMALL)


def text(size: int) -> bytes:
    """Return lines of that many bytes in all, each another."""
    return b"".join(b"line %d\n" % number for number in range(size))[:size]


def file_of(data: bytes) -> bytes:
    return b"".join(frames(io.BytesIO(data)))


def parts(raw: bytes) -> Iterator[bytes]:
    """Yield what can be read of a file, frame by frame, until it raises."""
    stream = decompressed(io.BytesIO(raw))
    while data := stream.read(SMALL):
        yield data


def read_until_damage(raw: bytes) -> tuple[bytes, str]:
    """Read a file as far as possible; return what was read, and the error."""
    read = b""
    with pytest.raises(BackupDamagedError) as raised:  # noqa: PT012 - what came before it is looked at
        for data in parts(raw):
            read += data
    return read, str(raised.value)


async def compressed_backup(into: bytes = b"") -> bytes:
    """Write the golden log into a compressed file that holds `into`."""
    log, file = golden(), io.BytesIO(into)
    with resumable(file, compress=True) as opened:
        await write(log, opened, await header(log))
    return file.getvalue()


@pytest.mark.parametrize("size", [1, SMALL - 1, SMALL, SMALL + 1, 3 * SMALL, 5 * SMALL + 77])
def test_what_was_compressed_is_read_back_and_can_be_read_again(size: int) -> None:
    raw = file_of(text(size))
    stream = decompressed(io.BytesIO(raw))
    assert is_compressed(raw)
    assert stream.read() == text(size)
    stream.seek(0)
    assert stream.readlines() == text(size).splitlines(keepends=True)


@given(st.binary(max_size=2000))
def test_any_bytes_come_back(data: bytes) -> None:
    assert decompressed(io.BytesIO(file_of(data))).read() == data


def test_other_programs_can_decompress_such_a_file() -> None:
    assert bytes(cramjam.zstd.decompress(file_of(text(3 * SMALL)))) == text(3 * SMALL)


def test_a_file_that_is_not_compressed_is_read_as_it_is() -> None:
    assert decompressed(io.BytesIO(b"plain\n")).read() == b"plain\n"
    assert decompressed(io.BytesIO(b"")).read() == b""


def test_a_file_that_is_cut_off_anywhere_names_its_frame_and_gives_all_frames_before() -> None:
    whole = [packed(text(SMALL)), packed(text(SMALL)), packed(text(100))]
    raw, ends = b"".join(whole), [len(whole[0]), len(whole[0] + whole[1])]
    for cut in range(len(compressed.MARK), len(raw)):
        number = sum(end <= cut for end in ends)
        if cut in ends:
            assert b"".join(parts(raw[:cut])) == text(SMALL) * number
            continue
        read, why = read_until_damage(raw[:cut])
        assert read == text(SMALL) * number
        assert why.startswith(f"frame {number + 1} of the compressed file, at byte {[0, *ends][number]}, is cut off")


def test_a_byte_that_is_changed_names_its_frame_and_gives_all_frames_before() -> None:
    first, second = packed(text(SMALL)), packed(text(100))
    for at in range(len(first), len(first + second)):
        raw = bytearray(first + second)
        raw[at] ^= 1
        read, why = read_until_damage(bytes(raw))
        assert read == text(SMALL)
        assert why.startswith(f"frame 2 of the compressed file, at byte {len(first)}, ")


def test_a_frame_that_unpacks_to_more_than_a_frame_holds_is_refused() -> None:
    _, why = read_until_damage(packed(b"\x00" * 10_000_000))
    assert "does not unpack" in why


async def test_a_compressed_export_holds_the_lines_of_a_plain_one() -> None:
    plain, _ = await backup(golden())
    raw = await compressed_backup()
    assert decompressed(io.BytesIO(raw)).read() == plain
    assert len(plain) > 10 * SMALL
    assert list(records(decompressed(io.BytesIO(raw)))) == all_of(golden())


async def test_a_compressed_export_that_was_killed_anywhere_is_completed() -> None:
    whole = await compressed_backup()
    for cut in (*range(len(compressed.MARK) + 40), *range(50, len(whole), 61), len(whole) - 1, len(whole)):
        assert await compressed_backup(into=whole[:cut]) == whole, cut


async def test_an_export_goes_on_as_it_was_begun_whatever_its_file_is_called() -> None:
    plain, _ = await backup(golden())
    whole = await compressed_backup()
    assert await compressed_backup(into=plain[:700]) == plain
    file, log = io.BytesIO(whole[:700]), golden()
    with resumable(file, compress=False) as opened:
        await write(log, opened, await header(log))
    assert file.getvalue() == whole


@pytest.mark.parametrize("other", [b"Dear diary", b"(\xb5/\xfd and more", file_of(b"Dear diary\n")])
async def test_a_compressed_export_does_not_touch_a_file_that_holds_something_else(other: bytes) -> None:
    log, file = golden(), io.BytesIO(other)
    with pytest.raises(NoBackupError, match="something else"), resumable(file, compress=True) as opened:
        await write(log, opened, await header(log))
    assert file.getvalue() == other


async def test_an_export_is_not_continued_behind_damage() -> None:
    raw = bytearray(await compressed_backup())
    raw[len(raw) // 2] ^= 1
    with pytest.raises(BackupDamagedError, match="of the compressed file, at byte"):
        await compressed_backup(into=bytes(raw))
