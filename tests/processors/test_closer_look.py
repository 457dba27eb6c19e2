"""What a closer look at the best turns finds: what was left out, what "I" do, what goes on, what has changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from processors.recall.answer.closer_look import OMITTED
from processors.text.questions.answer_kinds import (
    ask_alike,
    asks_cause,
    asks_fate,
    asks_omitted,
    asks_present,
    asks_self,
    tells_cause,
    tells_change,
)
from tests.support.stories import Story

LEFT_OUT = (
    "When did I miss my swim?", "Which day did I not go to yoga?", "When didn't I take the tablets?",
    "On which day did I have no soup?", "How often did I skip breakfast?",
    "我哪天没练琴？", "哪一次没去跑步？", "什么时候没吃药？",
)  # fmt: skip
NOT_LEFT_OUT = (
    "When did I go to yoga?", "Which day is the swim?", "I don't know the day",
    "哪天去练琴？", "什么时候不错？", "我没练琴",
)  # fmt: skip
CHANGED = (
    "the club has moved to Fridays", "I quit in June", "I'm with Dr Falk these days", "we don't live there anymore",
    "my dentist retired, so I see Dr Oman",
    "我换教练了",
    "周会挪到周五了", "现在改坐班车", "我不喝豆浆了", "上个月搬到厦门去了", "密码改了，现在是7720",
)  # fmt: skip
NOT_CHANGED = (
    "the club meets on Fridays", "I read the book", "we moved the sofa upstairs", "I left the keys at home",
    "周会在周一", "我喝豆浆", "我去换衣服", "他们在改作文",
)  # fmt: skip
STORIES = {
    "left out, in other words than the question's": (
        ("Pilates done.", "Pilates again.", "Didn't make it to pilates, my back hurts.", "Pilates was packed."),
        "When did I miss pilates?", 2,
    ),
    "what recurs every day, but for one": (
        ("午休打乒乓球了", "午休又打乒乓球了", "下雨，没打成乒乓球", "午休打了乒乓球"), "我哪天没打乒乓球？", 2,
    ),
    "what the asker says of themselves": (
        ("Yusuf had to drive through a flood.", "I never learned to drive.", "A nice evening for a drive."),
        "Can I drive?", 1,
    ),
    "what became of it": (
        ("Femi came round with his new drone.", "It got stuck in a tree.", "The soup was good."),
        "What happened to Femi's drone?", 1,
    ),
    "what they did, in another form of the verb": (
        ("The twins next door turned five.", "They got a drum kit, heaven help us.", "I read a book."),
        "What did the twins next door get?", 1,
    ),
    "它": (("自行车送去修了", "师傅说它的链条得换", "外婆爱吃桃酥"), "自行车要换什么？", 1),
    "a place, where a place is asked for": (
        ("丁老师今天不在，助教收的论文", "丁老师居然搬到六楼去了，608", "丁老师周五回来"), "丁老师在哪个办公室？", 1,
    ),
    "how it was, where the past is asked for": (
        ("我的停车位在B区17号", "停车位换到C区了"), "我原来的停车位是几号？", 0,
    ),
    "a gift, by what is near the question": (
        ("你爸送我去上班", "妈，母亲节快乐，给您买了个按摩仪"), "我送了妈妈什么？", 1,
    ),
    "改订": (("旅行团住的酒店是锦江", "锦江满房了，酒店改订如家"), "现在旅行团住哪家酒店？", 1),
    "a change that no card understands": (
        ("Our band practice is on Sundays.", "Practice got switched to Saturdays because of the drummer."),
        "When is band practice?", 1,
    ),
    "a change of what a card holds": (
        ("My GP is Dr Whitlow.", "My GP retired, I'm with Dr Adeyemi these days."), "Who is my GP?", 1,
    ),
    "现在换成": (("我早上一般喝豆浆", "医生不让喝豆浆了，现在早上换成牛奶"), "我早上喝什么？", 1),
}  # fmt: skip
KEPT = {
    "the turn before names what is asked": (
        ("Femi came round with his new drone.", "It was late."), "Who came round with a drone?", 0,
    ),
    "another thing that moved": (
        ("My locker code is 218.", "The locker has moved to the hall."), "What is my locker code?", 0,
    ),
    "what was asked of the past": (
        ("My GP was Dr Whitlow.", "My GP retired, I'm with Dr Adeyemi these days."), "Who was my GP before?", 0,
    ),
}  # fmt: skip


TALKS = {
    "a reason after why": (
        ("Bo: we sold the boat", "Ada: why?", "Bo: nobody sailed any more", "Ada: fair"),
        "Why did Bo sell the boat?", "nobody sailed",
    ),
    "a time after when": (
        ("Bo: Mina and Jo are having a baby", "Ada: wow, when?", "Bo: early March they think", "Ada: a baby, lovely"),
        "When is Mina and Jo's baby due?", "early March",
    ),
    "a number after how many": (
        ("Ada: got eggs from the farm", "Bo: how many?", "Ada: thirty, nearly free", "Ada: eggs all week then"),
        "How many eggs did I get?", "thirty",
    ),
    "a place after where": (
        ("大姐: 婆婆要开刀了，胆结石", "妈: 在哪个医院？", "大姐: 市一院，明天上午", "爸: 多带件衣服"),
        "婆婆在哪里开刀？", "市一院",
    ),
    "what the assistant said, where that is asked for": (
        ("Ada: the drain smells again", "assistant: Vinegar and hot water might do.", "Ada: the drain is slow, too"),
        "What did you suggest for the drain?", "Vinegar",
    ),
    "the newest, where it hints at a change": (
        ("Ada: the kids' piano lesson is on Monday", "+", "Ada: piano lesson is Wednesday now, Monday clashed"),
        "When is the piano lesson?", "Wednesday",
    ),
    "the oldest, for the past": (
        ("Ada: the shop charges 4 for a loaf", "+", "Ada: a loaf at the shop is 5 now, robbery"),
        "What did a loaf cost at the shop before?", "charges 4",
    ),
    "a turn that tells its own reason": (
        ("Bo: we sold the boat because nobody sailed", "Ada: why now?", "Bo: the summer is over"),
        "Why did Bo sell the boat?", "because nobody sailed",
    ),
    "a question that asks for no reason": (
        ("Bo: we sold the boat", "Ada: why?", "Bo: nobody sailed any more"), "Who sold the boat?", "we sold the boat",
    ),
    "a reason of another conversation": (
        ("Bo: we sold the boat", "+", "Ada: why?", "Bo: nobody told me"),
        "Why did Bo sell the boat?", "we sold the boat",
    ),
}  # fmt: skip


def story_of(talk: tuple[str, ...]) -> Story:
    """Tell turns of two sessions, with + between them."""
    story = Story()
    for number, turn in enumerate(talk):
        if turn == "+":
            story.session = "s1"
        else:
            speaker, text = turn.split(": ", 1)
            story.tell(str(number), text, speaker=speaker)
    return story


@pytest.mark.parametrize(("talk", "question", "first"), TALKS.values(), ids=TALKS)
def test_a_turn_may_answer_by_its_part_in_a_talk(talk: tuple[str, ...], question: str, first: str) -> None:
    assert first in story_of(talk).ask(question, asker="Ada", min_likelihood=0).passages[0].text


TRIP = (
    "Hal: Lisbon's booked, I fly out on Friday", "Yusuf: jealous, Lisbon is lovely", "Hal: I'll do Lisbon on foot",
    "Yusuf: bring some tarts from Lisbon", "+",
)  # fmt: skip
TOOTH = (
    "晓彤: 约上口腔医院了，周四两点拔智齿",
    "阿凯: 祝你好运哈哈",
    "晓彤: 拔智齿要请半天假",
    "阿凯: 拔智齿不疼的",
    "+",
)
LATER = {
    "a plan that was called off": (
        (*TRIP, "Hal: mum broke her hip, so I've called the whole thing off"),
        "Is Hal's trip to Lisbon still on?", True,
    ),
    "what was moved": ((*TOOTH, "晓彤: 医生出差，给我挪到19号上午了"), "晓彤什么时候去拔智齿？", True),
    "what another says of themselves": (
        (*TOOTH, "老唐: 我的牙医出差，给我挪到19号上午了"), "晓彤什么时候去拔智齿？", False,
    ),
    "what hints at no change": ((*TOOTH, "晓彤: 绿萝19号上午要浇水"), "晓彤什么时候去拔智齿？", False),
    "how it was before": ((*TOOTH, "晓彤: 医生出差，给我挪到19号上午了"), "晓彤原来约的什么时候拔智齿？", False),
}  # fmt: skip


@pytest.mark.parametrize(("talk", "question", "is_shown"), LATER.values(), ids=LATER)
def test_a_context_shows_what_its_speaker_said_later_and_may_be_a_change(
    talk: tuple[str, ...], question: str, is_shown: bool
) -> None:
    context = story_of(talk).ask(question).context
    *_, last = talk
    assert "\n" + talk[0] in context
    assert (last in context) == is_shown


def test_a_son_is_no_daughter() -> None:
    assert not asked(("我们有个女儿，三岁，小名糯糯", "今天做了红烧肉"), "我儿子几岁了？")
    assert asked(("我们有个女儿，三岁，小名糯糯", "今天做了红烧肉"), "我女儿几岁了？")


def test_a_word_of_two_signs_may_be_said_apart() -> None:
    assert asked(("泡完脚了，出了点汗", "今天做了红烧肉"), "我泡脚了吗？")[0] == "0"


@pytest.mark.parametrize("text", LEFT_OUT)
def test_a_question_may_ask_for_what_was_left_out(text: str) -> None:
    assert asks_omitted(text)


@pytest.mark.parametrize("text", NOT_LEFT_OUT)
def test_another_question_does_not_ask_for_what_was_left_out(text: str) -> None:
    assert not asks_omitted(text)


@pytest.mark.parametrize("text", CHANGED)
def test_a_turn_may_tell_a_change(text: str) -> None:
    assert tells_change(text)


@pytest.mark.parametrize("text", NOT_CHANGED)
def test_a_turn_with_like_words_tells_no_change(text: str) -> None:
    assert not tells_change(text)


@pytest.mark.parametrize(
    ("tells", "yes", "no"),
    [
        (asks_self, "Do I eat pork?", "Does my sister eat pork?"),
        (asks_self, "我会游泳吗？", "我妈会游泳吗？"),
        (asks_fate, "What became of the boat?", "Whose is the boat?"),
        (asks_fate, "那辆车怎么样了？", "那辆车多少钱？"),
        (asks_cause, "What caused the outage?", "Who caused a scene?"),
        (tells_cause, "turns out nobody paid", "it turned blue"),
        (asks_present, "Who is my coach?", "Who was my coach?"),
        (asks_present, "我早上喝什么？", "我以前喝什么？"),
    ],
)
def test_questions_are_told_apart_by_what_they_ask(tells: Callable[[str], bool], yes: str, no: str) -> None:
    assert tells(yes)
    assert not tells(no)


@pytest.mark.parametrize(
    ("question", "other", "expected"),
    [
        ("Why did she leave?", "how come?", True),
        ("Which bus goes there?", "what kind?", True),
        ("Where is it?", "when is it?", False),
        ("在哪个医院？", "哪里？", True),
        ("在哪个医院？", "几点？", False),
        ("多少钱？", "几块？", True),
        ("Warum ist er müde?", "why?", True),
    ],
)
def test_two_questions_ask_alike_by_their_interrogatives(question: str, other: str, *, expected: bool) -> None:
    assert ask_alike(question, other) == expected


def asked(texts: tuple[str, ...], question: str) -> list[str]:
    story = Story()
    for number, text in enumerate(texts):
        story.tell(str(number), text)
    return [each.id for each in story.ask(question, asker="Ada").passages]


@pytest.mark.parametrize(("texts", "question", "first"), [*STORIES.values(), *KEPT.values()], ids=[*STORIES, *KEPT])
def test_the_turn_that_answers_comes_first(texts: tuple[str, ...], question: str, first: int) -> None:
    assert asked(texts, question)[0] == str(first)


def test_an_explanation_says_what_a_closer_look_added() -> None:
    story = Story()
    for number, text in enumerate(STORIES["left out, in other words than the question's"][0]):
        story.tell(str(number), text)
    best, *others = story.ask("When did I miss pilates?", asker="Ada", explain=True).passages
    assert best.why is not None
    assert best.why.terms["closer_look"] == pytest.approx(OMITTED)
    assert sum(best.why.terms.values()) == pytest.approx(best.score)
    assert all(each.why is not None and "closer_look" not in each.why.terms for each in others)
