"""Chinese text: simplified characters, segmentation into words, and which words are content.

rjieba segments and tags parts of speech; OpenCC turns traditional characters into simplified ones, so that 密鑰 and
密钥 are one node.  Both load when the first Han character comes, once per process.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from processors import stopwords

CHARACTERS: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # for a regex class
_ANY: Final = re.compile(f"[{CHARACTERS}]")
_CRY: Final = re.compile("[哈呵嘿嘻嘎啊哦嗯呃唉哎呀哇喔嘛吧呢吗啦咯噢额诶呜嗷唔哼哟呗欸]+")
# Tags that never name a thing: pronouns, numerals, measures, prepositions, conjunctions, adverbs, particles, cries,
# relative places.  One character alone must be a noun, a verb, an adjective or an abbreviation.
_FUNCTION_TAGS: Final = frozenset(
    {"r", "rr", "rz", "m", "mq", "q", "p", "c", "d", "df", "dg", "u", "uj", "ul", "ud", "uz", "ug", "uv", "e", "y", "o"}
    | {"f", "k", "h"}
)
_CONTENT_TAGS: Final = ("n", "v", "a", "j")


def simplified(text: str) -> str:
    """Return `text` with traditional Han characters as simplified ones; a text without Han as it is."""
    return _converter()(text) if _ANY.search(text) else text


def segmented(run: str) -> list[tuple[str, str]]:
    """Return the words of a run of Han characters with jieba's part-of-speech tags; joined, they are the run."""
    return _tagger()(run)


def is_content(word: str, tag: str) -> bool:
    """Return whether a simplified word with this tag is content: 猫 and 密钥, not 存, 用, 哈哈 or 你好."""
    if tag in _FUNCTION_TAGS or word in _function_words() or _CRY.fullmatch(word):
        return False
    return len(word) > 1 or tag.startswith(_CONTENT_TAGS)


@cache
def _function_words() -> frozenset[str]:
    import stopwordsiso

    return frozenset(stopwordsiso.stopwords("zh")) | stopwords.CHINESE


@cache
def _tagger() -> Callable[[str], list[tuple[str, str]]]:
    """Return rjieba's tagger.  Loading its dictionary takes about 0.1 s and 32 MB."""
    import rjieba

    return rjieba.tag


@cache
def _converter() -> Callable[[str], str]:
    import opencc

    convert: Callable[[str], str] = opencc.OpenCC("t2s").convert
    return convert
