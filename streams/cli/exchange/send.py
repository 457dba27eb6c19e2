"""`emgas admin send GRAPH KIND FIELD=VALUE …`: send any message to a graph and print its answer.

Every command and question of a graph can be sent, also one that has no command of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from emgas.errors import EmgasError
from streams.cli.shared import output
from streams.cli.shared.client import session as connected_session

if TYPE_CHECKING:
    from emgas.messages.requests import AnswerMessage, Command, GraphQuestion


def send(
    graph: output.Graph,
    kind: Annotated[str, typer.Argument(help="Kind of the message, such as pin or recap: docs/wire.md lists them.")],
    fields: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIELD=VALUE]...", help="Its fields: text as it is, anything else as JSON."),
    ] = None,
    *,
    timeout: output.Timeout = output.TIMEOUT,
) -> None:
    """Send any command or question to a graph, and print its answer as JSON.

    Exits with 3 for an unknown graph.
    """
    answer = output.run(_send(graph, kind, fields or [], timeout))
    output.print_json(answer.model_dump())
    if getattr(answer, "found", True) is False:
        output.fail_unknown(graph)


async def _send(graph: str, kind: str, fields: list[str], timeout: float) -> AnswerMessage:
    message = _message(graph, kind, dict(map(_field, fields)))
    async with connected_session(output.settings(), timeout) as connected:
        answer: AnswerMessage = await connected.memory.send(message)
    if getattr(answer, "status", None) == "rejected":
        raise EmgasError(getattr(answer, "reason", None) or f"the {kind} was refused")
    return answer


def _field(text: str) -> tuple[str, Any]:
    """Parse a field: `limit=3`, `turns=["t1"]`, `text=what broke?`."""
    name, equals, value = text.partition("=")
    if not equals:
        output.fail(f"{text}: write each field as FIELD=VALUE", output.USAGE)
    try:
        return name, orjson.loads(value)
    except orjson.JSONDecodeError:
        return name, value


def _message(graph: str, kind: str, fields: dict[str, Any]) -> Command | GraphQuestion:
    from emgas.messages.requests import GraphQuestion  # here: --help needs none of it
    from emgas.messages.topics import COMMANDS, QUESTIONS
    from emgas.validation import build

    kinds: dict[str, type[Command | GraphQuestion]] = {each.tag(): each for each in COMMANDS}
    kinds |= {each.tag(): each for each in QUESTIONS if issubclass(each, GraphQuestion)}
    if kind not in kinds:
        output.fail(f"{kind}: choose one of {', '.join(sorted(kinds))}", output.USAGE)
    return build(kinds[kind], {**fields, "graph": graph})
