"""Durations as people write them: "90m", "7d", "2w", "1.5h"; milliseconds everywhere below the command line."""

from __future__ import annotations

import re

import typer

from emgas.times import DAY_MS, HOUR_MS, MINUTE_MS

UNITS = {"ms": 1, "s": 1_000, "m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS, "w": 7 * DAY_MS}


def milliseconds(text: str) -> int:
    """Read a duration, in ms.  Raises BadParameter, which exits with the code of a wrong call."""
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)(ms|[smhdw])", text.strip())
    if match is None:
        raise typer.BadParameter(
            f"{text!r} is not a duration: write a number and one of {', '.join(UNITS)}, as in 90m or 7d"
        )
    return round(float(match[1]) * UNITS[match[2]])


def spoken(duration: int) -> str:
    """Write a duration (ms) in the largest unit that it fills, weeks aside: "60d", "16.64h"; 0 is "0"."""
    for unit in ("d", "h", "m", "s"):
        if duration >= UNITS[unit]:
            return f"{round(duration / UNITS[unit], 2):g}{unit}"
    return f"{duration}ms" if duration else "0"
