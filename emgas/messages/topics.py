"""The messages of each topic, as unions by `kind`, each with its parser.

    Turn and every Request ── topic turns ────▶ Outcome  (if the headers ask for one)
    every Question ────────── topic queries ──▶ its answer | Failure

The classes of messages in this folder declare all of it (requests.py).  The JSON Schema files in emgas/schema/ are
generated from them (`python -m emgas.schema`).
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from functools import reduce
from importlib import import_module
from operator import or_
from typing import Annotated, Any, Final, TypeVar

from pydantic import ConfigDict, Discriminator, Field, Tag, TypeAdapter, ValidationError

import emgas.messages
from emgas.messages import requests
from emgas.messages.fields import Message
from emgas.messages.queries import Query
from emgas.messages.requests import AnswerMessage, Command, Failure, Outcome, Question
from emgas.messages.turns import Turn

M = TypeVar("M", bound=Message)

for _module in pkgutil.iter_modules(emgas.messages.__path__, "emgas.messages."):
    import_module(_module.name)


def _sorted(messages: Iterable[type[M]], *first: type[M]) -> tuple[type[M], ...]:
    """Return `first`, then the others by name: in which order they were imported says nothing."""
    return (*first, *sorted(set(messages) - {*first}, key=lambda message: message.__name__))


COMMANDS: Final[tuple[type[Command], ...]] = _sorted(requests.COMMANDS, Turn)
QUESTIONS: Final[tuple[type[Question], ...]] = _sorted(requests.QUESTIONS, Query)
ANSWERS: Final[tuple[type[AnswerMessage], ...]] = _sorted(
    requests.ANSWERS, Outcome, *(question.answer for question in QUESTIONS), Failure
)


def _kind(message: object) -> str:
    """Return the kind of a record of `turns`; a turn may leave it out."""
    kind = message.get("kind", "turn") if isinstance(message, dict) else getattr(message, "kind", "turn")
    return str(kind)


def _union(alternatives: Iterable[Any], discriminator: object) -> Any:
    """Build the union of messages: no type checker can follow it."""
    union: Any = reduce(or_, alternatives)
    return Annotated[union, discriminator]


# Built when they are first used: a command that asks one question reads one kind of answer.
_LATER = ConfigDict(defer_build=True)
INBOUND: TypeAdapter[Command] = TypeAdapter(
    _union((Annotated[each, Tag(each.tag())] for each in COMMANDS), Discriminator(_kind)), config=_LATER
)
REQUEST: TypeAdapter[Question] = TypeAdapter(_union(QUESTIONS, Field(discriminator="kind")), config=_LATER)
ANSWER: TypeAdapter[AnswerMessage] = TypeAdapter(_union(ANSWERS, Field(discriminator="kind")), config=_LATER)


def read_inbound(value: bytes) -> Command:
    """Read a record of `turns`.  Raises ValidationError.

    Most are turns that do not say what they are: to look for that first takes a third longer.
    """
    if b'"kind"' not in value:
        try:
            return Turn.model_validate_json(value)
        except ValidationError:  # it may be something else, spelled unusually; if not, the reason is reported below
            pass
    return INBOUND.validate_json(value)
