"""Compressed files: frames of zstd, each with its length and checksum before it.

    file    frame frame …      frame   a skippable frame of zstd: MARK, packed bytes, crc32 of them (little-endian)
                                       a frame of zstd: up to FRAME_BYTES of what was written

`zstd -d` unpacks such a file, because it skips skippable frames.  A frame that is cut off or damaged is named.  All
frames before it can be read, and an export that was cut off goes on behind its last whole frame.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Final, Protocol

import cramjam

from replay.errors import BackupDamagedError

FRAME_BYTES: Final = 1 << 20
LEVEL: Final = 3
MARK: Final = b"\x5e\x2a\x4d\x18\x0c\x00\x00\x00emgz"  # a skippable frame of 12 bytes, and whose it is
_SIZES: Final = struct.Struct("<II")
_HEAD_BYTES: Final = len(MARK) + _SIZES.size
_MOST_PACKED: Final = FRAME_BYTES + FRAME_BYTES // 128  # what no zstd compresses is stored, and little is added


class Resumable(Protocol):
    """A file that is read from its beginning, and written from where it ends."""

    def readline(self, limit: int, /) -> bytes:
        """Read a line, up to `limit` bytes of it."""

    def read(self, size: int, /) -> bytes:
        """Read up to `size` bytes, none at the end."""

    def seek(self, offset: int, /) -> int:
        """Go to the beginning: `offset` is 0."""

    def truncate(self) -> int:
        """Remove everything; the file stands at its beginning."""

    def write(self, data: bytes, /) -> object:
        """Append; the file must have been read to its end, or emptied."""

    def flush(self) -> None:
        """Write full frames to the file."""


def is_compressed(first: bytes) -> bool:
    """Return whether a file that begins with `first` is one of these."""
    return first.startswith(MARK)


def packed(data: bytes) -> bytes:
    """Compress at most FRAME_BYTES into a frame."""
    frame = bytes(cramjam.zstd.compress(data, LEVEL))
    return MARK + _SIZES.pack(len(frame), zlib.crc32(frame)) + frame


def frames(stream: IO[bytes]) -> Iterator[bytes]:
    """Compress everything in a stream."""
    while data := stream.read(FRAME_BYTES):
        yield packed(data)


def decompressed(stream: IO[bytes]) -> IO[bytes]:
    """Return a stream of what is in `stream`, compressed or not, from its beginning; it can be rewound.

    Reading raises BackupDamagedError where a frame is damaged or cut off.
    """
    is_ours = is_compressed(stream.read(len(MARK)))
    stream.seek(0)
    return io.BufferedReader(_Frames(stream), FRAME_BYTES) if is_ours else stream


@contextmanager
def resumable(file: IO[bytes], *, compress: bool) -> Iterator[Resumable]:
    """Open a file that is written, or was begun: what is in it decides how it goes on, else `compress`.

    If the block fails, what was written is as after a kill: to be continued.
    """
    first = file.read(len(MARK))
    file.seek(0)
    if not is_compressed(first) and not (compress and MARK.startswith(first)):
        yield file
        return
    opened = _CompressedFile(file)
    yield opened
    opened.finish()


class _Frames(io.RawIOBase):
    """The decompressed bytes of a stream.  `end`: where in the stream the last frame that was read ends."""

    def __init__(self, stream: IO[bytes], *, is_begun: bool = False) -> None:
        self._stream = stream
        self._is_begun = is_begun  # what is cut off at its end is written again
        self._rewind()

    def _rewind(self) -> None:
        self._stream.seek(0)
        self._rest = memoryview(b"")
        self._number = self._at = self.end = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to the beginning, or say where we are; there is no other place to go to."""
        if offset or whence == io.SEEK_END:
            raise io.UnsupportedOperation("a compressed file can only be rewound")
        if whence == io.SEEK_SET:
            self._rewind()
        return self._at

    def readinto(self, into: object, /) -> int:
        room = memoryview(into).cast("B")  # type: ignore[arg-type]  # a buffer, which has no type in Python 3.11
        if not self._rest:
            self._rest = memoryview(self._next())
        count = min(len(room), len(self._rest))
        room[:count], self._rest = self._rest[:count], self._rest[count:]
        self._at += count
        return count

    def _next(self) -> bytes:
        """Read the next frame, nothing at the end of the stream.  Raises BackupDamagedError."""
        head = self._stream.read(_HEAD_BYTES)
        size, check = _SIZES.unpack(head[len(MARK) :]) if len(head) == _HEAD_BYTES else (0, 0)
        if head[: len(MARK)] != MARK[: len(head)] or size > _MOST_PACKED:
            raise self._damaged("is damaged: use another copy")
        frame = self._stream.read(size)
        if len(head) < _HEAD_BYTES or len(frame) < size:
            if self._is_begun or not head:
                return b""
            raise self._damaged("is cut off: run the export again to complete it, or use another copy")
        if zlib.crc32(frame) != check:
            raise self._damaged("is damaged: use another copy")
        self._number, self.end = self._number + 1, self.end + _HEAD_BYTES + size
        return self._unpacked(frame)

    def _unpacked(self, frame: bytes) -> bytes:
        room = bytearray(FRAME_BYTES)  # a few bytes may claim to be gigabytes
        try:
            return bytes(memoryview(room)[: cramjam.zstd.decompress_into(frame, room)])
        except (cramjam.DecompressionError, ValueError):
            raise self._damaged("does not unpack: use another copy") from None

    def _damaged(self, what: str) -> BackupDamagedError:
        return BackupDamagedError(f"frame {self._number + 1} of the compressed file, at byte {self.end}, {what}")


class _CompressedFile:
    """A file whose frames are read, and then written behind the last whole one, all full but the last."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._waiting = bytearray()
        self._writes = False
        self._open()

    def _open(self) -> None:
        self._frames = _Frames(self._file, is_begun=True)
        reader = io.BufferedReader(self._frames, FRAME_BYTES)
        self.readline, self.read = reader.readline, reader.read

    def seek(self, offset: int, /) -> int:
        self._open()
        return offset

    def truncate(self) -> int:
        self._open()
        return self._file.truncate(0)

    def write(self, data: bytes) -> None:
        if not self._writes:
            self._file.seek(self._frames.end)
            self._file.truncate()
            self._writes = True
        self._waiting += data
        while len(self._waiting) >= FRAME_BYTES:
            self._file.write(packed(bytes(self._waiting[:FRAME_BYTES])))
            del self._waiting[:FRAME_BYTES]

    def flush(self) -> None:
        self._file.flush()

    def finish(self) -> None:
        """Write what waits for a full frame."""
        if self._waiting:
            self._file.write(packed(bytes(self._waiting)))
            self._waiting.clear()
        self._file.flush()
