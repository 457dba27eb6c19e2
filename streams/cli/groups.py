"""The groups of commands, which a first list leaves out: `emgas look`, `change`, `admin` and `measure`."""

from __future__ import annotations

import typer

from streams.cli.shared.lazy_commands import Contributed, Lazy, LazyGroup


class LookCommands(LazyGroup):
    """Commands that show a memory in detail."""

    lazy = {  # noqa: RUF012 - as the class that it refines has it
        "themes": Lazy("streams.cli.memory.views:themes"),
        "timeline": Lazy("streams.cli.memory.timeline:timeline"),
        "habits": Lazy("streams.cli.memory.views:habits"),
        "trend": Lazy("streams.cli.memory.views:trend"),
        "explore": Lazy("streams.cli.memory.views:explore"),
        "recent": Lazy("streams.cli.memory.views:recent"),
        "extract": Lazy("streams.cli.exchange.extract:extract"),
        "scan": Lazy("streams.cli.exchange.scan:scan"),
        "inspect": Lazy("streams.cli.operate.inspect:inspect"),
    }


class ChangeCommands(LazyGroup):
    """Commands that change a memory."""

    lazy = {  # noqa: RUF012
        "pin": Lazy("streams.cli.memory.change:pin"),
        "unpin": Lazy("streams.cli.memory.change:unpin"),
        "feedback": Lazy("streams.cli.memory.change:feedback"),
        "end": Lazy("streams.cli.memory.change:end"),
        "pause": Lazy("streams.cli.memory.change:pause"),
        "resume": Lazy("streams.cli.memory.change:resume"),
        "grant": Lazy("streams.cli.memory.change:grant"),
        "revoke": Lazy("streams.cli.memory.change:revoke"),
        "advise": Lazy("streams.cli.memory.advise:advise"),
        "erase": Lazy("streams.cli.memory.erase:erase"),
    }


class AdminCommands(LazyGroup):
    """Commands for an operator."""

    lazy = {  # noqa: RUF012
        "hook": Lazy("streams.cli.exchange.hook:app"),
        "topics": Lazy("streams.cli.exchange.topics:app"),
        "dead-letters": Lazy("streams.cli.operate.dead_letters:app"),
        "events": Lazy("streams.cli.operate.events:app"),
        "snapshot": Lazy("streams.cli.operate.snapshot:app"),
        "sink": Lazy("streams.cli.operate.sink:sink"),
        "model": Lazy("streams.cli.operate.model:app"),
        "send": Lazy("streams.cli.exchange.send:send"),
        "graph": Lazy("streams.cli.exchange.transfer:app"),
        "usage": Lazy("streams.cli.operate.usage:usage"),
        "quota": Lazy("streams.cli.operate.quota:quota"),
    }


class MeasureCommands(LazyGroup):
    """Commands that measure and tune recall."""

    lazy = {"eval": Contributed("eval"), "tune": Contributed("tune")}  # noqa: RUF012


look = typer.Typer(
    cls=LookCommands,
    no_args_is_help=True,
    help="See what a memory has learned: topics, habits, trends and linked concepts; check it for passwords.",
)
change = typer.Typer(
    cls=ChangeCommands,
    no_args_is_help=True,
    help="Change a memory: pin, rate, pause, share, end a session, erase permanently.",
)
admin = typer.Typer(
    cls=AdminCommands,
    no_args_is_help=True,
    help="Run EMGAS: hooks of agents, topics, rejected turns, unreadable records, snapshots, sinks, models, quotas.",
)
measure = typer.Typer(
    cls=MeasureCommands,
    no_args_is_help=True,
    help="Measure recall on questions with known answers, and tune it to yours.",
)


@look.callback()
@change.callback()
@admin.callback()
@measure.callback()
def _group() -> None:
    """Keep these groups, though Typer knows of no command in them."""
