"""Statements: what a turn says of how things are, one value at a time.  SEEDS P38.

    "I live in Lisbon now"              lives in = lisbon
    "my sister moved to Porto"          sister lives in = porto
    "I no longer work at Siemens"       works at = siemens, which ends
    我不再喝咖啡了                        does 咖啡, which ends
    "no latte today"                    skips latte                     (processors/lifecycle/habits.py)

Whoever says another value of the same slot later has changed it (processors/lifecycle/supersession.py).  A few precise
patterns of English and Chinese decide (data/statements.tsv), never a question, a wish or what was once; what is not
sure is no statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from processors.text import tables
from processors.text.language import clean
from state.events.extraction_types import STATEMENTS, Statement

MOST_VALUE: Final = 80  # characters of a value

_SENTENCE: Final = re.compile(r"(?:[^.!?。!?\n]|(?<=\b(?:Dr|Mr|Ms))\.|(?<=\bMrs)\.|\.(?=\w))+[.!?。!?]?")
_UNSURE: Final = re.compile(
    r"\b(?:if|unless|used to|would|wish|hope|hoping|want|wanted|planning|plan to|might|maybe|perhaps|almost|dream"
    r"|when i|as a (?:child|kid|student)|back then|imagine)\b"
    r"|如果|要是|假如|以前|曾经|原来|小时候|想要?|打算|希望|也许|可能|当年|本来|差点|梦见|准备",
    re.IGNORECASE,
)
_ASKS: Final = ("?", "?")

_ADVERBS = (
    "now|currently|still|already|just|finally|recently|actually|officially|happily|also|permanently|both|have|has"
)
_KIN = (
    "sister|brother|mother|mum|mom|father|dad|parents|wife|husband|partner|girlfriend|boyfriend|son|daughter|aunt|uncle"
    "|cousin|grandmother|grandma|grandfather|grandpa|boss|colleague|neighbour|neighbor|niece|nephew|best friend|friend"
)
_NOBODY = "He|She|They|It|You|We|This|That|There|Who|What|Where|And|But|So|Then|Now|Today|Yesterday|Everyone|Somebody"
_NO_PLACE = (
    "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|May|June|July|August"
    "|September|October|November|December"
)
_PARTS: Final = {
    "who": rf"\b(?P<who>I|[Ww]e|[Mm]y (?:{_KIN})(?: [A-Z]\w+)?|(?!(?:{_NOBODY})\b)[A-Z][a-z]+)(?:'ve|'s)?",
    "adv": rf"(?:,? (?:{_ADVERBS}))*",
    "Place": rf"(?:the )?(?P<v>(?!(?:{_NO_PLACE})\b)[A-Z][\w'’-]*(?: (?:de|da|do|of|am|an|der|upon|[A-Z][\w'’-]*))*)",
    "Name": r"(?P<v>[A-Z][\w'’&-]*(?: (?:&|of|de|[A-Z][\w'’&-]*))*)",
    "Firm": r"(?:(?:an?|the|our|my) )?(?P<v>(?:(?<=an )|(?<=a )|(?<=the )|(?<=our )|(?<=my )|(?=[A-Z]))(?!moment\b|weekends?\b"
    r"|same\b|time\b|night\b)[\w'’&-]+(?: (?:of|for|&|(?!(?:as|in|on|and|but|since|now|again|because|where|which|with|from"
    r"|until|today|these|this|that|who|when|so|at|to|any|these|last|next|every)\b)[\w'’&-]+)){0,3})",
    "thing": r"(?P<v>(?!lot\b|bit\b|little\b|long\b|team\b)[\w'’-]+(?: (?!(?:as|in|on|and|but|since|now|again|because|where|which|with|from|until"
    r"|today|these|this|that|who|when|so|at|to|for|of|any)\b)[\w'’-]+){0,2})",
    "object": r"(?:(?:an?|the|my|any|some|to|more) )*(?P<v>(?!(?:so|that|it|this|them|there|home|out|up)\b)[\w'’-]+(?: (?!(?:as|in|on|and|but|since|now"
    r"|again|because|where|which|with|from|until|today|these|this|that|who|when|so|at|to|for|of|any|anymore|every|each|daily"
    r"|before|after|or|instead|too|twice|once)\b)[\w'’-]+)?)",
    "becomes": r"(?:(?: is| was| has)?(?: just| recently| finally)?(?: been)? changed to| is)(?: now)?:?",
    "moves": r"(?: (?:is|was|has been|got|has)(?: now| been)*)?(?: moved| rescheduled| postponed| pushed back| brought forward)?"
    r" (?:to|on|for|at)",
    "我": r"(?P<who>我(?:妈妈?|爸爸?|姐姐?|哥哥?|弟弟?|妹妹?|老婆|老公|妻子|丈夫|女朋友|男朋友|儿子|女儿|奶奶|爷爷|外婆|外公|父母|闺蜜|室友|表[姐哥弟妹]|同事|们家?|家)?)",
    "都": r"(?:现在|目前|已经|刚刚?|最近|终于|上周末?|上个?月|昨天|今天|这周|这个月|前天|都|就|正式|也|还|一直|,)*",
    "地": r"(?P<v>(?!一起|这|那|哪|家|外面|学校)[^,。!?;\s了]{2,10}?)(?=了|的|那边|这边|这里|生活|去了|来了|,|。|!|;|\s|$)",
    "司": r"(?P<v>(?!家|这|那|哪)[^,。!?;\s了]{2,12}?)",
    "司2": r"(?P<v2>(?!家|这|那|哪)[^,。!?;\s了]{2,12}?)",
    "变": r"(?:现在|已经|也)?(?:是|改成了?|换成了?|换了|变成了?|为|:)",
    "物": r"(?P<v>[^,。!?;\s了的这那它]{1,6}?)(?=了|的|,|。|!|;|\s|$)",
}
_TRAILING: Final = re.compile(
    r"(?: (?:now|again|already|these days|at the moment|any ?more|any longer|today|too|as well|instead|as of .*|of course))+$"
    r"|(?:了|啦|吧|呢|啊|哦|呀)+$"
)
_LEADING: Final = re.compile(r"^(?:an?|the|now|currently|about|called) ")


class _Row(NamedTuple):
    slot: str
    ends: bool
    words: tuple[str, ...]  # without one of which the pattern, which takes longer, need not be tried
    pattern: re.Pattern[str]


def _row(slot: str, how: str, words: str, pattern: str) -> _Row:
    for name, part in _PARTS.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    return _Row(slot, how == "ends", tuple(words.split("|")), re.compile(pattern))


_ROWS: Final = tuple(_row(*row) for row in tables.rows(__package__, "statements"))


def statements(text: str) -> list[Statement]:
    """Find what a text states of its speaker, and of those who are theirs: each slot once, in the order of the text."""
    lower = text.lower()
    rows = [row for row in _ROWS if any(word in lower for word in row.words)]
    if not rows:
        return []
    told = (each.strip() for each in _SENTENCE.findall(clean(text)))
    sure = [each for each in told if not each.endswith(_ASKS) and not _UNSURE.search(each)]
    found: dict[tuple[str, bool], Statement] = {}
    for sentence in sure:
        for one in _in_sentence(sentence, rows):
            found.setdefault((one.slot, one.ends), one)
    return list(found.values())[:STATEMENTS]


def _in_sentence(sentence: str, rows: list[_Row]) -> Iterator[Statement]:
    for row in rows:
        said = row.pattern.search(sentence)
        if said:
            groups = {name: value for name, value in said.groupdict().items() if value is not None}
            value = _value(groups.get("v") or groups.get("v2", ""))
            if value:
                yield _statement(row, groups, value)


def _statement(row: _Row, groups: dict[str, str], value: str) -> Statement:
    slot = _slot(groups.get("slot", "")) if row.slot == "{slot}" else row.slot
    if row.slot in ("does", "skips"):  # of each thing that is done, or left out: no value contradicts another
        slot, value = f"{row.slot} {value}", "yes"
    whose = _whose(groups.get("who", ""))
    return Statement(f"{whose} {slot}".strip(), value, row.ends)


def _slot(said: str) -> str:
    """Name a slot as it is named however it is spelled."""
    plain = said.casefold().replace("favorite", "favourite").removeprefix("new ").replace("e-mail", "email")
    return {"mobile": "phone", "mobile number": "phone", "phone number": "phone", "number": "phone"}.get(
        plain, {"手机号码": "电话", "手机号": "电话", "电话号码": "电话", "微信号": "微信"}.get(plain, plain)
    )


def _whose(who: str) -> str:
    """Tell whose slot it is, "" for the speaker's own: "my sister Ana" is a sister."""
    plain = who.removesuffix("家") if len(who) > 1 else who
    if plain in ("", "I", "we", "We", "我", "我们"):
        return ""
    if plain[:3].lower() == "my ":
        return " ".join(word for word in plain[3:].split() if word.islower())
    return plain.removeprefix("我").casefold()


def _value(said: str) -> str:
    plain, before = " ".join(said.split()).strip(" .:"), ""
    while plain != before:
        before = plain
        plain = _TRAILING.sub("", _LEADING.sub("", plain)).strip(" .:")
    return plain[:MOST_VALUE].casefold()


def is_same(one: str, other: str) -> bool:
    """Tell whether two values may mean the same: one says all that the other says."""
    if one.isascii() and other.isascii():
        fewer, more = sorted((set(one.split()), set(other.split())), key=len)
        return fewer <= more
    return one in other or other in one
