"""The words and slots with which facts are read, as `data/` has them: lists, parts of patterns, slots, roles.

fact_words.tsv   lists of words            {=kin} in a pattern
fact_parts.tsv   parts of patterns         {V} in a pattern
slots.tsv        slots of a card           how many values one holds, and its relation
roles.tsv        what people are to one another: sister, 表哥, boss
kin_paths.tsv    relatives in two steps    niece: a sister's daughter
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from processors.text import tables


class SlotRules(NamedTuple):
    """A slot: whether it holds one value at a time, its relation, and the words with which questions ask for it."""

    is_single: bool
    relation: str
    questions: tuple[str, ...]


def _words() -> dict[str, frozenset[str]]:
    lists: dict[str, set[str]] = {}
    for name, words in tables.rows(__package__, "fact_words"):
        lists.setdefault(name, set()).update(word.strip() for word in words.split("|"))
    return {name: frozenset(words) for name, words in lists.items()}


def _roles() -> dict[str, dict[str, str]]:
    roles: dict[str, dict[str, str]] = {}
    for language, relation, words in tables.rows(__package__, "roles"):
        for word in words.split("|"):
            roles.setdefault(language, {}).setdefault(word, relation)
    return roles


def _slots() -> dict[str, SlotRules]:
    return {
        name: SlotRules(
            how == "one", "" if relation == "-" else relation, () if words == "-" else tuple(words.split("|"))
        )
        for name, how, relation, words in tables.rows(__package__, "slots")
    }


def either(words: Iterable[str]) -> str:
    """Write a pattern of any of these words, the longest first."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word))) + ")"


INVERSE: Final = {
    "parent": "child",
    "child": "parent",
    "boss": "report",
    "report": "boss",
    "teacher": "student",
    "student": "teacher",
}
MUTUAL: Final = frozenset(
    (
        "sibling",
        "partner",
        "spouse",
        "ex-spouse",
        "ex-partner",
        "friend",
        "colleague",
        "roommate",
        "neighbour",
        "relative",
    )
) | {"schoolmate"}
# What asks for people of a relation, whichever of its words they were called by.
GROUPS: Final = {
    **dict.fromkeys(("sibling", "兄弟姐妹", "兄弟", "姐妹"), "sibling"),
    **dict.fromkeys(("parent", "父母", "爸妈", "爹妈"), "parent"),
    **dict.fromkeys(("child", "kid", "孩子", "子女"), "child"),
    **dict.fromkeys(("spouse", "partner", "爱人", "另一半"), "spouse"),
}
KIN_PATHS: Final = {
    word: (tuple(first.split()), tuple(then.split())) for word, first, then in tables.rows(__package__, "kin_paths")
}
WORDS: Final = _words()
ROLES: Final = _roles()
SLOTS: Final = _slots()


def members(relation: str) -> Iterator[str]:
    """Yield the words for people of a relation, in all languages."""
    return (word for roles in ROLES.values() for word, its_relation in roles.items() if its_relation == relation)


@cache
def _parts() -> dict[str, str]:
    rows = tables.rows(__package__, "fact_parts")
    return {name: re.sub(r"\{=(\w+)\}", lambda match: either(WORDS[match[1]]), part) for name, part in rows}


def expanded(pattern: str) -> str:
    """Put the parts of a pattern that stand in braces in their place; parts hold parts."""
    before = ""
    while pattern != before:
        before = pattern
        pattern = re.sub(r"\{(\w+)\}", lambda match: _parts().get(match[1], match[0]), pattern)
    return pattern


@cache
def _people_patterns() -> dict[tuple[str, str], str]:
    return {(language, name): text for language, name, text in tables.rows(__package__, "people_patterns")}


@cache
def pattern(language: str, name: str) -> re.Pattern[str]:
    """Return a pattern of people_patterns.tsv, with its parts in their place; it is compiled on its first use."""
    texts, text, before = _people_patterns(), f"{{{name}}}", ""
    words = {"ROLE": either(ROLES[language]), "PET": either(WORDS["宠"])}
    while text != before:
        before = text
        text = re.sub(
            r"\{(\w+)\}", lambda match: words.get(match[1]) or texts.get((language, match[1])) or match[0], text
        )
    return tables.lazy(text.replace("(?i)", ""), re.IGNORECASE if "(?i)" in text else 0)


def is_single(slot: str) -> bool:
    """Return whether a slot holds one value at a time."""
    listed = SLOTS.get(slot)
    return listed.is_single if listed else slot.startswith("favourite") or bool(_NUMBERED.search(slot)) or slot in _ONE


def relation_of(slot: str, role: str) -> str:
    """Return the relation of a person to the value of a slot that is another: by the role as said, else the slot."""
    for roles in ROLES.values():
        if role in roles:
            return roles[role]
    return slot if slot in _PEOPLE else ""


_PEOPLE: Final = frozenset({relation for roles in ROLES.values() for relation in roles.values()} | {"partner"})
_NUMBERED: Final = tables.lazy(
    r"code|password|number|pin$|type$|size|密码|电话|邮箱|号$|血型|budget|salary|rent|weight|goal|score|level|deadline|limit"
)
_ONE: Final = WORDS["role"] | WORDS["角"]
