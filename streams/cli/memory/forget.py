"""`emgas forget GRAPH [CONCEPT]...`: delete concepts, turns, sessions or everything; the log keeps the past."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from emgas.messages.forgetting import PreviewForget
from emgas.times import format_utc
from streams.cli.shared import output
from streams.cli.shared.client import accepted, ask
from streams.cli.shared.client import session as connected_session

if TYPE_CHECKING:
    from emgas.messages.forgetting import ForgetPreview

KEPT = (
    "The log keeps the past: a query as of an earlier time still finds it.  To delete the text permanently, use "
    "`emgas change erase`: see docs/security.md."
)
SHOWN, LISTED = 10, 100  # turns that are listed for people, and with --json
WIDTH = 100  # characters of a listed turn


def forget(
    graph: output.Graph,
    concepts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[concept]...", help="Concepts to forget, with every turn that mentions one."),
    ] = None,
    *,
    concept: Annotated[list[str] | None, typer.Option(hidden=True)] = None,  # what `concepts` was before
    turn: Annotated[list[str] | None, typer.Option(help="Turn id to forget; repeatable.")] = None,
    session: Annotated[list[str] | None, typer.Option(help="Session id to forget; repeatable.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget everything in the graph.")] = False,
    word_only: Annotated[
        bool, typer.Option("--word-only", help="Forget the concept as a word, and keep turns that say more.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be forgotten.")] = False,
    yes: output.Yes = False,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Delete concepts with the turns that mention them, turns, sessions or everything; queries no longer find them.

    Lists the turns first, and asks.  Exits with 3 for an unknown graph, with 1 if the graph holds none of them.
    """
    named = {"concepts": [*(concepts or []), *(concept or [])], "turns": turn or [], "sessions": session or []}
    if any(named.values()) == everything:
        output.fail("nothing named to forget: name a concept, give --turn or --session, or --all alone", output.USAGE)
    request = {**named, "everything": everything, "word_only": word_only}
    preview = ask(PreviewForget, {"graph": graph, **request, "limit": LISTED}, timeout)
    if not preview.found:
        output.fail_unknown(graph)
    if json and dry_run:
        output.print_json(preview.model_dump(exclude={"kind", "position"}))
        return
    _list(preview)
    if dry_run:
        return
    if not (preview.total or preview.concepts):
        output.fail("none of these is in the graph: nothing to forget")
    output.make_sure(_question(preview, named), yes=yes)
    result = output.run(_forget(graph, request, timeout, preview))
    if json:
        output.print_json(result)
        return
    gone, turns = output.counted(result["concepts"], "concept"), output.counted(result["turns"], "turn")
    report = f"{graph} forgot {gone} and {turns}"
    output.out.print(f"{report}; {output.counted(preview.remains, 'turn')} left")
    output.err.print(KEPT, style="dim")


def _list(preview: ForgetPreview) -> None:
    """List the turns that would be forgotten, on stderr: the latest of them, and how many more there are."""
    for turn in preview.turns[:SHOWN]:
        text = textwrap.shorten(output.shown(turn.text), WIDTH, placeholder=" …")
        line = f"{format_utc(turn.at)} {output.shown(turn.speaker)}: {text}  ({turn.id})"
        output.err.print(line, markup=False)
    if preview.total > SHOWN:
        output.err.print(f"and {output.counted(preview.total - SHOWN, 'more turn')}")
    counts = f"{output.counted(preview.total, 'turn')} and {output.counted(preview.concepts, 'concept')}"
    output.err.print(f"{counts} to forget; {output.counted(preview.remains, 'turn')} would be left")


def _question(preview: ForgetPreview, named: Mapping[str, Sequence[str]]) -> str:
    what = ", ".join(f"{kind.removesuffix('s')} {name}" for kind, names in named.items() for name in names)
    counted = output.counted(preview.total, "turn")
    return f"This makes graph {preview.graph} forget {what or 'everything it holds'}: {counted}"


async def _forget(graph: str, request: Mapping[str, Any], timeout: float, preview: ForgetPreview) -> dict[str, Any]:
    """Send the request, for as many turns as were listed; return what was deleted.  Raises EmgasError if refused."""
    async with connected_session(output.settings(), timeout, begins=False) as connected:
        outcome = accepted(await connected.memory.forget(graph, **request, expected=preview.total))
    counts = {"concepts": preview.concepts, "turns": preview.total, "remains": outcome.remains}
    return {"graph": graph, "status": "accepted", **counts, "source": outcome.position.source}
