"""How commands speak: tables for people, one JSON object on the last line of stdout for programs, progress: stderr."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Coroutine, Iterator
from typing import Annotated, Any, NoReturn, TypeVar

import orjson
import structlog
import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from emgas.errors import EmgasError, InvalidMessage
from streams.settings import Settings

FAILURE, USAGE, NOT_FOUND, MISMATCH = 1, 2, 3, 4

out = Console()
err = Console(stderr=True)
T = TypeVar("T")

Graph = Annotated[str, typer.Argument(help="Whose memory.", show_default=False)]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds to wait for an answer.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def print_json(value: object) -> None:
    """Print `value` as one line of JSON."""
    typer.echo(orjson.dumps(value).decode())


def table(title: str, *columns: str) -> Table:
    """Return an empty table with these columns; a column whose name ends with "#" holds numbers."""
    made = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        made.add_column(column.rstrip("#"), justify="right" if column.endswith("#") else "left", overflow="fold")
    return made


def fail(message: str, code: int = FAILURE) -> NoReturn:
    """Say what is wrong and what to do, and exit."""
    err.print(f"[bold red]error:[/] {escape(message)}", highlight=False, soft_wrap=True)
    raise typer.Exit(code)


def warn(message: str) -> None:
    """Say what was passed over, and go on."""
    err.print(f"[bold yellow]passed over:[/] {escape(message)}", highlight=False, soft_wrap=True)


def fail_unknown(graph: str) -> NoReturn:
    """Say that there is no such graph, and exit."""
    fail(f"nobody has written to graph {graph} yet", NOT_FOUND)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turn errors that we raise on purpose into a sentence and an exit code; anything else is a bug and shows."""
    try:
        yield
    except InvalidMessage as error:  # made of what was given on the command line: of a file's lines, each is told
        fail(str(error), USAGE)
    except EmgasError as error:
        fail(str(error))


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run one command's work to its end."""
    with explained():
        return asyncio.run(work)


def settings() -> Settings:
    """Return the settings of the environment, or exit with what is wrong with them."""
    try:
        return Settings()
    except ValidationError as error:
        problems = (f"EMGAS_{'.'.join(map(str, each['loc'])).upper()}: {each['msg']}" for each in error.errors())
        fail("; ".join(problems), USAGE)


def configure_logging(level: str, quiet: bool = True) -> None:
    """Log to stderr: JSON lines for a worker, for a command only what went wrong."""
    threshold = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(colors=False) if quiet else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR if quiet else threshold),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    logging.basicConfig(level=logging.CRITICAL if quiet else max(threshold, logging.WARNING), force=True)
    if not quiet:  # what libraries log, tracebacks too, is a line of JSON as well
        (handler,) = logging.getLogger().handlers
        handler.setFormatter(
            structlog.stdlib.ProcessorFormatter(
                foreign_pre_chain=[structlog.stdlib.add_logger_name, *structlog.get_config()["processors"][:-1]],
                processor=structlog.processors.JSONRenderer(),
            )
        )
