"""What else may be asked of a graph: what a conversation was about, how often something comes up, what a word is to it.

All of them are computed when somebody asks, and change nothing.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from emgas import limits
from emgas.messages.fields import GraphId, Message, Milliseconds, Name, Position, Text
from emgas.messages.filters import Filter
from emgas.messages.relations import RelationType
from emgas.messages.sessions import Ending, SessionState


class Recap(Message):
    """A question about conversations: these sessions, or without a name the last ones, the latest first.

    words   of each one's summary, at most
    topics  into how many parts, each about something, it falls, and what was said of each
    """

    kind: Literal["recap"] = "recap"
    graph: GraphId
    sessions: Annotated[list[Name], Field(max_length=limits.RECAPPED)] = Field(default_factory=list)
    limit: int = Field(5, ge=1, le=limits.RECAPPED)
    skip: int = Field(0, ge=0, description="of the last ones, to pass over", exclude_if=lambda skip: not skip)
    words: int = Field(60, ge=0, le=400)
    topics: bool = Field(default=False, exclude_if=lambda topics: not topics)
    after: int | None = Field(None, ge=0, description="answer once the record at this offset of `turns` is folded")
    as_of: Milliseconds | None = Field(None, description="as the graph was at this time")


class Quote(Message):
    """A sentence of a turn, word for word."""

    turn: str
    speaker: str
    at: int
    text: str


class SessionTopic(Message):
    """A part of a conversation: its topic in a few words, from its first to its last turn (ids), and its summary."""

    topic: str
    first: str
    last: str
    turns: int
    summary: list[Quote]


class SessionRecap(Message):
    """One conversation.

    since, until  ms, of its first and its last turn         archived  turns of it that have faded
    concepts      what sets it apart from others, labels     summary   its most telling sentences, in order
    state         whether it goes on                         ended     how it, or one before under its name, ended
    """

    session: str
    since: int
    until: int
    turns: int
    archived: int = 0
    speakers: list[str]
    concepts: list[str]
    summary: list[Quote]
    state: SessionState = "idle"
    ended: Ending | None = Field(None, exclude_if=lambda ended: ended is None)
    topics: list[SessionTopic] = Field(
        default_factory=list, description="if that was asked for", exclude_if=lambda topics: not topics
    )


class Recapped(Message):
    """Conversations, as asked for.  `total`: how many sessions there are.  An unknown graph gives `found: false`."""

    kind: Literal["recapped"] = "recapped"
    graph: str
    found: bool
    total: int = 0
    sessions: list[SessionRecap] = Field(default_factory=list)
    position: Position


Period = Literal["day", "week", "month"]
Mood = Literal["glad", "sad", "angry", "afraid", "tired", "calm"]


class Trend(Message):
    """A question how often something is spoken of: since when, when last, at which hours, and when not.

    text    a question, or words: what counts is a turn that holds all of what they name, or some of it if none does;
            without it, every turn that `only` lets through: of a session, of a speaker
    offset  of the asker's clock from UTC, minutes: where a day begins
    """

    kind: Literal["trend"] = "trend"
    graph: GraphId
    text: Text | None = None
    by: Period = "day"
    offset: int = Field(0, ge=-1080, le=1080)
    only: Filter = Field(default_factory=Filter, exclude_if=lambda only: only == Filter())
    moods: bool = Field(
        default=False,
        description="also the moods that turns tell of who said them; a question for nothing else is of all turns",
        exclude_if=lambda moods: not moods,
    )
    after: int | None = Field(None, ge=0, description="answer once the record at this offset of `turns` is folded")
    as_of: Milliseconds | None = Field(None, description="as the graph was at this time")


class Span(Message):
    """A time, from `since` to `until` (ms), how many turns lie in it, and of how many moods they tell, if asked."""

    since: int
    until: int
    turns: int = 0
    moods: dict[Mood, int] = Field(default_factory=dict, exclude_if=lambda moods: not moods)


class Trended(Message):
    """How often something is spoken of.  An unknown graph gives `found: false`, and nothing that fits no turns.

    concepts  ids of what was counted       all        whether each turn holds all of them
    turns     that hold it                  days       on which there was one
    first, last  ms                         every      days from one such day to the next, in the middle; None: one day
    periods   those with a turn             pauses     the longest between two such days, of more than twice `every`
    hours     (24,) turns by hour of day    weekdays   (7,) turns by day of the week, Monday first
    ids       of the latest such turns
    moods     in how many turns their speaker tells of each, if asked; of the latest 500 turns
    """

    kind: Literal["trended"] = "trended"
    graph: str
    found: bool
    concepts: list[str] = Field(default_factory=list)
    all: bool = True
    turns: int = 0
    days: int = 0
    first: int | None = None
    last: int | None = None
    every: float | None = None
    periods: list[Span] = Field(default_factory=list)
    pauses: list[Span] = Field(default_factory=list)
    hours: list[int] = Field(default_factory=list)
    weekdays: list[int] = Field(default_factory=list)
    ids: list[str] = Field(default_factory=list)
    moods: dict[Mood, int] = Field(default_factory=dict, exclude_if=lambda moods: not moods)
    position: Position


class Explore(Message):
    """A question about one concept: what it is to this memory, what it is linked with, and how it leads to another."""

    kind: Literal["explore"] = "explore"
    graph: GraphId
    concept: Name = Field(description="by id, or as it was written")
    to: Name | None = Field(None, description="another one: by which ways does the first lead to it?")
    hops: int = Field(1, ge=1, le=3, description="links at most from the concept to what is told")
    relation: RelationType | None = Field(
        None, description="what follows about it by this relation?", exclude_if=lambda relation: relation is None
    )
    limit: int = Field(10, ge=0, le=limits.TOP)
    after: int | None = Field(None, ge=0, description="answer once the record at this offset of `turns` is folded")
    as_of: Milliseconds | None = Field(None, description="as the graph was at this time")


class Neighbour(Message):
    """A concept that is linked: `times` said together with the one before it, `confidence` 1 / hops.

    first, last  ms, when turns that are here said both, in one turn or one behind the other; None: none of them does
    """

    id: str
    label: str
    strength: float
    times: int
    hops: int
    confidence: float
    path: list[str]
    first: int | None = Field(None, exclude_if=lambda first: first is None)
    last: int | None = Field(None, exclude_if=lambda last: last is None)


class KnownConcept(Message):
    """What a concept is to a memory.  `strength`: what is left of it at the graph's time; times in ms."""

    id: str
    label: str
    forms: dict[str, int]
    created: int
    accessed: int
    strength: float
    turns: int
    recalls: int
    long_term: bool
    archived: bool
    pinned: bool
    theme: str | None
    of: str | None = Field(None, description="what it is: person, place, organisation …")
    anchored: bool = Field(
        default=False,
        description="of a turn that people keep unasked: it fades slower",
        exclude_if=lambda it: not it,
    )


class KnownRelation(Message):
    """What turns say of two concepts: how many of them do, when they first and last did (ms), the latest by id."""

    source: str
    type: RelationType
    target: str
    source_label: str
    target_label: str
    times: int
    first: int
    last: int
    ids: list[str]
    history: bool = Field(
        default=False,
        description="all turns that say it are history: it is otherwise now",
        exclude_if=lambda it: not it,
    )


class Inferred(Message):
    """What a concept is related to over `hops` steps; `confidence` is 1 / hops, `path` the concepts on the way."""

    id: str
    label: str
    hops: int
    confidence: float
    path: list[str]


class Explored(Message):
    """A concept and what is around it.  `found: false`: the graph is unknown, or knows no such concept.

    neighbours  the strongest links first      paths  ways to `to`, the strongest first, as ids
    relations   what was said of it and another, most often said first
    inferred    what follows by the relation that was asked for, nearest first, at most 10
    ids         of the latest turns that hold the concept
    """

    kind: Literal["explored"] = "explored"
    graph: str
    found: bool
    concept: KnownConcept | None = None
    neighbours: list[Neighbour] = Field(default_factory=list)
    paths: list[list[str]] = Field(default_factory=list)
    relations: list[KnownRelation] = Field(default_factory=list)
    inferred: list[Inferred] = Field(default_factory=list)
    ids: list[str] = Field(default_factory=list)
    position: Position


class Habits(Message):
    """A question for what recurs: habits that a text asks for, or all of them, those with most turns first.

    speaker  whose
    """

    kind: Literal["habits"] = "habits"
    graph: GraphId
    text: Text | None = None
    speaker: Name | None = None
    limit: int = Field(20, ge=1, le=limits.TOP)
    after: int | None = Field(None, ge=0, description="answer once the record at this offset of `turns` is folded")
    as_of: Milliseconds | None = Field(None, description="as the graph was at this time")


class Exemption(Message):
    """When something that recurs did not: from `since` to `until` (ms).  `turn`: which says so, where one does."""

    since: int
    until: int
    turn: str | None = None


class Habit(Message):
    """What recurs, an abstract of the turns that are its members.

    text         what is said of it            by          who wrote that
    concepts     what all of it is about       period      days from one day of it to the next, in the middle
    turns, days  how many, on how many days    members     ids of the latest of them
    hours        (24,) turns by hour of day    weekdays    (7,) turns by day of the week, Monday first
                 by the clock of who said them
    exceptions   the latest times at which it did not recur, as far as that is an exception
    rewritten    other words for it by an advisor, and who
    """

    id: str
    speaker: str
    text: str
    concepts: list[str]
    turns: int
    days: int
    first: int
    last: int
    period: float
    hours: list[int]
    weekdays: list[int]
    exceptions: list[Exemption]
    members: list[str]
    by: str
    rewritten: str | None = Field(None, exclude_if=lambda text: text is None)
    rewritten_by: str | None = Field(None, exclude_if=lambda by: by is None)


class HabitGroup(Message):
    """Habits that are near one another: a level of the tree.  `above`: their affinity; `habits`: ids."""

    above: float
    habits: list[str]


class Recurring(Message):
    """What recurs in a graph.  An unknown graph gives `found: false`.

    total   how many habits there are in all
    groups  of these habits, from the closest to the widest; one that stands alone is in none
    """

    kind: Literal["recurring"] = "recurring"
    graph: str
    found: bool
    total: int = 0
    habits: list[Habit] = Field(default_factory=list)
    groups: list[HabitGroup] = Field(default_factory=list)
    position: Position
