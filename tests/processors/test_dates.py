"""What time expressions mean: two tables written before any data was looked at, the rules, and the laws."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emgas.limits import EARLIEST_MS, LATEST_MS, SPANS_PER_TURN
from processors import dates
from processors.dates import DAY_MS, anchored, day_of, days_of, told
from processors.time_grammar import TRIED
from state.facts import TimeSpan

WEDNESDAY = "2023-05-17T14:30"

ENGLISH = [  # said on Wednesday, 17 May 2023
    ("I went to the lake yesterday.", "yesterday = 2023-05-16"),
    ("The piano arrives tomorrow!", "tomorrow = 2023-05-18"),
    ("I baked bread today", "today = 2023-05-17"),
    ("We are having soup tonight", "tonight = 2023-05-17"),
    ("I missed the bus this morning.", "this morning = 2023-05-17"),
    ("Last night the power went out", "Last night = 2023-05-16"),
    ("Yesterday evening we played chess", "Yesterday evening = 2023-05-16"),
    ("He called the day before yesterday.", "the day before yesterday = 2023-05-15"),
    ("She leaves the day after tomorrow", "the day after tomorrow = 2023-05-19"),
    ("I saw the dentist last Friday.", "last Friday = 2023-05-12"),
    ("We lost the match last Wednesday", "last Wednesday = 2023-05-10"),
    ("The exam is next Friday.", "next Friday = 2023-05-19"),
    ("The exam is next Monday.", "next Monday = 2023-05-22"),
    ("The shop opens this Saturday", "this Saturday = 2023-05-20"),
    ("We met on Monday and talked.", "on Monday = 2023-05-15"),
    ("I will see her on Monday.", "on Monday = 2023-05-22"),
    ("On Friday, a letter", "On Friday = 2023-05-12"),
    ("Two Fridays ago it snowed", "Two Fridays ago = 2023-05-05"),
    ("It broke Friday night.", "Friday night = 2023-05-12"),
    ("I was ill last week", "last week = 2023-05-08 to 2023-05-14"),
    ("This week has been long", "This week = 2023-05-15 to 2023-05-21"),
    ("We travel next week.", "next week = 2023-05-22 to 2023-05-28"),
    ("It began the week before last", "the week before last = 2023-05-01 to 2023-05-07"),
    ("I adopted a cat two weeks ago.", "two weeks ago = 2023-05-01 to 2023-05-07"),
    ("A week ago I quit", "A week ago = 2023-05-08 to 2023-05-14"),
    ("We camped last weekend", "last weekend = 2023-05-13 to 2023-05-14"),
    ("This weekend we will hike", "This weekend = 2023-05-20 to 2023-05-21"),
    ("We had a barbecue over the weekend", "over the weekend = 2023-05-13 to 2023-05-14"),
    ("I moved house last month.", "last month = 2023-04"),
    ("Next month we sail", "Next month = 2023-06"),
    ("I started three months ago", "three months ago = 2023-02"),
    ("He retired last year", "last year = 2022"),
    ("A year ago I could not swim", "A year ago = 2022"),
    ("They married 10 years ago", "10 years ago = 2013"),
    ("She left the year before last", "the year before last = 2021"),
    ("We drove to Spain last summer", "last summer = 2022-06 to 2022-08"),
    ("This summer I will rest", "This summer = 2023-06 to 2023-08"),
    ("I planted it in the spring of 2021", "in the spring of 2021 = 2021-03 to 2021-05"),
    ("I graduated in 2019.", "in 2019 = 2019"),
    ("We met in May 2019", "in May 2019 = 2019-05"),
    ("The fair was in June.", "in June = 2022-06"),
    ("We will marry in June.", "in June = 2023-06"),
    ("I was born on 7 May.", "on 7 May = 2023-05-07"),
    ("It happened on May 7, 2021", "on May 7, 2021 = 2021-05-07"),
    ("She came on the 3rd of April", "on the 3rd of April = 2023-04-03"),
    ("The note is dated 2022-11-30.", "2022-11-30 = 2022-11-30"),
    ("I ran a race three days ago", "three days ago = 2023-05-14"),
    ("We saw it a couple of days ago", "a couple of days ago = 2023-05-15"),
    ("The baby is due in two weeks", "in two weeks = 2023-05-29 to 2023-06-04"),
    ("Last Christmas we stayed home", "Last Christmas = 2022-12-25"),
    ("We moved here at the end of last year", "last year = 2022"),
    ("I sold it a year and a half ago", "a year and a half ago = 2021-11"),
    ("Over the past two weeks I slept badly", "Over the past two weeks = 2023-05-03 to 2023-05-17"),
    ("I painted a lot in the 1990s", "in the 1990s = 1990 to 1999"),
]  # fmt: skip
ENGLISH_NONE = [  # vague, told from another day, repeated, or no time at all
    "I finished the book in two weeks",
    "I saw him recently",
    "That was a while ago",
    "A few days ago it rained",
    "She called the other day",
    "The next day we left",
    "Two days later he was gone",
    "We swim every Friday",
    "On Sundays we rest",
    "I lived there for three years",
    "You may be right, they march on and fall",
    "Next time we win, in the last minute",
    "I counted 2000 steps in room 1984",
    "My friend April and her sister June sing",
]  # fmt: skip
CHINESE = [
    ("我昨天去了湖边。", "昨天 = 2023-05-16"),
    ("今天我烤了面包", "今天 = 2023-05-17"),
    ("钢琴明天到", "明天 = 2023-05-18"),
    ("他前天打过电话", "前天 = 2023-05-15"),
    ("大前天下雪了", "大前天 = 2023-05-14"),
    ("她后天走", "后天 = 2023-05-19"),
    ("大后天开会", "大后天 = 2023-05-20"),
    ("前天晚上我们吃火锅", "前天晚上 = 2023-05-15"),
    ("昨晚停电了", "昨晚 = 2023-05-16"),
    ("今早没赶上车", "今早 = 2023-05-17"),
    ("明天上午考试", "明天上午 = 2023-05-18"),
    ("上周五我去看牙医", "上周五 = 2023-05-12"),
    ("上周三输了比赛", "上周三 = 2023-05-10"),
    ("下周一考试", "下周一 = 2023-05-22"),
    ("下个星期天搬家", "下个星期天 = 2023-05-28"),
    ("这周五见面", "这周五 = 2023-05-19"),
    ("周五有空吗", "周五 = 2023-05-19"),
    ("星期一我们谈过了", "星期一 = 2023-05-15"),
    ("上上周六下雨", "上上周六 = 2023-05-06"),
    ("上周我生病了", "上周 = 2023-05-08 to 2023-05-14"),
    ("这个星期很累", "这个星期 = 2023-05-15 to 2023-05-21"),
    ("本周要交报告", "本周 = 2023-05-15 to 2023-05-21"),
    ("下周出差", "下周 = 2023-05-22 to 2023-05-28"),
    ("上上周开始的", "上上周 = 2023-05-01 to 2023-05-07"),
    ("两周前领养了一只猫", "两周前 = 2023-05-01 to 2023-05-07"),
    ("上周末去露营", "上周末 = 2023-05-13 to 2023-05-14"),
    ("这个周末爬山", "这个周末 = 2023-05-20 to 2023-05-21"),
    ("下周末聚会", "下周末 = 2023-05-27 to 2023-05-28"),
    ("上个月搬了家", "上个月 = 2023-04"),
    ("下个月去航海", "下个月 = 2023-06"),
    ("上上个月辞职的", "上上个月 = 2023-03"),
    ("三个月前开始学琴", "三个月前 = 2023-02"),
    ("半年前买的", "半年前 = 2022-11"),
    ("一年半以前卖掉了", "一年半以前 = 2021-11"),
    ("一个半月前装修完", "一个半月前 = 2023-04-03 to 2023-04-09"),
    ("去年他退休了", "去年 = 2022"),
    ("前年她走了", "前年 = 2021"),
    ("明年结婚", "明年 = 2024"),
    ("十年前结的婚", "十年前 = 2013"),
    ("去年夏天去了西班牙", "去年夏天 = 2022-06 to 2022-08"),
    ("今年夏天想休息", "今年夏天 = 2023-06 to 2023-08"),
    ("2021年春天种的", "2021年春天 = 2021-03 to 2021-05"),
    ("2019年毕业", "2019年 = 2019"),
    ("二〇一九年毕业", "二〇一九年 = 2019"),
    ("2019年5月认识的", "2019年5月 = 2019-05"),
    ("去年十二月见过", "去年十二月 = 2022-12"),
    ("5月7号我过生日", "5月7号 = 2023-05-07"),
    ("去年5月7日出生的", "去年5月7日 = 2022-05-07"),
    ("2021年5月7日发生的", "2021年5月7日 = 2021-05-07"),
    ("六月要结婚", "六月 = 2023-06"),
    ("三月份装修完了", "三月份 = 2023-03"),
    ("上个月15号交的房租", "上个月15号 = 2023-04-15"),
    ("这个月底发奖金", "这个月底 = 2023-05"),
    ("三天前跑了步", "三天前 = 2023-05-14"),
    ("两周后预产期", "两周后 = 2023-05-29 to 2023-06-04"),
    ("三天之后回来", "三天之后 = 2023-05-20"),
    ("去年国庆在家", "去年国庆 = 2022-10-01"),
    ("去年年底搬来的", "去年年底 = 2022"),
    ("90年代的歌", "90年代 = 1990 to 1999"),
]  # fmt: skip
CHINESE_NONE = [
    "最近很忙",
    "小时候常去",
    "前几天碰到他",
    "前两天碰到他",
    "几个月前的事",
    "第二天我们就走了",
    "前一天晚上没睡",
    "每周五游泳",
    "我在那儿住了三年",
    "他住5号楼，坐3号线",
    "明白了，有一点累，吃年糕",
    "后来他去了前面",
    "一个月工资不多",
]  # fmt: skip
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
    ("We went to Bali for New Year's Eve last year", "2023"),
    ("last Halloween I dressed as a bat", "2023-10-31"),
    ("I haven't slept well these past two nights", None),
    ("On Valentine's Day he proposed", "2024-02-14"),
    ("We started dating six months ago", "2023-09"),
    ("I quit smoking a decade ago", "2010 to 2019"),
    ("My lease ends at the end of the month", None),
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
    ("we talked a week ago today", "2024-02-26 to 2024-03-03"),
    ("See you on Wed!", None),
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
    ("上半年太忙了", None),
    ("今年上半年太忙了", "2024-01 to 2024-06"),
    ("再过两周就放假", None),
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
    ("一年前的今天", "2023"),
]  # fmt: skip


def ms(written: str) -> int:
    return int(datetime.fromisoformat(written).replace(tzinfo=UTC).timestamp() * 1000)


def resolved(text: str, at: str = WEDNESDAY, language: str = "en") -> list[str]:
    return [told(span) for span in anchored(text, ms(at), language)]


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
    assert told(span) == reads


def test_what_leaves_the_years_1_to_9999_is_left_out() -> None:
    assert anchored("yesterday, last week, 900 years ago, 昨天, 去年", EARLIEST_MS, "en") == []
    assert anchored("tomorrow, next year, 明天, 下周, 后年", LATEST_MS, "en") == []


TOLD = st.sampled_from([text for text, _ in ENGLISH + CHINESE] + ENGLISH_NONE + CHINESE_NONE)
PARTS = (
    "last next this the in on a two 30 0 99 2019 1999- /5/ ago week weekend year month day May march Friday before"
    " after 上 下 个 周 星期 月 年 前 后 天 五 十 二 半 号 去 今 末 底 世纪 年代 。 ."
)
WORDS = st.sampled_from([*PARTS.split(), "\n"])
AT = st.integers(EARLIEST_MS, LATEST_MS) | st.sampled_from([EARLIEST_MS, LATEST_MS, -1, 0])


@given(
    text=st.text() | TOLD | st.lists(WORDS, max_size=12).map("".join) | st.lists(WORDS, max_size=12).map(" ".join),
    at=AT,
)
@example("last week", LATEST_MS)
@example("昨天", EARLIEST_MS)
def test_any_text_at_any_time_gives_well_formed_spans_and_the_same_ones_again(text: str, at: int) -> None:
    spans = anchored(text, at, "en")
    assert spans == anchored(text, at, "en")
    assert len(spans) <= SPANS_PER_TURN
    for span in spans:
        assert EARLIEST_MS <= span.since < span.until <= LATEST_MS
        assert span.since % DAY_MS == span.until % DAY_MS == EARLIEST_MS % DAY_MS
        assert span.text.strip()
        assert " = " in told(span)


@given(text=TOLD, at=st.integers(ms("1900-01-01"), ms("2100-01-01")), later=st.integers(0, DAY_MS - 1))
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
    program = (
        f"from processors.dates import anchored\nprint(anchored({text!r}, {ms('2023-01-01T00:10')}, 'en'), end='')"
    )
    for zone in ("UTC", "Asia/Shanghai", "America/Los_Angeles", "Pacific/Kiritimati"):
        run = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", program],
            capture_output=True, encoding="utf-8", check=True, cwd=Path(dates.__file__).parents[1],
            env={**os.environ, "TZ": zone},
        )  # fmt: skip
        assert run.stdout == str(anchored(text, ms("2023-01-01T00:10"), "en"))
