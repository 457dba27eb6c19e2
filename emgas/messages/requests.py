"""Base classes of commands, questions and answers: each message declares its properties once.

    class Pin(Request, right="write", route="POST /pin", example={"concepts": ["peanut allergy"]}): ...
    class Recap(PastQuestion, route="GET /sessions", example={"limit": 1}): ...

From these declarations come the unions of the wire (topics.py), the rights that the gateway and the worker check, the
gateway's routes, plain commands of the command line, and the schemas with the types of the other clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticKnownError

from emgas import limits
from emgas.messages.fields import GraphId, Message, Milliseconds, Name, Position

Right = Literal["read", "write", "forget", "admin"]
COMMANDS: list[type[Command]] = []
QUESTIONS: list[type[Question]] = []
ANSWERS: list[type[AnswerMessage]] = []
_NO_ID = object()


class AnswerMessage(Message):
    """Base of every answer, a record of `replies`."""

    if TYPE_CHECKING:
        kind: str

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Register the answer."""
        ANSWERS.append(cls)


class Outcome(AnswerMessage):
    """The outcome of a turn or a request.  `duplicate`: its id came before with the same text: nothing changed.

    redacted  how many secrets (keys, tokens, passwords) were replaced in the turn's text
    moved_to  where the graph is now: send it there
    again     rejected only because the graph is on its way: send the same again in a moment
    """

    kind: Literal["outcome"] = "outcome"
    status: Literal["accepted", "duplicate", "rejected"]
    turn: str | None
    reason: str | None = None
    redacted: int = Field(0, ge=0, exclude_if=lambda redacted: not redacted)
    remains: str | None = Field(
        None, description="of a request to forget or erase: what remains", exclude_if=lambda remains: remains is None
    )
    moved_to: str | None = Field(None, exclude_if=lambda moved_to: moved_to is None)
    again: bool = Field(default=False, exclude_if=lambda again: not again)
    position: Position

    @classmethod
    def of_pieces(cls, turn: str, outcomes: Sequence[Outcome]) -> Outcome:
        """Return the outcome of a turn that was sent in pieces: the first that is rejected, or the last."""
        decisive = next((each for each in outcomes if each.status == "rejected"), outcomes[-1])
        return decisive.model_copy(update={"turn": turn})


FailureCode = Literal[
    "invalid", "wrong-partition", "not-yet", "expired", "overloaded", "forbidden", "unavailable", "moved", "internal"
]


class Failure(AnswerMessage):
    """The failure of a query, and what to do about it.  moved_to: where the graph is now, of code `moved`."""

    kind: Literal["failure"] = "failure"
    code: FailureCode
    message: str
    moved_to: str | None = Field(None, exclude_if=lambda moved_to: moved_to is None)


class Sendable(Message):
    """Base of what clients send, with what each class of it declares.

    right       that its sender needs in the graph, or in all graphs for a question to a partition
    route       its HTTP method, and its path behind /v1/graphs/{graph}; None: it has no route, or one written by hand
    parameters  parameters of a GET route that are named otherwise than the field: parameter → field, or `field.part`
    example     a message for documentation; its kind, and the graph `ada`, are added
    preview     the class of the question what it would do, which has its fields; its route answers that with dry_run
    answer      the class of its answer
    most_bytes  of its JSON
    """

    most_bytes: ClassVar[int] = limits.RECORD_BYTES
    right: ClassVar[Right]
    route: ClassVar[str | None]
    parameters: ClassVar[Mapping[str, str]]
    example: ClassVar[Mapping[str, Any] | None]
    preview: ClassVar[type[Question] | None]
    answer: ClassVar[type[AnswerMessage]]

    def __init_subclass__(
        cls,
        *,
        right: Right | None = None,
        route: str | None = None,
        parameters: Mapping[str, str] | None = None,
        example: Mapping[str, Any] | None = None,
        preview: type[Question] | None = None,
        **options: Any,
    ) -> None:
        """Keep what the class declares."""
        super().__init_subclass__(**options)
        cls.right = right or cls.right
        cls.route, cls.parameters, cls.example, cls.preview = route, parameters or {}, example, preview

    @classmethod
    def tag(cls) -> str:
        """Return the kind by which a reader tells these messages from others."""
        return cls.__name__.lower()

    @classmethod
    def is_message(cls) -> bool:
        """Check whether this is a class of messages, and no base of such classes."""
        return cls.example is not None

    def needed_rights(self) -> tuple[Right, ...]:
        """Return the rights that this message needs."""
        return (self.right,)


class Command(Sendable, right="write"):
    """Base of commands to a graph, in the topic `turns`: turns, and requests that become events."""

    answer: ClassVar[type[Outcome]] = Outcome
    id: Name
    graph: GraphId

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Register the command, unless it is only a base."""
        if cls.is_message():
            COMMANDS.append(cls)


def _id_or_none_yet(value: object, validate: ValidatorFunctionWrapHandler, info: ValidationInfo) -> str:
    """Return the id of a request; "" in Python without one, for the client sets it.  On the wire, an id is required."""
    if value is _NO_ID and info.mode == "json":
        raise PydanticKnownError("missing")
    return "" if value is _NO_ID else str(validate(value))


class Request(Command):
    """Base of commands other than turns.  A request that is sent again with the same id has no effect.

    Without an id, `MemoryClient.send` sets a new one.
    """

    if TYPE_CHECKING:
        kind: str

    id: Annotated[Name, WrapValidator(_id_or_none_yet)] = Field(default_factory=lambda: _NO_ID, validate_default=True)


class Question(Sendable, right="read"):
    """Base of questions, in the topic `queries`."""

    if TYPE_CHECKING:
        kind: str

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Register the question, unless it is only a base."""
        if cls.is_message():
            QUESTIONS.append(cls)


class GraphQuestion(Question):
    """Base of questions to one graph."""

    graph: GraphId
    after: int | None = Field(None, ge=0, description="answer once the record at this offset of `turns` is folded")


class PastQuestion(GraphQuestion):
    """Base of questions to a graph as it is, or as it was."""

    as_of: Milliseconds | None = Field(
        None, description="as the graph was then: 2023-05-08T14:00 (UTC without a zone), or ms since 1970"
    )


class PartitionQuestion(Question, right="admin"):
    """Base of questions to the owner of a partition: the record has no key."""
