"""Time expressions become the days they mean, in English and Chinese; what names no time becomes none."""

from __future__ import annotations

import pytest

from emgas.limits import EARLIEST_MS, LATEST_MS, SPANS_PER_TURN
from processors.dates.resolve import TRIED, anchored, format_span
from processors.text.language import clean
from state.events.extraction_types import TimeSpan
from tests.support.time_expressions import CHINESE, CHINESE_NONE, ENGLISH, ENGLISH_NONE, ms

WEDNESDAY = "2023-05-17T14:30"
SUNDAY = "2024-03-10T09:00"
SECOND = [  # a second table, said on Sunday, 10 March 2024; None where no date can be known
    ("I got my licence the Friday before last", "2024-03-01"),
    ("We had dinner Thursday evening.", "2024-03-07"),
    ("My flight leaves Tuesday morning, so I'll pack early", "2024-03-12"),
    ("I visited Rome back in 2016", "2016"),
    ("I adopted him about five years ago", "2019"),
    ("She was born on December 3rd, 1998", "1998-12-03"),
    ("I ran my first marathon in early November", "2023-11"),
    ("Our anniversary is on June 2nd", "2024-06-02"),
    ("We bought the house in the fall of 2020", "2020-09 to 2020-11"),
    ("Just got home from the gym this evening", "2024-03-10"),
    ("A couple weeks ago I tried sushi", "2024-02-19 to 2024-02-25"),
    ("Two weekends ago we hosted friends", "2024-02-24 to 2024-02-25"),
    ("I'll finish it by next Wednesday", "2024-03-13"),
    ("It was 3 nights ago", "2024-03-07"),
    ("We went to Bali for New Year's Eve last year", "2023-12-31"),
    ("last Halloween I dressed as a bat", "2023-10-31"),
    ("I haven't slept well these past two nights", "2024-03-08 to 2024-03-10"),
    ("On Valentine's Day he proposed", "2024-02-14"),
    ("We started dating six months ago", "2023-09"),
    ("I quit smoking a decade ago", "2010 to 2019"),
    ("My lease ends at the end of the month", "2024-03"),
    ("I'm off to camp this coming Saturday", "2024-03-16"),
    ("earlier this week I broke a plate", "2024-03-04 to 2024-03-10"),
    ("In the summer of '98 we met", None),
    ("He retires in five years", "2029"),
    ("I made it on 10/23/2023", "2023-10-23"),
    ("Since last October I've been vegan", "2023-10"),
    ("The class starts Monday", "2024-03-11"),
    ("two summers ago we hiked", "2022-06 to 2022-08"),
    ("On the 4th of July we grilled burgers", "2023-07-04"),
    ("I bought it over a month ago", "2024-02"),
    ("we talked a week ago today", "2024-03-03"),
    ("See you on Wed!", "2024-03-13"),
    ("In the 80s he was famous", "1980 to 1989"),
    ("We met in March of 2021", "2021-03"),
    ("I wrote it last week on Tuesday", "2024-02-27"),
    ("I planted roses last spring", "2023-03 to 2023-05"),
    ("Tomorrow night there is a game", "2024-03-11"),
    ("我大后天要去面试", "2024-03-13"),
    ("上个周六我们去钓鱼了", "2024-03-02"),
    ("礼拜四下午开的家长会", "2024-03-07"),
    ("下个月初交稿", "2024-04"),
    ("前年冬天在哈尔滨", "2022-12 to 2023-02"),
    ("五年前认识的她", "2019"),
    ("我是1998年12月3号出生的", "1998-12-03"),
    ("下下周去出差", "2024-03-18 to 2024-03-24"),
    ("上半年太忙了", "2024-01 to 2024-06"),
    ("今年上半年太忙了", "2024-01 to 2024-06"),
    ("再过两周就放假", "2024-03-18 to 2024-03-24"),
    ("三天后出结果", "2024-03-13"),
    ("情人节他求婚了", "2024-02-14"),
    ("去年圣诞节下了雪", "2023-12-25"),
    ("昨儿个吃撑了", "2024-03-09"),
    ("明儿见", "2024-03-11"),
    ("本月15号发工资", "2024-03-15"),
    ("周日晚上看电影", "2024-03-10"),
    ("两个月前买的车", "2024-01"),
    ("过去三个月瘦了十斤", "2023-12-10 to 2024-03-10"),
    ("6月2号是我们的纪念日", "2024-06-02"),
    ("20号之前要交", "2024-03-20"),
    ("上个月20号交的", "2024-02-20"),
    ("十月一号结婚的", "2023-10-01"),
    ("明年年初搬家", "2025"),
    ("八十年代的老歌", "1980 to 1989"),
    ("两年半前辞的职", "2021-09"),
    ("半个月前见过", "2024-02-19 to 2024-02-25"),
    ("上星期三晚上", "2024-02-28"),
    ("今晚吃什么", "2024-03-10"),
    ("去年这个时候在日本", "2023"),
    ("周末去爬山了", "2024-03-09 to 2024-03-10"),
    ("下周三之前给我", "2024-03-13"),
    ("上个月底退的租", "2024-02"),
    ("2023年底入职", "2023"),
    ("去年8月份生的", "2023-08"),
    ("这个暑假去实习", None),
    ("一年前的今天", "2023-03-10"),
]  # fmt: skip


def resolved(text: str, at: str = WEDNESDAY, language: str = "en") -> list[str]:
    return [format_span(span) for span in anchored(text, ms(at), language)]


@pytest.mark.parametrize(("text", "meant"), ENGLISH + CHINESE)
def test_an_expression_is_resolved_against_the_day_it_was_said(text: str, meant: str) -> None:
    assert resolved(text) == [meant]


@pytest.mark.parametrize(("text", "meant"), SECOND)
def test_what_is_meant_holds_on_another_day(text: str, meant: str | None) -> None:
    assert [one.partition(" = ")[2] for one in resolved(text, SUNDAY)] == ([meant] if meant else [])


@pytest.mark.parametrize("text", ENGLISH_NONE + CHINESE_NONE)
def test_what_names_no_time_gives_none(text: str) -> None:
    assert resolved(text) == []


def test_a_span_is_in_milliseconds_its_end_excluded() -> None:
    assert anchored("I sailed Yesterday.", ms(WEDNESDAY), "en") == [
        TimeSpan("Yesterday", ms("2023-05-16"), ms("2023-05-17"))
    ]


@pytest.mark.parametrize(
    ("text", "at", "meant"),
    [
        # leap days
        ("a year ago", "2024-02-29", "2023"),
        ("last month", "2024-03-31", "2024-02"),
        ("yesterday", "2024-03-01", "2024-02-29"),
        ("the last two months", "2024-04-30", "2024-02-29 to 2024-04-30"),
        ("We met on 29 February", "2023-05-17", "2020-02-29"),
        ("We will meet on February 29th", "2023-05-17", "2024-02-29"),
        ("昨天", "2024-03-01", "2024-02-29"),
        ("去年2月29日", "2025-05-01", "2024-02-29"),
        # the turn of the year
        ("yesterday", "2023-01-01", "2022-12-31"),
        ("last month", "2023-01-31", "2022-12"),
        ("next month", "2022-12-01", "2023-01"),
        ("next week", "2022-12-28", "2023-01-02 to 2023-01-08"),
        ("last weekend", "2023-01-01", "2022-12-24 to 2022-12-25"),
        ("this winter", "2023-01-15", "2022-12 to 2023-02"),
        ("last winter", "2023-03-01", "2022-12 to 2023-02"),
        ("two months ago", "2023-01-15", "2022-11"),
        ("We went in December", "2023-01-15", "2022-12"),
        ("上个月", "2023-01-31", "2022-12"),
        ("下周", "2022-12-28", "2023-01-02 to 2023-01-08"),
        ("上上个月15号", "2023-01-31", "2022-11-15"),
        ("十二月去过", "2023-01-15", "2022-12"),
        # days at which a rule turns over
        ("last Wednesday", "2023-05-17", "2023-05-10"),
        ("next Wednesday", "2023-05-17", "2023-05-24"),
        ("this Wednesday", "2023-05-17", "2023-05-17"),
        ("last weekend", "2023-05-21", "2023-05-13 to 2023-05-14"),
        ("last weekend", "2023-05-22", "2023-05-20 to 2023-05-21"),
        ("The weekend is lovely", "2023-05-20", "2023-05-20 to 2023-05-21"),
        ("This weekend we went sailing", "2023-05-15", "2023-05-13 to 2023-05-14"),
        ("last summer", "2023-08-01", "2022-06 to 2022-08"),
        ("last summer", "2023-09-01", "2023-06 to 2023-08"),
        ("next summer", "2023-08-01", "2024-06 to 2024-08"),
        ("It rained in May", "2023-05-17", "2023-05"),
        ("上周日", "2023-05-21", "2023-05-14"),
        ("周日见", "2023-05-21", "2023-05-21"),
        ("周五我们去过了", "2023-05-17", "2023-05-12"),
        ("周一要交报告", "2023-05-17", "2023-05-22"),
        ("六月想去大理", "2023-05-17", "2023-06"),
        ("六月去过大理", "2023-05-17", "2022-06"),
        # midnight is UTC's
        ("today", "2023-05-17T23:59:59.999", "2023-05-17"),
        ("today", "2023-05-18T00:00", "2023-05-18"),
    ],
)
def test_calendars_turn_over_where_they_should(text: str, at: str, meant: str) -> None:
    assert [one.partition(" = ")[2] for one in resolved(text, at)] == [meant]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("I told her that I will come on Friday.", "2023-05-19"),
        ("I will never forget how we danced on Friday.", "2023-05-12"),
        ("The fair will be held on Friday.", "2023-05-19"),
        ("It was fun. We're going camping on Friday!", "2023-05-19"),
        ("Will you call? On Friday I slept.", "2023-05-12"),
    ],
)
def test_the_cue_that_governs_the_expression_tells_its_tense(text: str, meant: str) -> None:
    assert [one.partition(" = ")[2] for one in resolved(text)] == [meant]


@pytest.mark.parametrize(
    ("text", "at", "meant"),
    [
        # what is agreed looks forward, though its verb is in the past
        ("I signed up for a race on 12 October", "2025-04-05", "2025-10-12"),
        ("I've got an appointment on Wednesday", "2025-04-05", "2025-04-09"),
        ("The goal is a race on 12 October", "2025-04-05", "2025-10-12"),
        ("The match was moved to Friday", "2023-05-17", "2023-05-19"),
        ("订了周一的位子", "2023-05-17", "2023-05-22"),
        ("抢到了5月3号的票", "2023-05-17", "2024-05-03"),
        ("会议改到周一了", "2023-05-17", "2023-05-22"),
        # by, until, 之前 look forward, unless a verb before them is in the past
        ("Everything runs on it by the end of March", "2023-05-17", "2024-03-31"),
        ("She stayed until Monday", "2023-05-17", "2023-05-15"),
        ("5月3号之前要交", "2023-05-17", "2024-05-03"),
        ("5月3号之前就交了", "2023-05-17", "2023-05-03"),
        # the present tells what is arranged
        ("The concert is on Monday", "2023-05-17", "2023-05-22"),
        ("演唱会在5月3号", "2023-05-17", "2024-05-03"),
        ("5月3号去的罗马", "2024-04-17", "2023-05-03"),
        # without a tense, what is clearly nearest; in English, whose verbs would show the past, only if to come
        ("Rome, 3 June", "2023-05-17", "2023-06-03"),
        ("Rome, 3 May", "2023-05-17", None),
        ("罗马，5月3号", "2023-05-17", "2023-05-03"),
        ("Rome, 12 October", "2023-04-16", None),
        ("罗马，10月12号", "2023-04-16", None),
        ("A letter on Friday", "2023-05-17", None),
        ("周一的会", "2023-05-17", None),
        ("I usually run on Friday", "2023-05-17", None),
        # the end of a range has the month of its beginning, and so has a day told after it
        ("We'll be away from 28 to 30 June", "2023-05-17", "2023-06-28 to 2023-06-30"),
        ("We'll be away December 28 to January 3", "2023-05-17", "2023-12-28 to 2024-01-03"),
        ("6月14号到18号放假", "2023-05-17", "2023-06-14 to 2023-06-18"),
        ("12月28号到1月3号放假", "2023-11-20", "2023-12-28 to 2024-01-03"),
        ("We'll be away from Friday to Sunday", "2023-05-17", "2023-05-19 to 2023-05-21"),
        ("5 and 9 August", "2023-05-17", "2023-08-09"),
        ("I work Monday to Friday", "2023-05-17", None),
        # a weekday and a date are one date, and tell the year or the month
        ("Saturday the 12th", "2025-07-05", "2025-07-12"),
        ("We met on Friday, March 8th", "2024-04-16", "2024-03-08"),
        ("5月18号（周六）", "2024-04-16", "2024-05-18"),
        ("24号周三", "2024-04-16", "2024-04-24"),
        ("Sunday the 12th", "2025-07-05", None),  # no such day for months
        # names, and what only says which day it is
        ("The film Tomorrow is long", "2023-05-17", None),
        ("He sat in the sun the 2nd time", "2023-05-17", None),
        ("Today is Wednesday, so she sings", "2023-05-17", "2023-05-17"),
        ("It was a Monday", "2023-05-17", None),
        ("Nobody calls tomorrow next Thursday", "2023-05-17", "2023-05-18; 2023-05-25"),
    ],
)
def test_without_a_clear_tense_nothing_is_noted_that_could_be_wrong(text: str, at: str, meant: str | None) -> None:
    meanings = [one.partition(" = ")[2] for one in resolved(clean(text), at)]
    assert "; ".join(meanings) == (meant or "")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("We leave on 17 October and come back on the 26th", ["2025-10-17", "2025-10-26"]),
        ("We stay from 6 to 9 October. The museum is on the 8th.", ["2025-10-06 to 2025-10-09", "2025-10-08"]),
        ("We leave on 17 October. The exam is on the 26th.", ["2025-10-17"]),
        ("10月17号出发,26号回来", ["2025-10-17", "2025-10-26"]),
        ("10月17号出发。26号考试", ["2025-10-17"]),
    ],
)
def test_a_day_without_a_month_has_the_month_that_was_said_just_before(text: str, meant: list[str]) -> None:
    assert [one.partition(" = ")[2] for one in resolved(text, "2025-09-29")] == meant


def test_a_date_in_figures_counts_only_when_it_can_be_read_in_one_way() -> None:
    assert resolved("5/17/2022 or 17/5/2022") == ["5/17/2022 = 2022-05-17", "17/5/2022 = 2022-05-17"]
    assert resolved("5/7/2022, 31/31/2022, 2022-02-30, 30 February 2022") == []


def test_traditional_characters_are_shown_as_they_were_written() -> None:
    assert resolved("上週五我們見過面") == ["上週五 = 2023-05-12"]


def test_mixed_text_is_read_in_both_languages_and_in_order() -> None:
    assert resolved("上周五 deploy, last month 的 bug, 昨天 fixed") == [
        "上周五 = 2023-05-12",
        "last month = 2023-04",
        "昨天 = 2023-05-16",
    ]


def test_another_language_has_no_rules_of_english() -> None:
    assert resolved("last may, 2022-11-30, 昨天", language="de") == ["2022-11-30 = 2022-11-30", "昨天 = 2023-05-16"]


def test_a_text_gives_no_more_spans_than_an_event_records() -> None:
    assert len(resolved(" ".join(f"in {year}," for year in range(1950, 2000)))) == SPANS_PER_TURN


def test_a_text_that_repeats_itself_for_ever_is_not_read_for_ever() -> None:
    assert resolved("30 February " * TRIED + "yesterday") == []
    assert resolved("30 February " * (TRIED - 1) + "yesterday") == ["yesterday = 2023-05-16"]


def test_the_same_expression_counts_once() -> None:
    assert resolved("today, today and today") == ["today = 2023-05-17"]


@pytest.mark.parametrize(
    ("span", "reads"),
    [
        (TimeSpan("now", ms("2023-01-01"), ms("2024-01-01")), "now = 2023"),
        (TimeSpan("a\nb", ms("2023-01-01"), ms("2023-02-01")), "a b = 2023-01"),
        (TimeSpan("x", ms("2023-01-01"), ms("2023-01-03")), "x = 2023-01-01 to 2023-01-02"),
        (TimeSpan("x", ms("2023-11-01"), ms("2024-02-01")), "x = 2023-11 to 2024-01"),
    ],
)
def test_a_span_is_told_as_short_as_it_can_be(span: TimeSpan, reads: str) -> None:
    assert format_span(span) == reads


def test_what_leaves_the_years_1_to_9999_is_left_out() -> None:
    assert anchored("yesterday, last week, 900 years ago, 昨天, 去年", EARLIEST_MS, "en") == []
    assert anchored("tomorrow, next year, 明天, 下周, 后年", LATEST_MS, "en") == []
