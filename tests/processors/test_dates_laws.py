"""What holds of the time expressions of any text at any time, on any machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from emgas.limits import EARLIEST_MS, LATEST_MS, SPANS_PER_TURN
from emgas.times import DAY_MS
from processors.dates import resolve
from processors.dates.resolve import anchored, day_of, days_of, format_span
from tests.support.time_expressions import CHINESE, CHINESE_NONE, ENGLISH, ENGLISH_NONE, ms

TEXTS = st.sampled_from([text for text, _ in ENGLISH + CHINESE] + ENGLISH_NONE + CHINESE_NONE)
PARTS = (
    "last next this the in on a two 30 0 99 2019 1999- /5/ ago week weekend year month day May march Friday before"
    " after 上 下 个 周 星期 月 年 前 后 天 五 十 二 半 号 去 今 末 底 世纪 年代 。 ."
)


WORDS = st.sampled_from([*PARTS.split(), "\n"])
AT = st.integers(EARLIEST_MS, LATEST_MS) | st.sampled_from([EARLIEST_MS, LATEST_MS, -1, 0])


@given(
    text=st.text() | TEXTS | st.lists(WORDS, max_size=12).map("".join) | st.lists(WORDS, max_size=12).map(" ".join),
    at=AT,
)
@example("last week", LATEST_MS)
@example("昨天", EARLIEST_MS)
@example("sıx days ago", 0)  # a dotless i: a pattern that ignores case takes it for an i
@example("We met on Frıday, on Frı 3 Aprıl, from Frıday to Sunday", 0)
@example("İ" * 50 + "yesterday", 0)  # is longer in small letters
def test_any_text_at_any_time_gives_well_formed_spans_and_the_same_ones_again(text: str, at: int) -> None:
    spans = anchored(text, at, "en")
    assert spans == anchored(text, at, "en")
    assert len(spans) <= SPANS_PER_TURN
    for span in spans:
        assert EARLIEST_MS <= span.since < span.until <= LATEST_MS
        assert span.since % DAY_MS == span.until % DAY_MS == EARLIEST_MS % DAY_MS
        assert span.text.strip()
        assert " = " in format_span(span)


@given(text=TEXTS, at=st.integers(ms("1900-01-01"), ms("2100-01-01")), later=st.integers(0, DAY_MS - 1))
def test_the_hour_does_not_matter(text: str, at: int, later: int) -> None:
    midnight = at - at % DAY_MS
    assert anchored(text, midnight, "en") == anchored(text, midnight + later, "en")


@given(at=AT)
def test_today_holds_the_time_it_is_said_at(at: int) -> None:
    for span in anchored("today", at, "en"):
        assert span.since <= at < span.until
        assert days_of(span) == (day_of(at), day_of(at))


def test_the_time_zone_of_the_machine_changes_nothing() -> None:
    text = "今早 I swam, last Friday we met, in June, 昨晚"
    at = ms("2023-01-01T00:10")
    program = f"from processors.dates.resolve import anchored\nprint(anchored({text!r}, {at}, 'en'), end='')"
    for zone in ("UTC", "Asia/Shanghai", "America/Los_Angeles", "Pacific/Kiritimati"):
        run = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", program],
            capture_output=True, encoding="utf-8", check=True, cwd=Path(resolve.__file__).parents[1],
            env={**os.environ, "TZ": zone},
        )  # fmt: skip
        assert run.stdout == str(anchored(text, at, "en"))
