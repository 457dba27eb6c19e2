"""Anchors: reasons in its text why a turn is kept longer than others.  SEEDS S28, H3, M24.

    remember   a speaker asks to keep it           forced: kept because a person wants it
    health     an allergy, a blood type            spontaneous: what people keep unasked
    code       a password, a number to dial        forced
    birthday   a birthday, an anniversary          spontaneous
    promise    a promise                           spontaneous
    meeting    a first meeting                     spontaneous

A few precise patterns of English and Chinese decide (data/anchors.tsv), and never a question: "do you remember the
code?" holds nothing.  How much such a turn matters is what the rule says; a sender who says it himself is believed.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, cast

from processors.text import tables
from processors.text.language import clean
from processors.text.triggers import Triggers
from state.events.extraction_types import Anchor, AnchorKind

_SENTENCE: Final = tables.lazy(r"[^.!?。！？\n]+[.!?。！？]?")
_ASKS: Final = ("?", "？")


class _AnchorRule(NamedTuple):
    anchor: Anchor
    importance: float
    words: tuple[str, ...]  # a text without one of these cannot match the pattern, which takes much longer
    pattern: re.Pattern[str]


def _rule(name: str, kind: str, importance: str, words: str, pattern: str) -> _AnchorRule:
    anchor = Anchor(name, cast(AnchorKind, kind))
    return _AnchorRule(anchor, float(importance), tuple(words.split("|")), re.compile(pattern, re.IGNORECASE))


_TRIGGERS: Final = Triggers([_rule(*row) for row in tables.rows(__package__, "anchors")], lambda rule: rule.words)


def anchored(text: str) -> tuple[Anchor, float] | None:
    """Find what anchors a text, and how much it matters in [0, 1]; None for most texts."""
    rules = _TRIGGERS.fitting(text.lower())
    if not rules:
        return None
    statements = [each.strip() for each in _SENTENCE.findall(clean(text)) if not each.endswith(_ASKS)]
    fitting = (rule for rule in rules for sentence in statements if rule.pattern.search(sentence))
    return next(((rule.anchor, rule.importance) for rule in fitting), None)
