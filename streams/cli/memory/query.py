"""`emgas query GRAPH TEXT`: search a graph, and show the concepts and passages that answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emgas.errors import EmgasError
from emgas.times import format_utc, wall_clock
from streams.cli.memory import query_options
from streams.cli.shared import output
from streams.cli.shared.client import has_reader, session
from streams.cli.shared.times import METAVAR

if TYPE_CHECKING:
    from emgas.client.several import Merged
    from emgas.messages.queries import Query, RecalledPassage, Reply
    from emgas.messages.settings.modes import How

Names = list[str]


def _list_options(requested: bool) -> None:  # noqa: FBT001 - a callback
    if requested:
        query_options.show()
        raise typer.Exit


def query(
    context: typer.Context,
    graph: output.Graph,
    text: Annotated[str, typer.Argument(help="Question to search for.")],
    *,
    top: Annotated[
        int | None, typer.Option(min=1, max=100, help="Maximum number of concepts and passages; automatic by default.")
    ] = None,
    budget: Annotated[int, typer.Option(min=0, help="Maximum size of the context in tokens.")] = 1000,
    since: Annotated[str | None, typer.Option(metavar=METAVAR, help="Only turns said at or after this time.")] = None,
    until: Annotated[str | None, typer.Option(metavar=METAVAR, help="Only turns said before this time.")] = None,
    speakers: Annotated[Names | None, typer.Option("--speaker", help="Only turns of this speaker; repeatable.")] = None,
    sessions: Annotated[Names | None, typer.Option("--session", help="Only turns of this session; repeatable.")] = None,
    asker: Annotated[str | None, typer.Option(help="Speaker who asks: what `I` and `my` refer to.")] = None,
    as_of: Annotated[
        str | None, typer.Option(metavar=METAVAR, help="Query the graph as of this time: 2023-05-08T14:00.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Explain why each passage was found.")] = False,
    reinforce: Annotated[
        bool, typer.Option("--reinforce", help="Strengthen the memories that this query recalls.")
    ] = False,
    json: output.Json = False,
    filters: Annotated[
        Names | None,
        typer.Option("--filter", metavar="KEY=VALUE", help="Only turns like this, as role=user; repeatable."),
    ] = None,
    options: Annotated[
        Names | None,
        typer.Option("--option", metavar="KEY=VALUE", help="Any other option, as mode=path; repeatable."),
    ] = None,
    list_options: Annotated[
        bool,
        typer.Option(
            "--options", help="List the keys of --filter and --option.", callback=_list_options, is_eager=True
        ),
    ] = False,
) -> None:
    """Search a memory: show the concepts, turns and prompt context that answer a question.

    Exits with 3 for an unknown graph.
    """
    from emgas.client.query_arguments import build_query  # here: --help needs none of it

    only: dict[str, Any] = {"sessions": sessions or [], "speakers": speakers or [], "since": since, "until": until}
    fields: dict[str, Any] = {"graph": graph, "text": text, "budget": budget, "explain": explain, "asker": asker}
    written: query_options.TypedOptions = context.obj
    fields |= {"reinforce": reinforce, "as_of": as_of, **query_options.parse("option", options or [], written)}
    _check_asks(fields)
    also, timeout = fields.pop("also", []), fields.pop("timeout", output.timeout())
    if timeout <= 0:
        output.fail(f"{written.fields['timeout']}: must be more than 0", output.USAGE)
    for fallback in ("recent", "nearest"):
        fields |= {"fallback": fallback} if fields.pop(fallback, False) else {}
    fields |= {"guidance": query_options.guidance(fields.pop("guide"), written)} if "guide" in fields else {}
    fields |= {} if top is None else {"top_concepts": top, "top_passages": top}
    only |= query_options.parse("filter", filters or [], written)
    names = {"budget": f"--budget {budget}", "asker": f"--asker {asker}", **written.fields}
    with output.explained(), output.naming_options(names):  # a wrong call is reported even if there is no memory
        request = build_query(fields.pop("spreading", None), only, fields)
    if also:
        _show_merged(output.run(_ask_several([graph, *also], request, timeout)), request.timezone or "UTC", json=json)
        return
    reply = output.run(_ask(request, timeout))
    if json:
        output.print_json(reply.model_dump())
    elif reply.found:
        show(reply)
    if not reply.found:
        output.fail_unknown(graph, request.as_of)


query.command_class = query_options.QueryCommand  # type: ignore[attr-defined]  # which takes former options too


def _check_asks(fields: dict[str, Any]) -> None:
    """Exit if the question is empty, and nothing else says what to look for."""
    if not fields["text"].strip() and not {"like", "memory"} & fields.keys():
        output.fail(
            'the question is empty: write what you want to know, as in `emgas query ada "what broke?"`', output.USAGE
        )


async def _ask(request: Query, seconds: float) -> Reply:
    settings = output.settings()
    async with session(settings, seconds, begins=False) as connected:
        if not await has_reader(settings, seconds):
            raise EmgasError(
                "no worker is running that answers queries: start `emgas worker` on this broker (with --role reader "
                "if its workers are writers), and ask again"
            )
        return await connected.memory.send(request)


async def _ask_several(graphs: Sequence[str], request: Query, seconds: float) -> Merged:
    from emgas.client.several import distinct_graphs, query_all  # here: --help needs none of it

    async with session(output.settings(), seconds, begins=False) as connected:

        async def ask(graph: str, budget: int) -> Reply:
            return await connected.memory.send(request.model_copy(update={"graph": graph, "budget": budget}))

        return await query_all(distinct_graphs(graphs), ask, request.budget, request.top_passages)


def _show_merged(merged: Merged, timezone: str, *, json: bool) -> None:
    """Print the answers of several graphs, with times in `timezone`."""
    if json:
        output.print_json(merged.model_dump())
        return
    for each in merged.graphs:
        if each.failure is not None:
            output.warn(f"{each.graph}: {each.failure.message}")
        elif not each.found:
            output.warn(f"{each.graph}: there is no such graph yet")
    rows = output.table("passages", "graph", "rank#", "when", "who", "what")
    for match in merged.passages:
        passage = match.passage
        when = format_utc(wall_clock(passage.at, timezone))
        rows.add_row(escape(match.graph), str(match.rank), when, *map(escape, _who_and_what(passage)))
    output.out.print(rows)
    output.out.print(f"context: {merged.tokens} tokens", style="dim")


def _show_how(how: How) -> None:
    """Print the mode that answered, its constants, its stages, and the effect of guidance."""
    constants = ", ".join(f"{name} {value:g}" for name, value in how.constants.items())
    text = [f"mode {how.mode} ({how.source}); weighting {how.weighting}, window {how.window}"]
    text += [constants] if constants else []
    text += [f"complexity {how.complexity:.2f}"]
    output.out.print("; ".join(text), style="dim", markup=False)
    for stage in how.stages:
        tests = {"mass": stage.mass, "coverage": stage.coverage}
        report = ", ".join(f"{name} {value:.2f}" for name, value in tests.items() if value is not None)
        enough = "" if stage.enough is None else "; enough" if stage.enough else "; not enough"
        line = f"  {stage.name}: {stage.found} found{', ' if report else ''}{report}{enough}"
        output.out.print(line, style="dim", markup=False)
    if how.guidance is not None:
        guided = how.guidance
        parts = (
            [f"{guided.passages} passages"]
            if guided.depth is None
            else [f"depth {guided.depth:.2f}: {guided.passages} passages"]
        )
        parts += [f"sought too: {', '.join(guided.words)}"] if guided.words else []
        parts += [f"did nothing: {', '.join(guided.unknown)}"] if guided.unknown else []
        parts += (
            [", ".join(f"{name} × {weight:g}" for name, weight in guided.weights.items())] if guided.weights else []
        )
        output.out.print(f"  guided: {'; '.join(parts)}", style="dim", markup=False)


def show(reply: Reply) -> None:
    """Print a reply for people."""
    from streams.cli.shared.why import why  # here: --help needs none of it

    if reply.paused:
        report = f"recalling is paused in {reply.graph}: `emgas change resume {reply.graph}`"
        output.out.print(report, markup=False)
        return
    if not reply.matched:
        instead = "Instead:" if reply.passages else "(--nearest shows what comes nearest.)"
        output.out.print(f"{reply.note} {instead}", markup=False)
    _show_concepts(reply)
    _show_relations(reply)
    _show_passages(reply)
    for passage in reply.passages:
        if passage.why is not None:
            output.out.print(why(passage, passage.why))
    if reply.how is not None:
        _show_how(reply.how)
    where, took = reply.position, reply.timing.recall_ms
    report = f"context: {reply.tokens} tokens; partition {where.partition} at {where.watermark}; {took:.1f} ms"
    output.out.print(report, style="dim")


def _show_concepts(reply: Reply) -> None:
    concepts = output.table("concepts", "concept", "energy#", "woken along")
    for concept in reply.concepts:
        concepts.add_row(escape(concept.label), f"{concept.energy:.3f}", escape(" → ".join(concept.path)))
    if reply.concepts:
        output.out.print(concepts)


def _show_relations(reply: Reply) -> None:
    for relation in reply.relations:
        ends = f"{relation.source_label} {relation.type} {relation.target_label}"
        times, history = output.counted(relation.times, "time"), ", history" if relation.history else ""
        line = f"{ends}: {times}, last {format_utc(relation.last)}{history}"
        output.out.print(line, markup=False)


def _who_and_what(passage: RecalledPassage) -> tuple[str, str]:
    """Return a row's speaker and text; a habit, which no one said, is marked as in the context."""
    if passage.kind == "habit":
        return f"(habit of {passage.speaker})", passage.text.removeprefix(f"{passage.speaker}:").strip()
    return passage.speaker, passage.text if passage.masked is None else passage.masked


def _show_passages(reply: Reply) -> None:
    from streams.cli.shared.why import score  # here: --help needs none of it

    passages = output.table("passages", "score#", "when", "who", "what")
    for passage in reply.passages:
        who, what = _who_and_what(passage)
        text = escape(what) + (" [dim](from the archive)[/dim]" if passage.archived else "")
        text += " [dim](history)[/dim]" if passage.superseded_by else ""
        when = format_utc(wall_clock(passage.at, reply.timezone))
        passages.add_row(score(passage.score), when, escape(who), text)
    if reply.passages:
        output.out.print(passages)
