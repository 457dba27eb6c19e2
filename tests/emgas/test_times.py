"""Times as people write them: what each means, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas.errors import InvalidMessageError
from emgas.limits import EARLIEST_MS, LATEST_MS
from emgas.messages.turns import Turn
from emgas.times import EPOCH, HOUR_MS, SECONDS, datetime_of, format_utc, milliseconds, offset_of, wall_clock

TWO_PM = 1_683_554_400_000  # 2023-05-08T14:00:00Z


@pytest.mark.parametrize(
    "written",
    [
        TWO_PM,
        str(TWO_PM),
        "2023-05-08T14:00",
        " 2023-05-08 14:00:00.000 ",
        "2023-05-08T14:00Z",
        "2023-05-08T16:00+02:00",
        "20230508T14",
        datetime(2023, 5, 8, 14),  # noqa: DTZ001 - read as UTC
        datetime(2023, 5, 8, 16, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_one_time_in_many_forms(written: int | str | datetime) -> None:
    assert milliseconds(written) == TWO_PM


@pytest.mark.parametrize(("written", "at"), [("2023-05-08", TWO_PM - 14 * HOUR_MS), ("-00000000001", -1), (-1, -1)])
def test_a_day_begins_at_midnight_and_a_memory_may_be_older_than_1970(written: int | str, at: int) -> None:
    assert milliseconds(written) == at


@pytest.mark.parametrize("written", ["", "soon", "2023", "1683554400", "yesterday", "2023-13-01", "2023-05-08T25:00"])
def test_what_is_no_time_is_refused_and_the_error_says_how_to_write_one(written: str) -> None:
    with pytest.raises(InvalidMessageError, match="is no time: write it as 2023-05-08T14:00"):
        milliseconds(written)


@pytest.mark.parametrize("written", [EARLIEST_MS - 1, LATEST_MS + 1, str(LATEST_MS + 1), "0001-01-01T00:00+14:00"])
def test_a_time_beyond_all_calendars_is_refused(written: int | str) -> None:
    with pytest.raises(InvalidMessageError, match="years 1 to 9999"):
        milliseconds(written)


@given(st.integers(EARLIEST_MS, LATEST_MS))
def test_every_time_that_a_message_may_hold_can_be_written(at: int) -> None:
    written = EPOCH + timedelta(milliseconds=at)
    assert milliseconds(written) == milliseconds(written.isoformat()) == at
    assert at in SECONDS or milliseconds(at) == at


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (0, "1970-01-01 00:00"),
        (-1, "1969-12-31 23:59"),
        (59_999, "1970-01-01 00:00"),
        (EARLIEST_MS, "0001-01-01 00:00"),
        (LATEST_MS, "9999-12-31 23:59"),
    ],
)
def test_every_time_that_a_turn_may_have_can_be_written(at: int, shown: str) -> None:
    assert format_utc(at) == shown


@pytest.mark.parametrize("at", [SECONDS.start, 1_683_554_400, SECONDS.stop - 1])
def test_seconds_are_not_taken_for_milliseconds(at: int) -> None:
    with pytest.raises(InvalidMessageError, match="looks like seconds"):
        milliseconds(at)


def test_a_time_without_a_zone_is_that_of_who_says_it() -> None:
    assert milliseconds("2023-05-08T16:00", "Europe/Berlin") == TWO_PM
    assert milliseconds("2023-05-08T16:00+02:00", "Asia/Shanghai") == TWO_PM
    with pytest.raises(InvalidMessageError, match="there is no time zone 'Mars/Base'"):
        milliseconds("2023-05-08", "Mars/Base")


@given(st.integers(EARLIEST_MS, LATEST_MS), st.sampled_from(["UTC", "Asia/Shanghai", "America/St_Johns", "no zone"]))
def test_the_clock_on_the_wall_is_never_far_from_the_time_and_within_the_limits(at: int, timezone: str) -> None:
    assert abs(wall_clock(at, timezone) - at) <= 15 * HOUR_MS
    assert EARLIEST_MS <= wall_clock(at, timezone) <= LATEST_MS


def test_the_clock_on_the_wall_knows_summer() -> None:
    assert format_utc(wall_clock(TWO_PM, "Europe/Berlin")) == "2023-05-08 16:00"
    assert format_utc(wall_clock(milliseconds("2023-01-08T14:00"), "Europe/Berlin")) == "2023-01-08 15:00"


@pytest.mark.parametrize(
    ("when", "offset"),
    [
        ("2025-03-12T00:30:00+08:00", "+08:00"),
        ("2025-03-12T00:30-0330", "-03:30"),
        ("2025-03-12T00:30+00:00", None),
        ("2025-03-12T00:30Z", None),
        ("2025-03-12T00:30", None),
    ],
)
def test_the_offset_of_a_time_is_a_zone_by_which_clocks_show_what_was_written(when: str, offset: str | None) -> None:
    assert offset_of(when) == offset
    shown = datetime_of(wall_clock(milliseconds(when), offset or "UTC"))
    assert shown == datetime(2025, 3, 12, 0, 30, tzinfo=UTC)


def test_a_turn_keeps_the_offset_of_its_time_unless_it_names_a_zone() -> None:
    fields = {"id": "t1", "graph": "g", "speaker": "Ada", "text": "yesterday I left", "at": "2025-03-12T00:30:00+08:00"}
    assert Turn.model_validate(fields).metadata == {"timezone": "+08:00"}
    assert Turn.model_validate({**fields, "metadata": {"timezone": "Asia/Tokyo"}}).metadata == {
        "timezone": "Asia/Tokyo"
    }
    assert Turn.model_validate({**fields, "at": 1741710600000}).metadata == {}
