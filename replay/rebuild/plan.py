"""The plan of a rebuild, stored beside its results, so that a killed rebuild continues the same one.

    DIR/plan.json    {"format", "prefix", "ends", "graph", "at"}     written first, at once
    DIR/0, DIR/1, …  one store per partition (state/store/store.py); each knows how far it is

The log may grow while it is folded again: the ends are those of when the rebuild began.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

import orjson

from replay.errors import NotThisRebuildError
from replay.log import LogReader

FILE: Final = "plan.json"
FORMAT: Final = 1
_PART: Final = FILE + ".part"


@dataclass(frozen=True)
class Plan:
    """The partitions and offsets to fold.

    ends   offset before which each partition is folded       at      only what was said by then (ms), None: everything
    graph  the only graph that is wanted, None: all           prefix  of the topics
    """

    prefix: str
    ends: tuple[int, ...]
    graph: str | None = None
    at: int | None = None

    def agreed(self, directory: Path) -> Plan:
        """Agree on the plan to follow in `directory`: the one begun there, or this one, which is then kept there.

        Raises NotThisRebuildError for a directory of another rebuild, of something else, or that cannot be made.
        """
        if directory.exists() and not directory.is_dir():
            raise NotThisRebuildError(f"{directory} is not a directory")
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NotThisRebuildError(
                f"{directory} cannot be made ({error.strerror}): give another directory"
            ) from None
        if (directory / FILE).exists():
            return self._gone_on(directory)
        if any(path.name != _PART for path in directory.iterdir()):
            raise NotThisRebuildError(
                f"{directory} is not empty: give a new directory, so that no other store is mixed in"
            )
        (directory / _PART).write_bytes(orjson.dumps({"format": FORMAT, **asdict(self)}))
        (directory / _PART).replace(directory / FILE)
        return self

    def _gone_on(self, directory: Path) -> Plan:
        begun = _read(directory)
        same = replace(begun, ends=self.ends) == self and len(begun.ends) == len(self.ends)
        if not same or any(map(int.__gt__, begun.ends, self.ends)):
            raise NotThisRebuildError(f"{directory} holds another rebuild ({begun}): give a new directory")
        return replace(self, ends=begun.ends)


def _read(directory: Path) -> Plan:
    try:
        fields = orjson.loads((directory / FILE).read_bytes())
        if fields.pop("format") != FORMAT:
            raise ValueError("another format")
        return Plan(**{**fields, "ends": tuple(fields["ends"])})
    except (ValueError, TypeError, KeyError) as error:
        raise NotThisRebuildError(
            f"{directory / FILE} is no plan of this version ({error}): give a new directory"
        ) from None


async def planned(
    log: LogReader, prefix: str, partitions: int, graph: str | None, *, at: int | None, offset: int | None
) -> Plan:
    """Plan to fold what `log` holds now; `offset`: only what lies before it, in each partition."""
    ends = [(await log.bounds(partition))[1] for partition in range(partitions)]
    return Plan(prefix, tuple(ends if offset is None else (min(end, offset) for end in ends)), graph, at)
