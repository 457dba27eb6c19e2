"""`emgas feedback GRAPH`: say which turns of an answer were right, and which were wrong."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from emgas.errors import EmgasError
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session


def feedback(
    graph: output.Graph,
    *,
    right: Annotated[list[str] | None, typer.Option(help="A turn's id; repeatable.")] = None,
    wrong: Annotated[list[str] | None, typer.Option(help="A turn's id; repeatable.")] = None,
    query: Annotated[str | None, typer.Option(help="What was asked: it is linked with what was right.")] = None,
    timeout: output.Timeout = 10.0,
    json: output.Json = False,
) -> None:
    """Say which turns of an answer were right, and which were wrong: they rank higher, or lower, from now on."""
    judged = {1: right or [], -1: wrong or []}
    if not any(judged.values()):
        output.fail("name the turns: --right ID, --wrong ID", output.USAGE)
    result = output.run(_judged(graph, judged, query, timeout))
    if result is None:
        output.fail_unknown(graph)
    if json:
        output.print_json(result)
        return
    output.out.print(f"{graph} took note: {len(judged[1])} right, {len(judged[-1])} wrong", highlight=False)


async def _judged(graph: str, judged: dict[int, list[str]], query: str | None, timeout: float) -> dict[str, Any] | None:
    """Send what was right, then what was wrong; None for an unknown graph.  Raises EmgasError when it is refused."""
    source = -1
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        if not (await connected.memory.describe(graph)).found:
            return None
        for value, turns in judged.items():
            if turns:
                outcome = await connected.memory.feedback(graph, turns, value, query=query)
                if outcome.status == "rejected":
                    raise EmgasError(outcome.reason or "refused")
                source = outcome.position.source
    return {"graph": graph, "status": "accepted", "right": judged[1], "wrong": judged[-1], "source": source}
