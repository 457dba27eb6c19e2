"""`emgas pause`, `resume`, `grant`, `revoke`: whether a graph records and recalls, and who may do what in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from emgas.errors import EmgasError
from emgas.messages.rights import Right
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from emgas.messages.queries import Description
    from emgas.messages.turns import Outcome

RIGHTS = ", ".join(get_args(Right))
Recording = Annotated[bool, typer.Option("--recording", help="Only recording; else both.")]
Recalling = Annotated[bool, typer.Option("--recalling", help="Only recalling; else both.")]
Subject = Annotated[str, typer.Argument(help="Whom: as records name their subject, as a gateway names its key.")]
Rights = Annotated[list[str], typer.Option("--right", help=f"One of {RIGHTS}; repeatable.")]


def pause(
    graph: output.Graph,
    *,
    recording: Recording = False,
    recalling: Recalling = False,
    timeout: output.Timeout = 10.0,
    json: output.Json = False,
) -> None:
    """Let a graph record nothing of what is said, and bring back nothing, until it is resumed."""
    which = _which(recording, recalling)
    _show(_told(graph, timeout, lambda memory: memory.pause(graph, **which)), json=json)


def resume(
    graph: output.Graph,
    *,
    recording: Recording = False,
    recalling: Recalling = False,
    timeout: output.Timeout = 10.0,
    json: output.Json = False,
) -> None:
    """Let a graph that was paused record and bring back again."""
    which = _which(recording, recalling)
    _show(_told(graph, timeout, lambda memory: memory.resume(graph, **which)), json=json)


def grant(
    graph: output.Graph, subject: Subject, *, right: Rights, timeout: output.Timeout = 10.0, json: output.Json = False
) -> None:
    """Let somebody do this in a graph; one that grants anything is closed to all others, but not to you."""
    rights = _rights(right)
    _show_access(_told(graph, timeout, lambda memory: memory.grant(graph, subject, rights)), json=json)


def revoke(
    graph: output.Graph, subject: Subject, *, right: Rights, timeout: output.Timeout = 10.0, json: output.Json = False
) -> None:
    """Let somebody no longer do this in a graph."""
    rights = _rights(right)
    _show_access(_told(graph, timeout, lambda memory: memory.revoke(graph, subject, rights)), json=json)


def _which(recording: bool, recalling: bool) -> dict[str, bool]:  # noqa: FBT001 - what was given on the command line
    both = recording == recalling
    return {"recording": recording or both, "recalling": recalling or both}


def _rights(given: list[str]) -> list[Right]:
    for each in given:
        if each not in get_args(Right):
            output.fail(f"--right {each}: choose one of {RIGHTS}", output.USAGE)
    return cast(list[Right], given)


def _told(graph: str, timeout: float, call: Callable[[MemoryClient], Awaitable[Outcome]]) -> Description:
    """Do something, and tell what the graph is then.  Exits where it is refused."""

    async def done() -> Description:
        async with connected_session(output.settings(), timeout) as connected:
            outcome = await call(connected.memory)
            if outcome.status == "rejected":
                raise EmgasError(outcome.reason or "refused")
            return await connected.memory.describe(graph, after=outcome.position.source)

    return output.run(done())


def _show(described: Description, *, json: bool) -> None:
    switches = {name: described.settings[name] == 1 for name in ("recording", "recalling")}
    if json:
        output.print_json({"graph": described.graph, **switches, "unrecorded": described.unrecorded})
        return
    told = "; ".join(f"{name} is {'on' if is_on else 'paused'}" for name, is_on in switches.items())
    output.out.print(f"{described.graph}: {told}", highlight=False, markup=False)
    if described.unrecorded:
        output.tell(f"not kept while recording was paused: {output.counted(described.unrecorded, 'turn')}")


def _show_access(described: Description, *, json: bool) -> None:
    if json:
        found: dict[str, Any] = {"graph": described.graph, "access": described.access}
        output.print_json(found)
        return
    rows = output.table(f"who may do what in {described.graph}", "subject", "rights")
    for subject, rights in described.access.items():
        rows.add_row(subject, ", ".join(rights) or "nothing")
    output.out.print(rows)
