"""`emgas look habits`: list recurring events of a graph, with their frequency and exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emgas.messages.views import Habits
from emgas.validation import build
from streams.cli.memory.views import AsOf
from streams.cli.shared import output
from streams.cli.shared.client import session

if TYPE_CHECKING:
    from emgas.messages.views import Recurring


def habits(
    graph: output.Graph,
    text: Annotated[
        str | None, typer.Argument(help="A question or words to search for, as latte; all habits by default.")
    ] = None,
    *,
    speaker: Annotated[str | None, typer.Option(help="Only habits of this speaker.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of habits, most frequent first.")] = 20,
    as_of: AsOf = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """List habits: what recurs, how often, since when, and the exceptions.

    Exits with 3 for an unknown graph.
    """

    async def ask() -> Recurring:
        async with session(output.settings(), timeout, begins=False) as connected:
            return await connected.memory.send(
                build(Habits, {"graph": graph, "text": text, "speaker": speaker, "limit": limit, "as_of": as_of})
            )

    reply = output.run(ask())
    if json:
        output.print_json(reply.model_dump())
    elif reply.found:
        show(reply)
    if not reply.found:
        output.fail_unknown(graph, as_of)


def show(reply: Recurring) -> None:
    """Print habits, and which of them are similar."""
    names = {habit.id: f"{', '.join(habit.concepts) or habit.id} ({habit.speaker})" for habit in reply.habits}
    for habit in reply.habits:
        output.out.print(escape(habit.text), highlight=False, soft_wrap=True)
        turns = escape(f"{habit.id}, latest turns: {', '.join(habit.members[-5:])}")
        output.out.print(f"  [dim]{turns}[/]", highlight=False, soft_wrap=True)
    for group in reply.groups:
        output.tell(f"similar habits: {'; '.join(names[habit] for habit in group.habits)}")
    counted = f"{len(reply.habits)} of {output.counted(reply.total, 'habit')}"
    output.tell(counted if reply.total else "no habits: nothing recurred often enough")
