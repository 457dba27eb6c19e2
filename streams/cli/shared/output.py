"""The output of commands: tables for people, one last line of JSON on stdout for programs, progress on stderr."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Protocol, TypeVar

import orjson
import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from emgas.errors import BadSettingError, EmgasError, InvalidMessageError, NoMemoryError, QueryFailedError
from emgas.masking import masked
from emgas.times import datetime_of, format_utc

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import Progress, ProgressColumn

    from streams.settings import WorkerSettings

FULL = (errno.ENOSPC, errno.EDQUOT)
FAILURE, USAGE, MISSING, MISMATCH = 1, 2, 3, 4

MINUTE = 60.0  # s
TIMEOUT = 10.0  # s: for each answer, unless EMGAS_TIMEOUT or --timeout says otherwise
OUT_OF_REACH = frozenset(
    {"cannot read the keys", "cannot see which topic turns is", "keys cannot be compacted"}
)  # of ours

CONTROL = re.compile(
    "["
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1, all but tab and newline: ESC begins an order to the terminal
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidi: what is read is not what is there (CVE-2021-42574)
    r"\xad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb"  # cannot be seen, or hide what stands beside them
    r"\u2028\u2029\ud800-\udfff"  # lines that some programs break, and what no terminal can be sent
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"  # more of the same; tags can hide a whole text
    "]"
)  # not those that writing needs: joiners (U+200C, U+200D: Persian, Hindi, emoji) and the number signs of Arabic


def shown(text: str) -> str:
    r"""Write what cannot be seen as \xNN, \uNNNN or \UNNNNNNNN: no text may order a terminal or deceive a reader."""
    return CONTROL.sub(lambda match: _escaped(ord(match[0])), text)


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class PlainConsole(Console):
    """A console that ignores control sequences in texts: only its own styles become escape sequences.

    It colours no numbers, and breaks no line of text to the width of a terminal: programs read lines, too.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print texts in lines as they are; tables and trees fit into the terminal."""
        is_text = all(isinstance(each, str) for each in objects)
        super().print(*objects, **{"soft_wrap": is_text, **options})

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a string of a caller, before its width counts."""
        return super().render_str(shown(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render anything; what was no string (a `Text`, say) is seen to here."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=shown(segment.text))


out = PlainConsole()
err = PlainConsole(stderr=True)
T = TypeVar("T")


def graph_id(name: str | None) -> str | None:
    """Return the id of a graph if it is valid, else exit."""
    from emgas.validation import checked_graph  # here: --help needs none of it

    with explained():
        return name if name is None else checked_graph(name)


Graph = Annotated[
    str, typer.Argument(help="Graph: the memory of a user, agent or room.", show_default=False, callback=graph_id)
]
Timeout = Annotated[
    float, typer.Option(min=0.1, envvar="EMGAS_TIMEOUT", show_envvar=False, help="Seconds to wait for an answer.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on one line.")]


def timeout() -> float:
    """Return how many seconds a command without the option waits for an answer."""
    text = os.environ.get("EMGAS_TIMEOUT") or str(TIMEOUT)
    if not re.fullmatch(r"\d+(\.\d+)?", text) or not float(text):
        fail(f"EMGAS_TIMEOUT={text}: must be a number of seconds, more than 0", USAGE)
    return float(text)


def print_json(value: object) -> None:
    """Print `value` as one line of JSON."""
    typer.echo(orjson.dumps(value).decode())


class GraphAnswer(Protocol):
    """What every answer about a graph says."""

    @property
    def graph(self) -> str: ...
    @property
    def found(self) -> bool: ...
    def model_dump(self) -> dict[str, Any]: ...


R = TypeVar("R", bound=GraphAnswer)


def show(reply: R, draw: Callable[[R], object], *, json: bool, as_of: int | None = None) -> None:
    """Print an answer for programs, or `draw` it for people; exit if there is no such graph, or was none (ms)."""
    if json:
        print_json(reply.model_dump())
    elif reply.found:
        draw(reply)
    if not reply.found:
        fail_unknown(reply.graph, as_of)


def print_bytes(value: bytes) -> None:
    """Print bytes: untouched into a file or a pipe, readable on a terminal."""
    if sys.stdout.isatty():
        value = shown(value.decode(errors="backslashreplace")).encode()
    sys.stdout.buffer.write(value + b"\n")


def table(title: str, *columns: str) -> Table:
    """Make an empty table with these columns; a column whose name ends with "#" holds numbers."""
    made = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        made.add_column(column.rstrip("#"), justify="right" if column.endswith("#") else "left", overflow="fold")
    return made


def counted(number: int, noun: str) -> str:
    """Write "1 turn", "2 turns"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def fail(message: str, code: int = FAILURE) -> NoReturn:
    """Print an error, which says what happened and what to do, and exit."""
    err.print(f"[bold red]error:[/] {escape(masked(message))}")
    raise typer.Exit(code)


def tell(message: str) -> None:
    """Print a remark on stderr, beside the result."""
    err.print(f"[dim]{escape(message)}[/]")


def fail_without(unavailable: Mapping[str, str], what_to_do: str) -> None:
    """Report the graphs that were left out because they cannot be read, and exit; return if there are none."""
    for graph, why in sorted(unavailable.items()):
        warn(f"graph {graph!r}: {why}")
    if unavailable:
        fail(f"{counted(len(unavailable), 'graph')} left out, all others are done: {what_to_do}")


def warn(message: str) -> None:
    """Print a warning about something that was skipped, and continue."""
    err.print(f"[bold yellow]skipped:[/] {escape(message)}")


def make_sure(what: str, *, yes: bool) -> None:
    """Continue after --yes, or a yes to the prompt on a terminal; exit otherwise, with nothing done.

    what  a sentence without its full stop: "This removes graph ada"
    """
    if yes:
        return
    if not sys.stdin.isatty():
        fail(f"{what}. Confirm with --yes, because there is no terminal to ask on", USAGE)
    if not typer.confirm(shown(f"{what}. Continue?"), err=True):
        fail("not confirmed: nothing was done")


def doubt(message: str) -> None:
    """Print a warning about something that may be a mistake, and continue."""
    err.print(f"[bold yellow]warning:[/] {escape(masked(message))}")


def fail_unknown(graph: str, as_of: int | None = None) -> NoReturn:
    """Exit because there is no such graph, or was none at a time (ms)."""
    missing = "there is no" if as_of is None else f"at {format_utc(as_of)} there was no"
    fail(f"{missing} graph {graph}: list the graphs with `emgas graphs`", MISSING)


def fail_path(what: str, path: object, error: OSError) -> NoReturn:
    """Exit because a file or directory of the caller cannot be read or written."""
    fail(f"cannot {what} {path}: {error.strerror or error}", USAGE)


def progress(*columns: ProgressColumn | str) -> Progress:
    """Make a progress bar, for people only: where stderr is no terminal, it does not even leave an empty line."""
    from rich.progress import Progress  # here: most commands have none

    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turn errors that we raise on purpose into a sentence and an exit code; anything else is a bug and shows."""
    try:
        yield
    except (InvalidMessageError, BadSettingError) as error:  # of the call; a file's bad lines are reported one by one
        fail(str(error), USAGE)
    except NoMemoryError as error:
        fail(str(error), MISSING)
    except QueryFailedError as error:
        fail(error.message)
    except EmgasError as error:
        fail(str(error))
    except OSError as error:
        if error.errno not in FULL:
            raise
        where = f" ({error.filename})" if error.filename else ""
        fail(f"the disk is full{where}: free some space and try again; everything written before is safe")


@contextlib.contextmanager
def naming(file: object) -> Iterator[None]:
    """Replace "file" at the start of an error by the name of `file`, which a reader of streams does not know."""
    try:
        yield
    except InvalidMessageError as error:
        report = str(error)
        raise InvalidMessageError(f"{file}: {report[6:]}" if report.startswith("file: ") else report) from error


@contextlib.contextmanager
def naming_options(names: Mapping[str, str]) -> Iterator[None]:
    """Replace the fields in an error by what was typed for them: "load: must …" becomes "--load 7: must …"."""
    try:
        yield
    except InvalidMessageError as error:
        typed = re.sub(r"(?:^|(?<=; ))[\w.]+(?=: )", lambda at: names.get(at[0].rpartition(".")[2], at[0]), str(error))
        raise InvalidMessageError(typed) from error


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run one command's work to its end."""
    import asyncio  # here: --help needs none of it

    with explained():
        return asyncio.run(work)


def settings() -> WorkerSettings:
    """Read the settings of the environment, or exit with an error."""
    from pydantic import ValidationError  # here: --help needs none of it

    from emgas.validation import describe_variables
    from streams.settings import WorkerSettings  # here: a wrong call needs none

    try:
        read = WorkerSettings()
    except ValidationError as error:
        fail(describe_variables(error), USAGE)
    if (file := _file_in_the_way(read.data.expanduser())) is not None:
        fail(f"{file} is a file: set EMGAS_DATA (or --data) to a directory", USAGE)
    return read


def _file_in_the_way(directory: Path) -> Path | None:
    """Return what is on the way to a directory and is no directory; None if the directory is there or can be made."""
    with contextlib.suppress(OSError):  # such as a name that is too long, which opening the directory reports
        there = next(path for path in (directory, *directory.parents) if path.exists())
        return None if there.is_dir() else there
    return None


class PlainLines(logging.Formatter):
    """A log record for people, with the error's trace; without secrets and terminal control sequences."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Write level, message and trace."""
        return shown(masked(super().format(record)))


class JsonLines(logging.Formatter):
    """A log record, ours or a library's, as one line of JSON without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """Write time, level, logger, what happened, its facts, and the error's trace."""
        message = {"event": masked(str(getattr(record, "sentence", None) or record.getMessage()))}
        when = datetime_of(round(record.created * 1000)).isoformat(timespec="milliseconds")
        line = {**getattr(record, "facts", {}), **message, "level": record.levelname.lower(), "logger": record.name}
        if record.exc_info:
            line["exception"] = masked(self.formatException(record.exc_info))
        return orjson.dumps({**line, "timestamp": when}, default=str).decode()


class OnceAMinute(logging.Filter):
    """Passes each kind of warning and error once a minute, with its count since then.

    A missing broker makes thousands.  Of ours a kind is known by its sentence, of a library's by its template.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._last: dict[tuple[str, str], float] = {}
        self._suppressed: Counter[tuple[str, str]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to write a record."""
        if record.levelno < logging.WARNING or not _repeats(record):
            return True
        kind, now = (record.name, _template(record)), self._clock()
        if kind in self._last and now - self._last[kind] < MINUTE:
            self._suppressed[kind] += 1
            return False
        self._last[kind] = now
        if suppressed := self._suppressed.pop(kind, 0):
            record.msg, record.args = f"{record.getMessage()} (and {suppressed} times since the last line)", ()
            if (facts := getattr(record, "facts", None)) is not None:
                facts["held_back"] = suppressed
        return True


def _repeats(record: logging.LogRecord) -> bool:
    """Return whether a record may repeat: a library's, or ours about something that cannot be reached."""
    return not record.name.startswith("emgas") or getattr(record, "sentence", "") in OUT_OF_REACH


def _template(record: logging.LogRecord) -> str:
    """Return what records of one kind share: all but numbers, such as a time or a port."""
    return re.sub(r"\d+", "0", str(getattr(record, "sentence", None) or record.msg))


def configure_logging(level: str, *, quiet: bool = True) -> None:
    """Log to stderr: JSON lines for a worker, for a command only what went wrong."""
    threshold = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainLines() if quiet else JsonLines())
    handler.addFilter(OnceAMinute())
    logging.basicConfig(
        level=logging.CRITICAL if quiet else max(threshold, logging.WARNING), handlers=[handler], force=True
    )
    logging.getLogger("emgas").setLevel(logging.ERROR if quiet else threshold)
