"""Who may do what in a graph that several share: granting and revoking rights, as events of the graph.  SEEDS P44.

    Grant, Revoke ── topic turns ──▶ Outcome

A record says on whose behalf it comes by the header `subject` (emgas/wire.py).  A graph of which nobody was granted
anything is open to every subject, as ever.  Once it grants something, it serves only subjects that have the right that
a record needs:

    read    all questions                       write  turns, pins, feedback, reinforcing, ending a session
    forget  to forget, to undo                  admin  to configure, to erase, to grant, to revoke and to advise

To undo what decides who may do what in the graph, or how it lives, needs `admin` as well, and so does an undo by which
that counts again.  What was forgotten is shown as of a time before to subjects with `forget` or `admin` alone.

A gateway says by the header `rights` what its key may do; the graph's grants give no more than that.

A record without the header `subject` comes from who runs the memory, and may do everything: rights are for programs
that share it, and tell a name that they cannot choose where a gateway sets it by their key (docs/gateway.md).
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from emgas.messages.fields import GraphId, Message, Name

Right = Literal["read", "write", "forget", "admin"]


class _Rights(Message):
    right: ClassVar[Right] = "admin"
    id: Name
    graph: GraphId
    subject: Name
    rights: Annotated[list[Right], Field(min_length=1, max_length=4)]


class Grant(_Rights):
    """Somebody may do this in a graph from here on; a graph that grants anything is closed to all other subjects."""

    kind: Literal["grant"]


class Revoke(_Rights):
    """Somebody may no longer do this in a graph."""

    kind: Literal["revoke"]
