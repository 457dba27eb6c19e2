"""The command `emgas`: every subcommand, and nothing else."""

from __future__ import annotations

import os

if not {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"} & os.environ.keys():  # else the operator chose
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # our arrays are small: more threads only wait for each other, spinning

from importlib.metadata import entry_points
from importlib.util import find_spec

import typer

from streams.cli.memory.configure import configure
from streams.cli.memory.demo import demo
from streams.cli.memory.export import export
from streams.cli.memory.feedback import feedback
from streams.cli.memory.forget import forget
from streams.cli.memory.graphs import graphs
from streams.cli.memory.import_ import import_
from streams.cli.memory.pin import pin, unpin
from streams.cli.memory.publish import publish
from streams.cli.memory.query import query
from streams.cli.memory.themes import themes
from streams.cli.memory.timeline import timeline
from streams.cli.memory.turns import turns
from streams.cli.memory.views import explore, recap, trend
from streams.cli.operate import dead_letters, model, snapshot, topics
from streams.cli.operate import events as skipped_events
from streams.cli.operate.doctor import doctor
from streams.cli.operate.worker import worker
from streams.cli.replay import commands
from streams.cli.replay.branch import branch
from streams.cli.replay.compare import compare
from streams.cli.replay.undo import events, undo
from streams.cli.shared import output

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="EMGAS: associative memory for conversational AI.  EMGAS_BROKER names a Kafka; without it, the log is "
    "embedded, in EMGAS_DATA.",
)
for command in (
    demo,
    publish,
    query,
    graphs,
    turns,
    recap,
    trend,
    explore,
    themes,
    timeline,
    configure,
    forget,
    pin,
    unpin,
    feedback,
    worker,
    doctor,
):
    app.command()(command)
app.command()(export)
app.command("import")(import_)
commands.app.command()(branch)
commands.app.command()(compare)
commands.app.command()(events)
commands.app.command()(undo)
app.add_typer(topics.app, name="topics")
app.add_typer(commands.app, name="replay")
app.add_typer(snapshot.app, name="snapshot")
app.add_typer(model.app, name="model")
app.add_typer(skipped_events.app, name="events")
app.add_typer(dead_letters.app, name="dead-letters")
for entry in entry_points(group="emgas.commands"):  # what lies above this layer: `eval`, where it is installed
    if find_spec(entry.module):
        app.command(entry.name)(entry.load())


@app.callback()
def prepare() -> None:  # noqa: D103 - typer would show it as the program's help
    output.configure_logging("ERROR")


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
