"""What kind of answer a question wants, and whether a turn holds one: a name (who, where, which), a number, a list.

    @name     the turn names somebody or something      the question asks who, where, which
    @number   the turn gives a number                   the question asks how many, how much, how long

Patterns of English and Chinese grammar decide, nothing else: a name in English is a capital inside a sentence, in
Chinese a word that the segmenter tags as one.  Times have a kind of their own (processors/extraction/tags.py).  `depth` says how
many passages a question needs: SEEDS P29-P31, k = 3 (1 + 5.67 C), rounded down, with C from what the question asks.
"""

from __future__ import annotations

import re
from typing import Final

from processors.text import chinese, greetings

LEAST_DEPTH: Final = 3  # passages for the simplest question
MOST_DEPTH: Final = 20  # and for one that asks for several things over a long time

_NAMED: Final = re.compile(
    r"""(?<=[a-z0-9,;:'"(]\ ) [A-Z][a-z]+            # a capital inside a sentence
      | \b[A-Z]{2,}\b                               # an acronym
      | "[^"]{2,80}" | 《[^》]{1,80}》               # a title
    """,
    re.VERBOSE,
)
_NUMBERS: Final = re.compile(
    r"""\d | \b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million
      |once|twice|couple|several|few)s?\b
    | [二两三四五六七八九十百千万亿半几]
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_NAME: Final = re.compile(
    r"""\b(?: who(?:se|m|'s)? | where | which | names?
      | what\ (?:country|city|town|state|place|company|brand|book|movie|film|show|band|song|game|restaurant|school) )\b
    | 谁 | 哪[里儿个位家座些部本款] | 什么(?:名字|地方|牌子) | 叫什么 | 叫啥 | 名字 | 牌子
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_NUMBER: Final = re.compile(
    r"\bhow (?:many|much|long|often|old|far|big|tall|heavy|fast)\b"
    r"|多[少重大长高久远宽快]|几[个次岁天年月周只条张本家件块层点号种]",
    re.IGNORECASE,
)
_ASKS_LIST: Final = re.compile(
    r"""\b(?:what|which)\ (?:\w+\ ){0,2}?\w+s\ (?:do|does|did|has|have|had|are|were|would|will|can)\b
    | \b(?:both|in\ common|all\ the|kinds?\ of|types?\ of|sorts?\ of|how\ many|besides|list|different)\b
    | 哪些 | 哪几 | 几[种个次样类] | 都(?=有|去|是|做|买|用|喜欢|养|学|说)
    | 先后 | 分别 | 除了
    """,
    re.IGNORECASE | re.VERBOSE,
)
_REASONS: Final = re.compile(
    r"\b(?:why|how come|compare[ds]?|differen(?:t|ce)|change[ds]?|over time|would|likely|might|reason|because|relat)"
    r"\w*\b"
    r"|为什么|为啥|原因|比较|区别|变化|怎么变|先后|会不会|可能|如何",
    re.IGNORECASE,
)
_LEFT_OF_A_GREETING: Final = re.compile(
    r"\b(?:hey|hi|hiya|hello|yo|howdy|greetings|bye|goodbye|thanks?|thank you|thx|cheers|ok(?:ay)?|yes|no|sure|great"
    r"|cool|there|again|so much|a lot|everyone|all|good|morning|night|well|too|and|you)\b"
    r"|你好|您好|大家好|早上好|上午好|中午好|下午好|晚上好|早安|晚安|早|嗨|哈喽|喂|再见|拜拜|谢谢|多谢|好的?|嗯+"
    r"|[哦吗呀啊啦呢了你]",
    re.IGNORECASE,
)
_LETTER: Final = re.compile(r"[^\W_]")


def holds_name(text: str) -> bool:
    """Return whether a clean, simplified text names somebody or something; whom it merely addresses does not count."""
    said = text
    for start, end in greetings.vocatives(text):
        said = said[:start] + " " * (end - start) + said[end:]
    return _NAMED.search(said) is not None or chinese.holds_name(text)


def holds_number(text: str) -> bool:
    """Return whether a text gives a number, in digits or in words."""
    return _NUMBERS.search(text) is not None


def asks_name(text: str) -> bool:
    """Return whether a question wants a name: who, where, which."""
    return _ASKS_NAME.search(text) is not None


def asks_number(text: str) -> bool:
    """Return whether a question wants a number: how many, how long."""
    return _ASKS_NUMBER.search(text) is not None


def asks_list(text: str) -> bool:
    """Return whether a question wants several things, said in several places."""
    return _ASKS_LIST.search(text) is not None


def greets(text: str) -> bool:
    """Return whether a clean text says nothing but hello, thanks or goodbye: there is nothing to remember for it."""
    said = list(text)
    for start, end in greetings.spans(text):
        said[start:end] = " " * (end - start)
    return bool(_LETTER.search(text)) and not _LETTER.search(_LEFT_OF_A_GREETING.sub(" ", "".join(said)))


def depth(text: str, concepts: int, speakers: int) -> int:
    """Return how many passages a question needs, from 3 to 20, if its asker leaves that open.

    concepts  how many words of the question the graph knows;  speakers  how many it names
    """
    several = 0.5 * asks_list(text) + 0.3 * (_REASONS.search(text) is not None) + 0.2 * (speakers > 1)
    complexity = min(1.0, several + 0.1 * max(0, concepts - 2))
    return int(LEAST_DEPTH + (MOST_DEPTH - LEAST_DEPTH) * complexity)
