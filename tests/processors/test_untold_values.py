"""A value that is asked for, such as a price or an age, is known only where a turn may tell one near what has it."""

from __future__ import annotations

import pytest

from emgas.client.query_arguments import build_query
from emgas.messages.fields import Position
from emgas.times import HOUR_MS, MINUTE_MS
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from processors.text.questions.values import asked_values, may_tell_value, names_value
from state.events.events import TurnRecorded
from state.graph.graph import Graph
from tests.support.clocks import DAY, NOON
from tests.support.stories import extracted

BY = {"en": YakeExtractor(language="en"), "zh": YakeExtractor(language="zh")}
ANSWERERS = {language: Answerer(by) for language, by in BY.items()}
# Other talk on other days, with values of other things.
BESIDE = {
    "en": (
        ("Ann: The plumber charged me 80 dollars.", "AI: That is steep.", "Ann: He fixed the tap, though."),
        ("Ann: The neighbour's boy turned 12 on 3 May.", "AI: How nice.", "Ann: They had a red bouncy castle."),
        ("Ann: It rained all day long.", "AI: Same here.", "Ann: I stayed in and read a novel."),
    ),
    "zh": (
        ("阿云: 修水管花了三百块。", "AI: 有点贵。", "阿云: 水龙头总算不漏了。"),
        ("阿云: 邻居家小孩五月三号满十二岁。", "AI: 真好。", "阿云: 他们租了个红色的充气城堡。"),
        ("阿云: 下了一整天的雨。", "AI: 这边也是。", "阿云: 我在家看小说。"),
    ),
}
EN = [
    ("How much did the canoe cost?", "The canoe is finally here!|AI: Does it float?|It does, like a cork.", False),
    ("How much did the canoe cost?", "The canoe is finally here!|AI: Does it float?|For 600 it had better.", True),
    ("How much did the canoe cost?", "The canoe was a real bargain.|AI: Lucky you.", True),
    ("How much did the canoe cost?", "We bought a canoe.|AI: How much was it?|About what yours was.", True),
    ("How much does Tom owe me?", "I lent Tom a tenner for the bus.|AI: Kind of you.", True),
    ("What colour is the kitchen?", "We painted the kitchen.|AI: Which shade?|Elephant's Breath.", True),
    ("How old is my nephew?", "Sam is my nephew.|AI: Nice.|My nephew Sam started school, he's four.", True),
    ("What's the rent for the studio?", "I moved into the studio.|AI: Is it bright?|Very, with a skylight.", False),
    ("What's the rent for the studio?", "I moved into the studio.|AI: Is it dear?|Nine hundred a month.", True),
    ("How old is Dermot?", "Dermot mended the fence.|AI: Kind of him.|He's handy with a hammer.", False),
    ("How old is Dermot?", "Dermot mended the fence.|AI: Kind of him.|Not bad for seventy!", True),
    ("When is Gilda's birthday?", "Gilda moved into the box room.|AI: How is it?|Cosy, she says.", False),
    ("When is Gilda's birthday?", "Gilda moved into the box room.|AI: How is she?|She turns 30 on 9 June.", True),
    ("What colour is the caravan?", "The caravan passed its check.|AI: Phew.|Off to the coast we go.", False),
    ("What colour is the caravan?", "The caravan passed its check.|AI: Phew.|We're painting it teal.", True),
    ("What's my blood type?", "The nurse took blood today.|AI: Did it hurt?|A little.", False),
    ("What's my blood type?", "They keep asking me for blood.|AI: Why?|I'm O negative.", True),
    ("What's Dermot's phone number?", "Dermot lost his phone.|AI: Oh no.|He left it on the bus.", False),
    ("What's Dermot's phone number?", "Dermot has a new phone.|AI: Yes?|0770 900 461.", True),
    ("How tall is the pear tree?", "The pear tree is in bloom.|AI: Lovely.|The bees love it.", False),
    ("How tall is the pear tree?", "The pear tree is in bloom.|AI: Lovely.|It's taller than the house.", True),
    ("What is the code for the gate?", "The gate sticks when it rains.|AI: Oil it.|I will.", False),
    ("What is the code for the gate?", "They changed the code for the gate.|AI: To what?|4471 from Monday.", True),
    ("What time does the pool open?", "The pool was drained.|AI: Why?|They found a leak.", False),
    ("What time does the pool open?", "The pool was drained.|AI: Open again?|From seven tomorrow.", True),
    ("How far is the cabin?", "The cabin has no signal.|AI: Bliss.|It has bats, too.", False),
    ("How far is the cabin?", "The cabin has no signal.|AI: Do you drive?|We walk, twenty minutes.", True),
    ("What size is the rug?", "The rug smells of dog.|AI: Wash it.|It won't fit the machine.", False),
    ("What size is the rug?", "The rug is down.|AI: Does it fit?|Two metres by three, just so.", True),
]
ZH = [
    ("电饭锅多少钱？", "新电饭锅到了。|AI: 好用吗？|煮的饭挺香。", False),
    ("电饭锅多少钱？", "新电饭锅到了。|AI: 好用吗？|四百多买的，能不好用嘛。", True),
    ("电饭锅多少钱？", "新电饭锅到了，可便宜了。|AI: 好用吗？", True),
    ("物业费一年交多少钱？", "物业派人来通下水道了。|AI: 通了吗？|通了，一团头发。", False),
    ("物业费一年交多少钱？", "物业又来催物业费。|AI: 交了吗？|交了两千四。", True),
    ("电费这个月多少钱？", "电费单来了。|AI: 多吗？|比上个月翻了一倍。", True),
    ("门锁密码是多少？", "门锁密码换了。|AI: 换成啥？|豆包的生日。", True),
    ("二姨今年多大岁数？", "二姨又催我相亲。|AI: 谁啊？|她同事的儿子。", False),
    ("二姨今年多大岁数？", "二姨身体真硬朗。|AI: 是吗？|都七十三了还爬山。", True),
    ("姥姥今年多大岁数？", "姥姥在阳台种了葱。|AI: 长得好吗？|绿油油的。", False),
    ("姥姥今年多大岁数？", "给姥姥过八十大寿。|AI: 祝寿！", True),
    ("我们的结婚纪念日是哪天？", "我老公又加班。|AI: 给他留饭吧。|留了排骨。", False),
    ("我们的结婚纪念日是哪天？", "结婚纪念日快到了。|AI: 哪天？|九月六号。", True),
    ("我儿子高考考了多少分？", "儿子刚上小学，作业写到半夜。|AI: 辛苦。|磨蹭呗。", False),
    ("我儿子高考考了多少分？", "儿子高考出成绩了。|AI: 怎么样？|六百一十二！", True),
    ("姑奶奶存折的密码是多少？", "陪姑奶奶补办存折。|AI: 顺利吗？|排了一上午。", False),
    ("姑奶奶存折的密码是多少？", "姑奶奶存折的密码又忘了。|AI: 想起来了吗？|802613。", True),
    ("新沙发是什么颜色的？", "新沙发送来了。|AI: 放得下吗？|拆了门才搬进来。", False),
    ("新沙发是什么颜色的？", "新沙发送来了。|AI: 好看吗？|墨绿的，好看。", True),
    ("老周的电话是多少？", "老周来修电话线。|AI: 修好了？|还没。", False),
    ("老周的电话是多少？", "老周换电话了。|AI: 换成哪个？|13655507721。", True),
    ("新靴子是几码的？", "新靴子到货了。|AI: 合脚吗？|挺舒服。", False),
    ("新靴子是几码的？", "新靴子到货了。|AI: 合脚吗？|四十二码正好。", True),
    ("游泳馆几点开门？", "游泳馆换水了。|AI: 干净吗？|能看见池底。", False),
    ("游泳馆几点开门？", "游泳馆换水了。|AI: 什么时候去？|开门就去，七点。", True),
]


def is_known(language: str, talk: str, question: str, asker: str, *, apart: int = MINUTE_MS) -> bool:
    graph, turns = Graph("ann"), list[TurnRecorded]()
    told = [text if text.startswith("AI: ") else f"{asker}: {text}" for text in talk.split("|")]
    for day, session in enumerate((BESIDE[language][0], told, *BESIDE[language][1:])):
        for place, line in enumerate(session):
            speaker, text = line.split(": ", 1)
            role = "assistant" if speaker == "AI" else "user"
            at = NOON + day * DAY + place * apart
            there = {"id": f"t{len(turns)}", "session": f"s{day}", "speaker": speaker, "role": role}
            turns.append(extracted(text, **there, at=at, by=BY[language]))
            graph.fold(turns[-1])
    memory = QueriedGraph(graph, lambda _, number: turns[number], Position(partition=0, watermark=0, source=0))
    query = build_query(None, None, {"graph": "ann", "text": question})
    return in_one_go(ANSWERERS[language].answer(query, memory)).reply.matched


@pytest.mark.parametrize(("question", "talk", "told"), EN)
def test_a_value_is_known_only_where_a_turn_near_what_has_it_may_tell_it(
    question: str, talk: str, *, told: bool
) -> None:
    assert is_known("en", talk, question, "Ann") == told


@pytest.mark.parametrize(("question", "talk", "told"), ZH)
def test_a_value_is_known_in_chinese_only_where_a_turn_may_tell_it(question: str, talk: str, *, told: bool) -> None:
    assert is_known("zh", talk, question, "阿云") == told


def test_notes_of_a_session_that_are_hours_apart_are_not_near() -> None:
    talk = "The canoe is finally here!|The taxi was 40 dollars.|We had soup."
    assert is_known("en", talk, "How much did the canoe cost?", "Ann", apart=MINUTE_MS)
    assert not is_known("en", talk, "How much did the canoe cost?", "Ann", apart=6 * HOUR_MS)


@pytest.mark.parametrize(
    "question",
    [
        "How much was the delay?",
        "What did Gilda get for her birthday?",
        "When did we dance at Gilda's birthday?",
        "How much time did I spend on the deck?",
        "What is the dress code?",
        "Why wouldn't she give me her phone number?",
        "What was wrong with the colour?",
        "What is Tim's number one goal?",
        "How old was I when we moved?",
        "What's driving the price up?",
        "What is the scooter called, and how much did it cost?",
        "What's causing my high blood pressure?",
        "How long did the trip take?",
        "手机是什么牌子的？",
        "密码是什么时候改的？",
        "房子多大？",
        "烧到多高？",
        "考几次才过？",
        "老师提了哪几点建议？",
        "切成几块？",
        "相机是什么牌子，花了多少钱？",
        "他有多重身份吗？",
    ],
)
def test_a_question_for_something_else_asks_for_no_value(question: str) -> None:
    assert asked_values(question) == frozenset()


@pytest.mark.parametrize(
    ("kind", "told", "other"),
    [
        ("money", "It set us back two grand.", "We left at 10:30."),
        ("money", "一斤八块五。", "他住十二号楼。"),
        ("age", "She's in her forties.", "She's in her garden."),
        ("age", "他属马。", "他骑马。"),
        ("colour", "It's a greyish thing.", "It's a huge thing."),
        ("code", "the password is mangosteen", "I forgot the password"),
        ("phone", "call 555-0134", "call me at 5"),
        ("blood", "I'm AB positive", "I'm a nurse"),
        ("score", "she got a B+", "she got a bike"),
        ("day", "born in April", "bored in class"),
    ],
)
def test_a_text_may_tell_a_value_in_many_ways(kind: str, told: str, other: str) -> None:
    assert may_tell_value(told, [kind])
    assert not may_tell_value(other, [kind])


def test_a_word_names_a_value_as_a_whole() -> None:
    assert names_value("price", ["money"])
    assert not names_value("priceless", ["money"])
    assert not names_value("物业费", ["money"])
