"""`emgas replay events GRAPH` and `emgas replay undo GRAPH`: list the events of a graph, and take some of them back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emgas.messages.turns import Undo
from emgas.times import format_utc
from emgas.validation import build
from emgas.wire import partition_of
from streams.cli.shared import output
from streams.cli.shared.client import accepted, session
from streams.cli.shared.times import METAVAR, time

if TYPE_CHECKING:
    from replay.event_list import ListedEvent
    from state.events.events import GraphEvent

TIMEOUT = 30.0  # seconds: an undo folds a graph again
SAMPLE = 3  # texts shown from either end of what goes
SUMMARY = 72  # characters


def events(
    graph: output.Graph,
    last: Annotated[int, typer.Option(min=1, help="Number of events, the newest.")] = 20,
    json: output.Json = False,
) -> None:
    """List a graph's events with the numbers that `undo` takes.

    Exits with 3 for an unknown graph.
    """
    entries = output.run(_event_list(graph))
    if not entries:
        output.fail_unknown(graph)
    if json:
        output.print_json({"graph": graph, "events": [_described(entry) for entry in entries[-last:]]})
        return
    title = f"{graph}: {output.counted(len(entries), 'event')}"
    rows = output.table(title, "event#", "recorded", "kind", "what", "counts")
    for entry in entries[-last:]:
        cells = (
            str(entry.ordinal),
            format_utc(entry.recorded),
            type(entry.event).__name__,
            escape(_summary(entry.event)),
        )
        rows.add_row(*cells, "yes" if entry.counts else "taken back", style="" if entry.counts else "dim")
    output.out.print(rows)


def undo(
    graph: output.Graph,
    *,
    recorded: Annotated[
        int | None,
        typer.Option(
            "--since", parser=time, metavar=METAVAR, help="Undo everything recorded since this time: 2023-05-08T14:00."
        ),
    ] = None,
    last: Annotated[int | None, typer.Option(min=1, help="Undo this many of the last events.")] = None,
    event: Annotated[
        int | None, typer.Option(min=0, help="Undo this event, a number from `emgas replay events`.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be undone, and change nothing.")] = False,
    yes: output.Yes = False,
    timeout: output.Timeout = TIMEOUT,
    json: output.Json = False,
) -> None:
    """Undo events of a graph, such as a wrong import; an undo can itself be undone.

    --since is the time of recording, not of the conversation.  Exits with 3 for an unknown graph, with 1 if refused.
    """
    if sum(value is not None for value in (recorded, last, event)) != 1:
        output.fail("nothing to undo: give one of --since, --last, --event", output.USAGE)
    entries = output.run(_event_list(graph, timeout))
    if not entries:
        output.fail_unknown(graph)
    first, newest = _range(entries, recorded, last, event=event)
    going = [entry for entry in entries[first : newest + 1] if entry.counts]
    if not going:
        output.fail("these events are already undone: nothing is left to undo")
    if not json:
        _show(graph, going)
    if not dry_run:
        output.make_sure(f"This undoes {output.counted(len(going), 'event')} of graph {graph}", yes=yes)
    undone_by = None if dry_run else output.run(_undo(graph, first, newest, timeout=timeout))
    if json:
        kinds = Counter(type(entry.event).__name__ for entry in going)
        report = {"graph": graph, "first": first, "last": newest, "events": len(going), "kinds": dict(kinds)}
        output.print_json({**report, "dry_run": dry_run, "undone_by": undone_by})
    elif undone_by is not None:
        output.out.print(f"done; to take it back: emgas replay undo {graph} --event {undone_by}")


def _range(entries: list[ListedEvent], recorded: int | None, last: int | None, *, event: int | None) -> tuple[int, int]:
    """Find the first and the last ordinal of what is to go."""
    from replay.event_list import as_far_back, since  # here: --help needs none of it

    if event is not None:
        if event >= len(entries):
            output.fail(f"there are {len(entries)} events, counted from 0: there is no event {event}", output.MISSING)
        return event, event
    first = since(entries, recorded) if recorded is not None else as_far_back(entries, last or 0)
    if first is None:
        output.fail(
            "nothing was recorded since then: choose an earlier time" if last is None else "nothing is left to undo"
        )
    return first, len(entries) - 1


async def _event_list(graph: str, timeout: float = TIMEOUT) -> list[ListedEvent]:
    from replay.event_list import event_list  # here: --help needs none of it
    from streams.transport.select import readable

    settings = output.settings()
    async with readable(settings, timeout) as log:
        return await event_list(log.reader(settings.topics.events), partition_of(graph, log.partitions), graph)


async def _undo(graph: str, first: int, last: int, *, timeout: float) -> int:
    """Undo, and return the ordinal of the undo.  Raises EmgasError if it is refused."""
    from state.events.events import Retracted  # here: --help needs none of it

    async with session(output.settings(), timeout, begins=False) as connected:
        outcome = accepted(await connected.memory.send(build(Undo, {"graph": graph, "first": first, "last": last})))
    made = (entry for entry in reversed(await _event_list(graph, timeout)) if isinstance(entry.event, Retracted))
    return next(entry.ordinal for entry in made if getattr(entry.event, "src", -1) == outcome.position.source)


def _show(graph: str, going: Sequence[ListedEvent]) -> None:
    kinds = Counter(type(entry.event).__name__ for entry in going)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    ends = f"events {going[0].ordinal} to {going[-1].ordinal}"
    rows = output.table(f"{graph}: {ends} go: {counted}", "event#", "recorded", "what")
    shown = going if len(going) <= 2 * SAMPLE else [*going[:SAMPLE], *going[-SAMPLE:]]
    for entry in shown:
        rows.add_row(str(entry.ordinal), format_utc(entry.recorded), escape(_summary(entry.event)))
    output.out.print(rows)


def _described(entry: ListedEvent) -> dict[str, Any]:
    report = {"ordinal": entry.ordinal, "offset": entry.offset, "recorded": entry.recorded, "counts": entry.counts}
    return {**report, "kind": type(entry.event).__name__, "what": _summary(entry.event)}


def _summary(event: GraphEvent) -> str:
    """Return the summary of an event on one short line."""
    from state.events.registry import SPECS  # here: --help needs none of it

    summary = " ".join(SPECS[type(event)].summary(event).split())
    return summary if len(summary) <= SUMMARY else f"{summary[: SUMMARY - 1]}…"
