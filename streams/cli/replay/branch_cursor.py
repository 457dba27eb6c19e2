"""The progress of a branch, stored beside its stores, so that nothing is sent twice.

    branch.json   {"source": "<broker or directory> <prefix>", "done": {"<partition>": <sequence number>},
                   "left_out": ["<graph>", …]}   whose keys were missing: the branch has nothing of them, and never will

Written after every request and every few turns, never before they are folded.  After a crash some are sent again, in
the same order: known turns change nothing, and neither does a request that comes twice in a row.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from emgas.errors import InvalidMessageError

SAVED_EVERY = 200  # events


class Cursor:
    """The file `path` of a branch of `source`.  Raises InvalidMessageError if it is a branch of another memory."""

    def __init__(self, path: Path, source: str) -> None:
        self._path = path
        self._source = source
        self.is_there = path.exists()  # else nothing was ever sent, or little
        kept: dict[str, Any] = orjson.loads(path.read_bytes()) if self.is_there else {"source": source, "done": {}}
        if kept["source"] != source:
            raise InvalidMessageError(
                f"{path.parent} is a branch of {kept['source']}, not of {source}: choose another place for this one"
            )
        self._done: dict[str, int] = kept["done"]
        self.left_out: set[str] = set(kept.get("left_out", ()))
        self._unsaved = 0

    def done(self, partition: int) -> int:
        """Return the sequence number of the last processed event, 0 if there is none."""
        return self._done.get(str(partition), 0)

    def move(self, partition: int, seq: int, *, at_once: bool) -> None:
        """Note that the events up to `seq` are dealt with.  at_once: write that before this returns."""
        self._done[str(partition)] = seq
        self._unsaved += 1
        if at_once or self._unsaved >= SAVED_EVERY:
            self.save()

    def save(self) -> None:
        """Write the file, whole or not at all."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        kept = {"source": self._source, "done": self._done, "left_out": sorted(self.left_out)}
        new.write_bytes(orjson.dumps(kept))
        new.replace(self._path)
        self._unsaved = 0
