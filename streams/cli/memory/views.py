"""Views of a graph: recap, trend, explore, recent, habits and themes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from emgas.limits import RING_TURNS
from emgas.messages.queries import Describe
from emgas.messages.relations import RelationType
from emgas.messages.sessions import Recent
from emgas.messages.views import Explore, Habits, Period, Recap, Trend
from emgas.times import format_utc
from streams.cli.shared import output
from streams.cli.shared.client import ask
from streams.cli.shared.times import METAVAR, time

if TYPE_CHECKING:
    from emgas.messages.queries import Description, Theme
    from emgas.messages.sessions import InMind
    from emgas.messages.views import Explored, KnownConcept, Recapped, Recurring, SessionRecap, Trended

NAMED_KINDS = ("person", "place", "organisation", "product", "time", "number")  # other kinds are ways of extraction
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
SHOWN = 12  # concepts per theme; --json has all
AsOf = Annotated[
    int | None,
    typer.Option(parser=time, metavar=METAVAR, help="Show the graph as of this time: 2023-05-08T14:00 (UTC)."),
]


def recap(
    graph: output.Graph,
    *,
    session: Annotated[list[str] | None, typer.Option(help="Only this session; repeatable.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Number of sessions, latest first.")] = 5,
    skip: Annotated[int, typer.Option(min=0, help="Number of latest sessions to skip.")] = 0,
    words: Annotated[int, typer.Option(min=0, help="Maximum length of each summary in words.")] = 60,
    topics: Annotated[bool, typer.Option("--topics", help="Split each session into topics.")] = False,
    as_of: AsOf = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Summarise the last conversations with quotes from them.

    Exits with 3 for an unknown graph.
    """
    options = {"limit": limit, "skip": skip, "words": words, **({"topics": True} if topics else {})}
    fields = {"graph": graph, "sessions": session or [], "as_of": as_of, **options}
    output.show(ask(Recap, fields, timeout), _show_sessions, json=json, as_of=as_of)


def trend(
    graph: output.Graph,
    text: Annotated[
        str | None, typer.Argument(help="A question or words to count, as latte; all turns by default.")
    ] = None,
    *,
    speaker: Annotated[list[str] | None, typer.Option(help="Only turns of this speaker; repeatable.")] = None,
    session: Annotated[list[str] | None, typer.Option(help="Only turns of this session; repeatable.")] = None,
    by: Annotated[Period, typer.Option(help="Period to count by.")] = "week",
    offset: Annotated[int, typer.Option(help="Your offset from UTC in minutes, which decides when a day begins.")] = 0,
    moods: Annotated[bool, typer.Option("--moods", help="Also count the moods of the speakers.")] = False,
    as_of: AsOf = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Count how often something is mentioned over time, with gaps.

    Exits with 3 for an unknown graph.
    """
    only = {"speakers": speaker or [], "sessions": session or []}
    options: dict[str, Any] = {"only": only, "by": by, "offset": offset, "moods": moods, "as_of": as_of}
    reply = ask(Trend, {"graph": graph, "text": text, **options}, timeout)
    output.show(reply, lambda reply: _show_trend(text, reply, by), json=json, as_of=as_of)


def explore(
    graph: output.Graph,
    concept: Annotated[str, typer.Argument(help="Concept, by id or as written.")],
    *,
    to: Annotated[str | None, typer.Option(help="Show the paths to this other concept.")] = None,
    hops: Annotated[
        int | None, typer.Option(min=1, max=3, help="Maximum number of links to follow; 1, or 3 with --relation.")
    ] = None,
    relation: Annotated[
        RelationType | None, typer.Option(help="Infer what this relation implies, as lives-in.")
    ] = None,
    limit: Annotated[int, typer.Option(min=0, max=100, help="Maximum number of neighbours.")] = 10,
    as_of: AsOf = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Show a concept: its strength, relations, neighbours, and paths to other concepts.

    Exits with 3 for an unknown graph or concept.
    """
    options: dict[str, Any] = {"to": to, "hops": hops, "relation": relation, "limit": limit, "as_of": as_of}
    reply = ask(Explore, {"graph": graph, "concept": concept, **options}, timeout)
    if json:
        output.print_json(reply.model_dump())
    if reply.concept is None:
        output.fail(f"there is no concept {concept} in graph {graph}, or no such graph", output.MISSING)
    elif not json:
        _show_concept(reply.concept, reply)


def recent(
    graph: output.Graph,
    *,
    session: Annotated[str | None, typer.Option(help="Session to show; the latest by default.")] = None,
    limit: Annotated[int, typer.Option(min=0, max=RING_TURNS, help="Number of last turns to show.")] = 10,
    as_of: AsOf = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Show the working memory of a session: its last turns, its keywords, and the summary of the session before.

    Exits with 3 for an unknown graph.
    """
    fields = {"graph": graph, "session": session, "limit": limit, "as_of": as_of}
    output.show(ask(Recent, fields, timeout), _show_mind, json=json, as_of=as_of)


def habits(
    graph: output.Graph,
    text: Annotated[
        str | None, typer.Argument(help="A question or words to search for, as latte; all habits by default.")
    ] = None,
    *,
    speaker: Annotated[str | None, typer.Option(help="Only habits of this speaker.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of habits, most frequent first.")] = 20,
    as_of: AsOf = None,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """List habits: what recurs, how often, since when, and the exceptions.

    Exits with 3 for an unknown graph.
    """
    fields = {"graph": graph, "text": text, "speaker": speaker, "limit": limit, "as_of": as_of}
    output.show(ask(Habits, fields, timeout), show_habits, json=json, as_of=as_of)


def themes(
    graph: output.Graph,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
) -> None:
    """Show the topics of a graph: groups of related concepts.

    Exits with 3 for an unknown graph.
    """
    described = ask(Describe, {"graph": graph}, timeout)
    if json:
        listed = [theme.model_dump() for theme in described.themes]
        output.print_json({"graph": graph, "found": described.found, "themes": listed})
    elif described.found:
        _show_themes(described)
    if not described.found:
        output.fail_unknown(graph)


def _show_sessions(reply: Recapped) -> None:
    for each in reply.sessions:
        _show_session(each)
    output.tell(f"{len(reply.sessions)} of {reply.total} sessions")


def _show_session(reply: SessionRecap) -> None:
    who, about = ", ".join(reply.speakers), ", ".join(reply.concepts)
    state = reply.state if reply.ended is None else f"{reply.state}, {reply.ended.reason}"
    turns = output.counted(reply.turns, "turn")
    head = f"[bold]{escape(reply.session)}[/]  {format_utc(reply.since)}, {turns}, {escape(who)} ({state})"
    output.out.print(head)
    output.out.print(f"  [dim]{escape(about)}[/]")
    for quote in reply.summary:
        line = f"  [cyan]{escape(quote.speaker)}[/] {escape(quote.text)}"
        output.out.print(line)
    for part in reply.topics:
        summary = " ".join(quote.text for quote in part.summary)
        line = f"  [bold]{escape(part.topic)}[/] ({output.counted(part.turns, 'turn')}) {escape(summary)}"
        output.out.print(line)


def _show_trend(text: str | None, reply: Trended, by: Period) -> None:
    if not reply.turns or reply.first is None or reply.last is None:
        output.tell("there are no turns" if text is None else f"no turn mentions {text!r}")
        return
    columns = [by, "turns", *(["moods"] if reply.moods else [])]
    often = f"{output.counted(reply.turns, 'turn')} on {output.counted(reply.days, 'day')}"
    rows = output.table(f"{', '.join(reply.concepts) or 'all'}: {often}", *columns)
    for period in reply.periods:
        felt = ", ".join(f"{mood} {count}" for mood, count in period.moods.items())
        rows.add_row(*[format_utc(period.since)[:10], str(period.turns), felt][: len(columns)])
    output.out.print(rows)
    every = "" if reply.every is None else f", typically every {reply.every:g} days"
    on_days = " ".join(f"{day} {count}" for day, count in zip(DAYS, reply.weekdays, strict=True) if count)
    output.tell(f"first {format_utc(reply.first)}, last {format_utc(reply.last)}{every}; {on_days}")
    for pause in reply.pauses:
        output.tell(f"not from {format_utc(pause.since)[:10]} to {format_utc(pause.until)[:10]}")
    if not reply.all:
        output.tell("no turn contains all of these words: these are turns with some of them")


def _show_concept(concept: KnownConcept, reply: Explored) -> None:
    marks = [name for name in ("pinned", "anchored", "archived", "long_term") if getattr(concept, name)]
    since = format_utc(concept.created)
    name = f"{concept.label} ({concept.of})" if concept.of in NAMED_KINDS else concept.label
    summary = f"{name}: strength {concept.strength:.2f}, in {output.counted(concept.turns, 'turn')}, since {since}"
    output.out.print(escape(", ".join([summary, *marks])))
    for relation in reply.relations:
        ends = f"{relation.source_label} {relation.type} {relation.target_label}"
        times, history = output.counted(relation.times, "time"), ", history" if relation.history else ""
        line = f"  {ends}: {times}, last {format_utc(relation.last)}{history}"
        output.out.print(escape(line))
    for inferred in reply.inferred:
        line = f"  → {inferred.label}: confidence {inferred.confidence:.2f}, {' → '.join(inferred.path)}"
        output.out.print(escape(line))
    rows = output.table("", "linked with", "strength", "times", "way")
    for each in reply.neighbours:
        rows.add_row(escape(each.label), f"{each.strength:.4f}", str(each.times), escape(" → ".join(each.path)))
    output.out.print(rows)
    for way in reply.paths:
        output.out.print(escape(" → ".join(way)))


def _show_mind(reply: InMind) -> None:
    if reply.paused:
        output.tell(f"recalling is paused in {reply.graph}: `emgas change resume {reply.graph}`")
        return
    if reply.inherited is not None:
        before = reply.inherited
        head = f"[dim]before, in {escape(before.session)} ({format_utc(before.at)}):[/]"
        output.out.print(head)
        for line in before.summary.splitlines():
            output.out.print(f"  [dim]{escape(line)}[/]")
    output.out.print(f"[bold]{escape(reply.session)}[/]  {reply.state}")
    for turn in reply.turns:
        line = f"  [dim]{format_utc(turn.at)}[/] [cyan]{escape(turn.speaker)}[/] {escape(turn.text)}"
        output.out.print(line)
    if reply.keywords:
        output.tell(f"about {', '.join(reply.keywords)}")
    output.tell(f"{len(reply.turns)} of {reply.total} turns in mind")


def show_habits(reply: Recurring) -> None:
    """Print habits, and which of them are similar."""
    names = {habit.id: f"{', '.join(habit.concepts) or habit.id} ({habit.speaker})" for habit in reply.habits}
    for habit in reply.habits:
        output.out.print(escape(habit.text))
        turns = escape(f"{habit.id}, latest turns: {', '.join(habit.members[-5:])}")
        output.out.print(f"  [dim]{turns}[/]")
    for group in reply.groups:
        output.tell(f"similar habits: {'; '.join(names[habit] for habit in group.habits)}")
    counted = f"{len(reply.habits)} of {output.counted(reply.total, 'habit')}"
    output.tell(counted if reply.total else "no habits: nothing recurred often enough")


def _show_themes(described: Description) -> None:
    title = f"{described.graph}: {output.counted(len(described.themes), 'theme')}"
    rows = output.table(title, "theme", "concepts", "since")
    for theme in described.themes:
        name = theme.label if theme.name is None else f"{theme.name} ({theme.label})"
        rows.add_row(escape(name), escape(_listed(theme)), format_utc(theme.born))
    output.out.print(rows)
    kept = f"{described.turns} turns, {described.concepts} concepts, {described.long_term} of them long-term"
    archive = f"in the archive: {described.archived} turns, {described.archived_concepts} concepts"
    report = f"{kept}; {archive}; its time is {format_utc(described.clock)}"
    output.out.print(report, style="dim")


def _listed(theme: Theme) -> str:
    more = len(theme.concepts) - SHOWN
    return ", ".join(theme.concepts[:SHOWN]) + (f", and {more} more" if more > 0 else "")
