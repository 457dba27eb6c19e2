"""`emgas configure GRAPH`: how a graph fades and consolidates.  Without options it only shows what is in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emgas.errors import EmgasError
from streams.cli.shared import output
from streams.cli.shared.client import session
from streams.cli.shared.setting_options import Preset, spoken, with_setting_options

if TYPE_CHECKING:
    from emgas.messages.queries import Description


@with_setting_options
def configure(
    graph: output.Graph,
    *,
    preset: Preset = None,
    timeout: output.Timeout = 10.0,
    json: output.Json = False,
    **settings: float | None,
) -> None:
    """Show how a graph lives, and change it.  DURATION: 90m, 7d, 2w.

    What is not given stays as it is; with --preset, it becomes the preset's.  Exits with 3 for an unknown graph, unless
    an option is given: then the graph begins with it.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    described = output.run(_configure(graph, preset, given, timeout=timeout))
    if json:
        output.print_json(described.model_dump(exclude={"themes"}))
    elif described.found:
        _show(described)
    if not described.found:
        output.fail_unknown(graph)


async def _configure(graph: str, preset: str | None, given: dict[str, Any], *, timeout: float) -> Description:
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
    from state.events.memory_settings import PRESETS  # here: --help needs none of it

    preset = PRESETS.get(described.preset)
    rows = output.table(f"{described.graph} lives by {described.preset}", "setting", "in force#", "preset#")
    for name, value in described.settings.items():
        meant = getattr(preset, name, value)
        style = "bold" if meant != value else ""
        rows.add_row(name.replace("_", "-"), spoken(name, value), spoken(name, meant), style=style)
    output.out.print(rows)
