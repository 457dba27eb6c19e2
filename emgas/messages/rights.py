"""Rights in a shared graph: grant and revoke them, as events of the graph.

    Grant, Revoke ── topic turns ──▶ Outcome

The header `subject` names on whose behalf a record comes (emgas/wire.py).  A graph without grants is open to every
subject.  Once a right is granted, the graph serves only subjects with the right that a record needs:

    read    all questions                       write  turns, pins, feedback, reinforcing, ending a session
    forget  to forget, to undo                  admin  to configure, to erase, to grant, to revoke and to advise

Undoing a grant, a revocation or a configuration needs `admin` as well, and so does undoing such an undo.  Only subjects
with `forget` or `admin` can read forgotten content as of an earlier time.

A gateway puts the rights of its key into the header `rights`; the graph's grants add nothing to them.

A quota limits how many turns and bytes a graph, or one subject in it, may send.  The writer of the partition counts
(streams/ingest/verbs/quota.py): a quota is exact, however many servers share it.

A record without the header `subject` comes from the operator and may do everything.  Rights separate programs that
share a memory through a gateway, which sets the subject by their key (docs/how-to.md).
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from emgas.messages.fields import Name
from emgas.messages.requests import Request, Right

OVER_QUOTA: Final = "over quota: "  # what the reason of a turn begins with that a quota rejects
MOST = 2**53 - 1


class _Rights(Request, right="admin"):
    subject: Name
    rights: Annotated[list[Right], Field(min_length=1, max_length=4)]


class Grant(
    _Rights,
    route="POST /grant",
    example={"id": "g1", "graph": "team", "subject": "planner", "rights": ["read", "write"]},
):
    """Grant a subject, such as a key's name, rights in a graph.  The first grant closes it to all others."""

    kind: Literal["grant"] = "grant"


class Revoke(
    _Rights, route="POST /revoke", example={"id": "g2", "graph": "team", "subject": "planner", "rights": ["write"]}
):
    """Revoke rights of a subject in a graph."""

    kind: Literal["revoke"] = "revoke"


class Quota(Request, right="admin", example={"id": "q1", "graph": "ada", "subject": "planner", "turns": 1000}):
    """Limit what is sent to a graph from now on; without a limit, lift the quota.

    It counts turns that are recorded, from 0 whenever it is set.  Only an operator may set it, not a subject.
    """

    kind: Literal["quota"] = "quota"
    subject: Name | None = Field(default=None, description="whose turns count; by default, all of the graph's")
    turns: int | None = Field(default=None, ge=0, le=MOST, description="how many turns may be recorded")
    bytes: int | None = Field(default=None, ge=0, le=MOST, description="how many bytes they may have, as sent")
