"""`emgas replay …`: compute results from the log alone, and compare the live memory with them."""

from __future__ import annotations

import typer

from streams.cli.shared.lazy_commands import Lazy, LazyGroup


class ReplayCommands(LazyGroup):
    """Commands that read a log again."""

    lazy = {  # noqa: RUF012 - as the class that it refines has it
        "rebuild": Lazy("streams.cli.replay.rebuild:rebuild"),
        "verify": Lazy("streams.cli.replay.verify:verify"),
        "digest": Lazy("streams.cli.replay.digest:digest"),
        "diff": Lazy("streams.cli.replay.diff:diff"),
        "branch": Lazy("streams.cli.replay.branch:branch"),
        "compare": Lazy("streams.cli.replay.compare:compare"),
        "events": Lazy("streams.cli.replay.undo:events"),
        "undo": Lazy("streams.cli.replay.undo:undo"),
    }


app = typer.Typer(
    cls=ReplayCommands, no_args_is_help=True, help="Work with the log: verify, rebuild, diff, branch, compare, undo."
)


@app.callback()
def _group() -> None:
    """Keep this a group, though Typer knows of no command in it."""
