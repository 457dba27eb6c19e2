"""Transfer: a graph's own events are received from another log, and a graph is moved to another place.

    Receive   the next events of a graph that was exported elsewhere, as many messages as they need
    Move      fences a graph here while it goes to another place, and says where it is afterwards

`emgas import`, `emgas admin graph copy` and `emgas admin graph move` send them.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from emgas import limits
from emgas.messages.requests import Request

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Receive(
    Request,
    right="admin",
    example={
        "id": "x1",
        "origin": "0" * 64,
        "first": 41,
        "total": 41,
        "digest": "0" * 64,
        "encrypted": False,
        "events": [],
    },
):
    """Take over events of a graph that is not here, in their order; the last message has none, and checks the digest.

    Until then the graph accepts and answers nothing else.  Events that are here already are passed over.  A move has
    the digest checked first (`opens` false), and opens the graph here once it has left the other memory.  A message of
    a move (`hop`) is refused once a later move of the graph is known here.
    """

    most_bytes: ClassVar[int] = limits.RECEIVED_BYTES
    kind: Literal["receive"] = "receive"
    origin: Sha256 = Field(description="of the graph's history: what is received of another is refused")
    first: int = Field(ge=0, description="place of the first of these events among the graph's own, counted from 0")
    total: int = Field(ge=1, description="how many events the graph will have")
    digest: Sha256 = Field(description="of the graph, once all are here")
    encrypted: bool = Field(description="whether they came from an encrypted graph: then only such a graph takes them")
    events: list[str] = Field(max_length=limits.RECEIVED_EVENTS, description="record values, JSON")
    opens: bool = Field(
        default=True, description="of the last message: whether the graph lives here from then on, or is only checked"
    )
    hop: int = Field(
        default=0, ge=0, description="number of the move that sends it; 0 for a copy", exclude_if=lambda hop: not hop
    )


class Move(Request, right="admin", example={"id": "m1", "to": "kafka://eu.example:9092/emgas ada", "phase": "begin"}):
    """Move a graph away: from `begin` on it accepts nothing here, from `finish` on it answers nothing either.

    `cancel` lets it stay if it has not left yet.  A graph that names its origin here can come back.
    """

    kind: Literal["move"] = "move"
    to: str = Field(min_length=1, max_length=1000, description="where the graph goes: what its users read")
    phase: Literal["begin", "finish", "cancel"]
    origin: Sha256 | None = Field(default=None, description="of the graph's history, as its receiver knows it")
    events: int | None = Field(
        default=None, ge=1, description="how many events of it arrived: with another number here, it does not leave"
    )
    hop: int = Field(
        default=0,
        ge=0,
        description="number of this move, one more than of the move before; another one is refused",
        exclude_if=lambda hop: not hop,
    )
