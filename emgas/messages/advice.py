"""Advice of an advisor, a model or a person, on a graph's content.  It stands beside the turns, never in their place.

    Advice ── topic turns ──▶ Outcome

The writer checks it against the graph (docs/lifecycle.md): advice that does not fit is rejected, and changes nothing.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from emgas import limits
from emgas.messages.fields import Message, Name, Text
from emgas.messages.requests import Request

Rating = Annotated[float, Field(ge=0, le=1)]
ThemeName = Annotated[Name, Field(max_length=limits.THEME_NAME_CHARACTERS)]


class NamedTheme(Message):
    """A name for a theme, by its id."""

    theme: Name
    name: ThemeName


class RatedLink(Message):
    """How closely two concepts (ids) belong together: 0 not at all, 0.5 neither, 1 very."""

    source: Name
    target: Name
    rating: Rating


class SummedUp(Message):
    """The topic, in a word or two, and the summary of a conversation that has ended."""

    session: Name
    topic: str = Field("", max_length=limits.THEME_NAME_CHARACTERS)
    summary: str = Field(min_length=1, max_length=limits.SUMMARY_CHARACTERS)


class Rewritten(Message):
    """A turn, or a habit, in other words; role: whose words, "" for none."""

    turn: Name | None = None
    habit: Name | None = None
    text: Annotated[Text, Field(min_length=1, max_length=limits.REWRITTEN_CHARACTERS)]
    role: str = Field("", max_length=limits.NAME_CHARACTERS)

    @model_validator(mode="after")
    def _of_one(self) -> Self:
        if (self.turn is None) == (self.habit is None):
            raise ValueError("set exactly one of turn and habit")
        return self


class TextPart(Message):
    """A part of a turn's text with one statement: its characters from `start` to before `end`."""

    start: int = Field(ge=0, le=limits.TEXT_BYTES)
    end: int = Field(ge=1, le=limits.TEXT_BYTES)


class SplitTurn(Message):
    """A turn with several statements: the parts of its text, in their order."""

    turn: Name
    parts: Annotated[list[TextPart], Field(min_length=2, max_length=limits.SPLIT_PARTS)]


class JudgedTurn(Message):
    """How much a turn is worth remembering, and its important words."""

    turn: Name
    worth: Rating
    keywords: Annotated[list[Name], Field(max_length=limits.KEYWORDS)] = Field(default_factory=list)


class Advice(
    Request,
    right="admin",
    example={
        "id": "a1",
        "by": "tiny / prompts 1",
        "rewritten": {"turn": "t1", "text": "Ear drops for Biscuit, says the vet.", "role": "a sailor"},
    },
):
    """An advisor's statement; `by`: who advises, with its version.  Set exactly one of the other fields."""

    kind: Literal["advice"] = "advice"
    by: Name
    named: NamedTheme | None = None
    rated: list[RatedLink] = Field(default_factory=list, max_length=limits.RATINGS)
    summary: SummedUp | None = None
    rewritten: Rewritten | None = None
    split: SplitTurn | None = None
    judged: JudgedTurn | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        advice = (self.named, self.rated or None, self.summary, self.rewritten, self.split, self.judged)
        if sum(each is not None for each in advice) != 1:
            raise ValueError("set exactly one of named, rated, summary, rewritten, split and judged")
        return self


class Advised(Message):
    """Advice on a turn: other words, its parts, its worth; each with its advisor."""

    rewritten: str | None = None
    role: str = ""
    rewritten_by: str = ""
    parts: list[TextPart] = Field(default_factory=list)
    split_by: str = ""
    worth: float | None = None
    keywords: list[str] = Field(default_factory=list)
    judged_by: str = ""
