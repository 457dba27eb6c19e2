"""`emgas admin quota GRAPH`: limit what is sent to a graph, or show what of a quota is used."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from emgas.wire import partition_of
from streams.cli.shared import output
from streams.cli.shared.client import accepted, session

if TYPE_CHECKING:
    from emgas.messages.rights import Quota

TIMEOUT = 30.0  # seconds


@dataclass(frozen=True)
class QuotaUse:
    """A quota as it is shown: None for what is not limited, or for no quota at all."""

    turns: int | None
    bytes: int | None
    used_turns: int
    used_bytes: int


def quota(
    graph: output.Graph,
    *,
    turns: Annotated[int | None, typer.Option(min=0, help="How many turns may be recorded from now on.")] = None,
    bytes: Annotated[int | None, typer.Option(min=0, help="How many bytes these may have, as they are sent.")] = None,
    subject: Annotated[
        str | None, typer.Option(help="Limit this subject alone, such as the name of a key of `emgas serve`.")
    ] = None,
    lift: Annotated[bool, typer.Option("--lift", help="Lift the quota.")] = False,
    json: output.Json = False,
) -> None:
    """Limit the turns and bytes that a graph, or a subject in it, takes; without a limit, show what is used.

    The count begins at 0 whenever the quota is set.
    """
    from emgas.messages.rights import Quota  # here: --help needs none of it

    if lift and (turns, bytes) != (None, None):
        output.fail("--lift takes no limit", output.USAGE)
    if lift or (turns, bytes) != (None, None):
        report = output.run(_set(Quota(graph=graph, subject=subject, turns=turns, bytes=bytes)))
    elif (used := output.run(_used(graph, subject))) is None:
        output.fail_unknown(graph)
    else:
        report = used
    output.print_json(report) if json else _show(graph if subject is None else f"{subject} in {graph}", report)


async def _set(request: Quota) -> dict[str, Any]:
    async with session(output.settings(), TIMEOUT) as here:
        outcome = accepted(await here.memory.send(request, timeout=TIMEOUT))
    return {**asdict(QuotaUse(request.turns, request.bytes, 0, 0)), "before": outcome.remains}


async def _used(graph: str, subject: str | None) -> dict[str, Any] | None:
    """Read from the log what of a quota is used; None if there is neither a quota nor such a graph."""
    from replay.usage import quota_of  # here: --help needs none of it
    from streams.transport.event_topic import reading

    settings = output.settings()
    async with reading(settings) as log:
        limit = await quota_of(log, partition_of(graph, await log.partitions()), graph, subject)
    if limit is None:
        async with session(settings, TIMEOUT, begins=False) as here:
            found = (await here.memory.describe(graph)).found
        return asdict(QuotaUse(None, None, 0, 0)) if found else None
    return asdict(QuotaUse(limit.turns, limit.bytes, limit.used_turns, limit.used_bytes))


def _show(name: str, report: dict[str, Any]) -> None:
    """Print a quota; `name`: the graph, or the subject in it."""
    limits = [
        f"{report['used_' + unit]} of {report[unit]} {unit} used"
        for unit in ("turns", "bytes")
        if report[unit] is not None
    ]
    sentence = f"{name}: {', '.join(limits)}" if limits else f"{name} has no quota: set one with --turns or --bytes"
    output.out.print(sentence, markup=False)
    if report.get("before"):
        output.out.print(report["before"], markup=False)
