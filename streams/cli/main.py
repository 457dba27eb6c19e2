"""The command `emgas`: its subcommands by name, and what holds for all of them.  Each is imported when it runs."""

from __future__ import annotations

import os

if not {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"} & os.environ.keys():  # else the operator chose
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # our arrays are small: more threads only wait for each other, spinning

from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from streams.cli.shared.lazy_commands import Lazy, LazyGroup


class Commands(LazyGroup):
    """Every command; `eval`, `tune`, `serve` and `mcp` come from layers above, if those are installed."""

    lazy = {
        "demo": Lazy("streams.cli.memory.demo:demo"),
        "publish": Lazy("streams.cli.memory.publish:publish"),
        "query": Lazy("streams.cli.memory.query:query"),
        "graphs": Lazy("streams.cli.memory.graphs:graphs"),
        "turns": Lazy("streams.cli.memory.turns:turns"),
        "recap": Lazy("streams.cli.memory.views:recap"),
        "trend": Lazy("streams.cli.memory.views:trend"),
        "explore": Lazy("streams.cli.memory.views:explore"),
        "habits": Lazy("streams.cli.memory.habits:habits"),
        "extract": Lazy("streams.cli.memory.extract:extract"),
        "recent": Lazy("streams.cli.memory.conversations:recent"),
        "end": Lazy("streams.cli.memory.conversations:end"),
        "themes": Lazy("streams.cli.memory.themes:themes"),
        "timeline": Lazy("streams.cli.memory.timeline:timeline"),
        "configure": Lazy("streams.cli.memory.configure:configure"),
        "forget": Lazy("streams.cli.memory.forget:forget"),
        "erase": Lazy("streams.cli.memory.erase:erase"),
        "pin": Lazy("streams.cli.memory.pin:pin"),
        "unpin": Lazy("streams.cli.memory.pin:unpin"),
        "feedback": Lazy("streams.cli.memory.feedback:feedback"),
        "advise": Lazy("streams.cli.memory.advise:advise"),
        "send": Lazy("streams.cli.memory.send:send"),
        "pause": Lazy("streams.cli.memory.sharing:pause"),
        "resume": Lazy("streams.cli.memory.sharing:resume"),
        "grant": Lazy("streams.cli.memory.sharing:grant"),
        "revoke": Lazy("streams.cli.memory.sharing:revoke"),
        "export": Lazy("streams.cli.memory.export:export"),
        "import": Lazy("streams.cli.memory.import_:import_"),
        "worker": Lazy("streams.cli.operate.worker:worker"),
        "doctor": Lazy("streams.cli.operate.doctor:doctor"),
        "topics": Lazy("streams.cli.operate.topics:app"),
        "replay": Lazy("streams.cli.replay.commands:app"),
        "snapshot": Lazy("streams.cli.operate.snapshot:app"),
        "inspect": Lazy("streams.cli.operate.inspect:inspect"),
        "model": Lazy("streams.cli.operate.model:app"),
        "events": Lazy("streams.cli.operate.events:app"),
        "sink": Lazy("streams.cli.operate.sink:sink"),
        "dead-letters": Lazy("streams.cli.operate.dead_letters:app"),
    } | {
        entry.name: Lazy(entry.value) for entry in entry_points(group="emgas.commands") if find_spec(entry.module)
    }  # fmt: skip


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="EMGAS: associative memory for conversational AI.  It runs on Kafka if EMGAS_BROKER is set, else on an "
    "embedded log in EMGAS_DATA.",
)


def _version(requested: bool) -> None:  # noqa: FBT001 - a callback
    if requested:
        from importlib.metadata import version  # here: only --version needs it

        typer.echo(f"emgas {version('emgas')}")
        raise typer.Exit


@app.callback()
def prepare(  # noqa: D103 - typer would show it as the program's help
    *,
    broker: Annotated[
        str | None, typer.Option(metavar="URL", help="Kafka address, kafka://host:port; overrides EMGAS_BROKER.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DIRECTORY", help="Directory of the embedded log; overrides EMGAS_DATA.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Configuration file (TOML); overrides EMGAS_CONFIG.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    from streams.cli.shared import configuration, output  # here: a list of commands needs none of it

    output.configure_logging("ERROR")
    configuration.apply(broker=broker, data=data, config=config)


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
