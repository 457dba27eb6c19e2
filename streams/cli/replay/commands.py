"""`emgas replay …`: what can be had from the log alone, and whether what is live is just that."""

from __future__ import annotations

import typer

from streams.cli.replay.diff import diff
from streams.cli.replay.digest import digest
from streams.cli.replay.rebuild import rebuild
from streams.cli.replay.verify import verify

app = typer.Typer(no_args_is_help=True, help="Fold the log again.")
for command in (rebuild, verify, digest, diff):
    app.command()(command)
