"""What a record of each topic may hold, as unions by `kind`, each with the adapter that reads it.

    Turn, Configure, Forget, Pin, Unpin, Feedback, Undo, Erase ── topic turns ──▶ Outcome  (if the headers ask for one)
    Reinforce ─ topic turns: what a reader tells the writer of a question that asked to reinforce
    Query ── topic queries ──▶ Reply | Failure;   Describe ──▶ Description | Failure;   Read ──▶ Turns | Failure
    Picture ─ topic queries ─▶ Pictured | Failure;   Compare ──▶ Compared | Failure
    Recap ── topic queries ──▶ Recapped | Failure;   Trend ──▶ Trended | Failure;   Explore ──▶ Explored | Failure
    Habits ─ topic queries ──▶ Recurring | Failure
    EndSession, Grant, Revoke, Advice ── topic turns ──▶ Outcome;   Recent ── topic queries ──▶ InMind | Failure
    List ─── topic queries ──▶ Graphs | Failure;   Inspect ──▶ Inspection | Failure
    Checkpoint ── queries ───▶ Checkpointed | Failure   (these three to a partition: the record has no key)

The JSON Schema files in emgas/schema/ are generated from them (`python -m emgas.schema`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Discriminator, Field, Tag, TypeAdapter, ValidationError

from emgas.messages.advice import Advice
from emgas.messages.contents import Graphs, List, Read, Turns
from emgas.messages.operator import Checkpoint, Checkpointed, Inspect, Inspection
from emgas.messages.pictures import Compare, Compared, Picture, Pictured
from emgas.messages.queries import Describe, Description, Failure, Query, Reply
from emgas.messages.rights import Grant, Revoke
from emgas.messages.sessions import EndSession, InMind, Recent
from emgas.messages.turns import Configure, Erase, Feedback, Forget, Outcome, Pin, Reinforce, Turn, Undo, Unpin
from emgas.messages.views import Explore, Explored, Habits, Recap, Recapped, Recurring, Trend, Trended


def _kind(message: object) -> str:
    """Return the kind of a record of `turns`; a turn may leave it out."""
    kind = message.get("kind", "turn") if isinstance(message, dict) else getattr(message, "kind", "turn")
    return str(kind)


Inbound = Annotated[
    Annotated[Turn, Tag("turn")]
    | Annotated[Configure, Tag("configure")]
    | Annotated[Forget, Tag("forget")]
    | Annotated[Pin, Tag("pin")]
    | Annotated[Unpin, Tag("unpin")]
    | Annotated[Feedback, Tag("feedback")]
    | Annotated[Undo, Tag("undo")]
    | Annotated[Erase, Tag("erase")]
    | Annotated[EndSession, Tag("endsession")]
    | Annotated[Grant, Tag("grant")]
    | Annotated[Revoke, Tag("revoke")]
    | Annotated[Reinforce, Tag("reinforce")]
    | Annotated[Advice, Tag("advice")],
    Discriminator(_kind),
]


Command = (
    Turn | Configure | Forget | Pin | Unpin | Feedback | Undo | Erase | EndSession | Grant | Revoke | Reinforce | Advice
)


INBOUND: TypeAdapter[Command] = TypeAdapter(Inbound)
_TURN: TypeAdapter[Turn] = TypeAdapter(Turn)


def read_inbound(value: bytes) -> Command:
    """Read a record of `turns`.  Raises ValidationError.

    Most are turns that do not say what they are: to look for that first takes a third longer.
    """
    if b'"kind"' not in value:
        try:
            return _TURN.validate_json(value)
        except ValidationError:  # it may be something else, spelled unusually; if not, the reason is told below
            pass
    return INBOUND.validate_json(value)


OfGraph = (  # a question to one graph
    Query | Describe | Read | Picture | Compare | Recap | Trend | Explore | Habits | Recent
)
OfPartition = Inspect | List | Checkpoint  # and one to the owner of a partition
Question = OfGraph | OfPartition


REQUEST: TypeAdapter[Question] = TypeAdapter(Annotated[Question, Field(discriminator="kind")])


GraphAnswer = (  # an answer about one graph
    Reply | Description | Turns | Pictured | Compared | Recapped | Trended | Explored | Recurring | InMind
)
Answer = GraphAnswer | Graphs | Inspection | Checkpointed | Outcome | Failure


ANSWER: TypeAdapter[Answer] = TypeAdapter(Annotated[Answer, Field(discriminator="kind")])

ANSWER_OF: Mapping[type[Question], type[Answer]] = {
    Query: Reply,
    Describe: Description,
    Read: Turns,
    Picture: Pictured,
    Compare: Compared,
    Recap: Recapped,
    Trend: Trended,
    Explore: Explored,
    Habits: Recurring,
    Recent: InMind,
    List: Graphs,
    Inspect: Inspection,
    Checkpoint: Checkpointed,
}
