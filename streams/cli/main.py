"""The command `emgas`: its subcommands by name, and the options of all of them.  Each is imported when it runs."""

from __future__ import annotations

import os

if not {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"} & os.environ.keys():  # else the operator chose
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # our arrays are small: more threads only wait for each other, spinning
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # to look for some is to read every package's metadata

from pathlib import Path
from typing import Annotated

import typer

from streams.cli.groups import AdminCommands, ChangeCommands, LookCommands, MeasureCommands
from streams.cli.shared.lazy_commands import Contributed, Lazy, LazyGroup, contributions

START, LOOK, CHANGE, KEEP, RUN, MEASURE = "Start", "Look", "Change", "Keep", "Run", "Measure"
OF_GROUPS = {"look": LookCommands, "change": ChangeCommands, "admin": AdminCommands, "measure": MeasureCommands}
PANELS: dict[str, dict[str, Lazy | Contributed]] = {
    START: {
        "demo": Lazy("streams.cli.memory.demo:demo"),
        "add": Lazy("streams.cli.exchange.add:add"),
        "import": Lazy("streams.cli.exchange.import_:import_"),
        "query": Lazy("streams.cli.memory.query:query"),
        "serve": Contributed("serve"),
        "mcp": Contributed("mcp"),
    },
    LOOK: {
        "graphs": Lazy("streams.cli.memory.graphs:graphs"),
        "turns": Lazy("streams.cli.memory.turns:turns"),
        "recap": Lazy("streams.cli.memory.views:recap"),
        "who": Lazy("streams.cli.memory.who:who"),
        "look": Lazy("streams.cli.groups:look"),
    },
    CHANGE: {
        "configure": Lazy("streams.cli.memory.configure:configure"),
        "forget": Lazy("streams.cli.memory.forget:forget"),
        "change": Lazy("streams.cli.groups:change"),
    },
    KEEP: {
        "export": Lazy("streams.cli.exchange.export:export"),
        "replay": Lazy("streams.cli.replay.commands:app"),
    },
    RUN: {
        "worker": Lazy("streams.cli.operate.worker:worker"),
        "doctor": Lazy("streams.cli.operate.doctor:doctor"),
        "admin": Lazy("streams.cli.groups:admin"),
    },
    MEASURE: {"measure": Lazy("streams.cli.groups:measure")},
}


class Commands(LazyGroup):
    """The commands of the first list, at most 20.  All others are in groups, and keep their former names."""

    lazy = {name: place for panel in PANELS.values() for name, place in panel.items()}  # noqa: RUF012
    lazy["publish"] = lazy["import"]  # its former name
    panels = {name: title for title, panel in PANELS.items() for name in panel}  # noqa: RUF012
    aliases = {name: f"{group} {name}" for group, each in OF_GROUPS.items() for name in each.lazy}  # noqa: RUF012
    synonyms = {  # noqa: RUF012
        "ask": "query",
        "search": "query",
        "recall": "query",
        "remember": "add",
        "load": "import",
        "delete": "forget",
        "remove": "forget",
        "list": "graphs",
        "settings": "configure",
        "backup": "export",
        "summary": "recap",
        "server": "serve",
        "start": "serve",
        "status": "doctor",
        "benchmark": "measure eval",
    }

    def list_commands(self, ctx: object) -> list[str]:
        """List the commands, and those of other packages after them."""
        own = [name for name in super().list_commands(ctx) if name in self.panels]
        return [*own, *(name for name in contributions() if name not in {*self.lazy, *self.aliases})]

    def _place(self, name: str) -> Lazy | None:
        is_own = name in self.lazy or name in self.aliases
        return super()._place(name) if is_own else contributions().get(name)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="EMGAS: long-term memory for conversational AI, without an LLM call.  It runs on Kafka if EMGAS_BROKER is "
    "set, else on an embedded log in EMGAS_DATA.",
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
