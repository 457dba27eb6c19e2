"""Anchors: what a text says that holds faster than the rest, in English and Chinese."""

from __future__ import annotations

import pytest

from processors.text.anchors import anchored


@pytest.mark.source("S28")
@pytest.mark.parametrize(
    ("text", "rule", "kind"),
    [
        ("Please remember that the bins go out on Friday.", "remember", "forced"),
        ("Remember: the bins go out on Friday.", "remember", "forced"),
        ("Don't forget my appointment!", "remember", "forced"),
        ("What shall we cook? Remember that I eat no meat.", "remember", "forced"),
        ("请记住我不吃肉。", "remember", "forced"),
        ("别忘了明天的会议", "remember", "forced"),
        ("I'm terribly allergic to peanuts.", "health", "spontaneous"),
        ("My son has a nut allergy", "health", "spontaneous"),
        ("她对花生过敏", "health", "spontaneous"),
        ("The alarm code of the house is 4711", "code", "forced"),
        ("门禁码是1234", "code", "forced"),
        ("My mother's birthday is on the third of May.", "birthday", "spontaneous"),
        ("我的生日是五月三号", "birthday", "spontaneous"),
        ("I promise to call you.", "promise", "spontaneous"),
        ("Nice to meet you!", "meeting", "spontaneous"),
        ("初次见面，请多关照", "meeting", "spontaneous"),
    ],
)
def test_what_people_keep_is_found_with_the_rule_that_says_so(text: str, rule: str, kind: str) -> None:
    anchors = anchored(text)
    assert anchors is not None
    anchor, importance = anchors
    assert (anchor.rule, anchor.kind) == (rule, kind)
    assert 0.5 < importance <= 1


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember the code?",
        "你还记得我的生日是哪天吗？",
        "I remember that day well.",
        "Thanks, I'll keep that in mind.",
        "I will never forget that trip.",
        "记住了，谢谢。",
        "We had pasta for dinner.",
        "The code review is tomorrow.",
        "",
    ],
)
def test_questions_and_everyday_talk_hold_nothing(text: str) -> None:
    assert anchored(text) is None
