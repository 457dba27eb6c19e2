"""`emgas demo`: the main job on a bundled conversation, on the embedded log, with a kill and a rebuild.

    1  a child process (streams/cli/memory/demo_worker.py) publishes the conversation and answers three questions, and
       one that only working memory can answer; then some weeks of a life, with a habit, a move and a pin, an answer
       that shares no word with its question, a question without an answer, and a fact that is forgotten
    2  it is killed with SIGKILL while its stores are open
    3  its stores are deleted; every graph is folded again from the remaining log
    4  the digest of all graphs that the child reported must equal that of the fold, and is the same on every machine

It reads nothing outside the installed package, and leaves no files behind unless you name a directory with --keep.
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
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emgas.errors import HaltedError
from emgas.times import format_utc
from streams.cli.memory.query import show
from streams.cli.shared import output

if TYPE_CHECKING:
    from emgas.messages.explanations import Why
    from emgas.messages.queries import RecalledPassage
    from streams.settings import WorkerSettings


def demo(
    *,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIRECTORY", help="Keep the demo's memory in this directory.")
    ] = None,
    json: output.Json = False,
) -> None:
    """Run a one-minute tour: publish a conversation, query it, kill the worker, rebuild the memory, compare."""
    started = time.perf_counter()
    if keep is not None and _settings(keep).home.exists():
        output.fail(f"{keep} already holds a memory: choose another directory", output.USAGE)
    with _home(keep) as home:
        with output.explained(), _child(home) as lines:
            live = _follow(lines, quiet=json)
        digest, turns = output.run(_rebuilt(_settings(home)))
    match = digest == live["digest"] and turns == live["turns"]
    _print_rebuilt(digest, match=match)
    if not json:
        _print_next_steps(keep)
    if json:
        counts = {name: live[name] for name in ("turns", "graphs", "concepts", "pairs")}
        digests = {"digest_live": live["digest"], "digest_replayed": digest, "match": match}
        output.print_json({**counts, **digests, "seconds": round(time.perf_counter() - started, 3)})
    if not match:
        raise typer.Exit(output.MISMATCH)


@contextmanager
def _home(keep: Path | None) -> Iterator[Path]:
    """Yield the memory's directory: the one to keep, else a temporary one that is deleted at the end."""
    if keep is not None:
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="emgas-demo-") as directory:
        yield Path(directory)


def _settings(home: Path) -> WorkerSettings:
    from streams.settings import WorkerSettings  # here: --help needs none of it

    return WorkerSettings().model_copy(update={"broker": None, "data": home, "partitions": 4})


@contextmanager
def _child(home: Path) -> Iterator[IO[str]]:
    """Run the child; at the end of the block kill it, as a crash would: no clean-up, no flush."""
    environment = {**os.environ, "EMGAS_DATA": str(home), "EMGAS_BROKER": "", "EMGAS_PARTITIONS": "4"}
    environment["EMGAS_TICK_SECONDS"] = "1000000"  # the time of day is none of the conversation's: the digest stays
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
    raise HaltedError("the demo's worker stopped early; see its message above")


def _show_turn(report: dict[str, Any]) -> None:
    text = report["text"] if len(report["text"]) < 80 else report["text"][:79] + "…"
    output.out.print(f"[dim]{report['at']}[/] [cyan]{escape(report['speaker'])}[/] {escape(text)}")


def _show_reply(report: dict[str, Any]) -> None:
    from emgas.messages.queries import Reply  # here: --help needs none of it
    from streams.cli.memory.demo_worker import SHOWN

    output.out.rule(f"[bold]{escape(report['question'])}")
    reply = Reply.model_validate(report["reply"])
    show(reply.model_copy(update={"passages": [_plain(passage) for passage in reply.passages[:SHOWN]]}))
    if reply.context:
        title = "[bold]context, ready for a prompt[/]"
        output.out.print(f"{title}\n{escape(reply.context)}")
    for passage in reply.passages:
        if passage.id in report["answers"] and passage.why and not _shares_a_word(passage.why):
            way = ", ".join(f"{hop.source} → {hop.target}" for hop in passage.why.associations)
            title = f"[bold green]found although it shares no word with the question, by {escape(way)}:[/]"
            output.out.print(f"{title}\n{escape(passage.text)}")


def _shares_a_word(why: Why) -> bool:
    """Return whether a turn, or one next to it, has a word of the question; who says it is none."""
    return any(not each.concept.startswith("@") for each in why.mentions)


def _plain(passage: RecalledPassage) -> RecalledPassage:
    """Return a passage without its explanation: one for each would fill the screen."""
    return passage.model_copy(update={"why": None})


def _show_mind(report: dict[str, Any]) -> None:
    from emgas.messages.sessions import InMind  # here: --help needs none of it

    mind = InMind.model_validate(report["mind"])
    output.out.rule("[bold]working memory: the conversation that is still going on")
    for turn in mind.turns:
        line = f"[dim]{format_utc(turn.at)}[/] [cyan]{escape(turn.speaker)}[/] {escape(turn.text)}"
        output.out.print(line)
    output.out.print(f"session {escape(mind.session)}; keywords: {escape(', '.join(mind.keywords))}")
    if mind.inherited:
        title = f"[dim]from the conversation before:[/] {escape(mind.inherited.summary)}"
        output.out.print(title)


def _show_life(report: dict[str, Any]) -> None:
    output.out.rule("[bold]some weeks of a life: habits, outdated facts, pinned turns")
    pinned = escape(report["pinned"])
    output.out.print(f"{report['turns']} more turns; pinned, so that it never fades: [cyan]{pinned}[/]")


def _show_forgotten(report: dict[str, Any]) -> None:
    output.out.rule(f"[bold]forgotten: everything about the {escape(report['concept'])}")


_SHOW = {"turn": _show_turn, "reply": _show_reply, "mind": _show_mind, "life": _show_life, "forgot": _show_forgotten}


async def _rebuilt(settings: WorkerSettings) -> tuple[str, int]:
    """Delete the stores, fold every partition from the log, and return the digest and the number of turns."""
    from replay.rebuild.rebuild import refold  # here: --help needs none of it
    from state.store.rocksdb import RocksStore
    from streams.recovery.parallel_rebuild import of_graphs
    from streams.transport.select import connect

    shutil.rmtree(settings.home / "partitions")
    digests, turns = [], 0
    async with connect(settings) as transport:
        log = transport.reader(settings.topics.events)
        for partition in range(transport.partitions):
            _, end = await log.bounds(partition)
            state = await refold(log, partition, end, RocksStore(settings.home / "rebuilt" / str(partition)))
            digests.append(state.digests())
            turns += state.position.turns
            state.close()
    shutil.move(settings.home / "rebuilt", settings.home / "partitions")
    return of_graphs(digests), turns


def _print_rebuilt(digest: str, *, match: bool) -> None:
    output.err.rule("[bold]killed with SIGKILL, stores deleted, rebuilt from the log")
    verdict = "[green]the same digest[/]" if match else "[bold red]A DIFFERENT DIGEST[/]"
    output.err.print(f"{verdict}: {digest}")


def _program() -> str:
    """Return how to call this program here: by its name, as a module, or by its path."""
    if shutil.which("emgas"):
        return "emgas"
    program = os.path.relpath(sys.argv[0])
    return "python -m streams.cli.main" if program.endswith(".py") else program


def _print_next_steps(keep: Path | None) -> None:
    """Print three commands that continue with the memory, ready to paste, and the address of the page."""
    data, emgas = keep or Path("demo-memory"), _program()
    begin = [] if keep else [f"{emgas} demo --keep {data}"]
    commands = [*begin, f'{emgas} --data {data} query demo "what did the vet prescribe?"']
    commands += [f"{emgas} --data {data} look timeline demo", f"{emgas} --data {data} serve"]
    output.out.print("[bold]next steps:[/]")
    for command in commands:
        page = "   # then open http://127.0.0.1:8088" if command.endswith("serve") else ""
        output.out.print(f"  {command}{page}", markup=False)
