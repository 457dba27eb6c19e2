"""Find the slot of a person's card that a short question asks for: "Where do I work?".

A question names a person (or "I", 我) and words of a slot (data/slots.tsv), or what an entry itself is called (door
code, 牙医).  The slot with the most and longest words wins.  "Before" and 以前 ask for the history, and "was" does if
there is any.  Longer questions ask for more than a slot, and people talk too much about likes and hobbies: both are
left to recall.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from processors.text import tables
from processors.text.facts.card import INFERRED, Cards, Entry
from processors.text.facts.vocabulary import ROLES, SLOTS, members
from processors.text.pronouns.mentions import FEMALE, MALE
from processors.text.scripts import HAN

MOST_WORDS: Final = 7
MOST_HAN: Final = 14
_ARTICLES: Final = frozenset(("a", "an", "the"))
MOST_TURNS: Final = 3
_HAN: Final = tables.lazy(f"[{HAN}]")
_MINE: Final = tables.lazy(r"\b(?:i|my|our|we|me|am|mine)\b|我|咱|俺")
_PAST: Final = tables.lazy(
    r"\b(?:used to|before|previous\w*|formerly|first|(?<!how )old|former|last)\b|以前|之前|原来|从前|过去"
)
_WAS: Final = tables.lazy(r"\b(?:was|were|did|had)\b")
_NOW: Final = tables.lazy(
    r"\b(?:right now|now|at the moment|at present|these days|nowadays|currently|again|by the way)\b"
)
_OWNED: Final = "'s "
# "What does Ada do?" asks for her job; with more behind it ("do on Sundays") it asks for something else.
_DOES: Final = tables.lazy(r"^what do(?:es)? (?P<who>[^?]{1,40}?) do(?: now| for work)?\W*$")
_ONE_OF_EACH: Final = frozenset({"spouse", "partner", "parent"})  # of each gender: two words for one person
# A question that names one of these asks for no card of who asks, even if the talk called them by another word.
_RELATED: Final = frozenset(
    word if len(word) > 1 else f"我{word}"
    for relation in ("parent", "sibling", "child", "spouse", "partner", "relative", "friend")
    for word in members(relation)
)


class SlotQuestion(NamedTuple):
    """The slot of a card that a question asks for, and the turns that state its values, the surest first."""

    subject: str
    slot: str
    turns: tuple[str, ...]


def slot_question(cards: Cards, question: str, asker: str = "") -> SlotQuestion | None:
    """Return which slot a short question asks for; None if it asks for no slot that is filled."""
    low = _DOES.sub(r"job of \g<who>", _NOW.sub("", question.casefold()))
    words = [word for word in low.split() if word not in _ARTICLES]
    if len(words) > MOST_WORDS or len(_HAN.findall(low)) > MOST_HAN:
        return None
    is_mine, is_past, was = bool(_MINE.search(low)), bool(_PAST.search(low)), bool(_WAS.search(low))
    best: tuple[int, SlotQuestion | None] = (0, None)
    for (subject, slot), entries in cards.entries.items():
        if _is_about(cards, low, subject, slot, asker.casefold(), is_mine=is_mine):
            score = sum(
                len(word) if word.isascii() else 3 * len(word) for word in _question_words(slot) if _holds(low, word)
            )
            fitting = [each for each in entries if _is_of_gender(low, each)]
            if score > best[0] and (turns := list(_turns(fitting, is_past=is_past, was=was))):
                best = score, SlotQuestion(subject, slot, tuple(turns[:MOST_TURNS]))
    return best[1]


def _question_words(slot: str) -> tuple[str, ...]:
    """Return the words with which questions ask for a slot."""
    listed = SLOTS.get(slot)
    if listed is not None:
        return listed.questions
    roles = tuple(word for words in ROLES.values() for word, relation in words.items() if relation == slot)
    return (slot, slot.replace("favourite", "favorite"), slot.removeprefix("favourite "), *roles)


def words_of(slot: str, value: str) -> list[str]:
    """Return the words with which people speak of a slot that has this value."""
    return [*(word for word in _question_words(slot) if " " not in word), *value.casefold().split()]


def _is_about(cards: Cards, question: str, subject: str, slot: str, asker: str, *, is_mine: bool) -> bool:
    """Return whether a question is about a subject: by name, as the asker, or by a relation to the asker."""
    low = subject.casefold()
    if slot == "time":
        return _holds(question, low)
    owner, owned, role = low.rpartition(_OWNED)
    if owned:
        return any(_holds(question, word) for word in _called(role)) and (
            (is_mine and owner == asker) or _holds(question, owner)
        )
    if is_mine:
        roles = {
            path.casefold().rpartition(_OWNED)[2] for path, name in cards.aliases.items() if name.casefold() == low
        }
        return (
            low == asker
            and not any(
                _holds(question, each) for each in (_roles_of(cards, asker) | _RELATED) - set(_question_words(slot))
            )
        ) or any(_holds(question, each) for each in roles)
    return _holds(question, low) or (low == asker and slot not in SLOTS and _holds(question, f"the {slot}"))


def _called(role: str) -> set[str]:
    """Return the words by which a question may call whom the talk called by a role: 老婆 is 媳妇, but no 老公."""
    relation = next((roles[role] for roles in ROLES.values() if role in roles), "")
    if relation not in _ONE_OF_EACH:
        return {role}
    other = FEMALE if role in MALE else MALE if role in FEMALE else frozenset[str]()
    alike = {word for word in members(relation) if word.isascii() == role.isascii() and word not in other}
    return {role} | (alike if role in MALE | FEMALE else set())


def _is_of_gender(question: str, entry: Entry) -> bool:
    """Return whether an entry can be whom a question names by a role: a sister is no brother."""
    role = entry.role.casefold()
    other = FEMALE if role in MALE else MALE if role in FEMALE else frozenset[str]()
    return not any(_holds(question, word) for word in other) or _holds(question, role)


def _roles_of(cards: Cards, asker: str) -> set[str]:
    """Return the relations to the asker of people with a card: a question with such a word asks for their card."""
    paths = [path for path, _ in cards.entries] + list(cards.aliases)
    return {
        role
        for owner, owned, role in (path.casefold().rpartition(_OWNED) for path in paths)
        if owned and owner == asker
    }


def _holds(question: str, word: str) -> bool:
    return bool(re.search(rf"\b{re.escape(word)}s?\b", question)) if word.isascii() else word in question


def _turns(entries: list[Entry], *, is_past: bool, was: bool) -> Iterator[str]:
    """Yield the turns that say what a slot holds, or held: where nothing does, the one that ended it.

    A question that only has the tense of the past asks for history where there is any.
    """
    sure = [each for each in entries if each.confidence > INFERRED]
    is_past = is_past or (was and any(each.until for each in sure))
    fitting = [each for each in sure if bool(each.until) == is_past]
    if not fitting and not is_past:
        ended = [each.until for each in entries if each.until]
        yield from ended[-1:]
    latest_first = reversed(fitting)
    yield from dict.fromkeys(each.evidence for each in sorted(latest_first, key=lambda each: -each.confidence))
