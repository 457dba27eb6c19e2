"""The results of extraction, as events record them: concepts, relations, and the meaning of time expressions.

Concept    ["framework", "frameworks", 0.87, 1]   ["new york", "New York", 0.9, 1, "place"]
Mention    [12, 15, "mary", 0.9]
Relation   ["@speaker:ada", "lives-in", "lisbon", 0, 16]
TimeSpan   ["last week", 1682899200000, 1683504000000]   ["every Monday", …, …, "set", "FREQ=WEEKLY;BYDAY=MO", 1.0]
Anchor     ["remember", "forced"]
Exempt     [1682899200000, 1682985600000, "t7"]
Statement  ["lives in", "lisbon", false]
Fact       {"slot": "home", "value": "Graz", "subject": ".sister", "relation": "lives-in", "start": 3, "end": 24}
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from emgas import limits
from emgas.messages.relations import Kind, RelationType

TimeKind = Literal["", "time", "duration", "set", "vague"]
Uncounted = Literal["", "redundant", "unworthy"]  # why a gate left a turn out of what is counted
UNITS = 200  # clauses, or windows, of one turn, at most
Milliseconds = Annotated[int, Meta(ge=limits.EARLIEST_MS, le=limits.LATEST_MS)]


class Concept(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A concept found in one turn.

    id      normalised text: the node's name ("framework"); marks that are not words start with "@" ("@day:2023-05-08");
            that of a phrase is the ids of its words, with a blank between them ("new york", "驼铃 小院")
    label   the surface form as it stood in the text ("frameworks")
    weight  importance in (0, 1], higher is more important, rounded to 6 digits (1 / (1 + YAKE score))
    count   how often it occurs in the turn, >= 1
    kind    what it is here, "" if unknown; written only where it is known.  Every phrase has one
    """

    id: str
    label: str
    weight: Annotated[float, Meta(ge=0, le=1)]
    count: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    kind: Kind | Literal[""] = ""

    @property
    def is_phrase(self) -> bool:
        """Return whether it is several words: a node beside those, which counts in no pair."""
        return bool(self.kind) and " " in self.id and self.id[:1] != "@"


class Relation(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A relation that a turn states between two concepts, by id, and the characters that state it: start, end."""

    source: Annotated[str, Meta(min_length=1)]
    type: RelationType
    target: Annotated[str, Meta(min_length=1)]
    start: Annotated[int, Meta(ge=0, le=limits.TEXT_BYTES)]
    end: Annotated[int, Meta(ge=0, le=limits.TEXT_BYTES)]

    def __post_init__(self) -> None:
        """Raise ValueError for a span that ends before it begins, and for a concept that is related to itself."""
        if self.end < self.start:
            raise ValueError("relations: `end` lies before `start`")
        if self.source == self.target:
            raise ValueError("relations: a concept is related to itself")


class Mention(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A pronoun, the characters of a turn's text from start to end, the concept that it means by id, and how surely."""

    start: Annotated[int, Meta(ge=0, le=limits.TEXT_BYTES)]
    end: Annotated[int, Meta(ge=0, le=limits.TEXT_BYTES)]
    concept: Annotated[str, Meta(min_length=1)]
    confidence: Annotated[float, Meta(gt=0, le=1)]


AnchorKind = Literal["forced", "spontaneous"]


class Anchor(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A reason to remember a turn longer than others.

    rule  its name (processors/text/anchors.py)
    kind  "forced": a user asked to keep it; "spontaneous": what people keep unasked, as a first meeting
    """

    rule: str
    kind: AnchorKind


class Attached(Struct, frozen=True, forbid_unknown_fields=True, gc=False, omit_defaults=True):
    """An attachment of a turn, as its sender described it: fields as in emgas/messages/turns.py."""

    uri: Annotated[str, Meta(min_length=1, max_length=2000)]
    kind: Literal["image", "audio", "video", "file"]
    mime: Annotated[str, Meta(max_length=200)] = ""
    caption: Annotated[str, Meta(max_length=2000)] = ""
    sha256: Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?\Z")] = ""


STATEMENTS = 8  # of one turn, at most


class Statement(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A value that a turn states: of its speaker, or of a person that it names.

    slot   what has one value at a time ("lives in", "sister works at", "favourite colour")
    value  as it was said, in small letters ("lisbon")
    ends   whether it says that this is no longer so
    """

    slot: Annotated[str, Meta(min_length=1, max_length=200)]
    value: Annotated[str, Meta(min_length=1, max_length=200)]
    ends: bool = False


FACTS = 24  # of one turn, at most
Operation = Literal["set", "add", "replace", "end", "swap", "correct", "infer", "relate"]


class Fact(Struct, frozen=True, forbid_unknown_fields=True, gc=False, omit_defaults=True):
    """A fact on a person that a turn states: a value of a slot, or a relation (processors/text/facts/facts.py).

    slot        as the card calls it ("home", "favourite colour"), or the relation ("sibling")
    value       as it was said ("Lisbon"), "" of an `end` that ends whatever the slot holds
    operation   what it does to the slot: "relate" fills none
    subject     of whom: a name, "" who speaks; behind a dot, what they are to who stands before: ".sister", "Ravi.wife"
    relation    its name as a relation ("lives-in"), "" if it is none
    role        what the value is to the subject, as it was said ("sister", "表哥")
    old         the value that a `swap` or `correct` replaces
    confidence  in (0, 1]
    start, end  the characters of the turn's text that say so
    """

    slot: Annotated[str, Meta(min_length=1, max_length=200)]
    value: Annotated[str, Meta(max_length=200)]
    operation: Operation = "set"
    subject: Annotated[str, Meta(max_length=200)] = ""
    relation: Annotated[str, Meta(max_length=40)] = ""
    role: Annotated[str, Meta(max_length=80)] = ""
    old: Annotated[str, Meta(max_length=200)] = ""
    confidence: Annotated[float, Meta(gt=0, le=1)] = 0.9
    start: Annotated[int, Meta(ge=0, le=limits.TEXT_BYTES)] = 0
    end: Annotated[int, Meta(ge=0, le=limits.TEXT_BYTES)] = 0


class Exempt(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """An exception of a habit.

    since, until  ms; whole days by the speaker's clock, as if that were UTC
    turn          the turn that says so, "" where nothing was said at all
    """

    since: Milliseconds
    until: Milliseconds
    turn: str = ""


class TimeSpan(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A time expression of a turn and the time that it means, as the turn's event time resolves it.

    text   the expression as it stood in the text ("last week")
    since  ms since 1970, UTC: its first
    until  ms since 1970, UTC: the first that it no longer means; > since
    kind   "" days; else what days do not say (processors/dates/resolve.py); written, with the rest, only where it is
    value  of a duration ISO 8601 ("PT3H"), of a set an RRULE ("FREQ=WEEKLY;BYDAY=MO"), of others where they look from
           their edge on: "before", "until", "after", "since"; else ""
    confidence  that it is meant, in (0, 1]
    """

    text: str
    since: Milliseconds
    until: Milliseconds
    kind: TimeKind = ""
    value: str = ""
    confidence: Annotated[float, Meta(gt=0, le=1)] = 1.0

    def __post_init__(self) -> None:
        """Raise ValueError for a span that ends before it begins: its days would be undefined."""
        if self.until <= self.since:
            raise ValueError("times: `until` must be later than `since`")
