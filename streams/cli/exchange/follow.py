"""`emgas import --follow`: publish the sessions of coding agents while they are written.

Each file is read from its beginning, then line by line as it grows.  A turn that a hook stored has the
same id, so a follower beside the hooks, or a second one, adds nothing.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from emgas.errors import InvalidMessageError
from streams.cli.shared import output
from streams.cli.shared.client import session

if TYPE_CHECKING:
    from emgas import Turn
    from emgas.importers.chat_format import Transcript
    from emgas.importers.registry import Item, Options

POLL_SECONDS = 0.5
SECONDS = 30.0  # timeout of an outcome


def follow_sessions(path: Path, graph: str | None, format: str | None, *, options: Options, preset: str | None) -> None:
    """Follow a file, or all JSONL files below a folder, until the command is stopped."""
    if preset is not None:
        output.fail("--preset: leave it out with --follow; configure a graph with `emgas configure`", output.USAGE)
    if not path.exists():
        output.fail(f"there is no file or folder {path}", output.USAGE)
    with output.explained(), suppress(KeyboardInterrupt):
        output.run(_follow(FollowedSessions(path, graph, format, options)))


async def _follow(followed: FollowedSessions) -> None:
    from emgas.messages.requests import Outcome  # here: --help needs none of it

    async with session(output.settings(), timeout=SECONDS) as connected:
        output.tell(f"following {followed.path}: Ctrl-C stops")
        async for turn, result in connected.memory.publish_many(followed.turns(), window=1):
            if isinstance(result, Outcome) and result.status == "accepted":
                output.out.print(f"{turn.graph}  {turn.speaker}: {turn.text.splitlines()[0]}", markup=False)


class FollowedSessions:
    """The files that are followed, each with what was read of it."""

    def __init__(self, path: Path, graph: str | None, format: str | None, options: Options) -> None:
        self.path = path
        self._graph, self._format, self._options = graph, format, options
        self._tails: dict[Path, Tail | None] = {}

    async def turns(self) -> AsyncIterator[Turn]:
        """Yield turns as they are written, without end."""
        from emgas.importers.registry import BadLine  # here: --help needs none of it

        while True:
            for item in self._new():
                if isinstance(item, BadLine):
                    output.tell(f"left out: {item.description}")
                else:
                    yield item
            await asyncio.sleep(POLL_SECONDS)

    def _new(self) -> Iterator[Item]:
        for path in [self.path] if self.path.is_file() else sorted(self.path.rglob("*.jsonl")):
            tail = self._tails[path] = self._tails.get(path) or self._opened(path)
            if tail is not None:
                yield from tail.read()

    def _opened(self, path: Path) -> Tail | None:
        """Return the tail of a file; None for one of another format.  An empty file is looked at again."""
        from emgas.importers.registry import FORMATS, detect  # here: --help needs none of it

        if self._format is not None and self._format not in FORMATS:
            raise InvalidMessageError(f"format: there is no {self._format!r}")
        with path.open("rb") as stream:
            head = stream.read(65536)
        try:
            format = FORMATS[self._format] if self._format else detect(head, path.name)
        except InvalidMessageError:
            return None
        if format.open_session is None:
            raise InvalidMessageError(f"{path}: is in the format {format.name}, which is not followed: import it")
        return Tail(path, format.open_session(self._graph, self._options))


class Tail:
    """A file that grows: what is read of it, up to its last whole line."""

    def __init__(self, path: Path, transcript: Transcript) -> None:
        self._path, self._transcript = path, transcript
        self._offset = self._number = 0

    def read(self) -> list[Item]:
        """Return what new lines complete; if there are none, what is complete already."""
        with self._path.open("rb") as stream:
            if os.fstat(stream.fileno()).st_size == self._offset:
                return self._transcript.pause()
            stream.seek(self._offset)
            whole = stream.read().rpartition(b"\n")
        self._offset += len(whole[0]) + len(whole[1])
        return [item for raw in (whole[0] + whole[1]).splitlines() if raw.strip() for item in self._feed(raw)]

    def _feed(self, raw: bytes) -> list[Item]:
        self._number += 1
        return self._transcript.feed(self._number, raw)
