"""`emgas look extract FILE|TEXT`: show what the memory would understand of a text or of the turns of a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from streams.cli.shared import output, times
from streams.cli.shared.client import session

if TYPE_CHECKING:
    from emgas.messages.extracts import Extract, Extracted, ExtractedTime, ExtractedTurn, TurnText

NO_GRAPH = "extract"  # the graph that turns of a file seem to be of: importers need one


def extract(
    source: Annotated[
        str, typer.Argument(metavar="FILE|TEXT", help="A text; a file that `import` reads; - for standard input.")
    ],
    *,
    speaker: Annotated[str, typer.Option(help="Speaker of a text.")] = "user",
    at: Annotated[
        int | None,
        typer.Option(parser=times.time, metavar=times.METAVAR, help="When a text is said, as 2023-05-08T14:00; now."),
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Language of the times, as de; by default the memory's, or Chinese.")
    ] = None,
    timeout: output.Timeout = 60.0,
    json: output.Json = False,
) -> None:
    """Show what the memory would understand: names, times, pronouns, relations and facts.  Nothing is stored."""
    from emgas.messages.extracts import Extract, TurnText  # here: --help needs none of it
    from emgas.validation import build

    if not source.strip():
        output.fail("the text is empty: write a text, or name a file", output.USAGE)
    with output.explained():
        fields = {"at": at, "language": language}
        text = _text(source)
        turns = list(_turns(*text)) if text else [build(TurnText, {"text": source, "speaker": speaker, **fields})]
        request = build(Extract, {"turns": [turn.model_copy(update={"language": language}) for turn in turns]})
    result = output.run(_extracted(request, timeout))
    if json:
        output.print_json(result.model_dump())
    else:
        _show(request, result)


def _text(source: str) -> tuple[IO[bytes], str] | None:
    """Open the file that is named, with its name; None where the source is the text itself."""
    if source == "-":
        return BytesIO(sys.stdin.buffer.read()), "stdin"
    try:
        return (BytesIO(Path(source).read_bytes()), Path(source).name) if Path(source).is_file() else None
    except OSError:  # longer than a name of a file can be
        return None


def _turns(stream: IO[bytes], name: str) -> Iterator[TurnText]:
    """Yield the turns of a file in any format that can be published; bad lines are skipped with a warning."""
    from emgas.importers.registry import BadLine, read
    from emgas.messages.extracts import TurnText

    for item in read(stream, name, NO_GRAPH):
        if isinstance(item, BadLine):
            output.warn(f"{item.unit or name} {item.number}: {item.reason}")
        else:
            yield TurnText(speaker=item.speaker, text=item.text, at=item.at)


async def _extracted(request: Extract, timeout: float) -> Extracted:
    """Read the turns: in this process where the memory is embedded, as that needs no memory; else by a worker."""
    settings = output.settings()
    if settings.broker is not None:
        async with session(settings, timeout, begins=False) as connected:
            return await connected.memory.send(request)
    from processors.extraction.understanding import understand  # here: others answer where there is a broker
    from processors.lifecycle.steps import in_one_go
    from streams.plugins import extractors

    extractor = extractors.load(settings.extractor, settings.language, settings.own_words)
    return in_one_go(understand(request.turns, extractor, settings.language, round(1000 * time.time())))


def _show(request: Extract, result: Extracted) -> None:
    for turn, understood in zip(request.turns, result.turns, strict=True):
        output.out.print(f"[cyan]{escape(turn.speaker)}[/] {escape(turn.text)}")
        for line in _lines(turn.text, understood):
            output.out.print(f"  {escape(line)}")
    for subject, slots in result.card.items():
        facts = "; ".join(f"{slot}: {', '.join(values)}" for slot, values in slots.items())
        output.out.print(f"[bold]{escape(subject)}[/]  {escape(facts)}")
    for change in result.changes:
        line = f"{change.subject}: {change.slot}: {change.old} → {change.new or 'no more'}"
        output.out.print(escape(line))


def _lines(text: str, turn: ExtractedTurn) -> Iterator[str]:
    """Write what was understood of a turn, a kind of thing a line."""
    parts = {
        "concepts": [concept.label for concept in turn.concepts],
        "names": [f"{entity.text} ({entity.kind})" for entity in turn.entities],
        "times": [f"{time.text} = {_meaning(time)}" for time in turn.times],
        "means": [f"{text[it.start : it.end]} = {_name(it.means)} ({it.confidence:g})" for it in turn.mentions],
        "states": [f"{each.subject} {each.relation} {each.object}" for each in turn.relations],
    }
    for name, values in parts.items():
        if values:
            yield f"{name}: {', '.join(dict.fromkeys(values))}"


def _name(means: str | list[str]) -> str:
    return means if isinstance(means, str) else " and ".join(means)


def _meaning(time: ExtractedTime) -> str:
    if time.kind == "set":
        return time.rule or ""
    return f"{time.seconds:g} s" if time.kind == "length" else f"{time.since} to {time.until}"
