"""Erasing from a memory that is not encrypted: an encrypted copy without the subject takes its place.

    DATA/erasing/          the copy while it is made; then the old memory, until it is deleted
    DATA/embedded/PREFIX   the memory, and DATA/keys/embedded/PREFIX its keys: replaced once the copy is whole

No worker may run meanwhile: the directory is locked.  If the command is interrupted before the exchange, the memory is
unchanged; run it again.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emgas.errors import EmgasError
from emgas.wire import partition_of
from streams.cli.shared import output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from state.events.events import GraphEvent
    from streams.settings import WorkerSettings

BESIDE = "erasing"


async def is_in_clear(settings: WorkerSettings, graph: str) -> bool | None:
    """Return whether the log holds events of a graph that are not encrypted; None if it holds none of the graph."""
    from replay.accepted_events import read_records  # here: --help needs none of it
    from state.events.events import Sealed, SubjectErased, decode
    from streams.transport.select import readable

    async with readable(settings) as topics:
        log = topics.reader(settings.topics.events)
        partition = partition_of(graph, topics.partitions)
        _, end = await log.bounds(partition)
        is_there = False
        async for record in read_records(log, partition, 0, end):
            if record.key == graph.encode():
                is_there = True
                if not isinstance(decode(record.value), Sealed | SubjectErased):
                    return True
    return False if is_there else None


def erase_by_copy(settings: WorkerSettings, graph: str, subject: Mapping[str, Any]) -> dict[str, Any]:
    """Replace an embedded memory by an encrypted copy without the subject.  Raises EmgasError, with nothing changed."""
    with _locked(settings.home):
        beside = settings.data.expanduser() / BESIDE
        shutil.rmtree(beside, ignore_errors=True)  # of an attempt that was interrupted
        copy = _copy_settings(settings, beside)
        counts = output.run(_copied(settings, copy, graph, subject))
        _exchange(settings, copy, beside)
    shutil.rmtree(beside)
    return {"graph": graph, "subject": {name: value for name, value in subject.items() if value}, "copied": counts}


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    from streams.transport.embedded.lock import DirectoryLock  # here: --help needs none of it

    with output.explained():
        lock = DirectoryLock(home)
    try:
        yield
    finally:
        lock.release()


def _copy_settings(settings: WorkerSettings, beside: Path) -> WorkerSettings:
    changed = {"data": beside, "graph_keys": None, "encryption": True}
    return settings.model_copy(update=changed)


async def _copied(
    settings: WorkerSettings, copy: WorkerSettings, graph: str, subject: Mapping[str, Any]
) -> dict[str, int]:
    """Copy everything but the subject; return how many turns and requests.  Raises EmgasError if anything is lost."""
    from streams.cli.replay.branch import send_branch  # here: --help needs none of it

    without = frozenset({graph} if subject["whole"] else ())
    left_out: list[str] = []
    counts, unavailable = await send_branch(settings, copy, None, without, _keeps(graph, subject, left_out))
    if not (without or left_out):
        raise EmgasError(f"graph {graph} has no such turn: nothing was changed")
    if unavailable or counts["rejected"]:
        lost = ", ".join(unavailable) or f"{counts['rejected']} turns"
        raise EmgasError(f"the copy would lack {lost}: nothing was changed. See `emgas doctor`, then erase again")
    return {"turns": counts["turns"], "requests": counts["requests"]}


def _keeps(graph: str, subject: Mapping[str, Any], left_out: list[str]) -> Callable[[GraphEvent], bool]:
    """Return the function that checks whether an event is copied: turns of the subject are noted and left out."""
    from state.events.events import TurnRecorded  # here: --help needs none of it

    def keeps(event: GraphEvent) -> bool:
        if event.graph != graph or not isinstance(event, TurnRecorded):
            return True
        if event.id != subject["turn"] and event.speaker != subject["speaker"]:
            return True
        left_out.append(event.id)
        return False

    return keeps


def _exchange(settings: WorkerSettings, copy: WorkerSettings, beside: Path) -> None:
    """Put the copy in the place of the memory, and the memory beside it."""
    (copy.home / "branch.json").unlink(missing_ok=True)  # it is a memory of its own now
    places = [(settings.home, copy.home), (settings.keys_directory, copy.keys_directory)]
    for number, (old, new) in enumerate(places):
        if old is None or new is None:
            continue
        if old.exists():
            old.rename(beside / f"old-{number}")
        if new.exists():
            old.parent.mkdir(parents=True, exist_ok=True)
            new.rename(old)
