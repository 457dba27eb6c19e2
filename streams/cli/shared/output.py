"""How commands speak: tables for people, one JSON object on the last line of stdout for programs, progress: stderr."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Coroutine, Iterator, Mapping
from typing import Annotated, Any, NoReturn, TypeVar

import orjson
import structlog
import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, ProgressColumn
from rich.table import Table

from emgas.errors import EmgasError, InvalidMessageError, NoMemoryError, QueryFailedError
from emgas.importers.lines import check_graph
from emgas.times import format_utc
from streams.settings import Settings

FAILURE, USAGE, NOT_FOUND, MISMATCH = 1, 2, 3, 4

out = Console()
err = Console(stderr=True)
T = TypeVar("T")


def graph_id(name: str | None) -> str | None:
    """Let the id of a graph through, or exit where there can be none of that name."""
    with explained():
        return name if name is None else check_graph(name)


Graph = Annotated[str, typer.Argument(help="Whose memory.", show_default=False, callback=graph_id)]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds to wait for an answer.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def print_json(value: object) -> None:
    """Print `value` as one line of JSON."""
    typer.echo(orjson.dumps(value).decode())


def table(title: str, *columns: str) -> Table:
    """Make an empty table with these columns; a column whose name ends with "#" holds numbers."""
    made = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        made.add_column(column.rstrip("#"), justify="right" if column.endswith("#") else "left", overflow="fold")
    return made


def fail(message: str, code: int = FAILURE) -> NoReturn:
    """Say what is wrong and what to do, and exit."""
    err.print(f"[bold red]error:[/] {escape(message)}", highlight=False, soft_wrap=True)
    raise typer.Exit(code)


def tell(message: str) -> None:
    """Say something about the way, beside the result."""
    err.print(f"[dim]{escape(message)}[/]", highlight=False, soft_wrap=True)


def warn(message: str) -> None:
    """Say what was passed over, and go on."""
    err.print(f"[bold yellow]passed over:[/] {escape(message)}", highlight=False, soft_wrap=True)


def fail_unknown(graph: str, as_of: int | None = None) -> NoReturn:
    """Say that there is no such graph, or that there was none by a time (ms), and exit."""
    told = (
        f"has written to graph {graph} yet" if as_of is None else f"had written to graph {graph} by {format_utc(as_of)}"
    )
    fail(f"nobody {told}", NOT_FOUND)


def fail_path(what: str, path: object, error: OSError) -> NoReturn:
    """Say that a file or directory that the caller named cannot be read or written, and exit: the call was wrong."""
    fail(f"cannot {what} {path}: {error.strerror or error}", USAGE)


def progress(*columns: ProgressColumn | str) -> Progress:
    """Make a progress bar, for people only: where stderr is no terminal, it does not even leave an empty line."""
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turn errors that we raise on purpose into a sentence and an exit code; anything else is a bug and shows."""
    try:
        yield
    except InvalidMessageError as error:  # made of what was given on the command line: of a file's lines, each is told
        fail(str(error), USAGE)
    except NoMemoryError as error:
        fail(str(error), NOT_FOUND)
    except QueryFailedError as error:
        fail(error.message)
    except EmgasError as error:
        fail(str(error))


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run one command's work to its end."""
    with explained():
        return asyncio.run(work)


def settings() -> Settings:
    """Read the settings of the environment, or exit with what is wrong with them."""
    try:
        return Settings()
    except ValidationError as error:
        fail("; ".join(map(_problem, error.errors())), USAGE)


def _problem(found: Mapping[str, Any]) -> str:
    name, told = ".".join(map(str, found["loc"])).upper(), str(found["msg"]).removeprefix("Value error, ")
    return f"EMGAS_{name}: {told}" if name else told  # what is wrong between several names them itself


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
