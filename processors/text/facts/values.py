"""Cut values to the words that fill a slot, and find the name of a slot that a text names."""

from __future__ import annotations

import re
from typing import Final

from processors.text import tables
from processors.text.facts.lists import listed
from processors.text.facts.vocabulary import WORDS

_SPACES: Final = tables.lazy(r"\s+")
_BEFORE: Final = tables.lazy(
    r"^(?:(?:an?|the|my|our|some|both|to|own|it's|in|on|for|really|very|old|this|that|just|about)\b ?)+(?=\S)",
    re.IGNORECASE,
)
_BEHIND: Final = tables.lazy(
    r"(?: (?:now|again|already|here|there|these days|any ?more|any longer|today|too|as well|instead|right now"
    r"|at the moment|of course|though|originally|lol|btw|tbh|ngl|fr|a lot|very much|so much|myself|on .*day|last .*"
    r"|this (?:week|month|year)|yesterday|tonight|recently|lately|well|and|or|but|for years))+$",
    re.IGNORECASE,
)
_PARTICLES: Final = tables.lazy("(?:了|啦|吧|呢|啊|哦|呀|的|嘛|咧|咯|哈)+$")
_OWNER: Final = tables.lazy(r"^(?:my|our|the|new) ")
_LIKED: Final = tables.lazy(
    r"\b(?:is|was|are|were|i|i'm|it|it's|you|they|he|she|we|'d|that|so|lets|let|just|going|be|being|your|their|his|her|them"
    r"|him|me|us|this|these|those|themselves|yourself|everywhere)\b|^(?:doing|playing|having|seeing|hearing|making|have|be|get|see|hear|do|go|try|say|know|think|join|share|come|watch|make|take)$"
)
_JOB_ENDING: Final = tables.lazy(
    r"(?:[^aeiou]ologist|grapher|ician|ineer|keeper|maker|worker|writer|teacher|officer|therapist|trainer|analyst|manager"
    r"|director|developer|designer|assistant|instructor|operator|cleaner|planner|master|smith)$"
    r"|(?<!^) for a living$|^(?:head|director|editor|professor|captain|manager|chief|vice president) of \w"
    r"|^teach(?:es|ing)?\b(?! (?:me|him|her|us|them|you|an?|it|that|this)\b)"
)
_HAN_JOBS: Final = WORDS["职"] | {
    "设计", "开发", "研发", "教育", "生意", "外贸", "金融", "贸易", "编辑", "审计", "产品", "运营", "销售", "市场",
}  # fmt: skip
_NOT_STUDIED: Final = tables.lazy(
    "技能|时$|时候|自己|内容|东西|知识|方法|经验|新的|新[词事物]|感兴趣|[这那]|别人|榜样|做人|乖|坏|聪明"
)
_POINTING_HAN: Final = tables.lazy("^[这那它]|(?<!吉)[他她它]")
_ASKED: Final = frozenset("我你吗什么谁哪")
_GENERIC_HAN: Final = tables.lazy(
    "一[家份本个部段间所]|^(?:当前|目前|现在|某|那家|这家|新)(?:的)?(?:公司|单位)"
    "|^(?:看|听|想|用|玩|吃|喝|写|读|忙|找|等|对|跟|和|给|为|帮|努力|认真|尽|说|讲|问|谈|瞎|乱|试)|工作"
)
_NO_PLACE: Final = tables.lazy("考虑|思考|学习|如何|是否|寻找|一直|这|那|旁边|外面|家里|手机|网上")


def plain(value: str) -> str:
    """Cut from a value what says nothing: articles before it, "now" and 了 behind it."""
    value = _BEHIND.sub("", _BEFORE.sub("", _SPACES.sub(" ", value).strip(" .,'!;:。，")))
    return value if value.isascii() else _PARTICLES.sub("", value)


def divided(slot: str, how: str, raw: str) -> list[str]:
    """Return the values that a text lists for a slot: several where one may hold several."""
    parts = listed(slot, raw) if how in ("add", "set") else [raw]
    values = [plain(part) for part in parts]
    return [_HABITS.get(value, value) for value in values] if slot == "habit" else values


def slot_name(slot: str, key: str, how: str) -> str:
    """Return the name of a slot, with what the talk calls it; "" where that names none."""
    key = plain(key)
    key = _OWNER.sub("", (key.casefold() if key.isascii() else key).replace("favorite", "favourite"))
    name = slot.replace("{k}", key)
    name = _CALLED.get(name, name)
    if how == "quantity":  # my grocery budget was increased to $550: named by its last two words
        named = [word for word in name.split() if word not in _UNNAMED][-2:]
        name = "" if not named or named[-1] in WORDS["noquantity"] else " ".join(named)
    return name[:200]


_HABITS: Final = {
    **dict.fromkeys(("smoke", "smoked", "cigarette", "fag", "ciggie"), "smoking"),
    **dict.fromkeys(("vape", "vaped"), "vaping"),
}
_CALLED: Final = {
    **dict.fromkeys(("电话号码", "手机号", "手机号码", "号码", "手机"), "电话"),
    **dict.fromkeys(("phone", "number", "mobile number"), "phone number"),
    **dict.fromkeys(("最好的朋友", "好朋友", "好友", "best friend"), "friend"),
    **dict.fromkeys(("manager", "supervisor", "老板", "经理", "领导", "上司", "主管"), "boss"),
    "email address": "email",
}
_UNNAMED: Final = WORDS["pointing"] | {
    "my",
    "our",
    "the",
    "new",
    "number",
    "of",
    "recent",
    "total",
    "was",
    "were",
    "is",
    "has",
    "had",
    "been",
}


def is_valid(slot: str, value: str, clause: str) -> bool:
    """Return whether a value may fill a slot."""
    low = value.casefold()
    if slot == "shift":
        return bool(low)
    if (
        not low
        or (low in WORDS["nothing"] and (slot, low) != ("likes", "job"))
        or low.split()[0] in WORDS["pointing"]
        or low in WORDS.get(f"no{slot}", ())
        or len(low) > 60
    ):
        return False
    return _may_be_han(slot, low) if not clause.isascii() and not low.isascii() else _may_be(slot, value, low)


def _may_be_han(slot: str, value: str) -> bool:
    if slot == "job":
        return (value.endswith(tuple(_HAN_JOBS)) or value in WORDS["行"]) and not set(value) & _ASKED
    if slot == "owns":
        return any(value.startswith(word) or value.endswith(word) for word in WORDS["物"])
    if set(value) & _ASKED or _POINTING_HAN.search(value) or len(value) > 16:
        return False
    if slot == "studies" and _NOT_STUDIED.search(value):
        return False
    if slot == "employer" and _GENERIC_HAN.search(value):
        return False
    return not (slot in ("employer", "home", "hometown", "school") and _NO_PLACE.search(value))


def _may_be(slot: str, value: str, low: str) -> bool:
    if slot == "job":
        return not _DOING.match(low) and (
            low in WORDS["job"] | WORDS["trade"] | WORDS["craft"]
            or low.rsplit(maxsplit=1)[-1] in WORDS["job"]
            or bool(_JOB_ENDING.search(low))
            or (low.startswith("driv") and low.rsplit(maxsplit=1)[-1] in WORDS["driven"])
            or any(low.endswith(f" {job}") for job in WORDS["job"] if " " in job)
        )
    if slot in ("owns", "plays"):
        words = WORDS["thing" if slot == "owns" else "play"]
        named = {low, *low.split(), *(word.removesuffix("s") for word in low.split())}
        return (
            not words.isdisjoint(named)
            or any(f" {word} " in f" {low} " for word in words if " " in word)
            or (slot == "owns" and all(word[:1].isupper() or word[0].isdigit() for word in value.split()))
        )
    if (slot in ("likes", "dislikes", "hobby") or slot.startswith("favourite")) and _LIKED.search(low):
        return False
    if slot == "home" and _NO_HOME.search(low):
        return False
    if slot in ("home", "hometown", "employer"):
        return (
            not (low[0].isdigit() and not (slot == "home" and _ADDRESS.match(low)))
            and low.split(maxsplit=1)[0] not in _NOWHERE
            and low not in WORDS["noplace"] - {"school"}
        )
    return True


_DOING: Final = tables.lazy(r"\w+ing (?:the|my|your|his|her|our|an?|some|this|that)\b")
_ADDRESS: Final = tables.lazy(r"\d+\w? [a-z]")  # 14 Canal Row
_NO_HOME: Final = tables.lazy(
    r"\b(?:shift|team|department|position|role|unit|desk|group|bed|couch|phase|level|project)s?$"
)
_NOWHERE: Final = WORDS["noplace"] - {"school", "night", "general"}


def is_same(one: str, other: str) -> bool:
    """Return whether two values may mean the same: one says all that the other says."""
    one, other = normal(one), normal(other)
    if one.isascii() and other.isascii():
        fewer, more = sorted(({word.removesuffix("s") for word in each.split()} for each in (one, other)), key=len)
        return bool(fewer) and fewer <= more
    return bool(one and other) and (one in other or other in one)


def normal(value: str) -> str:
    """Return a value as it is compared."""
    return _MARKS.sub(" ", value.casefold()).strip()


_MARKS: Final = tables.lazy(r"[\s\"'“”《》.-]+")
