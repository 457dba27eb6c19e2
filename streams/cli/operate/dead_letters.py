"""`emgas admin dead-letters list|show`: rejected records, with the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from streams.cli.shared import output

if TYPE_CHECKING:
    from streams.transport.dead_letters import DeadLetter

app = typer.Typer(no_args_is_help=True, help="List and show rejected turns and records, with the reasons.")


async def _read() -> list[DeadLetter]:
    from streams.transport.dead_letters import read_all  # here: --help needs none of it
    from streams.transport.select import readable

    settings = output.settings()
    async with readable(settings) as topics:  # also while another process has the log
        return await read_all(topics.reader(settings.topics.dead_letters))


@app.command("list")
def list_letters(json: output.Json = False) -> None:
    """List rejected records (dead letters) and why they were rejected, oldest first."""
    letters = output.run(_read())
    if json:
        output.print_json({"dead_letters": [_described(letter) for letter in letters]})
        return
    rows = output.table(f"{len(letters)} dead letters", "id", "meant for", "bytes#", "why")
    for letter in letters:
        rows.add_row(letter.id, escape(letter.origin), str(len(letter.value)), escape(letter.reason))
    output.out.print(rows)


@app.command()
def show(
    letter: Annotated[str, typer.Argument(metavar="ID", help="Id from the list, partition:offset.")],
    json: output.Json = False,
) -> None:
    """Print the original bytes of one rejected record."""
    for each in output.run(_read()):
        if each.id == letter:
            _show(each, json=json)
            return
    output.fail(f"there is no dead letter {letter}: see `emgas admin dead-letters list`", output.MISSING)


def _show(letter: DeadLetter, *, json: bool) -> None:
    if json:
        output.print_json({**_described(letter), "value": letter.value.decode(errors="replace")})
        return
    output.err.print(escape(f"{letter.origin}: {letter.reason}"))
    output.print_bytes(letter.value)


def _described(letter: DeadLetter) -> dict[str, Any]:
    return {
        "id": letter.id,
        "origin": letter.origin,
        "reason": letter.reason,
        "bytes": len(letter.value),
        "at": letter.timestamp,
    }
