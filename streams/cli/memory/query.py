"""`emgas query GRAPH TEXT`: search a graph, and show the concepts and passages that answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, get_args

import orjson
import typer
from rich.markup import escape

from emgas.errors import EmgasError
from emgas.messages.modes import Guidance, Mode, Preference, Rerank, Weighting
from emgas.times import format_utc, wall_clock
from streams.cli.shared import output
from streams.cli.shared.client import has_reader, session
from streams.cli.shared.times import METAVAR

if TYPE_CHECKING:
    from emgas.messages.modes import How
    from emgas.messages.queries import Query, Reply
    from emgas.messages.several import Merged

Names = list[str]
GUIDANCE: Final = (
    *(name for name in Guidance.model_fields if name not in ("kinds", "type_weights")),
    *get_args(Preference),
)


def query(
    graph: output.Graph,
    text: Annotated[str, typer.Argument(help="Question to search for.")],
    *,
    mode: Annotated[
        str | None, typer.Option(help=f"Retriever: {', '.join(get_args(Mode))}; the graph's own by default.")
    ] = None,
    weighting: Annotated[
        str | None, typer.Option(help=f"Link weights: {', '.join(get_args(Weighting))}; the mode's own by default.")
    ] = None,
    rerank: Annotated[str | None, typer.Option(help=f"Rerank the best results: {', '.join(get_args(Rerank))}.")] = None,
    spreading: Annotated[
        Names | None,
        typer.Option(metavar="KEY=VALUE", help="Override a constant of the mode, as window=round; repeatable."),
    ] = None,
    guide: Annotated[
        Names | None,
        typer.Option(metavar="KEY=VALUE", help=f"Guide the search: {', '.join(GUIDANCE)}, or a relation; repeatable."),
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=0, max=100, help="Maximum number of concepts and passages; automatic by default.")
    ] = None,
    budget: Annotated[int, typer.Option(min=0, help="Maximum size of the context in tokens.")] = 1000,
    context_passages: Annotated[int | None, typer.Option(min=0, help="Maximum number of turns in the context.")] = None,
    load: Annotated[
        float | None, typer.Option(min=0, max=1, help="Show fewer results (0: up to nine, 1: up to five).")
    ] = None,
    asker: Annotated[str | None, typer.Option(help="Speaker who asks: what `I` and `my` refer to.")] = None,
    after: Annotated[int | None, typer.Option(help="Wait until the turn at this offset can be queried.")] = None,
    as_of: Annotated[
        str | None, typer.Option(metavar=METAVAR, help="Query the graph as of this time: 2023-05-08T14:00.")
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option(help="Time zone for all times, as Europe/Berlin; the graph's own by default."),
    ] = None,
    reinforce: Annotated[
        bool, typer.Option("--reinforce", help="Strengthen the memories that this query recalls.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Explain why each passage was found.")] = False,
    sessions: Annotated[Names | None, typer.Option("--session", help="Only turns of this session; repeatable.")] = None,
    speakers: Annotated[Names | None, typer.Option("--speaker", help="Only turns of this speaker; repeatable.")] = None,
    roles: Annotated[
        Names | None,
        typer.Option("--role", help="Only turns of this role: user, assistant, system or tool; repeatable."),
    ] = None,
    min_importance: Annotated[
        float | None, typer.Option(help="Only turns of at least this importance, 0 to 1.")
    ] = None,
    pinned: Annotated[bool, typer.Option("--pinned", help="Only pinned turns.")] = False,
    since: Annotated[str | None, typer.Option(metavar=METAVAR, help="Only turns said at or after this time.")] = None,
    until: Annotated[str | None, typer.Option(metavar=METAVAR, help="Only turns said before this time.")] = None,
    about_since: Annotated[
        str | None,
        typer.Option("--about-since", metavar=METAVAR, help="Only turns that mention a time at or after this."),
    ] = None,
    about_until: Annotated[
        str | None, typer.Option("--about-until", metavar=METAVAR, help="Only turns that mention a time before this.")
    ] = None,
    concepts: Annotated[
        Names | None, typer.Option("--concept", help="Only turns that mention this concept; repeatable.")
    ] = None,
    exclude: Annotated[Names | None, typer.Option("--exclude", help="Leave out this turn id; repeatable.")] = None,
    recent: Annotated[bool, typer.Option("--recent", help="Show the latest turns if nothing matches.")] = False,
    no_archive: Annotated[bool, typer.Option("--no-archive", help="Leave out archived turns.")] = False,
    meta: Annotated[
        Names | None, typer.Option("--meta", metavar="KEY=VALUE", help="Only turns with this metadata; repeatable.")
    ] = None,
    memory: Annotated[
        str, typer.Option("--kind", help="Kind of memory: all, working, episodic, semantic or perceptual.")
    ] = "all",
    like: Annotated[
        str | None,
        typer.Option(metavar="TURN", help="Find images or sounds like that of this turn (--kind perceptual)."),
    ] = None,
    render: Annotated[str, typer.Option(help="plain, or masked: with gaps for faded words.")] = "plain",
    conversation: Annotated[
        str | None,
        typer.Option("--in", metavar="SESSION", help="Session in which you ask: what `and then?` refers to."),
    ] = None,
    also: Annotated[
        Names | None, typer.Option("--also", metavar="GRAPH", help="Query this graph too; repeatable.")
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for the answer.")] = 10.0,
    json: output.Json = False,
) -> None:
    """Search a memory: show the concepts, turns and prompt context that answer a question.

    Exits with 3 for an unknown graph.
    """
    from emgas.client.query_arguments import build_query  # here: --help needs none of it
    from emgas.messages.queries import MemoryKind, Render

    for option, value, choices in (
        ("mode", mode, get_args(Mode)),
        ("weighting", weighting, get_args(Weighting)),
        ("rerank", rerank, get_args(Rerank)),
    ):
        _check_choice(option, value, choices)
    if memory not in get_args(MemoryKind):
        output.fail(f"--kind {memory}: choose one of {', '.join(get_args(MemoryKind))}", output.USAGE)
    if render not in get_args(Render):
        output.fail(f"--render {render}: choose one of {', '.join(get_args(Render))}", output.USAGE)
    named = {"sessions": sessions, "speakers": speakers, "concepts": concepts, "exclude": exclude}
    only: dict[str, Any] = {name: values or [] for name, values in named.items()}
    only |= {"spoken_since": about_since, "spoken_until": about_until}
    only |= {"roles": roles or [], "min_importance": min_importance, "pinned": pinned or None}
    only |= {"since": since, "until": until, "metadata": _pairs("meta", meta), "include_archive": not no_archive}
    options: dict[str, Any] = {"mode": mode, "budget": budget, "explain": explain, "reinforce": reinforce}
    options |= {"weighting": weighting, "rerank": rerank, "guidance": _guidance(_pairs("guide", guide))}
    options |= {"fallback": "recent"} if recent else {}
    options |= {
        "context_passages": context_passages,
        "load": load,
        "asker": asker,
        "memory": memory,
        "session": conversation,
        "like": like,
        "render": render,
    }
    if top is not None:
        options |= {"top_concepts": top, "top_passages": top}
    with output.explained():  # a wrong call is reported even if there is no memory
        times = {"as_of": as_of, "timezone": timezone}
        request = build_query(
            _pairs("spreading", spreading), only, {**options, **times, "graph": graph, "text": text, "after": after}
        )
    if also:
        _show_merged(output.run(_ask_several([graph, *also], request, timeout)), timezone or "UTC", json=json)
        return
    reply = output.run(_ask(request, timeout))
    if json:
        output.print_json(reply.model_dump())
    elif reply.found:
        show(reply)
    if not reply.found:
        output.fail_unknown(graph, request.as_of)


async def _ask(request: Query, seconds: float) -> Reply:
    settings = output.settings()
    async with session(settings, seconds, begins=False) as connected:
        if not await has_reader(settings, seconds):
            raise EmgasError(
                "no worker is running that answers queries: start `emgas worker` on this broker (with --role reader "
                "if its workers are writers), and ask again"
            )
        return await connected.memory.ask(request)


async def _ask_several(graphs: Sequence[str], request: Query, seconds: float) -> Merged:
    from emgas.client.several import distinct_graphs, query_all  # here: --help needs none of it

    async with session(output.settings(), seconds, begins=False) as connected:

        async def ask(graph: str, budget: int) -> Reply:
            return await connected.memory.ask(request.model_copy(update={"graph": graph, "budget": budget}))

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
        rows.add_row(escape(match.graph), str(match.rank), when, escape(passage.speaker), escape(passage.text))
    output.out.print(rows)
    output.out.print(f"context: {merged.tokens} tokens", style="dim")


def _check_choice(option: str, value: str | None, choices: Sequence[str]) -> None:
    if value is not None and value not in choices:
        output.fail(f"--{option} {value}: choose one of {', '.join(choices)}", output.USAGE)


def _pairs(option: str, values: Sequence[str] | None) -> dict[str, Any]:
    """Parse each KEY=VALUE; a value is a number, true, false, null or a "string" of JSON, else a string."""
    for each in values or ():
        if "=" not in each:
            output.fail(f"--{option} {each}: write KEY=VALUE", output.USAGE)
    return {key: _value(value) for key, _, value in (each.partition("=") for each in values or ())}


def _guidance(values: Mapping[str, Any]) -> dict[str, Any]:
    """Sort the values of --guide into the fields of `Guidance`: kinds and relations have fields of their own."""
    from emgas.messages.relations import RELATION_TYPES  # here: --help needs none of it

    for key in values:
        _check_choice("guide", key, (*GUIDANCE, *RELATION_TYPES))
    fields = {key: value for key, value in values.items() if key in Guidance.model_fields}
    kinds = {key: value for key, value in values.items() if key in get_args(Preference)}
    types = {key: value for key, value in values.items() if key in RELATION_TYPES}
    return fields | {"kinds": kinds, "type_weights": types}


def _value(text: str) -> Any:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return text if isinstance(value, dict | list) else value


def _show_how(how: How) -> None:
    """Print the mode that answered, its constants, its stages, and the effect of guidance."""
    constants = ", ".join(f"{name} {value:g}" for name, value in how.constants.items())
    text = [f"mode {how.mode} ({how.source}); weighting {how.weighting}, window {how.window}"]
    text += [constants] if constants else []
    text += [f"complexity {how.complexity:.2f}"]
    output.out.print("; ".join(text), style="dim", highlight=False, markup=False)
    for stage in how.stages:
        tests = {"mass": stage.mass, "coverage": stage.coverage}
        report = ", ".join(f"{name} {value:.2f}" for name, value in tests.items() if value is not None)
        enough = "" if stage.enough is None else "; enough" if stage.enough else "; not enough"
        line = f"  {stage.name}: {stage.found} found{', ' if report else ''}{report}{enough}"
        output.out.print(line, style="dim", highlight=False, markup=False)
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
        output.out.print(f"  guided: {'; '.join(parts)}", style="dim", highlight=False, markup=False)


def show(reply: Reply) -> None:
    """Print a reply for people."""
    from streams.cli.shared.why import why  # here: --help needs none of it

    if reply.paused:
        report = f"recalling is paused in {reply.graph}: `emgas resume {reply.graph}`"
        output.out.print(report, highlight=False, markup=False, soft_wrap=True)
        return
    if not reply.matched:
        instead = ": the latest turns instead" if reply.passages else " (use --recent to show the latest turns)"
        output.out.print(f"nothing in {reply.graph} matches this question{instead}", highlight=False, markup=False)
    _show_concepts(reply)
    _show_relations(reply)
    _show_passages(reply)
    for passage in reply.passages:
        if passage.why is not None:
            output.out.print(why(passage, passage.why), highlight=False)
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
        output.out.print(line, highlight=False, markup=False, soft_wrap=True)


def _show_passages(reply: Reply) -> None:
    from streams.cli.shared.why import score  # here: --help needs none of it

    passages = output.table("passages", "score#", "when", "who", "what")
    for passage in reply.passages:
        utterance = passage.text if passage.masked is None else passage.masked
        text = escape(utterance) + (" [dim](from the archive)[/dim]" if passage.archived else "")
        text += " [dim](history)[/dim]" if passage.superseded_by else ""
        passages.add_row(
            score(passage.score), format_utc(wall_clock(passage.at, reply.timezone)), escape(passage.speaker), text
        )
    if reply.passages:
        output.out.print(passages)
