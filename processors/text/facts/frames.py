"""Read facts of one text by frames: the engine that the languages share (english.py, chinese.py).

sentence ──▶ clauses, each with its subjects ──▶ frames (data/facts.tsv) behind a subject, or anywhere ──▶ facts
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple, Protocol, get_args

from msgspec.structs import replace

from processors.text import tables
from processors.text.facts.values import divided, is_valid, plain, slot_name
from processors.text.facts.vocabulary import SLOTS, WORDS, expanded
from processors.text.triggers import Triggers
from state.events.extraction_types import FACTS, Fact, Operation

_SAME_LENGTH: Final = str.maketrans("’‘，；：！？（）", "'',;:!?()")
_QUOTED: Final = tables.lazy(r"[\"“「『][^\"”」』]*[\"”」』]")
_SENTENCE: Final = tables.lazy(
    r"(?:[^.!?。\n]|(?<=\b[DMJS]r)\.|(?<=\bMrs)\.|(?<=\bM[sx])\.|(?<=\bSt)\.|(?<=\bProf)\.|\.(?=\w))+[.!?。]*"
)
_NEVER: Final = "never"
# A field with its default is left out of the bytes of an event: only the same object counts as that.
_OPERATIONS: Final[dict[str, Operation]] = {name: name for name in get_args(Operation)}
_OF_FRAMES: Final[dict[str, Operation]] = _OPERATIONS | {
    "set1": "replace",
    "quantity": "set",
    "endall": "end",
    "endknown": "end",
}
# "My pottery class" is called "pottery", too; "class" alone is not.
_LESSON: Final = tables.lazy(
    r"(?<=\w) (?:course|class|classes|lessons?|practice|training|sessions?|rehearsals?)$|(?<=..)课$"
)
_WORD_BEFORE: Final = tables.lazy(r"(?<!\bmy)(?<!\bour)(?<!\bthe)(?<=[a-z]) $", re.IGNORECASE)
_CONFIDENCE: Final = {"infer": 0.5, "add": 0.85, "endknown": 0.6}
_IMPLIED: Final = {("status", True): "married", ("status", False): "恋爱"}  # tied the knot, 有对象了


_WITHOUT_S: Final = tables.lazy(
    r"(?: (?:now|still|also|just|really))* (?:live|work|play|own|have|speak|study|drive|collect)\b", re.IGNORECASE
)  # "Dick Clark, live in Times Square" says no "lives"


class Frame(NamedTuple):
    """A row of data/facts.tsv.  Its pattern is compiled when one of its words is first said: most never are."""

    slot: str
    relation: str
    how: str
    whom: str
    words: tuple[str, ...]
    source: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return what a clause must match."""
        return compiled(self.source)


class Subject(NamedTuple):
    """Of whom a clause speaks, as a fact names them, and where in it what is said of them begins.

    is_start  only a clause that begins so speaks of them: "Joined the choir."
    is_third  the verb behind it has an s: she likes
    """

    who: str
    end: int
    is_start: bool = False
    is_third: bool = False


class Clause(NamedTuple):
    """A part of a sentence: where it begins there, its text, and of whom it speaks."""

    start: int
    text: str
    subjects: list[Subject]


class _Taken(NamedTuple):
    """The characters of a sentence that a frame has read, and as what."""

    start: int
    end: int
    slot: str
    how: str


class CompanyView(Protocol):
    """Those whom a turn may mean: the other speaker, names of people, pronouns by where they stand."""

    @property
    def speaker(self) -> str: ...
    @property
    def other(self) -> str: ...
    @property
    def addressed(self) -> str: ...
    @property
    def names(self) -> Collection[str]: ...
    @property
    def means(self) -> Mapping[int, str]: ...


def frames(language: str) -> Triggers[Frame]:
    """Read the frames of a language."""
    result = []
    for row_language, named, how, whom, words, pattern in tables.rows(__package__, "facts"):
        if row_language == language:
            slot, _, relation = named.partition("/")
            listed = SLOTS.get(slot)
            relation = "" if relation == "-" else relation or (listed.relation if listed else "")
            result.append(Frame(slot, relation, how, whom, tuple(_triggers(words)), pattern))
    return Triggers(result, lambda frame: frame.words)


def _triggers(words: str) -> Iterator[str]:
    for word in words.split("|"):
        if word == "=digits":
            yield from "0123456789"
        else:
            yield from WORDS[word[1:]] if word.startswith("=") else (word.strip(),)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that may name a group several times: all but the first get a number."""
    counts: defaultdict[str, int] = defaultdict(int)

    def numbered(match: re.Match[str]) -> str:
        counts[match[1]] += 1
        return f"(?P<{match[1]}>" if counts[match[1]] == 1 else f"(?P<{match[1]}_{counts[match[1]]}>"

    return re.compile(re.sub(r"\(\?P<(\w+)>", numbered, expanded(pattern)), re.IGNORECASE)


class FactReading:
    """One text that is looked through for facts, sentence by sentence.

    sentence, offset, asking  the sentence that is read, where it begins in the text, and whether it asks
    """

    frames: Triggers[Frame]
    past: re.Pattern[str]

    def __init__(self, text: str, company: CompanyView) -> None:
        self.text = _QUOTED.sub(lambda match: " " * len(match.group()), text.translate(_SAME_LENGTH))
        self.company = company
        self.sentence, self.offset, self.asking = "", 0, False
        self._facts: dict[tuple[str, str, str, str], Fact] = {}

    def asks(self) -> bool:
        """Return whether the sentence asks."""
        raise NotImplementedError

    def roles(self) -> Iterator[Fact]:
        """Find what people are to one another in the sentence."""
        raise NotImplementedError

    def clauses(self) -> Iterator[Clause]:
        """Cut the sentence into clauses."""
        raise NotImplementedError

    def states_up_to(self, clause: str) -> int:
        """Return up to where a clause states something, before it wishes, plans or supposes."""
        raise NotImplementedError

    def holds(self, fact: Fact) -> bool:
        """Return whether a fact may hold, by what else the text says."""
        return bool(fact.slot)

    def is_name(self, name: str) -> bool:
        """Return whether what stands where a name must stand may be one."""
        return bool(name)

    def facts(self) -> list[Fact]:
        """Read the text."""
        fitting = self.frames.fitting(self.text.lower())
        for match in _SENTENCE.finditer(self.text):
            self.sentence, self.offset = match.group(), match.start()
            self.asking = self.asks()
            for fact in self.roles():
                self._keep(fact)
            if fitting:
                self._read(fitting)
        return list(self._facts.values())[:FACTS]

    def _keep(self, fact: Fact) -> None:
        """Keep a fact of the sentence, placed in the text, unless it is there."""
        if self.holds(fact) and (fact.value != fact.subject or fact.operation == "end"):
            start, end = max(fact.start, 0) + self.offset, min(fact.end + self.offset, len(self.text))
            operation = "set" if fact.operation == "add" else fact.operation
            key = (fact.subject, fact.slot, operation, fact.value.casefold())
            self._facts.setdefault(key, replace(fact, start=start, end=end))

    def _read(self, fitting: list[Frame]) -> None:
        taken: list[_Taken] = []
        for clause in self.clauses():
            low = clause.text.lower()
            here = [frame for frame in self.frames.fitting(low) if frame in fitting]  # the text itself has the word
            limit, is_past = (self.states_up_to(clause.text), bool(self.past.search(low))) if here else (0, False)
            for frame in here:
                if is_past and frame.slot != "ex" and frame.how not in ("end", "endall", "endknown", _NEVER):
                    continue
                for who, match in _matches(frame, clause):
                    if match.end() <= limit or frame.slot == "plan":
                        for fact in self._stated(frame, who, match, clause, taken):
                            self._keep(fact)

    def _stated(
        self, frame: Frame, who: str, match: re.Match[str], clause: Clause, taken: list[_Taken]
    ) -> Iterator[Fact]:
        groups = _groups(match)
        slot = slot_name(frame.slot, groups.get("k", ""), frame.how)
        begin, end = (place + clause.start for place in (match.span("v") if groups.get("v") else match.span()))
        if not slot or _is_taken(taken, _Taken(begin, end, slot, frame.how), match.start() + clause.start):
            return
        taken.append(_Taken(begin, end, slot, frame.how))
        name = groups.get("p", "")
        if frame.how == _NEVER or (name and not self.is_name(name)):
            return
        if slot == "time":
            if _LESSON.search(f"x {groups.get('k', '')}") and _WORD_BEFORE.search(clause.text[: match.start("k")]):
                return  # the class of "my pottery class": that is named as a whole
            who = _LESSON.sub("", re.sub(r"^(?:my|our|the) ", "", plain(groups.get("k", "")).casefold()))
        span = match.start() + clause.start, match.end() + clause.start
        for part in slot.split("+") if frame.how == "endall" else (slot,):
            for fact in _facts(frame, part, groups, clause.text):
                yield replace(fact, subject=who, start=max(span[0], 0), end=max(span[1], 0))


def _is_taken(taken: Iterable[_Taken], read: _Taken, start: int) -> bool:
    """Return whether a frame that says so keeps others off these words, or one of the same kind read them."""
    return any(
        (each.start < read.end and read.start < each.end and each.slot != read.slot and each.how == _NEVER)
        or (each.start <= start < each.end and (each.slot, each.how) == (read.slot, read.how))
        for each in taken
    )


def _matches(frame: Frame, clause: Clause) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield each way in which a frame fits a clause, and of whom it speaks."""
    if frame.whom == "-":
        yield from (("", match) for match in frame.pattern.finditer(clause.text))
        return
    for subject in clause.subjects:
        is_other = {"self": subject.who, "base": subject.is_third, "third": not subject.who}.get(frame.whom)
        if frame.whom != "start" and (subject.is_start or is_other):
            continue
        match = frame.pattern.match(clause.text, subject.end)
        if match and not (subject.is_third and _WITHOUT_S.match(match.group())):
            yield subject.who, match


def _facts(frame: Frame, slot: str, groups: Mapping[str, str], clause: str) -> Iterator[Fact]:
    """Yield what a frame says of a slot: a fact for each value."""
    if frame.how == "endall":
        yield Fact(slot, "", "end")
        return
    old = plain(groups.get("old", ""))
    operation = _OF_FRAMES["replace" if frame.how == "swap" and not old else frame.how]
    holds = operation in ("set", "add", "swap", "replace")
    for named in divided(slot, frame.how, groups.get("p", "") or groups.get("v", "")):
        value = named or ("" if operation == "end" else _IMPLIED.get((slot, clause.isascii()), ""))
        if value and (not holds or is_valid(slot, value, clause)):
            yield Fact(
                slot,
                _with_kind(value, groups.get("pet", ""), operation)[:200],
                operation,
                relation=(frame.relation or slot) if operation == "relate" else frame.relation if holds else "",
                old=old[:200],
                confidence=_CONFIDENCE.get(frame.how, 0.9),
            )


def _with_kind(value: str, pet: str, operation: str) -> str:
    """Return a pet's name in small letters with its kind before it: "dog rex"."""
    is_plain = not pet or pet.casefold() in value.casefold() or operation != "add" or not value[:1].islower()
    return value if is_plain else f"{pet} {value}"


def _groups(match: re.Match[str]) -> dict[str, str]:
    """Return the first of each kind of group that matched something."""
    groups: dict[str, str] = {}
    for name, value in match.groupdict().items():
        if value and not groups.get(kind := name.split("_", maxsplit=1)[0]):
            groups[kind] = value
    return groups
