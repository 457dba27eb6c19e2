"""Times as people and programs write them, as the integer that every message carries: ms since 1970, UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from emgas.errors import InvalidMessageError
from emgas.limits import EARLIEST_MS, LATEST_MS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def milliseconds(when: int | str | datetime) -> int:
    """Return a time as ms since 1970.  Raises InvalidMessageError.

    int        ms since 1970, as it is
    str        ISO 8601 ("2023-05-08", "2023-05-08T14:00", "2023-05-08T14:00:00+02:00"), or ms in at least 11 digits
    datetime   without a time zone, UTC is meant; so it is in text
    """
    if isinstance(when, str):
        return _within(_read(when.strip()), when)
    return _within(_since_1970(when) if isinstance(when, datetime) else when, str(when))


def _read(text: str) -> int:
    if re.fullmatch(r"-?[0-9]{11,18}", text):  # fewer digits are seconds, or a date without its hyphens
        return int(text)
    try:
        return _since_1970(datetime.fromisoformat(text))
    except ValueError:
        raise InvalidMessageError(
            f"{text[:40]!r} is no time: write it as 2023-05-08T14:00 (UTC, or with +02:00), or in ms since 1970"
        ) from None


def _since_1970(when: datetime) -> int:
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(milliseconds=1)


def _within(at: int, given: str) -> int:
    if not EARLIEST_MS <= at <= LATEST_MS:
        raise InvalidMessageError(f"{given[:40]} lies outside the years 1 to 9999: times are in ms since 1970")
    return at
