"""Moods: what somebody says of how they feel, by few precise patterns in both languages.  SEEDS P39.

    "I'm so excited!"  "we were devastated"  "that makes me nervous"  真开心！      glad, sad, afraid, glad
    "I'm happy to help"  "are you sad?"  "I'm not angry"  "she is tired"  我不太开心             none

Only what the speaker says of themselves counts, never a question, a condition, a courtesy or what is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from emgas.messages.views import Mood
from processors.text import tables
from processors.text.chinese import simplified
from processors.text.language import clean

_WORDS: Final[dict[str, dict[str, Mood]]] = {"en": {}, "zh": {}}
for _mood, _language, _listed in tables.rows(__package__, "feelings"):
    _WORDS[_language].update(dict.fromkeys(_listed.split("|"), _mood))  # type: ignore[arg-type]  # a test compares


def _either(language: str) -> str:
    return "|".join(re.escape(word) for word in sorted(_WORDS[language], key=len, reverse=True))


_MUCH: Final = (
    r"(?:\ (?:so|very|really|just|pretty|quite|still|also|all|a\ bit|a\ little|too|super|incredibly|absolutely|both"
    r"|such|now|kind\ of|kinda|feeling|totally|extremely|truly|honestly|rather|completely|more))*"
)
_ENGLISH: Final = re.compile(
    rf"""
      (?<!\w)(?<!if\ )(?<!when\ )(?<!whenever\ )(?<!until\ )(?<!unless\ )(?<!like\ )(?<!think\ )
      (?:i|we)(?:'m|'re|\ am|\ are|\ was|\ were|\ feel|\ felt|'ve\ been|\ have\ been|\ got)
      {_MUCH}\ (?P<felt>{_either("en")})\b
      (?!\ (?:to|for\ you|that\ you|you|if|when|about\ nothing)\b)
    | \b(?:makes?|made|making)\ (?:me|us){_MUCH}\ (?P<made>{_either("en")})\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HAN_MUCH: Final = (
    "(?:真的?是?|太|好|很|特别|非常|超级?|有点儿?|有些|挺|感到|觉得|也|都|还|心里|现在|今天|昨天|最近|一直|得)"
)
_CHINESE: Final = re.compile(
    rf"(?:^|[\s，。！？；、,.!?;~…])(?:(?:我们?){_HAN_MUCH}*|(?:{_HAN_MUCH})+)(?P<felt>{_either('zh')})"
    "(?!的[人是话时吗]|吗|不|是|认识|听到|听说|见到|看到你|能|可以|[和跟为与]?[你您]|帮)"
)
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_HAN_ASKS: Final = re.compile(r"[吗么呢][。.~]*$|如果|要是|假如")


def feelings(text: str) -> list[Mood]:
    """List the moods that a text tells of its speaker, each once, in order."""
    plain = simplified(clean(text))
    return list(dict.fromkeys(_moods(plain)))


def _moods(text: str) -> Iterator[Mood]:
    for match in _SENTENCE.finditer(text):
        sentence = match.group().strip()
        if sentence.endswith(("?", "？")):
            continue
        for result in _ENGLISH.finditer(sentence):
            yield _WORDS["en"][(result["felt"] or result["made"]).lower()]
        if not sentence.isascii() and not _HAN_ASKS.search(sentence):
            yield from _han_moods(sentence)


def _han_moods(sentence: str) -> Iterator[Mood]:
    """Yield the moods of a Chinese sentence: without 我, only what it begins with is of who speaks."""
    for match in _CHINESE.finditer(sentence):
        if match.start() == 0 or "我" in sentence[: match.end()]:
            yield _WORDS["zh"][match["felt"]]
