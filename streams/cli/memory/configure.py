"""`emgas configure GRAPH`: how a graph fades and consolidates.  Without options it only shows what is in force."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from emgas.errors import EmgasError
from emgas.messages.queries import Description
from state.events.memory_settings import PRESETS
from streams.cli.shared import durations, output
from streams.cli.shared.client import session

DURATIONS = {"half_life", "episode_life", "long_tau", "decay_every", "consolidate_every", "idle", "grace"}
NUMBERS = {
    *("stability", "prune_below", "recall_boost", "long_windows", "long_recalls", "long_beta"),
    *("least_turns", "duplicate_above", "undo_events"),
}


def _duration(help: str) -> Any:
    return typer.Option(parser=durations.milliseconds, metavar="DURATION", help=help)


def _number(help: str) -> Any:
    return typer.Option(help=help)


def configure(
    context: typer.Context,
    graph: output.Graph,
    preset: Annotated[str | None, typer.Option(help=f"One of {', '.join(PRESETS)}.")] = None,
    half_life: Annotated[int | None, _duration("In which a fresh concept loses half its strength.")] = None,
    stability: Annotated[int | None, _number("Percent of half-life that each mention after the first adds.")] = None,
    prune_below: Annotated[float | None, _number("Strength below which a concept is forgotten; 0: never.")] = None,
    episode_life: Annotated[int | None, _duration("After which a turn leaves, whatever it holds; 0s: never.")] = None,
    recall_boost: Annotated[float | None, _number("What a recall adds to a concept's strength.")] = None,
    long_windows: Annotated[int | None, _number("Windows with a mention that make long-term; 0: never.")] = None,
    long_recalls: Annotated[int | None, _number("Recalls that make long-term; 0: never.")] = None,
    long_tau: Annotated[int | None, _duration("Time scale of long-term fading.")] = None,
    long_beta: Annotated[float | None, _number("Steepness of long-term fading.")] = None,
    decay_every: Annotated[int | None, _duration("Windows of forgetting.")] = None,
    consolidate_every: Annotated[int | None, _duration("Windows of consolidation.")] = None,
    idle: Annotated[int | None, _duration("Silence after which a conversation is over.")] = None,
    grace: Annotated[int | None, _duration("How long a window waits for late turns.")] = None,
    least_turns: Annotated[int | None, _number("New turns without which nothing is consolidated.")] = None,
    duplicate_above: Annotated[float | None, _number("Likeness from which turns are merged; from 1 on: never.")] = None,
    undo_events: Annotated[int | None, _number("How many of the last events can be taken back.")] = None,
    timeout: output.Timeout = 10.0,
    json: output.Json = False,
) -> None:
    """Show how a graph lives, and change it.  DURATION: 90m, 7d, 2w.

    What is not given stays as it is; with --preset, it becomes the preset's.  Exits with 3 for an unknown graph, unless
    an option is given: then the graph begins with it.
    """
    given = {name: context.params[name] for name in DURATIONS | NUMBERS if context.params[name] is not None}
    described = output.run(_configure(graph, preset, given, timeout))
    if json:
        output.print_json(described.model_dump(exclude={"themes"}))
    elif described.found:
        _show(described)
    if not described.found:
        output.fail_unknown(graph)


async def _configure(graph: str, preset: str | None, given: dict[str, Any], timeout: float) -> Description:
    begins = preset is not None or bool(given)
    async with session(output.settings(), timeout, begins=begins) as connected:
        memory = connected.memory
        described = await memory.describe(graph)
        if preset is None and not given:
            return described
        kept = {} if preset else described.settings
        outcome = await memory.configure(graph, preset or described.preset, **{**kept, **given})
        if outcome.status == "rejected":
            raise EmgasError(outcome.reason or "refused")
        return await memory.describe(graph, after=outcome.position.source)


def _show(described: Description) -> None:
    preset = PRESETS.get(described.preset)
    rows = output.table(f"{described.graph} lives by {described.preset}", "setting", "in force#", "preset#")
    for name, value in described.settings.items():
        meant = getattr(preset, name, value)
        style = "bold" if meant != value else ""
        rows.add_row(name.replace("_", "-"), _spoken(name, value), _spoken(name, meant), style=style)
    output.out.print(rows)


def _spoken(name: str, value: float) -> str:
    return durations.spoken(int(value)) if name in DURATIONS else f"{value:g}"
