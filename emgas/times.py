"""Convert times between the texts of people and programs and the integer of every message: ms since 1970, UTC.

The only epoch, and the only lengths of a minute, an hour and a day: other modules import them from here.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from datetime import timezone as FixedOffset  # noqa: N812 - `timezone` is a parameter here
from typing import Final
from zoneinfo import ZoneInfo

from emgas.errors import InvalidMessageError
from emgas.limits import EARLIEST_MS, LATEST_MS

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
_OFFSET: Final = re.compile(r"([+-]\d\d):?([0-5]\d)$")
SECONDS: Final = range(10**9, 5 * 10**9)  # as ms January and February of 1970, as seconds 2001 to 2128


def milliseconds(when: int | str | datetime, timezone: str = "UTC") -> int:
    """Read a time, in ms since 1970.  Raises InvalidMessageError.

    int        ms since 1970; what can only be meant in seconds is refused
    str        ISO 8601 ("2023-05-08", "2023-05-08T14:00", "2023-05-08T14:00:00+02:00"), or ms in at least 11 digits
    datetime   without a time zone, `timezone` is meant; so it is in text
    """
    if isinstance(when, str):
        return _within(_read(when.strip(), zone(timezone)), when)
    if isinstance(when, datetime):
        return _within(since_epoch(when, zone(timezone)), str(when))
    if when in SECONDS:
        raise InvalidMessageError(f"{when} looks like seconds: give milliseconds, or ISO 8601 if 1970 is meant")
    return _within(when, str(when))


def since_epoch(when: datetime, zone: tzinfo = UTC) -> int:
    """Count the ms from 1970 to `when`, exactly; without a time zone of its own, `zone` is meant."""
    naive = when.replace(tzinfo=None)
    # The offset is taken away by hand: where a date lies at the edge of what datetime can hold, astimezone would raise.
    offset = (when if when.tzinfo else when.replace(tzinfo=zone)).utcoffset() or timedelta()
    return (naive - EPOCH.replace(tzinfo=None) - offset) // timedelta(milliseconds=1)


def offset_of(when: str) -> str | None:
    """Return the offset from UTC that a time in text ends with, as +08:00; None without one, and for UTC itself."""
    match = _OFFSET.search(when.strip())
    return f"{match[1]}:{match[2]}" if match and int(match[1] + match[2]) else None


def zone(name: str) -> tzinfo:
    """Return the time zone with this IANA name, or of an offset (+08:00).  Raises InvalidMessageError."""
    if match := _OFFSET.fullmatch(name):
        minutes = 60 * int(match[1]) + int(match[1][0] + match[2])
        return FixedOffset(timedelta(minutes=minutes)) if abs(minutes) < 24 * 60 else UTC
    try:
        return UTC if name == "UTC" else ZoneInfo(name)  # some machines know no other
    except (KeyError, ValueError, OSError):  # the name may be any path
        raise InvalidMessageError(f"timezone: there is no time zone {name[:40]!r}: write it as Europe/Berlin") from None


def valid_zone(name: str) -> str:
    """Return the name of a time zone.  Raises ValueError for an unknown one."""
    try:
        zone(name)
    except InvalidMessageError as error:
        raise ValueError(str(error).removeprefix("timezone: ")) from None
    return name


def wall_clock(at: int, timezone: str) -> int:
    """Shift a time (ms) so that, read as UTC, it shows what clocks in `timezone` did; an unknown one shifts nothing."""
    if timezone == "UTC":
        return at
    try:
        shift = datetime_of(at).astimezone(zone(timezone)).utcoffset() or timedelta()
    except (InvalidMessageError, OverflowError):
        return at
    return min(LATEST_MS, max(EARLIEST_MS, at + shift // timedelta(milliseconds=1)))


def datetime_of(at: int) -> datetime:
    """Turn ms since 1970 into a date and time in UTC, exactly; floats would round it.  Raises OverflowError."""
    return EPOCH + timedelta(milliseconds=at)


def format_utc(at: int) -> str:
    """Write a time (ms) for people, in UTC and rounded down to the minute: "2023-05-08 13:56"."""
    return datetime_of(at).isoformat(" ", "minutes")[:16]


def _read(text: str, zone: tzinfo) -> int:
    if re.fullmatch(r"-?[0-9]{11,18}", text):  # fewer digits are seconds, or a date without its hyphens
        return int(text)
    try:
        return since_epoch(datetime.fromisoformat(text), zone)
    except ValueError:
        raise InvalidMessageError(
            f"{text[:40]!r} is no time: write it as 2023-05-08T14:00 (UTC, or with +02:00), or in ms since 1970"
        ) from None


def _within(at: int, text: str) -> int:
    if not EARLIEST_MS <= at <= LATEST_MS:
        raise InvalidMessageError(f"{text[:40]} lies outside the years 1 to 9999: times are in ms since 1970")
    return at
