"""Remember a year, ask about it, replay it, ask again: `python -m evaluation.year` prints the table.

--wrong   the questions besides whose right line was not among the first three, and what was there instead
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from evaluation.year.asking import ENOUGH, Judged, ask, remember, share
from evaluation.year.conversation import LANGUAGES
from streams.cli.shared.client import session
from streams.settings import WorkerSettings

PATIENCE = 60.0  # seconds


async def answer_all(data: Path) -> dict[str, list[Judged]]:
    """Remember the year in every language in `data`, and ask."""
    async with session(_settings(data), PATIENCE) as connected:
        for language in LANGUAGES:
            await remember(connected.memory, language)
        return {language: await ask(connected.memory, language) for language in LANGUAGES}


async def replayed(data: Path) -> dict[str, list[Judged]]:
    """Throw away what is folded in `data`, so that it is folded again from the log, and ask."""
    shutil.rmtree(_settings(data).home / "partitions")
    async with session(_settings(data), PATIENCE) as connected:
        return {language: await ask(connected.memory, language) for language in LANGUAGES}


def _settings(data: Path) -> WorkerSettings:
    return WorkerSettings().model_copy(update={"broker": None, "data": data, "embedder": None})


def table(before: dict[str, list[Judged]], after: dict[str, list[Judged]]) -> str:
    """Write the shares by kind of question and by language, before and after the replay."""
    kinds = list(dict.fromkeys(each.kind for each in before[LANGUAGES[0]]))
    head = f"{'':<12}" + "".join(f"{language:>8}{'replayed':>10}" for language in LANGUAGES)
    lines = [head, *(_row(kind, kind, before, after) for kind in kinds), _row("all", None, before, after)]
    return "\n".join(lines)


def _row(name: str, kind: str | None, before: dict[str, list[Judged]], after: dict[str, list[Judged]]) -> str:
    cells = ""
    for language in LANGUAGES:
        for answers, width in ((before, 8), (after, 10)):
            some = [each for each in answers[language] if kind in (None, each.kind)]
            cells += f"{sum(each.right for each in some)}/{len(some)}".rjust(width)
    return f"{name:<12}{cells}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; exit with 1 where fewer than ENOUGH are right."""
    parser = argparse.ArgumentParser(prog="python -m evaluation.year", description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="show what was not right")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="emgas-year-") as directory:
        before = asyncio.run(answer_all(Path(directory)))
        after = asyncio.run(replayed(Path(directory)))
    sys.stdout.write(table(before, after) + "\n")
    for each in (one for answers in before.values() for one in answers if options.wrong and not one.right):
        sys.stdout.write(f"\n{each.question}\n" + "".join(f"    {text}\n" for text in each.shown))
    shares = [share(answers) for by_language in (before, after) for answers in by_language.values()]
    return 0 if min(shares) >= ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
