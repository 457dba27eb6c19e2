"""Rejoin a verb and its object that a Chinese question parts: 什么时候领的证 asks about 领证.

A turn says 我们领证了, so the question would share no word with it.  Only what the dictionary has as one word is
rejoined.
"""

from __future__ import annotations

import re
from typing import Final

from processors.text import chinese_names, tables
from processors.text.chinese import STANDARD, simplified
from processors.text.scripts import HAN

_PARTED: Final = tables.lazy(rf"(?P<verb>[{HAN}])(?:了|过|完)?的(?P<thing>[{HAN}])(?=[吗呢啊呀]?\W*$)")
_ASKS: Final = tables.lazy(r"什么时候|哪[天年月儿里次]|几[月号点]|怎么|在哪|跟谁|和谁|多久|多大")


def rejoined(question: str) -> str:
    """Return a question with the verb and the object at its end as one word, if the dictionary has that."""
    return _PARTED.sub(_whole, question) if _ASKS.search(question) else question


def _whole(parted: re.Match[str]) -> str:
    word = parted["verb"] + parted["thing"]
    is_one = len(list(chinese_names.cut(simplified(word), STANDARD))) == 1
    return word if is_one else parted.group()
