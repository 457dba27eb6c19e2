"""A server or a broker that is stopped (SIGSTOP): the kernel accepts connections, and nothing ever answers on them."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from emgas import MemoryClient, Turn
from emgas.errors import DataDirectoryInUseError, NoAnswerError, TransportError
from streams.cli.memory.query_options import OPTIONS
from tests.gateway.test_serve import TURN, serve
from tests.support.cli import commands, emgas, emgas_here
from tests.support.clocks import PATIENCE

SECONDS = 0.2  # the least that a test can wait for what never comes


@contextmanager
def frozen(process: Popen[str]) -> Iterator[None]:
    """Stop a process for as long as the block lasts."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


@pytest.fixture
def silent() -> Iterator[str]:
    """Listen where nothing ever answers; give host:port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def test_a_command_ends_when_its_timeout_says_so_though_the_server_of_its_memory_is_frozen(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text(json.dumps(TURN) + "\n")
    with serve(tmp_path) as (address, process):
        emgas(tmp_path, "publish", str(tmp_path / "chat.jsonl"))
        with frozen(process):
            run = emgas(tmp_path, "query", "ada", "ear drops", "--timeout", "0.5", code=1)
        assert f"{address} did not answer within 0.5 s" in run.err
        assert "ear drops" in emgas(tmp_path, "query", "ada", "ear drops", "--timeout", "60").out


async def test_a_client_opens_asks_and_closes_in_its_time_beside_a_frozen_server(tmp_path: Path) -> None:
    turn = Turn.model_validate(TURN)
    with serve(tmp_path) as (address, process):
        async with asyncio.timeout(PATIENCE), MemoryClient(address, timeout=PATIENCE) as memory:
            await memory.record(turn)
            with frozen(process):
                with pytest.raises(NoAnswerError, match=f"within {SECONDS} s"):
                    await memory.query("ada", "ear drops", timeout=SECONDS)
                with pytest.raises(NoAnswerError, match=f"within {SECONDS} s"):
                    await memory.publish(turn, timeout=SECONDS)
                with pytest.raises(TransportError, match=f"{address} did not answer within {SECONDS} s"):
                    await MemoryClient(address, timeout=SECONDS).open()
                with pytest.raises(DataDirectoryInUseError, match=f"did not answer within {SECONDS} s"):
                    await MemoryClient(f"embedded:{tmp_path}", timeout=SECONDS).open()
                await memory.close()


ARGUMENTS = {
    **{name: ["ada"] for name in ("turns", "recap", "who")},
    **{f"look {name}": ["ada"] for name in ("trend", "habits", "recent", "themes", "inspect")},
    **{f"change {name}": ["ada"] for name in ("end", "pause", "resume")},
    **{f"change {name}": ["ada", "bob", "--right", "read"] for name in ("grant", "revoke")},
    "graphs": [],
    "add": ["ada", "tea at nine"],
    "query": ["ada", "tea"],
    "configure": ["ada", "--preset", "default"],
    "forget": ["ada", "--turn", "t1"],
    "look extract": ["tea at nine"],
    "look scan": ["--graph", "ada"],
    "look explore": ["ada", "tea"],
    "change erase": ["ada", "--turn", "t1", "--yes"],
    "change pin": ["ada", "--turn", "t1"],
    "change unpin": ["ada", "--turn", "t1"],
    "change feedback": ["ada", "--right", "t1"],
    "admin send": ["ada", "describe"],
}
OTHERS = {
    "change advise": "asks a model before it asks a memory",
    "replay undo": "reads the log before it asks a memory",
    "measure tune": "its seconds are those of its search",
}


def has_timeout(command: Any) -> bool:
    """Check whether a command has a timeout, or takes one as an option of queries."""
    names = {each.name for each in command.params}
    return "timeout" in names or ("options" in names and "timeout" in OPTIONS)


def test_every_command_with_a_timeout_is_tried_here() -> None:
    results = {" ".join(words) for words, command in commands() if has_timeout(command)}
    assert results == ARGUMENTS.keys() | OTHERS.keys()


@pytest.mark.parametrize("command", ARGUMENTS)
def test_every_command_with_a_timeout_ends_in_it_where_the_broker_is_frozen(
    tmp_path: Path, silent: str, command: str
) -> None:
    arguments = [*command.split(), *ARGUMENTS[command], "--timeout", str(SECONDS)]
    run = emgas_here(tmp_path, *arguments, code=1, broker=f"kafka://{silent}")
    assert f"did not answer within {SECONDS} s" in run.err


@pytest.mark.parametrize("command", ["turns", "query"])
def test_a_variable_says_how_long_commands_wait_that_are_not_told(tmp_path: Path, silent: str, command: str) -> None:
    there = {"broker": f"kafka://{silent}"}
    run = emgas_here(tmp_path, command, *ARGUMENTS[command], code=1, timeout=str(SECONDS), **there)
    assert f"did not answer within {SECONDS} s" in run.err
    for wrong in ("soon", "0", "-1"):
        run = emgas_here(tmp_path, command, *ARGUMENTS[command], code=2, timeout=wrong, **there)
        assert "EMGAS_TIMEOUT" in run.err
