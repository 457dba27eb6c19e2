"""Times and durations as people write them on the command line; all other code uses ms."""

from __future__ import annotations

import re

import typer

from emgas.errors import InvalidMessageError
from emgas.times import DAY_MS, HOUR_MS, MINUTE_MS
from emgas.times import milliseconds as parse_time

METAVAR = "TIME"


def time(text: str) -> int:
    """Read "2023-05-08T14:00" (UTC without a zone) as ms.  Raises BadParameter: the exit code of a wrong call."""
    try:
        return parse_time(text)
    except InvalidMessageError as error:
        raise typer.BadParameter(str(error)) from None


UNITS = {"ms": 1, "s": 1_000, "m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS}


def duration(text: str) -> int:
    """Read a duration as people write it, "90m", "7d", "2w" or "1.5h", in ms.  Raises BadParameter as `time`."""
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)(ms|[smhdw])", text.strip())
    if match is None:
        raise typer.BadParameter(
            f"{text!r} is not a duration: write a number and one of {', '.join(UNITS)}, as in 90m or 7d"
        )
    return round(float(match[1]) * UNITS[match[2]])


def spoken(length: int) -> str:
    """Write a duration (ms) in the largest unit that it fills, weeks aside: "60d", "16.64h"; 0 is "0"."""
    for unit in ("d", "h", "m", "s"):
        if length >= UNITS[unit]:
            return f"{round(length / UNITS[unit], 2):g}{unit}"
    return f"{length}ms" if length else "0"
