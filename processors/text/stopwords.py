"""Word lists: what people say in a conversation without talking about it.

General lists of two languages, written by hand from grammars and phrase books, not from any data set.  Here live only
words; the rules that use them are in processors/text/language.py (single words) and processors/text/greetings.py (expressions).
The large lists of function words come from libraries: YAKE's for English, stopwordsiso's for every other language.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What the classic English list (SMART, which YAKE brings) leaves out: light verbs, vague nouns, reactions, chat forms.
# Short on purpose: lists with find, start, type, moment or happy cost a point of recall, which idf discounts.
ENGLISH: Final = _words("""
    make makes made making get gets got gotten getting give gives gave given giving put puts putting let lets letting
    take takes took taken taking feel feels felt feeling be being been am is are was were do does did doing done
    have has had having go goes going gone went come comes came coming
    thing things stuff lot lots bit bits kind kinds sort sorts point fact case way ways one ones guy guys
    everyone everybody anyone anybody someone somebody
    great good nice cool awesome amazing glad sorry sure true right real
    really literally basically totally absolutely definitely seriously pretty quite simply actually honestly especially
    lately recently soon yet already still always never ever maybe perhaps probably hopefully finally usually sometimes
    often ago today tonight tomorrow yesterday
    hey hi hello hiya howdy yo bye goodbye dear welcome congrats congratulations cheers thanks thank thankyou please
    wow whoa woah oh ooh ah aha aww aw yay yeah yea yep yup yes nope nah no ok okay okey oops ouch ugh uh um umm er hm
    gee gosh geez jeez omg lol lmao rofl btw tbh imo imho idk fyi asap thx ty pls plz np brb ttyl etc via
    gonna wanna gotta kinda sorta lemme gimme dunno cuz coz cos til till ya yall y'all em ur im ive id dont doesnt
    didnt cant cannot couldnt wouldnt shouldnt wont isnt arent wasnt werent havent hasnt hadnt youre theyre thats whats
    theres heres youve youll shes hes wheres whos hows itll aint am pm mr mrs ms dr sir madam
    """)

# Words of the classic list that people do talk about.
ENGLISH_CONTENT: Final = _words("changes novel self selves value appreciate sub sup sensible immediate mill uucp tried")

# Stopwords that are names when somebody writes them as names (processors/text/language.py says when).
TITLE_NAMES: Final = _words("go will may")  # the language, the man, the month
CAPITAL_NAMES: Final = _words("us it")  # the country, the trade

# Where simplemma 2.0.0's English dictionary is wrong, or would fold a name into a word.
LEMMAS: Final = {
    **{
        word: word
        for word in _words("""
        aws clothes data dice hades ios jails lars mars media miles news pants rails redis sanders wales glasses series
        maria reed browning fielding manning banks brooks hicks mills morales rivers waters woods windows pandas alps
    """)
    },
    **dict(
        pair.split(":")
        for pair in _words("""
        apis:api veggies:veggie wives:wife shelves:shelf halves:half gone:go left:leave won:win shot:shoot drunk:drink
        broke:break shook:shake swore:swear worse:bad worst:bad acting:act baking:bake bathing:bathe beating:beat
        beginning:begin belonging:belong breathing:breathe breeding:breed burning:burn buying:buy casting:cast
        clearing:clear closing:close coding:code cutting:cut drawing:draw dressing:dress ending:end exciting:excite
        fascinating:fascinate filling:fill finding:find fishing:fish fitting:fit fixing:fix following:follow
        freezing:freeze gathering:gather growing:grow guarding:guard hanging:hang healing:heal hearing:hear heating:heat
        hunting:hunt interning:intern living:live mixing:mix overwhelming:overwhelm playing:play programming:program
        recycling:recycle serving:serve singing:sing sitting:sit smoking:smoke smoothing:smooth springing:spring
        stringing:string swinging:swing thanking:thank thinking:think travelling:travel unfolding:unfold writing:write
    """)
    ),
}

CHINESE: Final = _words("""
    你好 您好 大家好 早上好 上午好 中午好 下午好 晚上好 早安 午安 晚安 好久不见 再见 拜拜 回见 回头见 谢谢 谢了 多谢
    感谢 不客气 不用谢 没事 没关系 对不起 抱歉 不好意思 辛苦 辛苦了 恭喜 加油 好的 好吧 好啊 好呀 好嘞 行吧 可以
    没问题 是的 是啊 对啊 对呀 嗯嗯 哈哈 呵呵 嘿嘿 嘻嘻 哎呀 天哪 天啊 我去 太好了 真的 真是 厉害 羡慕 不错 棒 牛 牛逼
    放心 祝你好运 觉得 知道 认为 感觉 记得 忘记 忘了 想要 想到 打算 准备 需要 应该 可能 能够 必须 不能 不会 不用 不要
    不想 不行 不敢 不肯 没有 没人 有人 有点 有点儿 一点 一点儿 一下 一直 一起 起来 出来 出去 回来 回去 过来 过去 上来
    上去 下来 下去 进来 进去 看到 看见 看看 听到 听说 说起 说到 提到 告诉 开始 结束 继续 成为 变成 发现 发生 进行 使用
    用到 叫做 叫作 算是 就是 还是 不是 是不是 有没有 能不能 会不会 要不要 特别 非常 十分 比较 更加 已经 刚刚 刚才 刚好
    马上 终于 突然 其实 当然 确实 反正 完全 直接 顺便 本来 原来 后来 现在 目前 最近 以前 以后 之前 之后 当时 当初 平时
    从前 到时候 有时候 时候 时间 今天 明天 昨天 前天 后天 今晚 昨晚 明晚 今早 今年 去年 明年 前年 后年 东西 事情 事儿
    样子 方面 情况 问题 地方 部分 意思 人家 大家 咱俩 你们 我们 他们 咋样 怎样 怎么办 没什么 不动 上面 下面 里面 外面
    前面 后面 旁边 中间 附近 主要 肯定 差不多 差一点 至少 大概 左右 天天 每天 重新 居然 竟然 果然 干嘛 干吗 啥时候
    什么时候 看 说 讲 想 去 来 到 走 做 弄 搞 干 叫 让 给 拿 放 存 带 找 问 听 见 等 用 有 是 要 会 能 得 该 成 当 算
    像 变 发 出 进 回 过 起 完 开 关 换 改 加 留 靠 占 行 在 没 无 别 请 懂 怕 爱 顶 丢 掉 上 下 好 大 小 多 少 新 老
    旧 高 低 长 短 快 慢 早 晚 远 近 难 真 对 错 全 满 够 轻 重 祝 话说 对了 说实话 总之 也许 或许 好像 似乎 只好 只能
    不得不 来着
    """)
