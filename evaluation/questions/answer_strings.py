"""Find the turns that hold an answer word for word, which replace evidence that is not labelled.

An answer is held by a turn that has its words in a row, whatever the case, the punctuation and the articles between
them; a Chinese answer, by one that has its characters in a row.  An answer that says only yes or no is held by nothing.
Source: Chen et al. 2017 (DrQA), Karpukhin et al. 2020 (DPR): a passage that has the answer string counts as right.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

from emgas.messages.turns import Turn
from processors.text.scripts import HAN

SAY_NOTHING: Final = frozenset("yes no none unknown true false likely 是 否 有 没有 不是 对 不 无".split())  # noqa: SIM905
ARTICLES: Final = frozenset(("a", "an", "the"))
FIELDS: Final = ("answer", "answers", "answer_aliases")  # of a question: LoCoMo, HotpotQA, MuSiQue
_WORD = re.compile(rf"[{HAN}]|[^\W_{HAN}]+")


def answers(fields: Mapping[str, Any]) -> list[str]:
    """List the answers that a question has, each a text or a number; of several, any is right."""
    values = [fields.get(name) for name in FIELDS]
    listed = [each for value in values for each in (value if isinstance(value, list) else [value])]
    return [str(each) for each in listed if isinstance(each, str | int | float) and not isinstance(each, bool)]


def holding(turns: Iterable[Turn], answers_wanted: Iterable[str]) -> frozenset[str]:
    """Find the ids of the turns that hold one of the answers."""
    words = [tokens for answer in answers_wanted if not _says_nothing(tokens := _words(answer))]
    return frozenset(turn.id for turn in turns if words and any(each in _words(turn.text) for each in words))


def _says_nothing(words: str) -> bool:
    return not words.strip() or words.replace(" ", "") in SAY_NOTHING


def _words(text: str) -> str:
    """Write a text's words in a row, with a space around each; a Han character is a word."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return f" {' '.join(word for word in words if word not in ARTICLES)} "
