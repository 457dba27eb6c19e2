"""Compare our date grammar with libraries, on tables of expressions whose meaning is known.

    python -m bench.time_expressions tests/processors/data/time_expressions.tsv …

A row holds the day of the text, the text, and the spans that its expressions mean, "; " between them, "-" for none.

    noted      spans that a library found;  meant: those that it should have
    right      share of what it noted that is the very span: day, weekend, month …
    about      share of what it noted that lies inside a span that is meant, whatever its length: some tell days alone
    covered    share of what is meant that it noted rightly;  and about: what it noted at least a part of
    ms         CPU time for a text, the median over all

Libraries that are not installed are reported on stderr and left out.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final, NamedTuple

from bench.date_libraries import CHINESE, ENGLISH, LIBRARIES, Finder
from processors.dates.arithmetic import Days, month, year
from processors.text.scripts import HAN

HEAD: Final = "| | language | noted | right | about | covered | covered about | ms a text |"


class Expression(NamedTuple):
    """A text, the day it is said, and the spans that it means."""

    reference: date
    text: str
    means: list[Days]

    @property
    def language(self) -> str:
        """Chinese is what has Chinese characters; the tables hold no third language."""
        return CHINESE if re.search(f"[{HAN}]", self.text) else ENGLISH


class ExpressionScores(NamedTuple):
    """The scores of a library on some expressions: counts of spans, and the milliseconds of each text."""

    noted: int
    meant: int
    right: int
    about: int
    ms: list[float]


def expressions(table: str) -> Iterator[Expression]:
    """Read a table."""
    for line in table.splitlines():
        if line and not line.startswith("#"):
            day, text, means = line.split("\t")
            spans = [] if means == "-" else [_span(span) for span in means.split("; ")]
            yield Expression(date.fromisoformat(day), text, spans)


def _span(text: str) -> Days:
    """Read "2024-05-07", "2024-05", "2024", or two of them with " to " between them."""
    first, _, last = text.partition(" to ")
    return Days(_whole(first).first, _whole(last or first).last)


def _whole(text: str) -> Days:
    parts = [int(part) for part in text.split("-")]
    if len(parts) == 1:
        return year(parts[0])
    return month(date(parts[0], parts[1], 1)) if len(parts) == 2 else Days(date(*parts), date(*parts))


def measured(find: Finder, expressions_given: Iterable[Expression]) -> ExpressionScores:
    """Measure a library on every text."""
    noted = meant = right = about = 0
    took = []
    for each in expressions_given:
        started = process_time()
        spans = find(each.text, each.reference)
        took.append((process_time() - started) * 1000)
        noted, meant = noted + len(spans), meant + len(each.means)
        right += (Counter(spans) & Counter(each.means)).total()
        about += inside(spans, each.means)
    return ExpressionScores(noted, meant, right, about, took)


def inside(spans: Iterable[Days], means: Iterable[Days]) -> int:
    """Count the spans found that lie in a span that is meant, one in each."""
    left, count = sorted(means, key=lambda days: days.last - days.first), 0
    for days in spans:
        around = next((each for each in left if each.first <= days.first and days.last <= each.last), None)
        if around is not None:
            left.remove(around)
            count += 1
    return count


def row(name: str, language: str, scores: ExpressionScores) -> str:
    """Write a row of the table, in Markdown."""
    shares = (scores.right / max(scores.noted, 1), scores.about / max(scores.noted, 1))
    covered = (scores.right / max(scores.meant, 1), scores.about / max(scores.meant, 1))
    cells = [name, language, str(scores.noted), *(f"{100 * share:.1f}" for share in (*shares, *covered))]
    return f"| {' | '.join(cells)} | {median(scores.ms):.2f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table of all libraries that are installed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="+")
    chosen = parser.parse_args(arguments)
    examples = [each for file in chosen.file for each in expressions(file.read_text("utf-8"))]
    sys.stdout.write(f"{HEAD}\n{re.sub('[^|]+', '---', HEAD)}\n")
    for name, library in LIBRARIES.items():
        for language in library.languages:
            try:
                find = library.load(language)
            except ImportError as missing:
                sys.stderr.write(f"NOT MEASURED: {name} ({missing}): pip install {library.package}\n")
                break
            texts = [each for each in examples if each.language == language]
            sys.stdout.write(f"{row(name, language, measured(find, texts))}\n")


if __name__ == "__main__":
    main()
