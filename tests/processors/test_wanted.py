"""Questions for a kind of thing, and turns that tell it or only look so."""

from __future__ import annotations

import pytest

from processors.text.questions.wanted import tells_wanted, wanted

ASKED = {
    "place": ("丁老师在哪个办公室？", "钥匙放哪儿了？", "手術在哪裡做的？"),
    "money": ("报名要多少钱？", "房租是多少？"),
    "illness": ("他得了什么病？",),
    "medicine": ("医生开的什么药？",),
    "job": ("她爸是做什么的？", "他做哪一行？"),
    "name": ("那条狗叫什么？", "他姓什么？"),
    "reason": ("他为什么没来？", "会怎么没开成？"),
    "age": ("你爷爷多大年纪了？",),
    "companion": ("你跟谁去的？", "谁陪她去的医院？"),
    "gift": ("姐姐送了妈妈什么？",),
}
TOLD = {
    "place": ("他搬到六楼去了，608", "钥匙放在鞋柜里", "在市一院做的"),
    "money": ("报名费两千一百七", "涨到三千了"),
    "illness": ("查出来是胆结石", "阑尾炎又犯了"),
    "medicine": ("大夫给开了头孢", "一天三次，一次两片"),
    "job": ("她爸是中学老师", "我是做外贸的"),
    "name": ("我叫周舟", "新来的姓贺"),
    "reason": ("怕堵车，就没去", "太累了，没去"),
    "age": ("爷爷今年七十九了", "他属虎"),
    "companion": ("跟我表妹去的", "妈妈陪着她"),
    "gift": ("给妈买了条丝巾", "送她一束花"),
}
NOT_TOLD = {
    "place": ("他今天不在", "他爸住院了", "在哪个医院？"),
    "money": ("六楼太高了", "等了三天"),
    "illness": ("请了两天病假", "人挺好的"),
    "medicine": ("明天去复查",),
    "job": ("她爸爱下棋",),
    "name": ("我喊了他一声", "别叫我"),
    "reason": ("他昨天来过",),
    "age": ("他办公室在608室", "开会到周五"),
    "companion": ("我一个人去的",),
    "gift": ("我送孩子去上学",),
}
OTHER = ("今天天气怎么样？", "哪里哪里，过奖了", "我昨天吃了面")


@pytest.mark.parametrize(("kind", "question"), [(kind, each) for kind, asked in ASKED.items() for each in asked])
def test_a_question_wants_a_kind_of_thing(kind: str, question: str) -> None:
    assert kind in wanted(question)


@pytest.mark.parametrize("text", OTHER)
def test_another_text_wants_none(text: str) -> None:
    assert not wanted(text)


@pytest.mark.parametrize(("kind", "text"), [(kind, each) for kind, told in TOLD.items() for each in told])
def test_a_turn_tells_what_is_wanted(kind: str, text: str) -> None:
    assert tells_wanted(text, frozenset({kind}))


@pytest.mark.parametrize(("kind", "text"), [(kind, each) for kind, told in NOT_TOLD.items() for each in told])
def test_a_turn_with_like_words_does_not_tell_it(kind: str, text: str) -> None:
    assert not tells_wanted(text, frozenset({kind}))
