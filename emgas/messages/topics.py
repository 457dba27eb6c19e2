"""What a record of each topic may hold, as unions by `kind`, each with the adapter that reads it.

    Turn, Configure, Forget, Pin, Unpin, Feedback, Undo ── topic turns ──▶ Outcome  (only if the headers ask for one)
    Query ── topic queries ──▶ Reply | Failure;   Describe ──▶ Description | Failure
    Inspect ─ topic queries ─▶ Inspection | Failure;   Checkpoint ──▶ Checkpointed | Failure
                                                       (to a partition, not to a graph: the record has no key)

The JSON Schema files in emgas/schema/ are generated from them (`python -m emgas.schema`).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Discriminator, Field, Tag, TypeAdapter

from emgas.messages.operator import Checkpoint, Checkpointed, Inspect, Inspection
from emgas.messages.queries import Describe, Description, Failure, Query, Reply
from emgas.messages.turns import Configure, Feedback, Forget, Outcome, Pin, Turn, Undo, Unpin


def _kind(message: object) -> str:
    """Tell what a record of `turns` is; a turn need not say so."""
    kind = message.get("kind", "turn") if isinstance(message, dict) else getattr(message, "kind", "turn")
    return str(kind)


Inbound = Annotated[
    Annotated[Turn, Tag("turn")]
    | Annotated[Configure, Tag("configure")]
    | Annotated[Forget, Tag("forget")]
    | Annotated[Pin, Tag("pin")]
    | Annotated[Unpin, Tag("unpin")]
    | Annotated[Feedback, Tag("feedback")]
    | Annotated[Undo, Tag("undo")],
    Discriminator(_kind),
]


Command = Turn | Configure | Forget | Pin | Unpin | Feedback | Undo


INBOUND: TypeAdapter[Command] = TypeAdapter(Inbound)


Request = Annotated[Query | Inspect | Describe | Checkpoint, Field(discriminator="kind")]


REQUEST: TypeAdapter[Query | Inspect | Describe | Checkpoint] = TypeAdapter(Request)


Answer = Annotated[Reply | Outcome | Inspection | Description | Checkpointed | Failure, Field(discriminator="kind")]


ANSWER: TypeAdapter[Reply | Outcome | Inspection | Description | Checkpointed | Failure] = TypeAdapter(Answer)
