"""Moods: what people say of how they feel, by patterns of English and Chinese (data/feelings.tsv).

    "I'm so excited!"  "feeling low again"  "that made my day"  "I can't stop crying"       glad, sad, glad, sad
    真开心！  气死我了  一想到例会就焦虑  担心妈妈的检查结果              glad, angry, afraid, afraid
    "I'm happy to help"  "are you sad?"  "I'm not angry"  "she is tired"  我不太开心  她哭了      none

Only what the speaker says of themselves counts, never a question, a condition, a courtesy or what is denied.  A remark
without a subject ("so happy today", 好紧张) is of who speaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from emgas.messages.views import Mood
from processors.text import tables
from processors.text.chinese import simplified
from processors.text.language import clean

_ROWS: Final = tuple(tables.rows(__package__, "feelings"))
_MUCH: Final = (
    r"(?:(?:so|very|really|just|pretty|quite|still|also|all|a bit|a little|too|super|incredibly|absolutely|both|now"
    r"|ever"
    r"|kind of|kinda|totally|extremely|truly|honestly|rather|completely|more|always|often|sometimes|again|such|utterly"
    r"|feeling|getting|a bit too|a tad|slightly|genuinely|already|usually|constantly|literally|seriously|terribly|so so"
    r"|awfully|definitely|even|bloody|properly|beyond|currently|finally|mostly|both of us) )*"
)
_BE: Final = (
    r"(?:'m|'re| am| are| was| were| feel| felt| felt like i was|'ve been| have been| had been| got| get| became"
    r"| ended up| woke up| went to bed| came home| left| keep feeling| started feeling| start to feel"
    r"|(?: am|'m| was|'ve been| have been|'re| are) (?:feeling|getting|becoming))"
)
_FEEL: Final = r"(?: feel| felt|(?:'m|'ve been| am| was| have been| keep|'re| are) feeling)"
_BARE: Final = (
    r"(?:(?:and|but|still|again|finally|today|yesterday|now|honestly|well|oh|ugh|yay|wow|man|god|feeling|felt|been|being"
    r"|been feeling|just|woke up|waking up|went to bed|came home|got home|left|getting|ended up|super|both|always"
    r"|this morning|tonight|last night|this week|lately|recently|currently),? )*"
)
_NOT_ME: Final = r"(?<!if )(?<!when )(?<!whenever )(?<!until )(?<!unless )(?<!like )(?<!think )(?<!in case )(?<!as if )"
_COURTESY: Final = (
    r"(?! (?:to (?:help|hear|assist|answer|share|provide|meet|know|chat|talk|discuss"
    r"|explain|recommend|listen|say|report|see you)"
    r"|for (?:you|him|her|them)|that you|you|if|about nothing|it helped|i could help|to be of)\b)"
)
_GOES_ON: Final = (  # what may follow a mood that a remark begins with, so that it is no word of another thing's name
    r"(?=[.!,;:…)]|$| (?:about|with|of|by|at|over|that|to|today|again|now|and|but|all|as|after|before|because|since"
    r"|this"
    r"|when|for|from|in|on|once|right|already|lately|these|enough|how|we|i|tonight|beyond|out|my|the|so|too|last|every"
    r"|until|it|how|there|yesterday|on)\b)"
)
_THEIRS: Final = tables.lazy(r"\b(?:you|he|she|they|your|his|their|everyone|people|who|hope|wish)\b", re.IGNORECASE)
_DENIED: Final = tables.lazy(
    r"\b(?:not|never|no longer|hardly|don't|didn't|doesn't|isn't|wasn't|if|without)\b", re.IGNORECASE
)
_SENTENCE: Final = tables.lazy(r"[^.!?。！？\n]+[.!?。！？]*")
_CLAUSE: Final = tables.lazy(r"[，。！？；、,.!?;~…\s]+")
_HAN_ASKS: Final = tables.lazy(r"[吗么呢][。.~]*$|如果|要是|假如|是不是|有没有|会不会|祝|希望你")
_HAN_DENIED: Final = tables.lazy(
    r"(?:不|没|没有|(?<!特)别|不再|不用|不必|不要|毫不|未|不太|不怎么|不会|何必|并不)(?:那么|很|太|再|怎么|是很|感到|觉得)?$"
)
_HAN_OTHERS: Final = tables.lazy(r"[你您他她它]|大家|人家|有人|别人|谁")
_WHEN: Final = (
    r"[今明昨前后]天|今[早晚]|昨晚|最近|这几天|这两天|这[段阵]时间|近来|现在|刚才|刚刚|每天|每次|平时|有时候?|总是|一直|从早到晚"
    r"|周[一二三四五六日末天]|星期[一二三四五六日天]|礼拜[一二三四五六日天]|[早晚]上|上午|下午|中午|半夜|夜里|睡前|早晨|清晨|凌晨"
    r"|上周|这周|本周|下周|这个?月|今年|去年|一整?天|一路上?|当时|那时|后来|结果|整个人|回家后?|回来后?|.{1,4}[前后时]候?"
)
_HOW: Final = (
    r"真的?是?|太|好|很|特别|非常|超级?|超|有点儿?|有些|挺|蛮|感到|觉得|感觉|也|都|还是?|又是?|再|心里|心情|情绪|实在|简直|越来越"
    r"|十分|格外|极其|相当|多么|多|更|最|仍然?|依然|依旧|开始|变得|无比|特|怪|略|稍微|被?搞得|弄得|终于|总算|就|却|可|真心|老|老是|经常|常常"
    r"|竟然|突然|忽然|莫名|莫名地|由衷地|暗自|好一阵|一阵|快要?|已经|几乎|天天|得|一定|哎呀?|唉|啊|哇|呜+|天哪|妈呀|救命|说实话|其实|但是?|可是?|不过|所以|因此|而且"
)
_THROUGH: Final = (  # what moved the speaker, told before the mood
    r"一(?:想到?|到|看到?|听到?|坐|提到?|说到?|进|见到?|站|打开).{0,10}?就|(?:想到|看到|听到|听说|看见|知道|得知|想起|收到|听了|看了|看完|听完|看完以后|过后).{1,14}?(?=[就真好很太特非超有也都还又心感觉格十一])"
    r"|[对为因].{1,10}?(?=[真好很太特非超有也都还又感觉十非])|[和跟与].{1,10}?(?=[真好很太特非超感觉十])|.{1,5}完(?:以后|之后|.{0,2})|被.{1,6}?(?=[气吓累烦急搞弄])"
    r"|.{1,8}(?:让|令|使|叫|害得?|惹得?)(?:我们?|人)"
)
_OPENING: Final = tables.lazy(rf"(?:{_THROUGH}|{_WHEN}|{_HOW})*")
_ENDING: Final = tables.lazy(
    r"$|(?!果)[了啊呀呢哦噢哟嘛吧啦哈喔死坏极透得地着过起来下又也和一,.!;…~]|的(?:一天|一周|[早晚]上|日子|时候|时光|周末|心情|感觉|夜晚|一年|$)"
    r"|[呜嘿]|一(?!下)|到|多了|很久|好久|半天|怎么办|不已|万分|无比|兮兮|加|但|可"
)


@cache
def _words(language: str, form: str) -> dict[str, Mood]:
    """Return the moods of the expressions of one form: pattern → mood."""
    listed = [row for row in _ROWS if (row[1], row[2]) == (language, form)]
    return {word: mood for mood, _, _, words in listed for word in words.split("|")}  # type: ignore[misc]


@cache
def _whole(language: str, form: str) -> tuple[tuple[Mood, re.Pattern[str]], ...]:
    """Compile the patterns of a form, one for each mood."""
    edge = r"(?<![\w'])" if language == "en" else ""
    end = r"(?!\w)" if language == "en" else ""
    listed = [(row[0], _longest_first(row[3])) for row in _ROWS if (row[1], row[2]) == (language, form)]
    return tuple((mood, re.compile(f"{edge}(?:{words}){end}", re.IGNORECASE)) for mood, words in listed)  # type: ignore[misc]


def _longest_first(words: str) -> str:
    """Put longer words before those that they begin with; patterns stay as they are."""
    return words if "(" in words else "|".join(sorted(words.split("|"), key=len, reverse=True))


def _either(form: str) -> str:
    words = sorted(_words("en", form), key=len, reverse=True)
    return "|".join(map(re.escape, words))


@cache
def _english() -> tuple[re.Pattern[str], ...]:
    """Compile what is said of oneself in English: I am, I feel, it makes me, a remark without a subject."""
    felt, either = _either("is"), f"{_either('is')}|{_either('feels')}"
    patterns = (
        rf"(?<!\w){_NOT_ME}(?:i|we){_BE} {_MUCH}(?P<felt>{felt})\b(?!-){_COURTESY}",
        rf"(?<!\w){_NOT_ME}(?:i|we){_FEEL} {_MUCH}(?P<felt>{either})\b{_COURTESY}(?! like| as if)",
        rf"\b(?:makes?|made|making|leaves?|left|gets?|got) (?:me|us) (?:feel |feeling )?{_MUCH}(?P<felt>{either})\b",
        rf"^{_BARE}{_MUCH}(?P<felt>{felt})\b{_COURTESY}{_GOES_ON}",
        rf"^(?:\w+ )?(?:been )?(?:feeling|felt) {_MUCH}(?P<felt>{either})\b{_COURTESY}{_GOES_ON}",
    )
    return tuple(re.compile(each, re.IGNORECASE) for each in patterns)


def feelings(text: str) -> list[Mood]:
    """List the moods of its speaker that a text states, each once, in order."""
    plain = simplified(clean(text)).replace("’", "'")
    return list(dict.fromkeys(_moods(plain)))


def _moods(text: str) -> Iterator[Mood]:
    for match in _SENTENCE.finditer(text):
        sentence = match.group().strip()
        if sentence.endswith(("?", "？")):
            continue
        yield from _english_moods(sentence)
        if not sentence.isascii() and not _HAN_ASKS.search(sentence):
            yield from _han_moods(sentence)


def _english_moods(sentence: str) -> Iterator[Mood]:
    """Yield the moods of an English sentence, clause by clause."""
    for part in re.split(r"[,;:…]\s*|\s(?:and|but|because|so that) ", sentence):
        clause = part.strip().rstrip(".!")
        for pattern in _english():
            if result := pattern.search(clause):
                yield (_words("en", "is") | _words("en", "feels"))[result["felt"].lower()]
                break
        else:
            yield from _other_mood(clause)


def _other_mood(clause: str) -> Iterator[Mood]:
    """Yield the mood of a clause that says what I do, or that uses a set expression."""
    for mood, pattern in _whole("en", "does"):
        result = pattern.search(clause)
        if result and re.search(
            rf"(?:^|\b(?:i|we)(?:'ve|'m|'re| am| was| have| had| just| nearly| almost)? ?){_BARE}{_MUCH}$",
            clause[: result.start()],
            re.IGNORECASE,
        ):
            yield mood
            return
    for mood, pattern in _whole("en", "whole"):
        result = pattern.search(clause)
        if result and not _THEIRS.search(clause[: result.start()]) and not _DENIED.search(clause[: result.start()]):
            yield mood
            return


def _han_moods(sentence: str) -> Iterator[Mood]:
    """Yield the moods of a Chinese sentence, clause by clause: who was spoken of before is whom the next may be of."""
    is_mine = True
    for clause in filter(None, _CLAUSE.split(sentence)):
        others, mine = _HAN_OTHERS.search(clause), clause.find("我")
        is_mine = (mine >= 0 and (others is None or mine < others.start() or is_mine)) or (is_mine and others is None)
        is_reported = (
            clause.startswith(("感到", "感觉", "觉得")) and "我" not in sentence and not sentence.startswith(clause)
        )
        if is_mine and not is_reported and (mood := _han_mood(clause)):
            yield mood


def _han_mood(clause: str) -> Mood | None:
    """Return the mood of one clause: of an expression that needs no subject, else of a word that is said of oneself."""
    for mood, pattern in _whole("zh", "whole"):
        result = pattern.search(clause)
        if result and _is_own(clause[: result.start()], strictly=False):
            return mood
    for form in ("is", "does", "about"):
        for mood, pattern in _whole("zh", form):
            for result in pattern.finditer(clause if clause not in ("放心", "放松") else ""):
                ends = form != "is" or _ENDING.match(clause, result.end())
                if ends and clause[result.end() : result.end() + 1] not in "你您" + ("的" if form == "about" else ""):
                    return mood if _is_own(clause[: result.start()], strictly=True) else None
                if ends and result.end() == len(clause) and _is_own(clause[: result.start()], strictly=True):
                    return mood
    return None


def _is_own(before: str, *, strictly: bool) -> bool:
    """Check that what comes before a mood names no other person, and does not deny it.

    strictly  only how, when and through what may come before; else anything but another person
    """
    before = re.sub("被[^我]{1,4}$", "", before)
    after_me = re.split("我们?|咱们?", before)[-1]
    if _HAN_DENIED.search(before) or (after_me == before and _HAN_OTHERS.search(before)):
        return False
    return _OPENING.fullmatch(after_me) is not None if strictly else not re.search("[说问]", before)
