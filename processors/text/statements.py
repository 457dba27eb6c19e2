"""Statements: what a turn says of how things are, one value at a time.  SEEDS P38.

    "I live in Lisbon now"              lives in = lisbon
    "my sister moved to Porto"          sister lives in = porto
    "I no longer work at Siemens"       works at = siemens, which ends
    我不再喝咖啡了                        does 咖啡, which ends
    "no latte today"                    skips latte                     (processors/lifecycle/habits/habits.py)

A later value of the same slot replaces an earlier one (processors/lifecycle/turns/supersession.py).  A few precise
patterns of English and Chinese decide (data/statements.tsv).  A question, a wish, a past state or an uncertain sentence
is no statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from processors.text import tables
from processors.text.language import clean
from processors.text.triggers import Triggers
from state.events.extraction_types import STATEMENTS, Statement

DOES: Final = "does "  # how a slot begins that names a habit: its value is only "yes"
SKIPS: Final = "skips "  # likewise, of what was left out
UNDONE: Final = "undone "  # likewise, of what is only wished for, planned or remembered: the words of the clause
MOST_VALUE: Final = 80  # characters of a value
LEAST_FORM: Final = 3  # letters that two forms of a word have in common

_SENTENCE: Final = tables.lazy(r"(?:[^.!?。!?\n]|(?<=\b(?:Dr|Mr|Ms))\.|(?<=\bMrs)\.|\.(?=\w))+[.!?。!?]?")
_ASKS: Final = ("?", "?")

_PARTS: Final = tuple((name, pattern) for name, pattern in tables.rows(__package__, "statement_parts"))


def _whole(pattern: str) -> str:
    """Put the parts of a pattern that stand in braces in their place."""
    for name, part in _PARTS:
        pattern = pattern.replace(f"{{{name}}}", part)
    return pattern


_UNSURE: Final = tables.lazy(_whole("{unsure}"), re.IGNORECASE)
_TRAILING: Final = tables.lazy(_whole("{trailing}"))
_LEADING: Final = tables.lazy(r"^(?:an?|the|now|currently|about|called) ")


class _Row(NamedTuple):
    slot: str
    ends: bool
    words: tuple[str, ...]  # a text without one of these cannot match the pattern, which takes longer
    begins: tuple[str, ...]  # likewise, but as they are written: "" where that is not known
    source: str  # of the pattern

    def may_be_in(self, text: str) -> bool:
        """Return whether a text holds what the pattern begins with."""
        return any(map(text.__contains__, self.begins))

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern, compiled when one of its words is first said."""
        return _compiled(self.source)


# How many patterns begin, and what a text then holds.
_BEGINNINGS: Final = {r"\b[Mm]y ": ("my ", "My "), r"\bI": ("I",)}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_whole(pattern))


def _row(slot: str, how: str, words: str, pattern: str) -> _Row:
    begins = next((words for beginning, words in _BEGINNINGS.items() if pattern.startswith(beginning)), ("",))
    return _Row(slot, how == "ends", tuple(words.split("|")), begins, pattern)


_ROWS: Final = tuple(_row(*row) for row in tables.rows(__package__, "statements"))
_TRIGGERS: Final = Triggers(_ROWS, lambda row: row.words)


def statements(text: str) -> list[Statement]:
    """Find what a text states of its speaker, and of those who are theirs: each slot once, in the order of the text."""
    return list(_stated(text))


@lru_cache(maxsize=1)  # a turn is asked twice in a row: whether it states something, and then what
def _stated(text: str) -> tuple[Statement, ...]:
    cleaned = clean(text)
    rows = [row for row in _TRIGGERS.fitting(text.lower()) if row.may_be_in(cleaned)]
    if not rows:
        return ()
    by_slot: dict[tuple[str, bool], Statement] = {}
    for match in _SENTENCE.findall(cleaned):
        sentence = match.strip()
        stated = [] if sentence.endswith(_ASKS) else list(_in_sentence(sentence, rows))
        if stated and _UNSURE.search(sentence):  # asked last: it takes longer than all else, and most state nothing
            stated = [one for one in stated if one.slot.startswith(UNDONE)]
        for one in stated:
            by_slot.setdefault((one.slot, one.ends), one)
    return tuple(by_slot.values())[:STATEMENTS]


def _in_sentence(sentence: str, rows: list[_Row]) -> Iterator[Statement]:
    for row in rows:
        match = row.pattern.search(sentence)
        if match:
            groups = {name: value for name, value in match.groupdict().items() if value is not None}
            value = _value(groups.get("v") or groups.get("v2", ""))
            if value:
                yield _statement(row, groups, value)


def _statement(row: _Row, groups: dict[str, str], value: str) -> Statement:
    slot = _slot(groups.get("slot", "")) if row.slot == "{slot}" else row.slot
    if f"{row.slot} " in (DOES, SKIPS, UNDONE):  # of each thing that is done, or left out: no value contradicts another
        slot, value = f"{row.slot} {value}", "yes"
    whose = _whose(groups.get("who", ""))
    return Statement(f"{whose} {slot}".strip(), value, row.ends)


def _slot(text: str) -> str:
    """Return the canonical name of a slot, however it is spelled."""
    plain = text.casefold().replace("favorite", "favourite").removeprefix("new ").replace("e-mail", "email")
    return {"mobile": "phone", "mobile number": "phone", "phone number": "phone", "number": "phone"}.get(
        plain, {"手机号码": "电话", "手机号": "电话", "电话号码": "电话", "微信号": "微信"}.get(plain, plain)
    )


def _whose(who: str) -> str:
    """Return the owner of a slot, "" for the speaker: "sister" for "my sister Ana"."""
    plain = who.removesuffix("家") if len(who) > 1 else who
    if plain in ("", "I", "we", "We", "我", "我们"):
        return ""
    if plain[:3].lower() == "my ":
        return " ".join(word for word in plain[3:].split() if word.islower())
    return plain.removeprefix("我").casefold()


def _value(text: str) -> str:
    plain, before = " ".join(text.split()).strip(" .:"), ""
    while plain != before:
        before = plain
        plain = _TRAILING.sub("", _LEADING.sub("", plain)).strip(" .:")
    return plain[:MOST_VALUE].casefold()


def words_of(statement: Statement) -> frozenset[str]:
    """Return the words with which people speak of what a statement states: of its slot, and of its value."""
    return _slot_words(statement.slot).union(statement.value.split())


def _is_form(one: str, other: str) -> bool:
    """Return whether two words may be forms of one: the shorter begins the longer one, or is in it in Chinese."""
    short, long = sorted((one, other), key=len)
    return (len(short) >= LEAST_FORM and long.startswith(short)) if short.isascii() else short in long


def holds_form(words: Iterable[str], said: Iterable[str]) -> bool:
    """Return whether one of some words, or a part of it, may be a form of one that is said."""
    parts = [part for word in words for part in word.split()]
    return any(_is_form(part, other) for other in said for part in parts)


@cache
def _slot_words(slot: str) -> frozenset[str]:
    """Return the words with which people speak of a slot: its own, and those that the patterns which fill it need."""
    of_patterns = (row.words for row in _ROWS if f" {slot}".endswith(f" {row.slot}"))
    return frozenset(part for words in (slot.split(), *of_patterns) for word in words for part in word.split())


def contradicts(newer: Statement, older: Statement) -> bool:
    """Return whether what was said later of a slot means that what was said before no longer holds."""
    if newer.ends:
        return not older.ends and is_same(newer.value, older.value)
    return older.ends == is_same(newer.value, older.value)


def is_same(one: str, other: str) -> bool:
    """Return whether two values may mean the same: one says all that the other says."""
    if one.isascii() and other.isascii():
        fewer, more = sorted((set(one.split()), set(other.split())), key=len)
        return fewer <= more
    return one in other or other in one
