"""Commands that change a graph: pin, unpin, feedback, end, pause, resume, grant and revoke."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer
from rich.markup import escape

from emgas.client import switches
from emgas.messages.requests import Right
from emgas.messages.rights import Grant, Revoke
from emgas.messages.sessions import EndSession
from emgas.messages.turns import Feedback, Pin, Unpin
from emgas.messages.views import Recap
from emgas.validation import build
from streams.cli.shared import output
from streams.cli.shared.client import accepted
from streams.cli.shared.client import session as connected_session

if TYPE_CHECKING:
    from emgas.client.client import MemoryClient
    from emgas.messages.queries import Description
    from emgas.messages.requests import Outcome

RIGHTS = ", ".join(get_args(Right))
Concepts = Annotated[list[str] | None, typer.Option("--concept", help="Concept, by id or as written; repeatable.")]
Turns = Annotated[list[str] | None, typer.Option("--turn", help="Turn id; repeatable.")]
Recording = Annotated[bool, typer.Option("--recording", help="Only recording; both by default.")]
Recalling = Annotated[bool, typer.Option("--recalling", help="Only recall; both by default.")]
Subject = Annotated[str, typer.Argument(help="User or program: the subject of records, or the name of a gateway key.")]
Rights = Annotated[list[str], typer.Option("--right", help=f"Right to change: {RIGHTS}; repeatable.")]


def pin(
    graph: output.Graph,
    *,
    concept: Concepts = None,
    turn: Turns = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Pin concepts and turns, so that they never fade; archived ones become active again."""
    _pin(Pin, graph, {"concepts": concept or [], "turns": turn or []}, timeout=timeout, json=json)


def unpin(
    graph: output.Graph,
    *,
    concept: Concepts = None,
    turn: Turns = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Unpin concepts and turns, so that they can fade again."""
    _pin(Unpin, graph, {"concepts": concept or [], "turns": turn or []}, timeout=timeout, json=json)


def _pin(kind: type[Pin | Unpin], graph: str, named: dict[str, list[str]], *, timeout: float, json: bool) -> None:
    if not any(named.values()):
        output.fail(f"nothing to {kind.tag()}: give --concept or --turn", output.USAGE)
    source, after = _changed(graph, timeout, lambda memory: memory.send(build(kind, {"graph": graph, **named})))
    if json:
        counts = {"pinned": after.pinned, "pinned_concepts": after.pinned_concepts}
        output.print_json({"graph": graph, "status": "accepted", **counts, "source": source})
        return
    turns, concepts = output.counted(after.pinned, "turn"), output.counted(after.pinned_concepts, "concept")
    output.out.print(f"{graph} has {turns} and {concepts} pinned")


def feedback(
    graph: output.Graph,
    *,
    right: Annotated[list[str] | None, typer.Option(help="Turn id that was relevant; repeatable.")] = None,
    wrong: Annotated[list[str] | None, typer.Option(help="Turn id that was not relevant; repeatable.")] = None,
    query: Annotated[
        str | None, typer.Option(help="The question; its concepts are linked with the right turns.")
    ] = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Rate turns of an answer as right or wrong, so that they rank higher or lower from now on."""
    judged = {1: right or [], -1: wrong or []}
    if not any(judged.values()):
        output.fail("no turns named: give --right ID or --wrong ID", output.USAGE)

    async def judge(memory: MemoryClient) -> Outcome:
        requests = [{"graph": graph, "turns": ids, "value": rating, "query": query} for rating, ids in judged.items()]
        return [accepted(await memory.send(build(Feedback, each))) for each in requests if each["turns"]][-1]

    source, _ = _changed(graph, timeout, judge)
    if json:
        named = {"right": judged[1], "wrong": judged[-1]}
        output.print_json({"graph": graph, "status": "accepted", **named, "source": source})
    else:
        output.out.print(f"{graph} took note: {len(judged[1])} right, {len(judged[-1])} wrong")


def end(
    graph: output.Graph,
    session: Annotated[str, typer.Argument(help="Session to end.")] = "main",
    *,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Mark a conversation as finished and summarise it; the next session inherits the summary."""
    summary: dict[str, Any] = {}

    async def ended(memory: MemoryClient) -> Outcome:
        outcome = accepted(await memory.send(build(EndSession, {"graph": graph, "session": session})))
        question = build(Recap, {"graph": graph, "sessions": [session], "words": 0})
        if reply := (await memory.send(question, after=outcome.position.source)).sessions[0].ended:
            summary.update(summary=reply.summary, turns=reply.turns, by=reply.by)
        return outcome

    source, _ = _changed(graph, timeout, ended)
    if json:
        output.print_json({"graph": graph, "session": session, "status": "accepted", "source": source, **summary})
    else:
        reply = summary.get("summary") or "no summary: nothing in it stands out"
        output.out.print(f"{escape(session)} ended: {escape(reply)}")


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
    _show_switches(_changed(graph, timeout, lambda memory: switches.pause(memory, graph, **which), begins=True), json)


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
    _show_switches(_changed(graph, timeout, lambda memory: switches.resume(memory, graph, **which), begins=True), json)


def grant(
    graph: output.Graph,
    subject: Subject,
    *,
    right: Rights,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Grant a user or program access to a graph; after the first grant, only you and those you named have access."""
    _change_rights(Grant, graph, subject, right, timeout=timeout, json=json)


def revoke(
    graph: output.Graph,
    subject: Subject,
    *,
    right: Rights,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Take a right in a graph away from a user or program."""
    _change_rights(Revoke, graph, subject, right, timeout=timeout, json=json)


def _changed(
    graph: str, timeout: float, call: Callable[[MemoryClient], Awaitable[Outcome]], *, begins: bool = False
) -> tuple[int, Description]:
    """Send a command; return the offset of its record, and the graph's description afterwards.  Exits if it is refused.

    begins  whether the command may be the first of a graph; otherwise exits if the graph is unknown
    """

    async def done() -> tuple[int, Description] | None:
        async with connected_session(output.settings(), timeout, begins=begins) as connected:
            memory = connected.memory
            if not begins and not (await memory.describe(graph)).found:
                return None
            source = accepted(await call(memory)).position.source
            return source, await memory.describe(graph, after=source)

    return output.run(done()) or output.fail_unknown(graph)


def _which(recording: bool, recalling: bool) -> dict[str, bool]:  # noqa: FBT001 - the options of the command line
    both = recording == recalling
    return {"recording": recording or both, "recalling": recalling or both}


def _show_switches(change: tuple[int, Description], json: bool) -> None:  # noqa: FBT001 - the option --json
    described = change[1]
    switches = {name: described.settings[name] == 1 for name in ("recording", "recalling")}
    if json:
        output.print_json({"graph": described.graph, **switches, "unrecorded": described.unrecorded})
        return
    records = "records turns" if switches["recording"] else "records no turns"
    recalls = "answers queries" if switches["recalling"] else "answers no queries"
    output.out.print(f"{described.graph} {records} and {recalls}", markup=False)
    if described.unrecorded:
        output.tell(f"{output.counted(described.unrecorded, 'turn')} sent while recording was paused: not recorded")


def _change_rights(
    kind: type[Grant | Revoke], graph: str, subject: str, names: list[str], *, timeout: float, json: bool
) -> None:
    for each in names:
        if each not in get_args(Right):
            output.fail(f"--right {each}: choose one of {RIGHTS}", output.USAGE)
    fields = {"graph": graph, "subject": subject, "rights": cast(list[Right], names)}
    _, described = _changed(graph, timeout, lambda memory: memory.send(build(kind, fields)), begins=True)
    if json:
        output.print_json({"graph": described.graph, "access": described.access})
        return
    rows = output.table(f"access to {described.graph}", "subject", "rights")
    for each, rights in described.access.items():
        rows.add_row(each, ", ".join(rights) or "nothing")
    output.out.print(rows)
