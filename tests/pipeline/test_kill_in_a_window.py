"""A worker on the embedded log is killed again and again in the middle of windows: what it holds is what it would hold.

The worker lives in the process of `emgas publish`; its death is a real one, and the file is published again from its
beginning each time.  On Kafka: tests/kafka/test_workers.py.
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from state.events.events import AnyEvent, decode
from streams.settings import WorkerSettings
from streams.transport.embedded.reader import ReadOnlyLog
from tests.support.cli import COMMAND, PATIENCE, emgas, emgas_here, environment
from tests.support.logs import fold
from tests.support.pipeline import a_turn
from tests.support.weeks import KINDS, kinds, talk

GRAPHS = ("ada", "bob")
TALK = talk(GRAPHS)
PARTITIONS = {"partitions": "2"}
DEATHS = 3
EVENTS = "emgas.events"


@pytest.fixture(scope="module")
def conversation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of what is said."""
    file = tmp_path_factory.mktemp("said") / "talk.jsonl"
    file.write_text("".join(turn.model_dump_json(exclude_defaults=True) + "\n" for turn in TALK))
    return file


def born(data: Path) -> Path:
    """Return `data`, a memory in which the graphs have begun to live forgetfully."""
    for graph in GRAPHS:
        emgas_here(data, "configure", graph, "--preset", "forgetful", "--least-turns", "2", **PARTITIONS)
    return data


@contextmanager
def the_log(data: Path) -> Iterator[ReadOnlyLog]:
    log = ReadOnlyLog(WorkerSettings(data=data).home)
    yield log
    log.close()


def events(data: Path) -> list[list[tuple[int, bytes]]]:
    """Return (offset, value) of what the log holds, by partition."""
    with the_log(data) as log:
        ends = [log.bounds(EVENTS, partition)[1] for partition in range(2)]
        records = (log.read(EVENTS, number, 0, limit=end) for number, end in enumerate(ends))
        return [[(record.offset, record.value or b"") for record in each] for each in records]


def decoded(data: Path) -> list[AnyEvent]:
    return [decode(value) for partition in events(data) for _, value in partition]


def kill_while_it_publishes(data: Path, file: Path, events: int) -> None:
    """Publish `file`, and kill -9 the worker once the log has grown by so many events."""
    settings = environment(data, batch_turns="7", **PARTITIONS)
    publishing = subprocess.Popen([*COMMAND, "publish", str(file)], env=settings, stderr=subprocess.DEVNULL)
    with the_log(data) as log:
        before = sum(log.bounds(EVENTS, partition)[1] for partition in range(2))
        while publishing.poll() is None and sum(log.bounds(EVENTS, n)[1] for n in range(2)) < before + events:
            time.sleep(0.001)  # it looks as often as it can without taking the processor away
    publishing.kill()
    assert publishing.wait(PATIENCE) == -signal.SIGKILL, "it was done before it could be killed"


def digests(data: Path) -> dict[str, str]:
    """Return the digest of every graph, folded anew."""
    return {name: digest for each in events(data) for name, digest in fold(each).digests().items()}


def one_more(graph: str) -> bytes:
    return json.dumps(a_turn(graph, "one more", "The lantern hangs in the orchard.", at=TALK[-1].at)).encode()


@pytest.mark.slow
def test_a_worker_that_is_killed_inside_windows_closes_those_that_one_which_lived_closes(
    conversation: Path, tmp_path: Path
) -> None:
    lived, died = born(tmp_path / "lived"), born(tmp_path / "died")
    emgas(lived, "publish", str(conversation), **PARTITIONS)
    for _ in range(DEATHS):
        kill_while_it_publishes(died, conversation, events=len(TALK) // (DEATHS + 1))
    emgas(died, "publish", str(conversation), **PARTITIONS)
    closed = kinds(decoded(died))
    assert all(closed[graph].count(kind) >= 10 for graph in GRAPHS for kind in KINDS), closed
    assert closed == kinds(decoded(lived))
    assert digests(died) == digests(lived)
    for data in (lived, died):
        verified = emgas(data, "replay", "verify", "--json").json
        assert verified["match"] is True
        assert all(each["each_once"] for each in verified["partitions"])
        for graph in GRAPHS:  # each lives in a partition of its own
            emgas(data, "publish", "-", stdin=one_more(graph), **PARTITIONS)
            passages = emgas(data, "query", graph, "the lantern", "--json", **PARTITIONS).json["passages"]
            assert "one more" in {passage["id"] for passage in passages}
