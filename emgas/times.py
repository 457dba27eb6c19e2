"""Times as people and programs write them, as the integer that every message carries: ms since 1970, UTC.

The one epoch and the one length of a minute, an hour and a day; whoever counts in them imports them from here.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from emgas.errors import InvalidMessageError
from emgas.limits import EARLIEST_MS, LATEST_MS

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS


def milliseconds(when: int | str | datetime) -> int:
    """Read a time, in ms since 1970.  Raises InvalidMessageError.

    int        ms since 1970, as it is
    str        ISO 8601 ("2023-05-08", "2023-05-08T14:00", "2023-05-08T14:00:00+02:00"), or ms in at least 11 digits
    datetime   without a time zone, UTC is meant; so it is in text
    """
    if isinstance(when, str):
        return _within(_read(when.strip()), when)
    return _within(since_epoch(when) if isinstance(when, datetime) else when, str(when))


def since_epoch(when: datetime) -> int:
    """Count the ms from 1970 to `when`, exactly; without a time zone, UTC is meant."""
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return (aware - EPOCH) // timedelta(milliseconds=1)


def datetime_of(at: int) -> datetime:
    """Turn ms since 1970 into a date and time in UTC, exactly; floats would round it.  Raises OverflowError."""
    return EPOCH + timedelta(milliseconds=at)


def format_utc(at: int) -> str:
    """Write a time (ms) for people, in UTC and rounded down to the minute: "2023-05-08 13:56"."""
    return datetime_of(at).isoformat(" ", "minutes")[:16]


def _read(text: str) -> int:
    if re.fullmatch(r"-?[0-9]{11,18}", text):  # fewer digits are seconds, or a date without its hyphens
        return int(text)
    try:
        return since_epoch(datetime.fromisoformat(text))
    except ValueError:
        raise InvalidMessageError(
            f"{text[:40]!r} is no time: write it as 2023-05-08T14:00 (UTC, or with +02:00), or in ms since 1970"
        ) from None


def _within(at: int, given: str) -> int:
    if not EARLIEST_MS <= at <= LATEST_MS:
        raise InvalidMessageError(f"{given[:40]} lies outside the years 1 to 9999: times are in ms since 1970")
    return at
