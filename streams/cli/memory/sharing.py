"""`emgas change pause`, `resume`, `grant`, `revoke`: stop or restart a graph, and manage access to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from emgas.client import switches
from emgas.errors import EmgasError
from emgas.messages.requests import Right
from emgas.messages.rights import Grant, Revoke
from emgas.validation import build
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from emgas.messages.queries import Description
    from emgas.messages.requests import Outcome

RIGHTS = ", ".join(get_args(Right))
Recording = Annotated[bool, typer.Option("--recording", help="Only recording; both by default.")]
Recalling = Annotated[bool, typer.Option("--recalling", help="Only recall; both by default.")]
Subject = Annotated[str, typer.Argument(help="User or program: the subject of records, or the name of a gateway key.")]
Rights = Annotated[list[str], typer.Option("--right", help=f"Right to change: {RIGHTS}; repeatable.")]


def pause(
    graph: output.Graph,
    *,
    recording: Recording = False,
    recalling: Recalling = False,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Pause a graph: it records no turns and recalls nothing until you resume it."""
    which = _which(recording, recalling)
    _show(_changed(graph, timeout, lambda memory: switches.pause(memory, graph, **which)), json=json)


def resume(
    graph: output.Graph,
    *,
    recording: Recording = False,
    recalling: Recalling = False,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Resume a paused graph: it records and recalls again."""
    which = _which(recording, recalling)
    _show(_changed(graph, timeout, lambda memory: switches.resume(memory, graph, **which)), json=json)


def grant(
    graph: output.Graph,
    subject: Subject,
    *,
    right: Rights,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Grant a user or program access to a graph; after the first grant, only you and those you named have access."""
    rights = _rights(right)
    _show_access(
        _changed(
            graph,
            timeout,
            lambda memory: memory.send(build(Grant, {"graph": graph, "subject": subject, "rights": rights})),
        ),
        json=json,
    )


def revoke(
    graph: output.Graph,
    subject: Subject,
    *,
    right: Rights,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Take a right in a graph away from a user or program."""
    rights = _rights(right)
    _show_access(
        _changed(
            graph,
            timeout,
            lambda memory: memory.send(build(Revoke, {"graph": graph, "subject": subject, "rights": rights})),
        ),
        json=json,
    )


def _which(recording: bool, recalling: bool) -> dict[str, bool]:  # noqa: FBT001 - the options of the command line
    both = recording == recalling
    return {"recording": recording or both, "recalling": recalling or both}


def _rights(names: list[str]) -> list[Right]:
    for each in names:
        if each not in get_args(Right):
            output.fail(f"--right {each}: choose one of {RIGHTS}", output.USAGE)
    return cast(list[Right], names)


def _changed(graph: str, timeout: float, call: Callable[[MemoryClient], Awaitable[Outcome]]) -> Description:
    """Send a request, and return the graph's description afterwards.  Exits if it is refused."""

    async def done() -> Description:
        async with connected_session(output.settings(), timeout) as connected:
            outcome = await call(connected.memory)
            if outcome.status == "rejected":
                raise EmgasError(outcome.reason or "the change was refused")
            return await connected.memory.describe(graph, after=outcome.position.source)

    return output.run(done())


def _show(described: Description, *, json: bool) -> None:
    switches = {name: described.settings[name] == 1 for name in ("recording", "recalling")}
    if json:
        output.print_json({"graph": described.graph, **switches, "unrecorded": described.unrecorded})
        return
    records = "records turns" if switches["recording"] else "records no turns"
    recalls = "answers queries" if switches["recalling"] else "answers no queries"
    output.out.print(f"{described.graph} {records} and {recalls}", highlight=False, markup=False)
    if described.unrecorded:
        output.tell(f"{output.counted(described.unrecorded, 'turn')} sent while recording was paused: not recorded")


def _show_access(described: Description, *, json: bool) -> None:
    if json:
        result: dict[str, Any] = {"graph": described.graph, "access": described.access}
        output.print_json(result)
        return
    rows = output.table(f"access to {described.graph}", "subject", "rights")
    for subject, rights in described.access.items():
        rows.add_row(subject, ", ".join(rights) or "nothing")
    output.out.print(rows)
