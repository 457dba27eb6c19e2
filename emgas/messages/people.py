"""The cards of people: what a memory knows of each, slot by slot, with history and evidence, and what has changed.

Profile(name) ──▶ Profiled(people, changes)         GET /v1/graphs/{graph}/people/{name}, `emgas who`, MCP `profile`
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from emgas import limits
from emgas.messages.fields import Message, Name, Position
from emgas.messages.requests import AnswerMessage, PastQuestion


class KnownValue(Message):
    """A value of a slot: since when it holds and until when (ms; null: not known, or still), and the turn that says so.

    confidence  in (0, 1]; 0.5 for what is only inferred, as a dog from "my dog"
    role        what the value is to the person, as it was said: sister, 表哥, manager
    """

    value: str
    since: int | None
    until: int | None
    turn: str
    confidence: float
    role: str | None = Field(None, exclude_if=lambda role: role is None)


class KnownTie(Message):
    """What a person is to another: the other's sibling, parent, boss …; and the turn that says so."""

    relation: str
    of: str
    role: str | None = Field(None, exclude_if=lambda role: role is None)
    turn: str


class Person(Message):
    """The card of a person.

    also     what else they are called: "Ada's sister"
    current  slot → the values that hold, the latest last        history  likewise, what held before
    ties     what they are to others who have a name
    """

    name: str
    also: list[str]
    current: dict[str, list[KnownValue]]
    history: dict[str, list[KnownValue]]
    ties: list[KnownTie]


class PersonChange(Message):
    """A value that a turn replaced or ended: `new` is null where it ended.  `at`: when the turn was said, ms."""

    name: str
    slot: str
    old: str
    new: str | None
    turn: str
    at: int


class Profiled(AnswerMessage):
    """The people of a graph, and what has changed, the latest last.  An unknown graph returns `found: false`.

    total  how many people have a card
    """

    kind: Literal["profiled"] = "profiled"
    graph: str
    found: bool
    people: list[Person] = Field(default_factory=list)
    changes: list[PersonChange] = Field(default_factory=list)
    total: int = 0
    position: Position


class Profile(PastQuestion, route="GET /people/{name}", example={"name": "Ada"}):
    """Return what a memory knows of a person: the values that hold, what held before, and the turns that say so."""

    answer: ClassVar[type[Profiled]] = Profiled
    kind: Literal["profile"] = "profile"
    name: Name | None = Field(None, description="a name, or a path as Ada's sister; without it, everybody")
    limit: int = Field(20, ge=1, le=limits.TOP, description="people, at most, those with the most values first")
