"""Pictures of a graph for drawing, and comparisons of a graph at two times."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from emgas import limits
from emgas.messages.fields import Message, Milliseconds, Name, Position
from emgas.messages.requests import AnswerMessage, GraphQuestion, PastQuestion


class PicturedConcepts(Message):
    """Columns over n concepts, the strongest first; of a picture that grew, the nearest first.

    strengths  at the graph's clock                themes    positions in `themes` of the picture, -1 for none
    mentions   turns that held each                hops      from the nearest of `around`; 0 in a picture of all
    born       ms, of the first mention            touched   ms, of the last mention or recall
    """

    ids: list[str] = Field(default_factory=list)
    labels: list[str] = Field(default_factory=list)
    strengths: list[float] = Field(default_factory=list)
    mentions: list[int] = Field(default_factory=list)
    themes: list[int] = Field(default_factory=list)
    hops: list[int] = Field(default_factory=list)
    born: list[int] = Field(default_factory=list)
    touched: list[int] = Field(default_factory=list)
    long_term: list[bool] = Field(default_factory=list)
    archived: list[bool] = Field(default_factory=list)
    pinned: list[bool] = Field(default_factory=list)


class PicturedLinks(Message):
    """Columns over links between two concepts of the picture: the strongest of each concept first, then the others.

    sources, targets  positions in its concepts       times    exchanges in which both were said
    weights           what activation spreads by
    """

    sources: list[int] = Field(default_factory=list)
    targets: list[int] = Field(default_factory=list)
    weights: list[float] = Field(default_factory=list)
    times: list[int] = Field(default_factory=list)


class PicturedPassages(Message):
    """Columns over turns that hold concepts of the picture, the newest first; and which concept stands in which.

    held_by, holds  positions: in these turns, and in the picture's concepts
    """

    ids: list[str] = Field(default_factory=list)
    sessions: list[str] = Field(default_factory=list)
    speakers: list[str] = Field(default_factory=list)
    at: list[int] = Field(default_factory=list)
    archived: list[bool] = Field(default_factory=list)
    held_by: list[int] = Field(default_factory=list)
    holds: list[int] = Field(default_factory=list)


class PicturedTheme(Message):
    """A theme that has concepts in the picture.  `born`: ms."""

    id: str
    label: str
    born: int


class Activity(Message):
    """How many turns of the graph were said when: (k,) counts, of equal parts of the time from first to last (ms)."""

    first: int = 0
    last: int = 0
    turns: list[int] = Field(default_factory=list)


class Pictured(AnswerMessage):
    """What a graph looks like.  An unknown graph gives `found: false`.

    clock  the graph's time, ms: `as_of`, or the last that was said
    total  concepts of the whole graph, in the picture or not
    """

    kind: Literal["pictured"] = "pictured"
    graph: str
    found: bool
    clock: int = 0
    total: int = 0
    concepts: PicturedConcepts = Field(default_factory=PicturedConcepts)
    links: PicturedLinks = Field(default_factory=PicturedLinks)
    passages: PicturedPassages = Field(default_factory=PicturedPassages)
    themes: list[PicturedTheme] = Field(default_factory=list)
    activity: Activity = Field(default_factory=Activity)
    position: Position


class ChangedConcept(Message):
    """A concept, and its strength at the two times; 0 where it was not in the graph."""

    id: str
    label: str
    before: float
    after: float


class ChangedTheme(Message):
    """What became of a theme.

    other         where most of its concepts came from (split) or went (merged)
    joined, left  labels of concepts, the strongest first; all that a new one has, all that one that is gone had
    """

    id: str
    label: str
    change: Literal["born", "changed", "merged", "split", "died"]
    other: str | None
    joined: list[str]
    left: list[str]


class GrownPair(Message):
    """Two concepts, by label, and in how many exchanges both were, at the two times."""

    one: str
    other: str
    before: int
    after: int


class Compared(AnswerMessage):
    """What changed, what changed most first.  `found: false` where nothing had been said by the later time.

    since, until    the graph's clock at the two times, ms
    turns           how many turns there had ever been, at the two times
    totals          how many changes of each kind there are: more than are named where the limit was reached
    forgotten       concepts that left what is active, and may still be in the archive
    added, archived turns that came into what is active, and that left it, by id
    """

    kind: Literal["compared"] = "compared"
    graph: str
    found: bool
    since: int = 0
    until: int = 0
    turns: list[int] = Field(default_factory=lambda: [0, 0])
    totals: dict[str, int] = Field(default_factory=dict)
    born: list[ChangedConcept] = Field(default_factory=list)
    stronger: list[ChangedConcept] = Field(default_factory=list)
    weaker: list[ChangedConcept] = Field(default_factory=list)
    forgotten: list[ChangedConcept] = Field(default_factory=list)
    long_term: list[ChangedConcept] = Field(default_factory=list)
    themes: list[ChangedTheme] = Field(default_factory=list)
    pairs: list[GrownPair] = Field(default_factory=list)
    added: list[str] = Field(default_factory=list)
    archived: list[str] = Field(default_factory=list)
    position: Position


class Picture(PastQuestion, route="GET /picture", example={"around": ["vet"], "hops": 2, "nodes": 100}):
    """Return the graph for a drawing: its concepts, links, turns and themes, as columns."""

    answer: ClassVar[type[Pictured]] = Pictured
    kind: Literal["picture"] = "picture"
    around: list[Name] = Field(
        default_factory=list,
        max_length=limits.TOP,
        description="concepts, by id or as written, that it grows from; by default the strongest of the whole graph",
    )
    hops: int = Field(2, ge=0, le=5, description="links between those and the farthest concepts")
    nodes: int = Field(300, ge=0, le=limits.PICTURED_CONCEPTS, description="concepts, at most")
    links: int = Field(3000, ge=0, le=limits.PICTURED_LINKS, description="links, at most")
    passages: int = Field(0, ge=0, le=limits.PICTURED_PASSAGES, description="turns, at most")


class Compare(GraphQuestion, route="GET /changes", example={"since": 1682899200000, "until": 1683554160000}):
    """Compare a graph at two times: which concepts are new, grew, faded or were archived."""

    answer: ClassVar[type[Compared]] = Compared
    kind: Literal["compare"] = "compare"
    since: Milliseconds = Field(description="a time, as `as_of`: 2023-05-08T14:00")
    until: Milliseconds | None = Field(None, description="a later one; else now")
    limit: int = Field(100, ge=1, le=limits.CHANGES, description="changes of each kind, at most")

    @model_validator(mode="after")
    def _not_over_before_it_begins(self) -> Self:
        if self.until is not None and self.until < self.since:
            raise ValueError("`until` lies before `since`: exchange them")
        return self
