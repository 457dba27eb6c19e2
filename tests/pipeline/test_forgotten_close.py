"""Clients that nobody closes, as a hurried program leaves them: it ends, and what was said is there.

Real processes: what happens when an interpreter ends can be seen in no other way.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from emgas import Memory, MemoryClient
from emgas.errors import InvalidMessageError, TransportError, WrongEventLoopError
from emgas.messages.turns import Undo
from streams.settings import WorkerSettings
from streams.transport.embedded.lock import DirectoryLock
from streams.worker.embedded_connection import EmbeddedConnection
from tests.support.cli import PATIENCE, ROOT, emgas, environment

ASYNC = """
import asyncio
from emgas import MemoryClient

async def main():
    memory = await MemoryClient().open()
    for number in range(20):
        await memory.record({"id": f"t{number}", "graph": "ada", "speaker": "Ada", "text": f"Kettle {number} broke."})
    HOW

asyncio.run(main())
"""
BLOCKING = """
from emgas import Memory

memory = Memory(graph="ada").open()
for number in range(20):
    memory.add(f"Kettle {number} broke.", id=f"t{number}", speaker="Ada")
HOW
"""
HOW = {"at the end": "pass", "with an error": "raise SystemExit(7)", "with a bug": "1 / 0"}
CODES = {"at the end": 0, "with an error": 7, "with a bug": 1}


def program(source: str, data: Path) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; one that hangs fails."""
    run = [sys.executable, "-c", source]
    return subprocess.run(
        run, env=environment(data, partitions="2"), cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("source", [ASYNC, BLOCKING], ids=["async", "blocking"])
def test_a_program_that_forgets_to_close_ends_and_has_lost_nothing(source: str, how: str, tmp_path: Path) -> None:
    done = program(source.replace("HOW", HOW[how]), tmp_path)
    assert done.returncode == CODES[how], done.stderr
    assert "Task was destroyed" not in done.stderr
    result = emgas(tmp_path, "query", "ada", "which kettle broke?", "--json", "--top", "50")
    assert {passage["id"] for passage in result.json["passages"]} == {f"t{number}" for number in range(20)}


async def test_a_client_opens_and_closes_without_a_block(tmp_path: Path) -> None:
    memory = await MemoryClient(f"embedded:{tmp_path}").open()
    with pytest.raises(TransportError, match="open already"):
        await memory.open()
    await memory.record({"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The kettle broke."})
    await memory.close()
    await memory.close()
    with pytest.raises(TransportError, match="not open"):
        await memory.query("ada", "what broke?")
    async with memory:
        assert (await memory.query("ada", "what broke?")).found


async def test_a_worker_that_is_closed_as_soon_as_it_is_open_lets_go_of_its_directory(tmp_path: Path) -> None:
    settings = WorkerSettings(broker=None, data=tmp_path)
    connection = EmbeddedConnection(settings)
    await connection.open()
    await connection.close()
    DirectoryLock(settings.home).release()


async def test_a_process_keeps_nothing_of_the_workers_that_it_has_closed(tmp_path: Path) -> None:
    workers = []
    for _ in range(3):
        connection = EmbeddedConnection(WorkerSettings(broker=None, data=tmp_path))
        await connection.open()
        workers.append(weakref.ref(connection.app))
        await connection.close()
    gc.collect()
    alive = [worker() is not None for worker in workers]
    assert alive == [False, False, True], "the last one is still held here, by its connection"


async def test_a_client_used_from_another_loop_says_so_at_once(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory:

        def elsewhere() -> None:
            with pytest.raises(WrongEventLoopError, match=r"opened in another event loop.*emgas.Memory"):
                asyncio.run(memory.query("ada", "what broke?"))

        await asyncio.to_thread(elsewhere)
        assert not (await memory.query("ada", "what broke?")).found


def test_a_client_that_outlived_its_loop_says_so_at_once(tmp_path: Path) -> None:
    memory = MemoryClient(f"embedded:{tmp_path}")
    asyncio.run(_open(memory))
    with pytest.raises(WrongEventLoopError):
        asyncio.run(_ask(memory))


async def _open(memory: MemoryClient) -> None:
    await memory.open()


async def _ask(memory: MemoryClient) -> None:
    await memory.query("ada", "what broke?")


# the blocking client


def test_threads_share_a_blocking_memory(tmp_path: Path) -> None:
    with Memory(f"embedded:{tmp_path}", graph="ada", timeout=PATIENCE) as memory, ThreadPoolExecutor(8) as threads:
        words = "kettle harbour violin dentist passport meadow lantern yeast"
        texts = [f"The {word} broke." for word in words.split()]
        outcomes = list(threads.map(memory.add, texts))
        assert [outcome.status for outcome in outcomes] == ["accepted"] * len(texts)
        assert memory.describe().turns == len(texts)
        replies = list(threads.map(lambda text: memory.search(text, top_passages=1).passages[0].text, texts))
        assert replies == texts


def test_a_blocking_memory_does_what_the_other_client_does(tmp_path: Path) -> None:
    with Memory(f"embedded:{tmp_path}", graph="ada", timeout=PATIENCE) as memory:
        assert memory.add("The kettle broke.", id="t1", at="2023-05-08T14:00", session="s1").status == "accepted"
        assert memory.add("The kettle broke.", id="t1", at="2023-05-08T14:00", session="s1").status == "duplicate"
        memory.add("Tea is served.", graph="ben")
        assert memory.search("what broke?").passages[0].at == 1_683_554_400_000
        assert memory.configure("forgetful").status == "accepted"
        assert memory.describe().preset == "forgetful"
        assert memory.forget(sessions=["s1"]).status == "accepted"
        assert memory.search("what broke?").passages == []
        assert memory.send(Undo(graph="ada", first=1)).status == "accepted"
        assert memory.describe("ben").turns == 1


def test_a_blocking_memory_says_what_is_wrong(tmp_path: Path) -> None:
    memory = Memory(f"embedded:{tmp_path}")
    with pytest.raises(TransportError, match="not open"):
        memory.search("what broke?", graph="ada")
    with memory:
        with pytest.raises(TransportError, match="open already"):
            memory.open()
        with pytest.raises(InvalidMessageError, match="graph: is missing: name it"):
            memory.add("The kettle broke.")
    memory.close()


def test_a_blocking_memory_that_cannot_open_leaves_no_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    (tmp_path / "file").write_text("")
    with pytest.raises(TransportError):
        Memory(f"embedded:{tmp_path}/file/data").open()
    assert {thread for thread in threading.enumerate() if thread.name == "emgas-memory"} <= before
