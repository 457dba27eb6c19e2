"""The cards of people: what is true of them, slot by slot, as the facts of turns say it, one after the other.

    fact   set      the value takes the place of what the slot held: a change
           add      the value stands beside others          end      it holds no more: a change
           swap     it takes the place of `old`             correct  likewise, in whichever slot holds `old`
           replace  it takes the place of all that the slot held
           infer    it is likely there, as long as nothing is said plainly; never a change
    card   subject ──▶ slot ──▶ entries, the latest last: value, since, until, evidence, confidence

"My sister" is a path until her name comes; from then on both are one card.  A card is a function of its facts and their
order: forgetting a turn is folding the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from processors.text.facts.values import is_same, is_valid, normal
from processors.text.facts.vocabulary import ROLES, is_single
from state.events.extraction_types import Fact

INFERRED: Final = 0.5
_SURE: Final = 0.8
_OPPOSITE: Final = {"likes": "dislikes", "dislikes": "likes"}
_STRONG: Final = frozenset({"employer", "habit", "owns", "partner", "job"})  # the end of one implies its value
_SWAPPED: Final = frozenset({"drinks", "medication"})  # a swap of these states both values, even if neither was known
_POINTING: Final = frozenset(["it", "that", "this", "him", "her", "them"])
_OUT_OF_WORK: Final = ("unemployed", "retired", "失业", "退休", "between jobs", "待业")
_THINGS: Final = ("owns", "uses")  # slots of what can break, be lost or stolen
_PATH: Final = "."


@dataclass(slots=True)
class Entry:
    """A value of a slot: since which turn it holds, until which (None: still), and the turn that says so last."""

    value: str
    since: str | None
    until: str | None
    evidence: str
    confidence: float
    role: str = ""


class CardChange(NamedTuple):
    """A value that a turn replaces or ends: `new` is None where it ends."""

    subject: str
    slot: str
    old: str
    new: str | None
    turn: str


@dataclass(slots=True)
class Cards:
    """The cards of the people of one memory."""

    entries: dict[tuple[str, str], list[Entry]] = field(default_factory=dict)
    changes: list[CardChange] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)  # "Ada's sister" → "Ilse"
    _written: dict[str, str] = field(default_factory=dict)  # a name in small letters → as it was written first

    def current(self, subject: str, slot: str) -> list[str]:
        """Return the values that a slot holds."""
        return [entry.value for entry in self.entries.get((subject, slot), []) if entry.until is None]

    def subject(self, speaker: str, path: str) -> str:
        """Return the subject of a fact: a name, the speaker, or a person by relation: "Ada's sister"."""
        owner, dot, role = path.partition(_PATH)
        if not dot or role[:1] in ("", " "):
            return self._written.setdefault((path or speaker).casefold(), path or speaker)
        named = f"{self.subject(speaker, owner)}'s {role}"
        return self.aliases.get(named, named)

    def names(self) -> set[str]:
        """Return the names that cards have, or hold as values of people."""
        people = {entry.value for (_, slot), entries in self.entries.items() if slot in _PEOPLE for entry in entries}
        return people | set(self.aliases.values())

    def add(self, turn: str, speaker: str, facts: Iterable[Fact]) -> None:
        """Fold the facts of the next turn."""
        stated = list(facts)
        self._written.setdefault(speaker.casefold(), speaker)
        for fact in stated:
            if fact.role and fact.value:
                self._name(f"{self.subject(speaker, fact.subject)}'s {fact.role}", fact.value)
        for fact in stated:
            if fact.operation != "relate":
                _Folding(self, turn, speaker).fold(fact)

    def _name(self, path: str, name: str) -> None:
        """Make a path a name's alias, and one card of both."""
        if path == name:
            return
        self.aliases[path] = name
        for subject, slot in [key for key in self.entries if key[0] == path]:
            self.entries.setdefault((name, slot), []).extend(self.entries.pop((subject, slot)))
        self.changes = [change._replace(subject=name) if change.subject == path else change for change in self.changes]


_PEOPLE: Final = frozenset(
    {relation for roles in ROLES.values() for relation in roles.values()}
    | {"partner", "friend", "boss", "pet", "child"}
)


class _Folding:
    """Folds the facts of one turn into cards."""

    def __init__(self, cards: Cards, turn: str, speaker: str) -> None:
        self._cards = cards
        self._turn = turn
        self._speaker = speaker

    def fold(self, fact: Fact) -> None:
        subject = self._cards.subject(self._speaker, fact.subject)
        value = fact.value or ("" if fact.operation == "end" else self._speaker)
        _OPERATIONS[fact.operation](self, subject, fact, value)

    def _entries(self, subject: str, slot: str) -> list[Entry]:
        return self._cards.entries.setdefault((subject, slot), [])

    def set(self, subject: str, fact: Fact, value: str) -> None:
        """Put a value in the place of what a slot holds, if it holds one value at a time."""
        self._put(subject, fact, value, replaces=True)

    def add(self, subject: str, fact: Fact, value: str) -> None:
        """Put a value beside others."""
        self._put(subject, fact, value, replaces=False)

    def replace(self, subject: str, fact: Fact, value: str) -> None:
        """Put a value in the place of whatever a slot holds."""
        self._put(subject, fact, value, replaces=True, ends_all=True)

    def _put(self, subject: str, fact: Fact, value: str, *, replaces: bool, ends_all: bool = False) -> None:
        slot, entries = fact.slot, self._entries(subject, fact.slot)
        entries[:] = [each for each in entries if each.confidence > INFERRED or each.until]
        open_entries = [each for each in entries if each.until is None]
        if alike := [each for each in open_entries if is_same(each.value, value)]:
            if len(value) > len(alike[-1].value) and (is_single(slot) or slot == "pet"):
                alike[-1].value = value
            return
        if not open_entries:
            self._complete(subject, slot, value)
        if ends_all or (replaces and is_single(slot)):
            for each in open_entries:
                each.until = self._turn
                if each.evidence != self._turn or slot == "job":
                    self._change(subject, slot, each.value, value)
        entries.append(Entry(value, self._turn, None, self._turn, fact.confidence, fact.role))
        self._follow(subject, slot, value)

    def _complete(self, subject: str, slot: str, value: str) -> None:
        """Make an end of this turn a change: "I left nursing, I'm a baker now"."""
        changes = self._cards.changes
        if (
            changes
            and changes[-1][:2] == (subject, slot)
            and changes[-1].new is None
            and changes[-1].turn == self._turn
        ):
            changes[-1] = changes[-1]._replace(new=value)

    def _follow(self, subject: str, slot: str, value: str) -> None:
        """End what cannot hold beside a value: a like beside a dislike, a partner beside being single."""
        if slot in _OPPOSITE:
            self._end(subject, _OPPOSITE[slot], value)
        if slot == "status" and normal(value) in ("single", "单身", "divorced", "离婚", "单"):
            self._end(subject, "partner", "")
        if slot == "employer" and any(
            each in job for job in self._cards.current(subject, "job") for each in _OUT_OF_WORK
        ):
            self._end(subject, "job", "")
        if slot in ("home", "employer"):
            self._end(subject, "plan", value, is_change=False)  # what was planned has come
        if slot == "child":
            self._end(subject, "health", "pregnant" if value.isascii() else "怀孕")
        if slot == "partner" and {normal(each) for each in self._cards.current(subject, "status")} & {
            "single",
            "单身",
            "单",
        }:
            self.set(
                subject,
                Fact("status", "dating" if value.isascii() else "恋爱", confidence=0.7),
                "dating" if value.isascii() else "恋爱",
            )

    def end(self, subject: str, fact: Fact, value: str) -> None:
        """End a value that a slot holds, or whatever it holds."""
        if fact.slot == "any":  # "my laptop died": whatever the card calls it
            for slot in _THINGS:
                self._end(subject, slot, value)
        elif not value or value.casefold().split()[0] not in _POINTING:
            self._end(
                subject, fact.slot, value, is_strong=bool(value) and fact.slot in _STRONG and fact.confidence >= _SURE
            )

    def _end(self, subject: str, slot: str, value: str, *, is_strong: bool = False, is_change: bool = True) -> None:
        entries = self._cards.entries.get((subject, slot), [])
        ended = [
            each
            for each in entries
            if each.until is None and (not value or is_same(each.value, value) or normal(value) in normal(each.value))
        ]
        for each in ended:
            each.until = self._turn
            if is_change:
                self._change(subject, slot, each.value, None)
        is_known = any(each.until and is_same(each.value, value) for each in entries)
        if not ended and is_strong and not is_known and is_valid(slot, value, value):
            self._entries(subject, slot).insert(0, Entry(value, None, self._turn, self._turn, 0.6))
            self._change(subject, slot, value, None)

    def swap(self, subject: str, fact: Fact, value: str) -> None:
        """Put a value in the place of another, in whichever slot holds that."""
        holding = [
            slot
            for (who, slot), entries in self._cards.entries.items()
            if who == subject and any(each.until is None and is_same(each.value, fact.old) for each in entries)
        ]
        slot = holding[0] if holding else fact.slot
        if not holding and (slot not in _SWAPPED or not is_valid(slot, fact.old, fact.old)):
            return
        before = [each for each in self._entries(subject, slot) if each.until is None and is_same(each.value, fact.old)]
        for each in before:
            each.until = self._turn
        self._entries(subject, slot).append(Entry(value, self._turn, None, self._turn, fact.confidence))
        self._change(subject, slot, before[-1].value if before else fact.old, value)

    def correct(self, subject: str, fact: Fact, value: str) -> None:
        """Put a value in the place of one that was said by mistake, whosever it is."""
        for (who, slot), entries in self._cards.entries.items():
            for each in entries:
                if each.until is None and is_same(each.value, fact.old):
                    each.until = self._turn
                    entries.append(Entry(value, self._turn, None, self._turn, fact.confidence))
                    self._change(who, slot, each.value, value)
                    return

    def infer(self, subject: str, fact: Fact, value: str) -> None:
        """Note that a person or a thing is there: "my dog", as long as nothing says so plainly."""
        role = value.casefold()
        relation = next(
            (roles[word] for roles in ROLES.values() for word in (role, role.removesuffix("s")) if word in roles), ""
        )
        slot = {"spouse": "partner", "": fact.slot}.get(relation, relation)
        if slot in ("partner", "child", "parent", "sibling", "pet", "owns") and not self._cards.current(subject, slot):
            self._entries(subject, slot).append(Entry(role, self._turn, None, self._turn, INFERRED))

    def _change(self, subject: str, slot: str, old: str, new: str | None) -> None:
        changes = self._cards.changes
        change = CardChange(subject, slot, old, new, self._turn)
        if change in changes[-4:] or is_same(old, new or ""):
            return
        last = changes[-1] if changes else None
        if (
            last
            and new
            and last[:2] == (subject, slot)
            and last.turn == self._turn
            and last.new is None
            and last.old != new
        ):
            changes[-1] = last._replace(new=new)
        else:
            changes.append(change)


_OPERATIONS: Final[dict[str, Callable[[_Folding, str, Fact, str], None]]] = {
    "set": _Folding.set,
    "add": _Folding.add,
    "replace": _Folding.replace,
    "end": _Folding.end,
    "swap": _Folding.swap,
    "correct": _Folding.correct,
    "infer": _Folding.infer,
}


def cards(turns: Iterable[tuple[str, str, Iterable[Fact]]]) -> Cards:
    """Fold the facts of turns, each with its id and its speaker, in the order said."""
    result = Cards()
    for turn, speaker, stated in turns:
        result.add(turn, speaker, stated)
    return result
