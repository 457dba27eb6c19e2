"""Neutral replies of an assistant, 500 words each: on the topic of a turn, but without new content.

A reply takes up the words of the turn before it, as assistants do, and goes on in general advice.  It holds no fact, so
nothing that is asked stands in it.  Sentences are drawn by a hash of the turn's id: the same turn gets the same reply,
everywhere.  Written from general knowledge, in both languages; nothing comes from a data set.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from typing import Final

from processors.recall.context.context import tokens
from processors.text import chinese, stopwords
from processors.text.scripts import HAN

TOKENS: Final = 650  # of a reply: 500 words, · 1.3
ECHOED: Final = 12  # words of the turn that a reply takes up at most

_HAN: Final = re.compile(f"[{HAN}]+")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z'-]{3,}")

# {0} a word of the turn, {1} another, {2} a word of everyday life.
_ENGLISH: Final = """
    When it comes to {0}, it usually helps to begin with a clear picture of what you want to get out of it.
    Many people who think about {0} find that {1} plays a larger role than they expected at first.
    It is worth writing down two or three goals for {0}, and coming back to them after a few weeks.
    A simple way to look at {0} is to compare it with {2}: both reward patience more than talent.
    If {0} feels like too much at once, break it into smaller steps and give each step its own day.
    You might want to set aside a fixed time for {0}, for instance in the morning, before {2} gets in the way.
    There is no single right answer here, but a good balance between {0} and {2} tends to last longer.
    Experts often recommend starting small with {0} and only adding {2} once the habit is stable.
    Keep in mind that {0} can be tiring, so plan a break and do something with {2} in between.
    Some people keep a journal about {0}, which makes it easier to see progress over time.
    Another option is to talk about {0} with someone who has done it before and knows the usual mistakes.
    In general, {0} and {1} go well together, as long as neither of them takes over.
    Before you spend money on {0}, check what you already have at home, including {2}.
    It can also be useful to look at reviews and guides about {0}, since opinions differ a great deal.
    Safety comes first: with {0}, as with {2}, a little preparation prevents most problems.
    If you enjoy {0}, you may also like {2}, which asks for similar skills and little equipment.
    One common mistake with {0} is to expect results too early and to give up just before they show.
    A checklist for {0} could include time, cost, people involved, and how {1} fits into the plan.
    Try to notice how {0} affects your mood, your sleep and your energy during the week.
    From a practical point of view, {0} becomes easier when the necessary things lie ready the evening before.
    Communities around {0} are usually friendly to beginners, and many of them also discuss {2}.
    It is perfectly normal to have mixed feelings about {0}, especially when {1} is involved.
    Consider the budget as well: {0} does not have to be expensive if you plan around {2}.
    For longer projects, it is a good idea to review {0} once a month and to change what does not work.
    Remember that quality matters more than quantity, and that holds for {0} as much as for {2}.
    As a rule of thumb, three short sessions of {0} are better than one long session.
    To stay motivated, connect {0} with something you look forward to, such as {2}.
    Sharing {0} with friends or family can make it more enjoyable and adds some gentle pressure.
    You could also use a calendar or an app to keep track of {0} and of everything that belongs to {1}.
    In the long run, a relaxed attitude towards {0} is healthier than constant pressure.
    Weather, season and location may influence {0}, so keep an alternative like {2} in mind.
    On the other hand, too much {0} can crowd out {2}, and that is rarely a good trade.
    Here are some ideas around {0} that are easy to try: read about it, watch a video, and ask questions.
    A short routine around {0} and {2} takes about fifteen minutes and fits into most schedules.
    It helps to separate what you can control about {0} from what you cannot.
    Think about the people who would benefit from {0}, and whether {1} could be a way to include them.
    If something goes wrong with {0}, treat it as information and not as a failure.
    Finally, give yourself credit: paying attention to {0} at all is already a step that many people never take.
    Would you like me to put together a short plan for {0}?
    Let me know which part of {0} interests you most, and we can go deeper into it.
    What matters most to you about {0} at the moment?
"""
_CHINESE: Final = """
    说到{0}，最好先想清楚自己希望从中得到什么。
    很多人在考虑{0}的时候，会发现{1}的影响比想象中更大。
    可以把关于{0}的目标写下来，过几个星期再回头看看。
    换个角度，{0}和{2}有相似之处，都需要一点耐心。
    如果觉得{0}压力太大，可以拆成几个小步骤，每天完成一个。
    建议给{0}安排一个固定的时段，比如早上，这样不会被{2}打断。
    这里没有标准答案，不过在{0}和{2}之间保持平衡通常更持久。
    专家一般建议从小处着手，等{0}成为习惯之后再加入{2}。
    请注意{0}可能会让人疲劳，中间可以安排{2}来放松。
    有些人会为{0}写日记，这样更容易看到进步。
    也可以和有经验的人聊聊{0}，避免常见的错误。
    总体来说，{0}和{1}可以互相补充，只要不过度。
    在为{0}花钱之前，先看看家里已有的物品，例如{2}。
    多看一些关于{0}的评价和指南会有帮助，因为每个人的看法不同。
    安全第一，无论是{0}还是{2}，做好准备都能避免大部分麻烦。
    如果喜欢{0}，也许还会喜欢{2}，两者需要的技能差不多。
    关于{0}的一个常见误区是期待太快见效，结果提前放弃。
    关于{0}的清单可以包括费用、参与的人，以及{1}如何安排。
    留意{0}对心情、睡眠和精力的影响。
    从实用的角度看，提前一晚准备好，{0}会轻松很多。
    喜欢{0}的社群对新手通常很友好，他们也常讨论{2}。
    对{0}有复杂的感受很正常，尤其是牵涉到{1}的时候。
    也要考虑预算，只要合理规划{2}，{0}不一定昂贵。
    对于长期的计划，建议每个月检查一次{0}，调整效果不好的部分。
    质量比数量重要，这一点对{0}和{2}都适用。
    一般来说，短时间多次的{0}比一次很长的效果好。
    为了保持动力，可以把{0}和自己期待的{2}联系起来。
    和朋友或家人分享{0}，会更有乐趣。
    也可以用日历或者软件来记录{0}以及与{1}相关的内容。
    长远来看，对{0}保持轻松的态度更健康。
    天气、季节和地点都会影响{0}，不妨准备{2}作为备选。
    另一方面，过多的{0}会挤占{2}，这往往不值得。
    分清{0}当中自己能控制和不能控制的部分，会很有帮助。
    想一想谁会从{0}中受益，{1}能不能让他们也参与。
    如果{0}出了差错，把它当作信息，而不是失败。
    最后，请肯定自己：愿意关注{0}，已经迈出了很多人没有迈出的一步。
    需要我为{0}整理一份简短的计划吗？
    告诉我{0}的哪一部分最让你感兴趣，我们可以深入聊聊。
    对于{0}，你现在最在意的是什么？
"""
_EVERYDAY_ENGLISH: Final = """
    cooking walking reading music gardening travel cycling painting swimming yoga photography writing tea coffee sports
    football movies theatre museums languages games chess puzzles sewing baking hiking camping fishing running dancing
    singing piano guitar pets dogs cats plants flowers trees weather holidays weekends friends family children parents
    neighbours colleagues school university work meetings projects money savings health sleep breakfast lunch dinner
    vegetables fruit bread soup pasta rice fish cheese chocolate water exercise stretching breathing meditation books
    podcasts radio news phones computers cameras clothes shoes furniture kitchen garden balcony car train bus airport
    hotel beach mountains lake river forest city village market shop library restaurant festival birthday wedding gift
    letter photo memory dream habit routine
"""
_EVERYDAY_CHINESE: Final = """
    做饭 散步 阅读 音乐 园艺 旅行 骑车 绘画 游泳 瑜伽 摄影 写作 喝茶 咖啡 运动 足球 电影 戏剧 博物馆 语言
    游戏 象棋 拼图 缝纫 烘焙 徒步 露营 钓鱼 跑步 跳舞 唱歌 钢琴 吉他 宠物 小狗 小猫 植物 花草 天气 假期
    周末 朋友 家人 孩子 父母 邻居 同事 学校 大学 工作 会议 项目 存款 健康 睡眠 早餐 午餐 晚餐 蔬菜 水果
    面包 汤 面条 米饭 鱼 巧克力 锻炼 拉伸 呼吸 冥想 书籍 播客 新闻 手机 电脑 相机 衣服 鞋子 家具 厨房
    花园 阳台 汽车 火车 公交 机场 酒店 海滩 山 湖 河 森林 城市 村庄 市场 商店 图书馆 餐厅 节日 生日 婚礼
    礼物 信件 照片 梦想 习惯
"""


def reply(turn: str, text: str) -> str:
    """Write the reply of TOKENS tokens to the turn of this id and text, in its language."""
    han = bool(_HAN.search(text))
    sentences = _sentences(_CHINESE if han else _ENGLISH)
    everyday = (_EVERYDAY_CHINESE if han else _EVERYDAY_ENGLISH).split()
    draw = _drawing(turn)
    echoed = _echoed(text, han) or [draw(everyday)]
    parts: list[str] = []
    spent = 0
    while spent < TOKENS:
        sentence = draw(sentences).format(draw(echoed), draw(echoed), draw(everyday))
        spent += tokens(sentence)
        parts.append(sentence)
    return ("" if han else " ").join(parts)


def _drawing(turn: str) -> Callable[[Sequence[str]], str]:
    """Make a function that draws from a list, the same things in the same order for the same turn."""
    numbers = _numbers(turn)
    return lambda values: values[next(numbers) % len(values)]


def _numbers(turn: str) -> Iterator[int]:
    for number in count():
        yield int.from_bytes(hashlib.blake2b(f"{turn} {number}".encode(), digest_size=6).digest())


def _echoed(text: str, han: bool) -> list[str]:  # noqa: FBT001 - said of one thing
    """List the words of a turn that a reply takes up, in their order."""
    result = _WORD.findall(text.casefold())
    words = [word for word in result if word not in stopwords.ENGLISH and word not in _function_words()]
    if han:
        tagged = (pair for run in _HAN.findall(chinese.simplified(text)) for pair in chinese.segmented(run))
        words += [word for word, tag in tagged if len(word) > 1 and chinese.is_content(word, tag)]
    return list(dict.fromkeys(words))[:ECHOED]


@cache
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.strip().splitlines())


@cache
def _function_words() -> frozenset[str]:
    import stopwordsiso

    return frozenset(stopwordsiso.stopwords("en"))
