"""Further questions to a graph: summaries of conversations, how often something is mentioned, and a concept's links.

All answers are computed on demand, and change nothing.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from emgas import limits
from emgas.messages.fields import Message, Name, Position, Text
from emgas.messages.filters import Filter
from emgas.messages.relations import KnownRelation, RelationType
from emgas.messages.requests import AnswerMessage, PastQuestion
from emgas.messages.sessions import Ending, SessionState


class Quote(Message):
    """A sentence of a turn, word for word."""

    turn: str
    speaker: str
    at: int
    text: str


class SessionTopic(Message):
    """A part of a conversation: its topic in a few words, its first and last turn (ids), and its summary."""

    topic: str
    first: str
    last: str
    turns: int
    summary: list[Quote]


class SessionRecap(Message):
    """One conversation.

    since, until  ms, of its first and its last turn         archived  turns of it that have faded
    concepts      labels that set it apart from others       summary   its most important sentences, in order
    state         working, idle or ended                     ended     how it, or an earlier one of this name, ended
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
        default_factory=list, description="if requested", exclude_if=lambda topics: not topics
    )


class Recapped(AnswerMessage):
    """The requested conversations.  `total`: how many sessions there are.  An unknown graph returns `found: false`."""

    kind: Literal["recapped"] = "recapped"
    graph: str
    found: bool
    total: int = 0
    sessions: list[SessionRecap] = Field(default_factory=list)
    position: Position


Period = Literal["day", "week", "month"]
Mood = Literal["glad", "sad", "angry", "afraid", "tired", "calm"]


class Span(Message):
    """A period, from `since` to `until` (ms), with its number of turns, and of moods if requested."""

    since: int
    until: int
    turns: int = 0
    moods: dict[Mood, int] = Field(default_factory=dict, exclude_if=lambda moods: not moods)


class Trended(AnswerMessage):
    """How often something is mentioned.  An unknown graph returns `found: false`; without a match, there are no turns.

    concepts  ids of the counted ones       all        whether each turn has all of them
    turns     with them                     days       with such a turn
    first, last  ms                         every      days from one such day to the next, in the middle; None: one day
    periods   those with a turn             pauses     the longest between two such days, of more than twice `every`
    hours     (24,) turns by hour of day    weekdays   (7,) turns by day of the week, Monday first
    ids       of the latest such turns
    moods     number of turns with each mood of their speaker, if requested; of the latest 500 turns
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


class Neighbour(Message):
    """A concept that is linked: `times` said together with the one before it, `confidence` 1 / hops.

    first, last  ms, of the turns with both, in one turn or in two consecutive ones; null: there is none
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
    """What a memory knows of a concept.  `strength`: what is left of it at the graph's time; times in ms."""

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
        description="of an important turn: it fades more slowly",
        exclude_if=lambda it: not it,
    )


class Inferred(Message):
    """What a concept is related to over `hops` steps; `confidence` is 1 / hops, `path` the concepts on the way."""

    id: str
    label: str
    hops: int
    confidence: float
    path: list[str]


class Explored(AnswerMessage):
    """A concept and its neighbours.  `found: false`: there is no such graph or concept.

    neighbours  the strongest links first      paths  to `to`, the strongest first, as ids
    relations   to other concepts, the most frequent first
    inferred    what follows by the requested relation, nearest first, at most 10
    ids         of the latest turns with the concept
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


class Exemption(Message):
    """An exception from a habit, from `since` to `until` (ms).  `turn`: the turn that mentions it, if there is one."""

    since: int
    until: int
    turn: str | None = None


class Habit(Message):
    """A habit: an abstract of the turns that are its members.

    text         what is said of it            by          who wrote that
    concepts     what all of it is about       period      days from one day of it to the next, in the middle
    turns, days  how many, on how many days    members     ids of the latest of them
    hours        (24,) turns by hour of day    weekdays    (7,) turns by day of the week, Monday first
                 by the clock of who said them
    exceptions   the latest times at which it unexpectedly did not recur
    rewritten    an advisor's words for it, and the advisor
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
    """Similar habits: a level of the tree.  `above`: their affinity; `habits`: ids."""

    above: float
    habits: list[str]


class Recurring(AnswerMessage):
    """The habits of a graph.  An unknown graph returns `found: false`.

    total   how many habits there are in all
    groups  of these habits, from the closest to the widest; a single habit is in none
    """

    kind: Literal["recurring"] = "recurring"
    graph: str
    found: bool
    total: int = 0
    habits: list[Habit] = Field(default_factory=list)
    groups: list[HabitGroup] = Field(default_factory=list)
    position: Position


class Recap(PastQuestion, route="GET /sessions", parameters={"session": "sessions"}, example={"limit": 1, "words": 20}):
    """Return what conversations were about, the latest first."""

    answer: ClassVar[type[Recapped]] = Recapped
    kind: Literal["recap"] = "recap"
    sessions: list[Name] = Field(
        default_factory=list, max_length=limits.RECAPPED, description="only these; by default the latest"
    )
    limit: int = Field(5, ge=1, le=limits.RECAPPED, description="conversations, at most")
    skip: int = Field(0, ge=0, description="of the latest ones, to skip", exclude_if=lambda skip: not skip)
    words: int = Field(60, ge=0, le=400, description="of each summary, at most")
    topics: bool = Field(
        default=False,
        description="also split each into its topics, with a summary of each",
        exclude_if=lambda topics: not topics,
    )


class Trend(
    PastQuestion,
    route="GET /trend",
    parameters={"speaker": "only.speakers", "session": "only.sessions"},
    example={"text": "how often do I drink latte?", "by": "week", "offset": 60},
):
    """Count how often something is mentioned over time, at which hours, and when not."""

    answer: ClassVar[type[Trended]] = Trended
    kind: Literal["trend"] = "trend"
    text: Text | None = Field(
        None,
        description="a question, or words: turns with all of their concepts count, or with some of them if no turn has "
        "all; without it, every turn that passes the filter",
    )
    by: Period = "day"
    offset: int = Field(0, ge=-1080, le=1080, description="of the asker's clock from UTC, minutes: where a day begins")
    only: Filter = Field(default_factory=Filter, exclude_if=lambda only: only == Filter())
    moods: bool = Field(
        default=False,
        description="also the speakers' moods; a question for moods only counts all turns",
        exclude_if=lambda moods: not moods,
    )


class Explore(
    PastQuestion,
    route="GET /concept",
    parameters={"name": "concept"},
    example={"concept": "ear drops", "to": "cat", "hops": 2, "relation": "is-a"},
):
    """Return what the graph knows of a concept: its relations, and the concepts linked with it."""

    answer: ClassVar[type[Explored]] = Explored
    kind: Literal["explore"] = "explore"
    concept: Name = Field(description="by id, or as written")
    to: Name | None = Field(None, description="another concept, to find the paths to it")
    hops: int | None = Field(
        None, ge=1, le=3, description="links from the concept, at most; by default 1, and 3 steps of a relation"
    )
    relation: RelationType | None = Field(
        None, description="infer what follows by this relation", exclude_if=lambda relation: relation is None
    )
    limit: int = Field(10, ge=0, le=limits.TOP)


class Habits(PastQuestion, route="GET /habits", example={"text": "how often do I drink latte?", "limit": 5}):
    """Return what recurs, how often, since when, and when not: the habits with the most turns first."""

    answer: ClassVar[type[Recurring]] = Recurring
    kind: Literal["habits"] = "habits"
    text: Text | None = Field(None, description="a question, or words; without it, all habits")
    speaker: Name | None = Field(None, description="whose")
    limit: int = Field(20, ge=1, le=limits.TOP, description="habits, at most")
