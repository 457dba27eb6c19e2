"""What an advisor says of something in a graph: a model, or a person.  It stands beside what was said, never for it.

    Advice ── topic turns ──▶ Outcome

The writer holds it against what the graph has (docs/advisor.md): what does not fit is rejected, and changes nothing.
SEEDS E40, S16, S31, M11, P22.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from emgas import limits
from emgas.messages.fields import GraphId, Message, Name, Text
from emgas.messages.rights import Right

Rating = Annotated[float, Field(ge=0, le=1)]
ThemeName = Annotated[Name, Field(max_length=limits.THEME_NAME_CHARACTERS)]


class NamedTheme(Message):
    """A name for a theme, by its id."""

    theme: Name
    name: ThemeName


class RatedLink(Message):
    """How closely two concepts belong together, by their ids: 0 not at all, 0.5 neither, 1 very."""

    source: Name
    target: Name
    rating: Rating


class SummedUp(Message):
    """What a conversation that has ended was about: its topic in a word or two, and a summary."""

    session: Name
    topic: str = Field("", max_length=limits.THEME_NAME_CHARACTERS)
    summary: str = Field(min_length=1, max_length=limits.SUMMARY_CHARACTERS)


class Rewritten(Message):
    """A turn, or what recurs (`habit`), in other words; role: in whose, "" nobody's."""

    turn: Name | None = None
    habit: Name | None = None
    text: Annotated[Text, Field(min_length=1, max_length=limits.REWRITTEN_CHARACTERS)]
    role: str = Field("", max_length=limits.NAME_CHARACTERS)

    @model_validator(mode="after")
    def _of_one(self) -> Self:
        if (self.turn is None) == (self.habit is None):
            raise ValueError("give one of turn and habit")
        return self


class TextPart(Message):
    """The characters of a turn's text, from `start` to before `end`, that say one thing."""

    start: int = Field(ge=0, le=limits.TEXT_BYTES)
    end: int = Field(ge=1, le=limits.TEXT_BYTES)


class SplitTurn(Message):
    """A turn says several things: the parts of its text, in their order."""

    turn: Name
    parts: Annotated[list[TextPart], Field(min_length=2, max_length=limits.SPLIT_PARTS)]


class JudgedTurn(Message):
    """How much a turn is worth remembering, and the words of it that matter."""

    turn: Name
    worth: Rating
    keywords: Annotated[list[Name], Field(max_length=limits.KEYWORDS)] = Field(default_factory=list)


class Advice(Message):
    """What an advisor says; `by`: who, with its version.  Exactly one of the others is given."""

    right: ClassVar[Right] = "admin"
    kind: Literal["advice"]
    id: Name
    graph: GraphId
    by: Name
    named: NamedTheme | None = None
    rated: list[RatedLink] = Field(default_factory=list, max_length=limits.RATINGS)
    summary: SummedUp | None = None
    rewritten: Rewritten | None = None
    split: SplitTurn | None = None
    judged: JudgedTurn | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        said = (self.named, self.rated or None, self.summary, self.rewritten, self.split, self.judged)
        if sum(each is not None for each in said) != 1:
            raise ValueError("give one of named, rated, summary, rewritten, split and judged")
        return self


class Advised(Message):
    """What advisors said of a turn: other words, its parts, its worth; each with who said it."""

    rewritten: str | None = None
    role: str = ""
    rewritten_by: str = ""
    parts: list[TextPart] = Field(default_factory=list)
    split_by: str = ""
    worth: float | None = None
    keywords: list[str] = Field(default_factory=list)
    judged_by: str = ""
