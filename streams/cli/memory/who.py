"""`emgas who`: what a memory knows of people: values with their evidence, what held before, and what has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emgas.messages.people import Profile
from emgas.times import format_utc
from streams.cli.memory.views import AsOf
from streams.cli.shared import output
from streams.cli.shared.client import ask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emgas.messages.people import KnownValue, Person, Profiled


SHOWN = 12  # characters of a turn id; of a longer one, fewer


def who(
    graph: output.Graph,
    name: Annotated[
        str | None, typer.Argument(help='A name, or a path as "Ada\'s sister"; everybody by default.')
    ] = None,
    *,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of people.")] = 20,
    as_of: AsOf = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Show what a graph knows of people: values, history, evidence and changes.

    Long turn ids are shortened; `--json` prints them whole.
    """
    reply = ask(Profile, {"graph": graph, "name": name, "limit": limit, "as_of": as_of}, timeout)
    if json:
        output.print_json(reply.model_dump())
    elif reply.found and (reply.people or name is None):
        _show(reply)
    if not reply.found:
        output.fail_unknown(graph, as_of)
    if name is not None and not reply.people:
        output.fail(
            f"this memory knows nothing of {name}: `emgas who {graph}` lists the people that it knows", output.MISSING
        )


def _show(reply: Profiled) -> None:
    for person in reply.people:
        also = f" [dim]({escape(', '.join(person.also))})[/]" if person.also else ""
        output.out.print(f"[bold]{escape(person.name)}[/]{also}")
        for line in _lines(person):
            output.out.print(f"  {line}")
    for change in reply.changes:
        became = "ended" if change.new is None else f"became {escape(change.new)}"
        line = f"{escape(change.name)}: {escape(change.slot)}: {escape(change.old)} {became}"
        output.out.print(f"{line} [dim]({format_utc(change.at)}, turn {_short(change.turn)})[/]")
    output.tell(f"{len(reply.people)} of {reply.total} people" if reply.total else "no people yet")


def _lines(person: Person) -> Iterator[str]:
    """Yield the lines of a card: what holds, what held before, and what the person is to others."""
    for slot, values in person.current.items():
        yield f"{escape(slot)}: {', '.join(_value(each, slot) for each in values)}"
    for slot, values in person.history.items():
        yield f"[dim]{escape(slot)}, before: {', '.join(_value(each, slot) for each in values)}[/]"
    for tie in person.ties:
        yield f"{escape(tie.relation)} of {escape(tie.of)} [dim](turn {_short(tie.turn)})[/]"


def _value(value: KnownValue, slot: str) -> str:
    role = f" ({escape(value.role or '')})" if value.role not in ("", None, slot) else ""
    likely = " (likely)" if value.confidence <= 0.5 else ""
    since = f", since {format_utc(value.since)}" if value.since is not None else ""
    return f"{escape(value.value)}{role}{likely} [dim](turn {_short(value.turn)}{since})[/]"


def _short(turn: str) -> str:
    """Return a turn id as it is shown; `--json` has it whole."""
    return escape(turn if len(turn) <= SHOWN else f"{turn[:8]}…")
