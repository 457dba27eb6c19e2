"""The turns of a graph, page by page, and the names of the graphs of a partition."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from emgas import limits
from emgas.messages.advice import Advised
from emgas.messages.fields import Message, Metadata, Name, Origin, Position, Role
from emgas.messages.requests import AnswerMessage, PartitionQuestion, PastQuestion


class SpokenTime(Message):
    """The meaning of a time expression in a turn (docs/time.md), by the sender's clock: from `since` to `until`, ms.

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
    """A pronoun of a turn, at the characters from `start` to `end`, and the concept (id) that it means."""

    start: int
    end: int
    concept: str
    confidence: float


class RecordedTurn(Message):
    """A turn as it was said.  `at`: its time in ms, by default when it was recorded."""

    id: str
    session: str
    speaker: str
    role: Role | None
    text: str
    at: int
    metadata: Metadata = Field(default_factory=dict)
    archived: bool = Field(default=False, description="it has faded, but can still be found")
    pinned: bool = Field(default=False, description="a user pinned it", exclude_if=lambda it: not it)
    importance: float | None = Field(
        None, description="how much it matters, 0 to 1, if known", exclude_if=lambda it: it is None
    )
    origin: Origin | None = Field(
        None, description="where its text comes from, if known", exclude_if=lambda origin: origin is None
    )
    expires_at: int | None = Field(None, description="when it is forgotten, ms", exclude_if=lambda at: at is None)
    anchor: str | None = Field(
        None,
        description="the rule by which it matters: remember, health, code, birthday, promise, meeting",
        exclude_if=lambda rule: rule is None,
    )
    times: list[SpokenTime] = Field(
        default_factory=list, description="its time expressions", exclude_if=lambda entries: not entries
    )
    mentions: list[BoundPronoun] = Field(
        default_factory=list, description="the meaning of its pronouns", exclude_if=lambda entries: not entries
    )
    novelty: float | None = Field(
        None,
        description="how much of it was new, 0 to 1, if the graph measures that",
        exclude_if=lambda it: it is None,
    )
    uncounted: Literal["", "redundant", "unworthy"] = Field(
        "", description="why a gate sent it to the archive as it came", exclude_if=lambda it: not it
    )
    advised: Advised | None = Field(
        None, description="the advice on it, if requested", exclude_if=lambda it: it is None
    )


class Turns(AnswerMessage):
    """A page of turns.  An unknown graph returns `found: false`.

    total  how many turns match in all    next  `cursor` of the next page, null on the last
    """

    kind: Literal["turns"] = "turns"
    graph: str
    found: bool
    total: int = 0
    turns: list[RecordedTurn] = Field(default_factory=list)
    next: int | None = None
    position: Position


class Graphs(AnswerMessage):
    """The names of graphs of a partition, ascending.  `next`: `after` of the next page, None on the last.

    `next` is the last name of its own page.  It never names a graph that the page does not show.
    """

    kind: Literal["graphs"] = "graphs"
    graphs: list[str]
    next: str | None = None
    position: Position


class Read(
    PastQuestion,
    route="GET /turns",
    parameters={"id": "ids"},
    example={"session": "2023-05-08", "newest": True, "limit": 20},
):
    """Read one page of turns, as they were said, in the order in which they were recorded."""

    answer: ClassVar[type[Turns]] = Turns
    kind: Literal["read"] = "read"
    ids: list[Name] = Field(
        default_factory=list,
        max_length=limits.READ_TURNS,
        description="only these, in this order; not those that the graph lacks, or that are too much for one answer",
    )
    session: Name | None = Field(None, description="only of this session")
    concept: Name | None = Field(None, description="only turns with this concept, by id or as written")
    newest: bool = Field(default=False, description="the latest first")
    cursor: int | None = Field(None, ge=0, lt=2**63, description="`next` of the last page")
    limit: int = Field(20, ge=1, le=limits.READ_TURNS)
    advised: bool = Field(default=False, description="with the advice on them", exclude_if=lambda advised: not advised)

    @model_validator(mode="after")
    def _ids_or_a_walk(self) -> Self:
        if self.ids and (self.session is not None or self.concept is not None or self.cursor is not None):
            raise ValueError("`ids` names the turns itself: leave out `session`, `concept` and `cursor`")
        return self


class List(PartitionQuestion, right="read", example={"after": "ada", "limit": 100}):
    """Ask the owner of a partition for the names of its graphs.

    The answer has those that the subject may read.  A gateway sets `patterns` to the graphs of the key.
    """

    answer: ClassVar[type[Graphs]] = Graphs
    kind: Literal["list"] = "list"
    after: str | None = Field(None, description="the names after this one, in their order")
    limit: int = Field(limits.LISTED_GRAPHS, ge=1, le=limits.LISTED_GRAPHS)
    patterns: list[str] | None = Field(
        None,
        description="only graphs that match one of these: a name, or a prefix and *",
        exclude_if=lambda patterns: patterns is None,
    )

    def wants(self, name: str) -> bool:
        """Check whether a graph of this name is requested."""
        is_behind = self.after is None or name > self.after
        return is_behind and (self.patterns is None or fits(self.patterns, name))


def fits(patterns: Iterable[str], name: str) -> bool:
    """Check whether one of these patterns, a name or a prefix and *, matches a name."""
    return any(name.startswith(each[:-1]) if each.endswith("*") else name == each for each in patterns)
