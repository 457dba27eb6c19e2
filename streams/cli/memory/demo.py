"""`emgas demo`: the main job on a bundled conversation, on the embedded log, with a kill and a rebuild.

    1  a child process (streams/cli/memory/demo_worker.py) publishes the conversation and answers three questions
    2  it is killed with SIGKILL while its stores are open
    3  its stores are thrown away; every graph is folded again from the log that is left
    4  the digest that the child reported must be the digest of the fold

Nothing outside the installed package is read, and nothing is left behind.
"""

from __future__ import annotations

import json as json_lines
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import typer
from rich.markup import escape

from emgas.errors import HaltedError
from emgas.messages.queries import Reply
from replay.rebuild.rebuild import refold
from state.store.rocksdb import RocksStore
from streams.cli.memory.query import show
from streams.cli.shared import output
from streams.recovery.parallel_rebuild import combined
from streams.settings import Settings
from streams.transport.select import found


def demo(json: output.Json = False) -> None:
    """Show turns becoming a memory, ask it, kill it, rebuild it from the log, and compare."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="emgas-demo-") as directory:
        home = Path(directory)
        with output.explained(), _child(home) as lines:
            live = _follow(lines, quiet=json)
        digest, kept = output.run(_rebuilt(_settings(home)))
    match = digest == live["digest"] and kept == live["turns"]
    _tell_rebuilt(digest, match=match)
    if json:
        counts = {name: live[name] for name in ("turns", "graphs", "concepts", "pairs")}
        digests = {"digest_live": live["digest"], "digest_replayed": digest, "match": match}
        output.print_json({**counts, **digests, "seconds": round(time.perf_counter() - started, 3)})
    if not match:
        raise typer.Exit(output.MISMATCH)


def _settings(home: Path) -> Settings:
    return Settings().model_copy(update={"broker": None, "data": home, "partitions": 4})


@contextmanager
def _child(home: Path) -> Iterator[IO[str]]:
    """Run the child; at the end of the block kill it, as a crash would: no clean-up, no flush."""
    environment = {**os.environ, "EMGAS_DATA": str(home), "EMGAS_BROKER": "", "EMGAS_PARTITIONS": "4"}
    command = [sys.executable, "-m", "streams.cli.memory.demo_worker"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None  # noqa: S101 - a pipe was asked for
        yield child.stdout
        child.kill()


def _follow(lines: IO[str], *, quiet: bool) -> dict[str, Any]:
    """Show what the child reports, line by line, until it has reported what it holds."""
    for line in lines:
        report = json_lines.loads(line)
        if report["kind"] == "holds":
            return dict(report)
        if not quiet:
            _SHOW[report["kind"]](report)
    raise HaltedError("the demo's worker ended before it was done; its message is above")


def _show_turn(report: dict[str, Any]) -> None:
    text = report["text"] if len(report["text"]) < 80 else report["text"][:79] + "…"
    output.out.print(f"[dim]{report['at']}[/] [cyan]{escape(report['speaker'])}[/] {escape(text)}", highlight=False)


def _show_reply(report: dict[str, Any]) -> None:
    output.out.rule(f"[bold]{escape(report['question'])}")
    show(Reply.model_validate(report["reply"]))


_SHOW = {"turn": _show_turn, "reply": _show_reply}


async def _rebuilt(settings: Settings) -> tuple[str, int]:
    """Throw the stores away, fold every partition from the log, return the digest and the number of turns."""
    shutil.rmtree(settings.home / "partitions")
    digests, turns = [], 0
    async with found(settings) as transport:
        log = transport.reader(settings.topics.events)
        for partition in range(transport.partitions):
            _, end = await log.bounds(partition)
            state = await refold(log, partition, end, RocksStore(settings.home / "rebuilt" / str(partition)))
            digests.append(state.digest())
            turns += state.position.turns
            state.close()
    return combined(digests), turns


def _tell_rebuilt(digest: str, *, match: bool) -> None:
    output.err.rule("[bold]killed with SIGKILL, stores thrown away, folded again from the log")
    told = "[green]the same digest[/]" if match else "[bold red]ANOTHER DIGEST[/]"
    output.err.print(f"{told}: {digest}", highlight=False)
