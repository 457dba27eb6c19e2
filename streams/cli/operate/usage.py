"""`emgas admin usage`: count turns and bytes in the log, by graph or by tenant."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from streams.cli.shared import output
from streams.cli.shared.times import METAVAR, time

if TYPE_CHECKING:
    from replay.usage import Usage


def usage(
    by: Annotated[
        str | None,
        typer.Option(metavar="SEPARATOR", help="Add up the graphs of a tenant: `/` for names such as acme/ada."),
    ] = None,
    since: Annotated[
        int | None, typer.Option(parser=time, metavar=METAVAR, help="Count only what was recorded from this time on.")
    ] = None,
    json: output.Json = False,
) -> None:
    """Count turns, events and bytes by graph or tenant, from the log; questions are not in it."""
    from replay.usage import by_prefix, total  # here: --help needs none of it

    counts, locked = output.run(_counted(since or 0))
    if by:
        counts = by_prefix(counts, by)
    ordered = dict(sorted(counts.items(), key=lambda each: (-each[1].bytes, each[0])))
    whole = total(ordered.values())
    if json:
        output.print_json({"usage": {name: asdict(each) for name, each in ordered.items()}, "total": asdict(whole)})
    else:
        rows = output.table("usage", "tenant" if by else "graph", "graphs#", "turns#", "events#", "bytes#")
        for name, each in [*ordered.items(), ("total", whole)]:
            rows.add_row(name, *(str(count) for count in asdict(each).values()))
        output.out.print(rows)
    output.fail_without(locked, "restore their keys, and count again")


async def _counted(since: int) -> tuple[dict[str, Usage], dict[str, str]]:
    from replay.usage import usage as usage_of  # here: --help needs none of it
    from streams.transport.select import readable

    settings, counts, locked = output.settings(), dict[str, "Usage"](), dict[str, str]()
    async with readable(settings) as topics:
        log = topics.reader(settings.topics.events)
        for partition in range(topics.partitions):
            counts |= await usage_of(log, partition, since, locked)
    return counts, locked
