"""Values that a text lists for a slot: "climbing, films and improving education and health".

the text behind the verb ──▶ cut where another clause begins ──▶ parts ──▶ values

Parts that a preposition or a verb may hold together stay one value: an uncertain list is not split.  A phrase for
something that only the speakers see ("the necklace", "all the colours") ends the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from processors.text import tables
from processors.text.scripts import HAN

SEVERAL: Final = frozenset({"speaks", "child", "pet", "hobby", "plays", "likes", "dislikes"})
_HAN: Final = tables.lazy(f"[{HAN}]")
_LIKED: Final = frozenset({"likes", "dislikes"})

_NEXT_CLAUSE: Final = tables.lazy(
    r"[ ,(-]\s*(?:[–—]|- |-$)|(?:^|[ ,(-])\s*'?\b(?:because|cause|cuz|since|when|whenever|while|as|so|but|which|who"
    r"|that|where|if|although|though|than|it|it's|its|they|they're|there|especially|particularly|including|such|like|plus|then"
    r"|even|either|any ?more|anyways?|of course|you|you're|i|i'm|i've|we|we're|he|she|he's|she's|what|how|why|makes"
    r"|keeps|helps|lets|gets|is|are|was|were|isn't|ok(?:ay)?|ya|uh+|um+|er+|y'know|lol|haha)(?![\w'])"
    r"|[ ,]\s*\b(?:do|does|don't|doesn't|did|myself"
    r"|too|until|not|just|maybe|mostly|mainly|really|very|right now|now)(?![\w'])",
    re.IGNORECASE,
)
_OBJECTS: Final = (" it", " you", " its", " myself")
_PARTS: Final = tables.lazy(r"(,? (?:and|&|or|plus) |, ?)", re.IGNORECASE)
_HAN_PARTS: Final = tables.lazy(r"(,|、|和|跟|以及|还有)")
_DANGLING: Final = tables.lazy(
    r"(?: (?:and|or|for|of|in|on|with|to|at|about|from|by|the|an?|my|both|also|more|most|some))+$", re.IGNORECASE
)
_WHERE: Final = tables.lazy(r" (?:in|at|for|on|with|every|since|after)\b.*")
_TIES: Final = tables.lazy(
    r" (?:about|of|with|on|in|for|between|from|at|near|to|by|into|through|around|over|as|without)(?= )", re.IGNORECASE
)
_POINTS: Final = tables.lazy(
    r"(?:all|both|each|every|one|some|any|most|more|none) (?:of |the\b|that|this|these|those|your|his|her|their)"
    r"|(?:an? )?(?:variety|couple|lot|bit|ton|lots|tons|bunch|number)\b|(?:this|that|these|those|your|his|her|their)\b"
    r"|the (?!(?:{known})(?: (?:at|in|on|of|by|with)\b|$))(?-i:[^A-Z])|my (?:voice|hair|face|look|body)\b",
    re.IGNORECASE,
)
_KNOWN: Final = (  # things that need no pointing: there is one, or any will do
    "sea|seaside|ocean|beach|mountains?|outdoors?|outside|rain|snow|sun|cold|heat|dark|countryside|country|city|woods|forest"
    r"|theat(?:re|er)|cinema|movies|gym|piano|violin|guitar|drums|cello|flute|harp|saxophone|trumpet|ukulele|accordion"
    "|banjo|clarinet|bassoon|oboe|organ|opera|ballet|blues|news|internet|stars|moon|winter|summer|spring|autumn|fall"
    "|holidays|weekends?|mornings?|nineties|eighties|seventies|sixties|quiet|night sky|night"
)
_POINTING: Final = tables.lazy(_POINTS.pattern.replace("{known}", _KNOWN), re.IGNORECASE)
_OPEN: Final = tables.lazy(r"\ban? [\w-]+$", re.IGNORECASE)  # a safe, quiet place
_GERUND: Final = tables.lazy(r"[a-z]{2,}ing\b", re.IGNORECASE)
_HAN_POINTS: Final = tables.lazy("[这那你您他她它]|里面|其中|上面|大家|自己|一切|所有|各种|当时|如此|现在|感觉")


def listed(slot: str, raw: str) -> list[str]:
    """Return the values that a text lists for a slot; several where one may hold several."""
    if slot not in SEVERAL or not raw:
        return [raw]
    if _HAN.search(raw):
        return list(_han(raw)) if slot in _LIKED else _HAN_PARTS.split(_PARTS.sub(",", raw))[::2]
    if slot in ("speaks", "child", "pet"):
        return _PARTS.split(raw)[::2]
    stated = _stated(raw)
    return _kept(_WHERE.sub("", stated) if slot == "plays" else stated)


def _stated(raw: str) -> str:
    """Cut the text behind a verb where another clause begins."""
    cut = _NEXT_CLAUSE.search(raw)
    kept = (raw[: cut.start()] if cut else raw).rstrip(" ,-")
    if cut and " " not in kept and cut.group() in _OBJECTS:
        return ""  # "to match it": the verb alone says nothing
    return _DANGLING.sub("", kept)


def _kept(raw: str) -> list[str]:
    values: list[str] = []
    pieces = _PARTS.split(raw)
    for joint, part in zip(["", *pieces[1::2]], pieces[::2], strict=True):
        if not part.strip() or _POINTING.match(part.strip()) or part.startswith(("to ", "To ")):
            break
        if values and _is_one(values[-1], part, joint):
            values[-1] += joint + part
        else:
            values.append(part.strip())
    return values


def _is_one(before: str, part: str, joint: str) -> bool:
    """Return whether two parts of a list may be one value: "books about art and music", "action and horror films"."""
    if _is_activity(part) and not (joint == ", " and _OPEN.search(before)):
        return False
    words = before.split()
    is_held = len(words) > 1 and "," not in joint and bool(_GERUND.match(words[0]))
    return (
        is_held
        or bool(_TIES.search(before) or (joint == ", " and _OPEN.search(before)))
        or (
            "and" in joint
            and len(words) == 1
            and len(part.split()) > 1
            and not _is_activity(before)
            and words[0][-1] != "s"
        )
    )


def _is_activity(part: str) -> bool:
    words = part.split()
    return any(_GERUND.fullmatch(word) for word in (words[0], words[-1])) if words else False


def _han(raw: str) -> Iterator[str]:
    """Yield the values of a list in Chinese; 晴朗、温暖的天气 is one."""
    pieces = _HAN_PARTS.split(raw)
    parts, joints = pieces[::2], pieces[1::2]
    if _HAN_POINTS.match(parts[0]):
        return
    if "的" in parts[-1] and not any("的" in part for part in parts[:-1]) and "、" in joints:
        parts = [raw]
    for part in parts:
        if _HAN_POINTS.match(part):
            return
        yield re.sub("^(?:一些|一点|各类|那些|这些|所有)", "", part)
