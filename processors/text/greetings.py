"""Find where a text greets, thanks or addresses a person: such words are not what the text is about.

Two kinds: fixed expressions ("take care", "by the way": data/greetings.tsv), and vocatives: a name at a place where
people address each other.

    Hey Caroline!  Thanks, Melanie.      after a greeting, thanks or a cry
    That's so cool, Caroline!            after a comma, at the end of a sentence
    Caroline, that's great               before a comma, when the rest addresses or describes a person

Who the speakers are is not known here, so the place decides.  "My brother, Tom." keeps Tom: a possessive or an article
shortly before the comma introduces a name; and "Boston, Massachusetts." keeps both: a capital stands before the comma.
Chinese greetings are single words for the segmenter (processors/text/stopwords.py).
"""

from __future__ import annotations

import re
from typing import Final

from processors.text import tables

_EXPRESSIONS: Final = tables.lazy(
    rf"\b(?:{'|'.join(pattern for (pattern,) in tables.rows(__package__, 'greetings'))})\b", re.IGNORECASE
)

_NAME: Final = r"([A-Z][a-z]+(?:['-][A-Z]?[a-z]+)?)"  # ASCII: the rule is for sentences in the Latin script
_VOCATIVES: Final = tuple(
    re.compile(pattern.replace("NAME", _NAME))
    for pattern in (
        r"\b(?i:hey|hi|hiya|hello|heya|yo|dear|bye|goodbye)(?: (?i:there|again))?[,!]? +NAME\b",
        r"\b(?i:thanks|thank you|thx|wow|whoa|woah|congrats|congratulations|cheers|sorry|welcome|oh|omg|haha|aww?)"
        r"(?: (?i:so much|a lot|again|back))?[,!.]? +NAME(?=\s*[,.!?;:]|\s*$)",
        r"(?:^|[.!?] +)NAME, (?=(?i:you|your|you're|you've|that|that's|this|it|it's|i|i'm|i've|what|what's|how|how's"
        r"|when|where|why|who|do|did|have|are|can|could|would|thanks|thank|so|wow|let's|glad|great)\b)",
    )
)
_AT_THE_END: Final = tables.lazy(r"(?<=[a-z0-9']), NAME(?=\s*[.!?]|\s*$)".replace("NAME", _NAME))
_INTRODUCES: Final = tables.lazy(
    r"\b(?i:my|our|his|her|their|a|an|the|named|called)(?: [\w'-]+){1,2}$|(?<=[\w,] )[A-Z][\w'-]*$"
)
_LOOK_BACK: Final = 80  # characters: enough for "my" and two words

Span = tuple[int, int]


def spans(text: str) -> list[Span]:
    """Find fixed expressions and vocatives: (start, end) in characters, in no order."""
    return expressions(text) + vocatives(text)


def expressions(text: str) -> list[Span]:
    """Find fixed expressions: (start, end) in characters."""
    return [match.span() for match in _EXPRESSIONS.finditer(text)]


def vocatives(text: str) -> list[Span]:
    """Find the vocatives of `text`: (start, end) of each name that addresses a person."""
    called = {match.span(1) for pattern in _VOCATIVES for match in pattern.finditer(text)}
    called.update(match.span(1) for match in _AT_THE_END.finditer(text) if not _introduced(text, match.start()))
    return sorted(called)


def _introduced(text: str, comma: int) -> bool:
    """Return whether what stands before the comma ("my brother", "Boston") shows that the name is talked about."""
    return _INTRODUCES.search(text[max(0, comma - _LOOK_BACK) : comma]) is not None
