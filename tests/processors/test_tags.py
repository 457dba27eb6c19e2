"""Who, when, and whether a time or anything is asked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from emgas.limits import EARLIEST_MS, LATEST_MS
from processors.extraction.tags import asks, asks_time, of_query, of_turn, tells_time
from state.events.extraction_types import Concept, TimeSpan

AT = 1_683_504_000_000  # 2023-05-08T00:00:00Z


def test_a_turn_is_tagged_with_speaker_month_and_day() -> None:
    assert of_turn("The boat", "Caroline  Lee", AT, []) == [
        Concept("@month:2023-05", "2023-05", 1.0, 1),
        Concept("@day:2023-05-08", "2023-05-08", 1.0, 1),
        Concept("@speaker:caroline lee", "Caroline Lee", 1.0, 1),
    ]


def test_the_day_changes_at_midnight_utc() -> None:
    assert of_turn("", "A", AT - 1, [])[1].id == "@day:2023-05-07"
    assert of_turn("", "A", EARLIEST_MS, [])[1].id == "@day:0001-01-01"
    assert of_turn("", "A", LATEST_MS, [])[1].id == "@day:9999-12-31"


def span(since: str, until: str) -> TimeSpan:
    first, last = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (since, until))
    return TimeSpan("then", int(first.timestamp() * 1000), int(last.timestamp() * 1000))


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("2023-05-07", "2023-05-08", ["@day:2023-05-07", "@month:2023-05"]),
        ("2023-04-29", "2023-05-01", ["@day:2023-04-29", "@day:2023-04-30", "@month:2023-04"]),
        ("2023-04-01", "2023-05-01", ["@month:2023-04"]),
        ("2022-12-01", "2023-03-01", ["@month:2022-12", "@month:2023-01", "@month:2023-02"]),
        ("2022-01-01", "2023-01-01", []),
        ("9999-12-30", "9999-12-31", ["@day:9999-12-30", "@month:9999-12"]),
    ],
)
def test_a_time_that_is_told_is_a_tag_beside_that_of_the_day_it_is_told_on(
    since: str, until: str, expected: list[str]
) -> None:
    told = span(since, until)
    of_the_turn = ["@month:2023-05", "@day:2023-05-08", "@speaker:a"]
    assert [tag.id for tag in of_turn("", "A", AT, [told, told])] == list(dict.fromkeys([*of_the_turn, *expected]))
    assert [tag.id for tag in of_query("", [told])] == expected


def test_a_week_is_seven_days_and_the_months_it_reaches_into() -> None:
    week = [tag.id for tag in of_query("", [span("2023-05-29", "2023-06-05")])]
    assert week[:2] == ["@day:2023-05-29", "@day:2023-05-30"]
    assert week[6:] == ["@day:2023-06-04", "@month:2023-05", "@month:2023-06"]


@pytest.mark.parametrize(
    "text",
    [
        "yesterday", "last week", "Next month we sail", "two weeks ago", "on Friday", "in June", "in May", "May 5th",
        "8 May",
        "since 2016", "at 8:30", "at 3 pm", "last summer", "for three years", "the other day", "in the fall", "tonight",
        "5/8/2023",
        "昨天", "上周", "三月", "去年", "下个月", "周六", "2023年", "十月", "三天前", "五点半", "国庆",
        "昨晚", "八号", "春天", "两年前",
    ],
)  # fmt: skip
def test_a_time_expression_is_seen(text: str) -> None:
    assert tells_time(text)
    assert "@time" in {tag.id for tag in of_turn(text, "A", AT, [])}


@pytest.mark.parametrize(
    "text",
    ["you may be right", "the sun and we", "I march on", "we fall", "a second boat", "now and then", "sunny", "lasting",
     "100 boats",
     "早上好", "有一点累", "明白", "天气真好", "月亮", "年糕", "你好"],
)  # fmt: skip
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert not tells_time(text)


@pytest.mark.parametrize(
    "text",
    ["When did Ann sail?", "when is it?", "Do you know when she came", "What date was it?", "Which year did he move?",
     "How long ago?",
     "How many days did it take?", "what time is it", "By when must it be done?", "Since when?", "When?",
     "什么时候去的", "哪天", "是哪一天？", "几月份", "多久了", "星期几", "哪年", "何时", "多少天"],
)  # fmt: skip
def test_a_question_for_a_time_is_seen(text: str) -> None:
    assert asks_time(text)


@pytest.mark.parametrize(
    "text",
    ["What did Ann paint?", "When I was young, we sailed", "how many boats", "whenever", "多少钱", "哪里", "几个人"],
)
def test_other_questions_ask_for_no_time(text: str) -> None:
    assert not asks_time(text)


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("in May 2023", ["@month:2023-05"]),
        ("on 8 May 2023", ["@month:2023-05", "@day:2023-05-08"]),
        ("8th of May, 2023", ["@month:2023-05", "@day:2023-05-08"]),
        ("May 8th, 2023?", ["@month:2023-05", "@day:2023-05-08"]),
        ("Sept 2023", ["@month:2023-09"]),
        ("2023-05-08", ["@month:2023-05", "@day:2023-05-08"]),
        ("2023年5月", ["@month:2023-05"]),
        ("2023年5月8日", ["@month:2023-05", "@day:2023-05-08"]),
        ("2023年十二月", ["@month:2023-12"]),
        ("2023-13-40", []),
        ("30 February 2023", []),
        ("0000-01", []),
        ("in May", []),
        ("2023", []),
        ("maybe 2023", []),
        ("in aprıl 2023", []),  # a dotless i
    ],
)
def test_a_stated_date_is_a_tag(text: str, dates: list[str]) -> None:
    assert [tag.id for tag in of_query(text)] == dates


@pytest.mark.parametrize(
    "text",
    ["Is it?", "Really? I doubt it.", "what is your name", "How many boats do you have", "Did you sail",
     "So what did she say",
     "why not",
     "是吗", "你去了吗。", "你呢", "什么时候去", "为什么不去", "谁来了",
     "你叫什么", "去哪里", "真的？好"],
)  # fmt: skip
def test_a_question_is_told_with_and_without_a_question_mark(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "It is.",
        "When I was young, we sailed.",
        "What a boat!",
        "How cool!",
        "see https://a.org/?b=1",
        "我忙着呢",
        "好的。",
        "没呢",
        "",
    ],
)
def test_a_statement_asks_nothing(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize("text", ["3点半", "见面时间: 15号", "2023", "〇八年3月", "第3天前, 3天前", "12月 25日"])
def test_digits_of_a_chinese_text_tell_a_time_wherever_its_characters_stand(text: str) -> None:
    assert tells_time(text)
    assert tells_time("So they met " + text)


@pytest.mark.parametrize("text", ["3:5 won", "room 1823a", "12, 25", "¥3"])
def test_digits_alone_tell_none(text: str) -> None:
    assert not tells_time(text)
