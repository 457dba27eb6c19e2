"""The command `emgas`: every subcommand, and nothing else."""

from __future__ import annotations

import typer

from streams.cli import dead_letters, output, replay, snapshot, topics
from streams.cli.branch import branch
from streams.cli.compare import compare
from streams.cli.configure import configure
from streams.cli.demo import demo
from streams.cli.doctor import doctor
from streams.cli.eval import evaluate
from streams.cli.export import export
from streams.cli.forget import forget
from streams.cli.import_ import import_
from streams.cli.publish import publish
from streams.cli.query import query
from streams.cli.themes import themes
from streams.cli.timeline import timeline
from streams.cli.undo import events, undo
from streams.cli.worker import worker

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="EMGAS: associative memory for conversational AI.  EMGAS_BROKER names a Kafka; without it, the log is "
    "embedded, in EMGAS_DATA.",
)
for command in (demo, publish, query, themes, timeline, configure, forget, worker, doctor):
    app.command()(command)
app.command("eval")(evaluate)
app.command()(export)
app.command("import")(import_)
replay.app.command()(branch)
replay.app.command()(compare)
replay.app.command()(events)
replay.app.command()(undo)
app.add_typer(topics.app, name="topics")
app.add_typer(replay.app, name="replay")
app.add_typer(snapshot.app, name="snapshot")
app.add_typer(dead_letters.app, name="dead-letters")


@app.callback()
def prepare() -> None:
    output.configure_logging("ERROR")


def main() -> None:
    """Run the command line."""
    app()


if __name__ == "__main__":
    main()
