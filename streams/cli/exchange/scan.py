"""`emgas look scan`: list secrets in a file before you import it, or in the turns that a memory stores.

It prints where each secret is and its kind, and never the secret.  A file that `emgas import` reads is scanned turn by
turn; any other file line by line.
"""

from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, NamedTuple

import typer
from rich.markup import escape

from emgas.limits import READ_TURNS
from emgas.redaction import find_secrets, secrets_in_message, secrets_of
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session

if TYPE_CHECKING:
    from emgas import MemoryClient
    from emgas.importers.registry import Item

SHOWN = 100  # places that are listed for people
UNNAMED = "scanned"  # the graph of formats that name none
REPLACED = (
    "`emgas import` replaces each secret by its kind before it stores a turn.  Anyone who read the file may know them: "
    "change them."
)
ERASE = (
    "To delete a turn permanently: `emgas change erase {graph} --turn ID`.  Then change the secrets, because copies of "
    "them may exist."
)


class Place(NamedTuple):
    """A text that was scanned: where it is, its id if it is a turn, and its secrets by kind."""

    where: str
    turn: str | None
    secrets: Counter[str]


def scan(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]…", help="Files, folders or exports to scan; - for stdin.")
    ] = None,
    *,
    graph: Annotated[list[str] | None, typer.Option(help="Scan the stored turns of this graph; repeatable.")] = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """List passwords, keys and tokens in files, or in the stored turns of a graph, without printing them.

    Exits with 0 if there is none, with 1 if there is one, with 3 for an unknown graph.
    """
    if bool(files) == bool(graph):
        output.fail("name the files to scan, or a graph with --graph", output.USAGE)
    graphs = [output.graph_id(name) or name for name in graph or ()]
    with output.explained():
        places = output.run(_stored(graphs, timeout)) if graphs else chain.from_iterable(map(_of_path, files or ()))
        scanned, with_secrets = _counted(places)
    if json:
        output.print_json(_report(scanned, with_secrets))
    else:
        _show(scanned, with_secrets, graphs)
    if with_secrets:
        raise typer.Exit(output.FAILURE)


def _counted(places: Iterable[Place]) -> tuple[int, list[Place]]:
    """Return how many texts were scanned, and those with a secret."""
    scanned, with_secrets = 0, []
    for place in places:
        scanned += 1
        if place.secrets:
            with_secrets.append(place)
    return scanned, with_secrets


def _of_path(file: str) -> Iterator[Place]:
    """Yield the places of a file, of stdin, or of a folder: an export, or else each of its files."""
    from emgas.errors import InvalidMessageError  # here: --help needs none of it
    from emgas.importers.registry import read_folder

    if file == "-":
        yield from _of_stream(BytesIO(sys.stdin.buffer.read()), file)
    elif not os.path.isdir(file):  # noqa: PTH112 - as pathlib's, but False of a name that cannot be looked at
        yield from _of_file(Path(file))
    else:
        try:
            yield from _of_items(file, read_folder(Path(file), UNNAMED))
        except InvalidMessageError:  # no export of a chat program
            for each in sorted(path for path in Path(file).rglob("*") if path.is_file()):
                yield from _of_file(each)


def _of_file(path: Path) -> Iterator[Place]:
    try:
        with path.open("rb") as stream:
            yield from _of_stream(stream, str(path))
    except FileNotFoundError:
        output.fail(f"there is no file {path}", output.USAGE)
    except OSError as error:
        output.fail_path("read", path, error)


def _of_stream(stream: BinaryIO, file: str) -> Iterator[Place]:
    """Yield the places of a stream: turns of a format that `emgas import` reads, else lines."""
    from emgas.errors import InvalidMessageError  # here: --help needs none of it

    try:
        items = _items(stream, file)
        first = None if items is None else next(items, None)
    except InvalidMessageError:
        items, first = None, None
    if items is not None and first is not None:
        yield from _of_items(file, chain([first], items))
    else:
        stream.seek(0)
        yield from _of_lines(file, stream.read().decode(errors="replace"))


def _items(stream: BinaryIO, file: str) -> Iterator[Item] | None:
    """Return the turns of a stream; None for plain lines, where `password: …` is no speaker."""
    from emgas.importers.files.lines import head_of  # here: --help needs none of it
    from emgas.importers.registry import ZIP, detect, read
    from emgas.importers.transcript import FORMAT
    from replay.backup.compressed import decompressed, is_compressed
    from replay.backup.lines import is_backup
    from replay.backup.restore import turns

    head = head_of(stream)
    if is_compressed(head):
        return turns(decompressed(stream))
    if is_backup(head):
        return turns(stream)
    return None if not head.startswith(ZIP) and detect(head, file) is FORMAT else read(stream, file, UNNAMED)


def _of_items(file: str, items: Iterator[Item]) -> Iterator[Place]:
    """Yield a place for each turn, and for each line that cannot become one."""
    from emgas.importers.registry import BadLine  # here: --help needs none of it

    for item in items:
        if isinstance(item, BadLine):
            place = f"{item.unit} {item.number}".strip()
            yield Place(f"{file}: {place}", None, secrets_of(item.raw.decode(errors="replace")))
        else:
            yield Place(f"{file}: turn {item.id} of session {item.session}", item.id, secrets_in_message(item))


def _of_lines(file: str, text: str) -> Iterator[Place]:
    """Yield a place for each line that is not blank."""
    secrets: dict[int, Counter[str]] = defaultdict(Counter)
    for kind, number in find_secrets(text):
        secrets[number][kind] += 1
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield Place(f"{file}: line {number}", None, secrets[number])


async def _stored(graphs: list[str], timeout: float) -> list[Place]:
    """Return a place for each stored turn of the graphs."""
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        return [place for graph in graphs async for place in _of_graph(connected.memory, graph)]


async def _of_graph(memory: MemoryClient, graph: str) -> AsyncIterator[Place]:
    page = await memory.turns(graph, limit=READ_TURNS)
    if not page.found:
        output.fail_unknown(graph)
    while True:
        for turn in page.turns:
            yield Place(f"{graph}: turn {turn.id} of session {turn.session}", turn.id, secrets_in_message(turn))
        if page.next is None:
            return
        page = await memory.turns(graph, limit=READ_TURNS, cursor=page.next)


def _report(scanned: int, places: list[Place]) -> dict[str, Any]:
    listed = [{"where": each.where, "turn": each.turn, "secrets": dict(each.secrets)} for each in places]
    return {"scanned": scanned, "with_secrets": len(places), "kinds": dict(_kinds(places)), "places": listed}


def _kinds(places: list[Place]) -> Counter[str]:
    return sum((each.secrets for each in places), Counter())


def _show(scanned: int, places: list[Place], graphs: list[str]) -> None:
    rows = output.table("Secrets", "where", "kinds")
    for place in places[:SHOWN]:
        kinds = ", ".join(kind if count == 1 else f"{kind} ({count})" for kind, count in place.secrets.items())
        rows.add_row(escape(place.where), kinds)
    if places:
        output.out.print(rows)
    if len(places) > SHOWN:
        output.out.print(f"and {len(places) - SHOWN} more places: list all with --json")
    share = f" ({100 * len(places) / scanned:.2g} %)" if places else ""
    what = f"{scanned} turns" if graphs else f"{scanned} turns and lines"
    output.out.print(f"{len(places)} of {what} hold secrets{share}")
    if places:
        output.tell(ERASE.format(graph=graphs[0]) if graphs else REPLACED)
