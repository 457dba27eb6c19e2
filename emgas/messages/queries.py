"""Questions to a graph on the topic `queries`, and their answers: Reply, Description or Failure."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from emgas import limits
from emgas.messages.explanations import Why
from emgas.messages.fields import Attachment, Message, Milliseconds, Name, Origin, Position, Role, Text, Zone
from emgas.messages.filters import Filter
from emgas.messages.relations import KnownRelation
from emgas.messages.requests import AnswerMessage, GraphQuestion, PastQuestion, Right
from emgas.messages.settings.modes import Guidance, How, Mode, Rerank, Weighting
from emgas.messages.settings.spreading import Spreading

MemoryKind = Literal["all", "working", "episodic", "semantic", "perceptual"]
Render = Literal["plain", "masked"]
Fallback = Literal["none", "nearest", "recent"]
NOTHING_ANSWERS = "Nothing in this memory answers that."


class ActivatedConcept(Message):
    """A concept that the query activated, and the strongest path to it (seed first, itself last)."""

    id: str
    label: str
    energy: float
    path: list[str]


class RecalledPassage(Message):
    """An old turn, and how well it answers; or a habit, if the question asks for habits.

    kind     "habit": `text` says what recurs, `speaker` whose it is, `at` when it last did
    members  of a habit: ids of its latest turns
    """

    id: str
    session: str
    speaker: str
    role: Role | None
    text: str
    at: int
    score: float
    likelihood: float | None = Field(
        None,
        description="how likely it holds the answer, 0 to 1, in modes whose scores tell",
        exclude_if=lambda it: it is None,
    )
    in_context: bool = Field(
        default=False, description="the context quotes it, whole or in part", exclude_if=lambda it: not it
    )
    archived: bool = Field(
        default=False, description="it had faded, and was found in the archive", exclude_if=lambda it: not it
    )
    pinned: bool = Field(default=False, description="a user pinned it", exclude_if=lambda it: not it)
    kind: Literal["turn", "habit"] = Field("turn", exclude_if=lambda kind: kind == "turn")
    members: list[str] = Field(default_factory=list, exclude_if=lambda members: not members)
    superseded_by: str | None = Field(
        None,
        description="it is outdated: the later turn that replaced it",
        exclude_if=lambda it: it is None,
    )
    importance: float | None = Field(
        None, description="how much it matters, 0 to 1, if known", exclude_if=lambda it: it is None
    )
    masked: str | None = Field(
        None,
        description="if the query is masked: the text with placeholders for faded words",
        exclude_if=lambda it: it is None,
    )
    attachments: list[Attachment] = Field(default_factory=list, exclude_if=lambda attachments: not attachments)
    origin: Origin | None = Field(
        None, description="where its text comes from, if known", exclude_if=lambda origin: origin is None
    )
    expires_at: int | None = Field(None, description="when it is forgotten, ms", exclude_if=lambda at: at is None)
    topic: str | None = Field(
        None,
        description="in modes that find concepts first: the concept that led to it",
        exclude_if=lambda topic: topic is None,
    )
    why: Why | None = Field(None, description="if the query has `explain`", exclude_if=lambda why: why is None)


class Timing(Message):
    """How long each part took inside the owner, in milliseconds."""

    waited_ms: float
    recall_ms: float


class Reply(AnswerMessage):
    """The answer to a query.  An unknown graph returns `found: false` and empty lists."""

    kind: Literal["reply"] = "reply"
    graph: str
    found: bool
    seeds: list[ActivatedConcept]
    concepts: list[ActivatedConcept]
    passages: list[RecalledPassage]
    context: str
    tokens: int
    position: Position
    timing: Timing
    matched: bool = Field(
        default=True,
        description="false: nothing in the graph answers; any passages are those that the query's `fallback` asks for",
        exclude_if=lambda matched: matched,
    )
    note: str | None = Field(
        None, description="what to say if nothing in the graph answers", exclude_if=lambda note: note is None
    )
    known: float = Field(
        0.0, ge=0, le=1, description="how likely the graph holds an answer", exclude_if=lambda known: known == 0
    )
    paused: bool = Field(default=False, description="recalling is paused", exclude_if=lambda paused: not paused)
    relations: list[KnownRelation] = Field(
        default_factory=list,
        description="of the semantic memory: relations of the concepts in the question",
        exclude_if=lambda relations: not relations,
    )
    timezone: str = Field(
        "UTC", description="time zone of the times in the context", exclude_if=lambda zone: zone == "UTC"
    )
    how: How | None = Field(
        None, description="if the query has `explain`, or guides the search", exclude_if=lambda how: how is None
    )


class Theme(Message):
    """A theme of a graph: its label, its concepts' labels (strongest first), and when it began (ms).

    name, by  an advisor's name for it, and the advisor
    """

    id: str
    label: str
    concepts: list[str]
    born: int
    name: str | None = Field(None, exclude_if=lambda name: name is None)
    by: str | None = Field(None, exclude_if=lambda by: by is None)


class Description(AnswerMessage):
    """What a graph holds.  An unknown graph returns `found: false`.

    turns, concepts      those that are active
    archived, archived_concepts  turns and concepts that have faded, but can still be found
    forgotten            turns that were forgotten
    pinned, pinned_concepts      turns and concepts that a user pinned
    """

    kind: Literal["description"] = "description"
    graph: str
    found: bool
    preset: str = "default"
    settings: dict[str, int | float] = Field(default_factory=dict)
    mode: Mode = Field("default", description="of questions without one", exclude_if=lambda mode: mode == "default")
    rerank: Rerank | None = Field(
        None, description="of questions without a mode", exclude_if=lambda rerank: rerank is None
    )
    weights: dict[str, float] = Field(
        default_factory=dict,
        description="weights of a turn's features in recall, where not the default",
        exclude_if=lambda weights: not weights,
    )
    timezone: str = Field(
        "UTC",
        description="of turns and questions without a time zone",
        exclude_if=lambda zone: zone == "UTC",
    )
    clock: int = 0
    turns: int = 0
    archived: int = 0
    forgotten: int = 0
    concepts: int = 0
    archived_concepts: int = 0
    pinned: int = 0
    pinned_concepts: int = 0
    long_term: int = 0
    themes: list[Theme] = Field(default_factory=list)
    unrecorded: int = Field(
        0, description="turns that arrived while recording was paused", exclude_if=lambda unrecorded: not unrecorded
    )
    uncounted: int = Field(
        0,
        description="turns that gates set aside as they came: they are in the archive",
        exclude_if=lambda uncounted: not uncounted,
    )
    access: dict[str, list[str]] = Field(
        default_factory=dict,
        description="rights by subject; empty: open to every subject",
        exclude_if=lambda access: not access,
    )
    measures: dict[str, float] = Field(
        default_factory=dict,
        description="if requested: size of each tier, growth, path length, how much abstracts cover, what is left of "
        "what was said",
        exclude_if=lambda measures: not measures,
    )
    position: Position


class Query(
    PastQuestion,
    example={
        "text": "what did the vet prescribe?",
        "budget": 500,
        "after": 512,
        "only": {"speakers": ["Ada"], "since": 1672531200000},
    },
):
    """A question to one graph.  It never changes state; `reinforce` asks for an event that does.

    Without `top_passages`, as many passages come back as the question needs, 3 to 20; `budget`,
    `context_passages` and how much worse the next turn answers decide how many the context has.
    """

    answer: ClassVar[type[Reply]] = Reply
    kind: Literal["query"] = "query"
    text: Text
    mode: Mode | None = Field(
        None,
        description="which retriever answers; by default the graph's own, else `default`",
        exclude_if=lambda mode: mode is None,
    )
    spreading: Spreading = Field(default_factory=Spreading)
    weighting: Weighting | None = Field(
        None,
        description="weighting of links between concepts, instead of the mode's own",
        exclude_if=lambda weighting: weighting is None,
    )
    rerank: Rerank | None = Field(
        None,
        description="order twice as many as requested again, by the formula of this system",
        exclude_if=lambda rerank: rerank is None,
    )
    guidance: Guidance = Field(default_factory=Guidance, exclude_if=lambda guidance: guidance == Guidance())
    top_concepts: int = Field(10, ge=0, le=limits.TOP)
    top_passages: int | None = Field(None, ge=0, le=limits.TOP, exclude_if=lambda top: top is None)
    budget: int = Field(1000, ge=0, le=limits.CONTEXT_TOKENS, description="tokens of assembled context, at most")
    context_passages: int | None = Field(
        None, ge=0, le=limits.TOP, description="turns in it, at most", exclude_if=lambda most: most is None
    )
    load: float | None = Field(
        None,
        ge=0,
        le=1,
        description="show fewer results: up to 9 at 0, 7 at 0.5, 5 at 1",
        exclude_if=lambda load: load is None,
    )
    asker: Name | None = Field(
        None, description="the speaker who asks, whom `my` and `I` mean", exclude_if=lambda asker: asker is None
    )
    memory: MemoryKind = Field(
        "all",
        description="of which kind: working, what is in mind of `session`; episodic, where what lies long ago and what "
        "matters little counts less; semantic, what is known of what is asked: relations, and turns whenever they were "
        "said; perceptual, turns that something came with",
        exclude_if=lambda memory: memory == "all",
    )
    like: Name | None = Field(
        None,
        description="perceptual: a turn; find turns with similar attachments",
        exclude_if=lambda turn: turn is None,
    )
    render: Render = Field(
        "plain",
        description="masked: leave faded words out of the context, as a person would remember it",
        exclude_if=lambda render: render == "plain",
    )
    clear_from: float = Field(
        0.3,
        ge=0,
        le=1,
        description="masked: strength from which a word is shown as it was said",
        exclude_if=lambda clear: clear == 0.3,
    )
    hint_from: float = Field(
        0.1,
        ge=0,
        le=1,
        description="masked: strength from which a placeholder says what kind of thing it was",
        exclude_if=lambda hint: hint == 0.1,
    )
    session: Name | None = Field(
        None,
        description="conversation that `and then?` continues; by default the latest one",
        exclude_if=lambda session: session is None,
    )
    as_of: Milliseconds | None = Field(None, description="answer as of this time", exclude_if=lambda at: at is None)
    timezone: Zone | None = Field(
        None,
        description="the asker's, as Europe/Berlin: what `yesterday` means, and by which clock the context "
        "tells; else the graph's own, UTC where it has none",
        exclude_if=lambda zone: zone is None,
    )
    only: Filter = Field(default_factory=Filter, exclude_if=lambda only: only == Filter())
    explain: bool = Field(
        default=False, description="explain why each passage was found", exclude_if=lambda explain: not explain
    )
    reinforce: bool = False
    fallback: Fallback = Field(
        "none",
        description="what to return if nothing answers: nothing, the nearest turns, or the latest ones that pass the "
        "filter",
        exclude_if=lambda fallback: fallback == "none",
    )
    min_likelihood: float | None = Field(
        None,
        ge=0,
        le=1,
        description="return nothing if the graph holds an answer with a lower likelihood (`known`); 0: always return "
        "what is nearest; by default a low one, in mode `inject` a higher one",
        exclude_if=lambda likelihood: likelihood is None,
    )

    def needed_rights(self) -> tuple[Right, ...]:
        """Return the rights that it needs: to reinforce is to write."""
        return ("read", "write") if self.reinforce else ("read",)

    @property
    def retriever(self) -> Mode:
        """The mode of the answer, for a graph without its own; `inject` is the default, more silent."""
        return "default" if self.mode in (None, "inject") else self.mode

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        of_episodes = self.memory == "episodic" and self.rerank == "hello-agents"  # which has a formula for them
        if self.memory != "all" and (self.retriever != "default" or (self.rerank and not of_episodes)):
            raise ValueError("kinds of memory need the default mode: leave out `memory`, or `mode` and `rerank`")
        if self.reinforce and self.as_of is not None:
            raise ValueError("the past cannot be reinforced: leave out `reinforce` or `as_of`")
        if self.hint_from > self.clear_from:
            raise ValueError("`hint_from` must not be greater than `clear_from`")
        return self


class Describe(GraphQuestion, route="GET ", example={}):
    """Describe a graph: its themes, its settings, and how much it holds."""

    answer: ClassVar[type[Description]] = Description
    kind: Literal["describe"] = "describe"
    measures: bool = Field(
        default=False, description="also measure how well it is connected", exclude_if=lambda measures: not measures
    )
