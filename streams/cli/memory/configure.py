"""`emgas configure GRAPH`: change how a graph fades, consolidates and ranks; without options, show its settings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from emgas.errors import InvalidMessageError
from streams.cli.shared import output
from streams.cli.shared.client import accepted, session
from streams.cli.shared.setting_options import Preset, spoken, with_setting_options

if TYPE_CHECKING:
    from emgas.messages.queries import Description


@with_setting_options
def configure(
    graph: output.Graph,
    *,
    preset: Preset = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(metavar="FEATURE=VALUE", help="Weight of a ranking feature; repeatable."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(help="Default retriever of this graph: default, literal, ppr, path, … (docs/recall.md)."),
    ] = None,
    rerank: Annotated[
        str | None, typer.Option(help="Default reranker of this graph: hello-agents, simplemem, mofox; or none.")
    ] = None,
    timezone: Annotated[
        str | None,
        typer.Option(help="Time zone of turns and questions that name none, as Europe/Berlin."),
    ] = None,
    default_weights: Annotated[
        bool, typer.Option("--default-weights", help="Reset all ranking weights to the defaults.")
    ] = False,
    timeout: output.Timeout = output.TIMEOUT,
    json: output.Json = False,
    **settings: float | None,
) -> None:
    """Show or change a graph's settings: decay, consolidation, ranking.

    Write a DURATION as 90m, 7d or 2w.

    Settings that you do not name stay as they are; --preset first sets all of them.  Without options, exits with 3 for
    an unknown graph; with options, the graph is created.
    """
    changes = {name: value for name, value in settings.items() if value is not None}
    with output.explained():
        weights = _weights(weight or [], default_weights)
        defaults = {"mode": mode, "rerank": rerank, "timezone": timezone}
        defaults = {name: value for name, value in defaults.items() if value is not None}
    shown = {**{name: spoken(name, value) for name, value in changes.items()}, **defaults}
    typed = {name: f"--{name.replace('_', '-')} {value}" for name, value in shown.items()}
    with output.explained(), output.naming_options(typed):
        described = asyncio.run(_configure(graph, preset, changes, weights=weights, defaults=defaults, timeout=timeout))
    if json:
        output.print_json(described.model_dump(exclude={"themes"}))
    elif described.found:
        _show(described)
    if not described.found:
        output.fail_unknown(graph)


def _weights(assigned: list[str], default: bool) -> Weighing | None:  # noqa: FBT001 - said of one thing
    """Parse weights to change, from those in force or from the defaults; None if there are none."""
    weights: dict[str, float] = {}
    for each in assigned:
        name, _, value = each.partition("=")
        try:
            weights[name.strip().replace("-", "_")] = float(value)
        except ValueError:
            raise InvalidMessageError(f"--weight {each}: write FEATURE=VALUE, as match=2.5") from None
    return Weighing(weights, default) if weights or default else None


class Weighing(NamedTuple):
    """Weights to change, and whether all other weights are reset to the defaults."""

    changed: dict[str, float]
    from_defaults: bool

    def of(self, before: dict[str, float]) -> dict[str, float]:
        """Return the weights that result from those in force before."""
        return self.changed if self.from_defaults else before | self.changed


async def _configure(
    graph: str,
    preset: str | None,
    changes: dict[str, Any],
    *,
    weights: Weighing | None,
    defaults: dict[str, Any],
    timeout: float,
) -> Description:
    begins = preset is not None or bool(changes) or bool(defaults)
    async with session(output.settings(), timeout, begins=begins) as connected:
        memory = connected.memory
        described = await memory.describe(graph)
        if (not begins and weights is None) or (not begins and not described.found):
            return described
        kept = {} if preset else described.settings
        own = None if weights is None else weights.of(described.weights)
        outcome = accepted(
            await memory.configure(graph, preset or described.preset, weights=own, **defaults, **{**kept, **changes})
        )
        return await memory.describe(graph, after=outcome.position.source)


def _show(described: Description) -> None:
    from processors.recall.ranking.weights import DEFAULT_FLOW  # here: --help needs none of it
    from state.events.memory_settings import PRESETS

    preset = PRESETS.get(described.preset)
    rows = output.table(f"{described.graph} lives by {described.preset}", "setting", "in force#", "preset#")
    for name, value in described.settings.items():
        meant = getattr(preset, name, value)
        style = "bold" if meant != value else ""
        rows.add_row(name.replace("_", "-"), spoken(name, value), spoken(name, meant), style=style)
    output.out.print(rows)
    if described.mode != "default" or described.rerank:
        ordered = f", ordered by {described.rerank}" if described.rerank else ""
        output.out.print(f"its questions are answered in mode {described.mode}{ordered}")
    if described.timezone != "UTC":
        output.out.print(f"its people are in {described.timezone}", markup=False)
    if described.weights:
        own = output.table("what features of a turn are worth in its recall", "feature", "in force#", "by default#")
        for name, weight in described.weights.items():
            own.add_row(name, f"{weight:g}", f"{DEFAULT_FLOW[name]:g}" if name in DEFAULT_FLOW else "")
        output.out.print(own)
