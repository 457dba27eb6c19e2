"""What is in there: the turns of a graph, page by page, and the names of the graphs of a partition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from emgas import limits
from emgas.messages.advice import Advised
from emgas.messages.fields import GraphId, Message, Metadata, Milliseconds, Name, Position, Role


class Read(Message):
    """A question for turns as they were said, in the order in which they were recorded.  What is not given passes.

    ids      these alone, in this order; whichever the graph lacks is left out, and what is too much for one answer
    session  only of this session     concept  only those that hold it, by id or as it was written
    newest   the last one first       cursor   `next` of the page before
    advised  with what advisors said of them
    """

    kind: Literal["read"] = "read"
    graph: GraphId
    ids: Annotated[list[Name], Field(max_length=limits.READ_TURNS)] = Field(default_factory=list)
    session: Name | None = None
    concept: Name | None = None
    newest: bool = False
    cursor: int | None = Field(None, ge=0, lt=2**63)
    limit: int = Field(20, ge=1, le=limits.READ_TURNS)
    advised: bool = Field(default=False, exclude_if=lambda advised: not advised)
    after: int | None = Field(None, ge=0, description="answer once the record at this offset of `turns` is folded")
    as_of: Milliseconds | None = Field(None, description="as the graph was at this time")

    @model_validator(mode="after")
    def _ids_or_a_walk(self) -> Self:
        if self.ids and (self.session is not None or self.concept is not None or self.cursor is not None):
            raise ValueError("`ids` names the turns itself: leave out `session`, `concept` and `cursor`")
        return self


class SpokenTime(Message):
    """What an expression of time in a turn means (docs/time.md), by the sender's clock: from `since` to `until`, ms.

    kind   "" days, time (of day), duration, set (what repeats), vague
    value  of a duration ISO 8601, of a set an RRULE, else ""       confidence  that it is meant, up to 1
    """

    text: str
    since: int
    until: int
    kind: Literal["", "time", "duration", "set", "vague"] = ""
    value: str = ""
    confidence: float = 1.0


class BoundPronoun(Message):
    """A pronoun of a turn, the characters from `start` to `end`: the concept that it means, by id, and how surely."""

    start: int
    end: int
    concept: str
    confidence: float


class RecordedTurn(Message):
    """A turn as it was said.  `at`: ms; without a time of its own, when it was recorded."""

    id: str
    session: str
    speaker: str
    role: Role | None
    text: str
    at: int
    metadata: Metadata = Field(default_factory=dict)
    archived: bool = Field(default=False, description="it has faded, and can still be found")
    pinned: bool = Field(default=False, description="a user wants it kept in mind", exclude_if=lambda it: not it)
    importance: float | None = Field(
        None, description="how much it matters, 0 to 1, where that is known", exclude_if=lambda it: it is None
    )
    anchor: str | None = Field(
        None,
        description="the rule that says that it matters: remember, health, code, birthday, promise, meeting",
        exclude_if=lambda rule: rule is None,
    )
    times: list[SpokenTime] = Field(
        default_factory=list, description="what it says of time", exclude_if=lambda told: not told
    )
    mentions: list[BoundPronoun] = Field(
        default_factory=list, description="whom its pronouns mean", exclude_if=lambda told: not told
    )
    novelty: float | None = Field(
        None,
        description="how much of it was new, 0 to 1, in a graph that asks for that",
        exclude_if=lambda it: it is None,
    )
    uncounted: Literal["", "redundant", "unworthy"] = Field(
        "", description="why it is in the log and in no count: no question finds it", exclude_if=lambda it: not it
    )
    advised: Advised | None = Field(
        None, description="what advisors said of it, if that was asked for", exclude_if=lambda it: it is None
    )


class Turns(Message):
    """A page of turns.  An unknown graph gives `found: false`.

    total  how many there are of what was asked for    next  `cursor` of the next page, None on the last
    """

    kind: Literal["turns"] = "turns"
    graph: str
    found: bool
    total: int = 0
    turns: list[RecordedTurn] = Field(default_factory=list)
    next: int | None = None
    position: Position


class List(Message):
    """A question to the owner of a partition: which graphs are there?

    The answer names those that its subject may read.  A gateway writes `patterns`: the graphs that the key opens.
    """

    kind: Literal["list"] = "list"
    after: str | None = Field(None, description="the names after this one, in their order")
    limit: int = Field(limits.LISTED_GRAPHS, ge=1, le=limits.LISTED_GRAPHS)
    patterns: list[str] | None = Field(
        None,
        description="only graphs that one of these fits: a name, or a prefix and *",
        exclude_if=lambda patterns: patterns is None,
    )

    def wants(self, name: str) -> bool:
        """Check whether a graph of this name is asked for."""
        is_behind = self.after is None or name > self.after
        return is_behind and (self.patterns is None or fits(self.patterns, name))


def fits(patterns: Iterable[str], name: str) -> bool:
    """Check whether one of these patterns fits a name: the name itself, or a prefix of it and *."""
    return any(name.startswith(each[:-1]) if each.endswith("*") else name == each for each in patterns)


class Graphs(Message):
    """The names of graphs of a partition, ascending.  `next`: `after` of the next page, None on the last.

    `next` is the last name of its own page.  It never names a graph that the page does not show.
    """

    kind: Literal["graphs"] = "graphs"
    graphs: list[str]
    next: str | None = None
    position: Position
