"""`emgas query GRAPH TEXT`: ask a graph, show what woke and what it brought back."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer
from rich.markup import escape

from emgas.messages import Mode, Reply
from processors.context import utc
from streams.cli import output
from streams.cli.client import session
from streams.cli.times import METAVAR, time


def query(
    graph: Annotated[str, typer.Argument(help="Whose memory.")],
    text: Annotated[str, typer.Argument(help="The question.")],
    mode: Annotated[str, typer.Option(help="default, or literal: the original algorithm.")] = "default",
    top: Annotated[int, typer.Option(min=0, max=100, help="Concepts and passages to show.")] = 10,
    budget: Annotated[int, typer.Option(min=0, help="Tokens of context.")] = 1000,
    after: Annotated[int | None, typer.Option(help="Answer once this offset of turns is folded.")] = None,
    as_of: Annotated[
        int | None, typer.Option(parser=time, metavar=METAVAR, help="Ask the graph as it was: 2023-05-08T14:00 (UTC).")
    ] = None,
    reinforce: Annotated[bool, typer.Option("--reinforce", help="Strengthen what is recalled.")] = False,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for the answer.")] = 10.0,
    json: output.Json = False,
) -> None:
    """Ask a graph.  Exits with 3 when nobody ever wrote to it."""
    if mode not in ("default", "literal"):
        output.fail(f"--mode {mode}: choose default or literal", output.USAGE)
    options = {"mode": cast(Mode, mode), "top_concepts": top, "top_passages": top, "budget": budget}
    reply = output.run(_ask(graph, text, timeout, after=after, as_of=as_of, reinforce=reinforce, **options))
    if json:
        output.print_json(reply.model_dump())
    else:
        show(reply, as_of)
    if not reply.found:
        raise typer.Exit(output.NOT_FOUND)


async def _ask(graph: str, text: str, seconds: float, **options: Any) -> Reply:
    async with session(output.settings(), seconds) as connected:
        return await connected.memory.query(graph, text, **options)


def show(reply: Reply, as_of: int | None = None) -> None:
    """Print a reply for people; `as_of`: the time (ms) that was asked about."""
    if not reply.found:
        graph = reply.graph
        told = f"has written to graph {graph} yet" if as_of is None else f"had written to graph {graph} by {utc(as_of)}"
        output.out.print(f"nobody {told}", highlight=False)
        return
    concepts = output.table("concepts", "concept", "energy#", "woken along")
    for concept in reply.concepts:
        concepts.add_row(escape(concept.label), f"{concept.energy:.3f}", escape(" → ".join(concept.path)))
    passages = output.table("passages", "score#", "when", "who", "what")
    for passage in reply.passages:
        passages.add_row(f"{passage.score:.2f}", utc(passage.at), escape(passage.speaker), escape(passage.text))
    output.out.print(concepts, passages)
    where, took = reply.position, reply.timing.recall_ms
    told = f"context: {reply.tokens} tokens; partition {where.partition} at {where.watermark}; {took:.1f} ms"
    output.out.print(told, style="dim")
