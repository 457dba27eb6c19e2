"""`emgas change feedback GRAPH`: rate the turns of an answer as right or wrong."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from emgas.errors import EmgasError
from emgas.messages.turns import Feedback
from emgas.validation import build
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session


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
    result = output.run(_judged(graph, judged, query, timeout))
    if result is None:
        output.fail_unknown(graph)
    if json:
        output.print_json(result)
        return
    output.out.print(f"{graph} took note: {len(judged[1])} right, {len(judged[-1])} wrong", highlight=False)


async def _judged(graph: str, judged: dict[int, list[str]], query: str | None, timeout: float) -> dict[str, Any] | None:
    """Send the right turns, then the wrong ones; return None for an unknown graph.  Raises EmgasError if refused."""
    source = -1
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        if not (await connected.memory.describe(graph)).found:
            return None
        for value, turns in judged.items():
            if turns:
                outcome = await connected.memory.send(
                    build(Feedback, {"graph": graph, "turns": turns, "value": value, "query": query})
                )
                if outcome.status == "rejected":
                    raise EmgasError(outcome.reason or "the feedback was refused")
                source = outcome.position.source
    return {"graph": graph, "status": "accepted", "right": judged[1], "wrong": judged[-1], "source": source}
