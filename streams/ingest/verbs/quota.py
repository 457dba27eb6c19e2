"""Quotas: set and lift them, count turns, and reject a turn whose quota is used up (state/standing/quotas.py).

Turns that are decided but not yet folded count as well, so a batch is as exact as single turns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from emgas.messages.rights import OVER_QUOTA, Quota
from emgas.messages.turns import Turn
from emgas.wire import Record
from state.events.events import UNSTAMPED, DataEvent, QuotaCounted, QuotaSet
from state.graph.graph import Graph
from state.partition import Partition
from state.standing.quotas import ALL, GraphQuota, Limit, tag_of
from streams.errors import RejectedError
from streams.ingest.verbs.deciding import AlreadyDoneError, Deciding, decides
from streams.ingest.verbs.rights import subject_of

KEPT = "The turn is kept among the dead letters (`emgas admin dead-letters list`); send it again after that."


class _Pending(NamedTuple):
    """A turn that counts and is not folded yet."""

    graph: str
    tag: str
    offset: int
    size: int


class QuotaCounter:
    """Counts the turns of one partition that have quotas."""

    def __init__(self, state: Partition) -> None:
        self._state = state
        self._pending: list[_Pending] = []

    def count(self, arrival: Record, turn: Turn) -> list[QuotaCounted]:
        """Return the event that counts a turn; none without a quota, or if it counts already.

        Raises RejectedError for a turn that is over a quota.
        """
        quota = self._state.quota(turn.graph)
        if quota is None or arrival.offset <= quota.counted:
            return []
        tag, size = tag_of(turn.graph, subject_of(arrival)), len(arrival.value or b"")
        for each in (ALL, tag):
            self._check(turn, each, quota, size)
        self._pending = [each for each in self._pending if each.offset != arrival.offset]  # it is tried again
        self._pending.append(_Pending(turn.graph, tag, arrival.offset, size))
        return [QuotaCounted(graph=turn.graph, subject=tag, of=arrival.offset, bytes=size, **UNSTAMPED)]

    def _check(self, turn: Turn, tag: str, quota: GraphQuota, size: int) -> None:
        limit = quota.limits.get(tag)
        if limit is None:
            return
        waiting = [
            each.size
            for each in self._pending
            if each.graph == turn.graph and each.offset > quota.counted and tag in (ALL, each.tag)
        ]
        if limit.after(1 + len(waiting), size + sum(waiting)).is_exceeded:
            raise RejectedError(_refusal(turn, tag, limit))

    def folded(self) -> None:
        """Forget what is folded by now."""
        self._pending.clear()


def _refusal(turn: Turn, tag: str, limit: Limit) -> str:
    who = "all its users" if tag == ALL else "this subject"
    limits = ((limit.turns, "turn"), (limit.bytes, "byte"))
    most = [f"{count} {unit}{'s' * (count != 1)}" for count, unit in limits if count is not None]
    return (
        f"{OVER_QUOTA}the quota of graph {turn.graph!r} is used up: {' and '.join(most)} for {who}. This turn was not "
        f"recorded: ask your operator for a higher quota (`emgas admin quota`). {KEPT}"
    )


@decides(Quota)
def limit(request: Quota, graph: Graph | None, context: Deciding) -> list[DataEvent]:
    """Begin a quota from 0, or lift it; the graph need not exist yet.  Raises RejectedError for a subject."""
    if subject_of(context.arrival) is not None:
        raise RejectedError("only an operator sets quotas, not a subject")
    tag = tag_of(request.graph, request.subject)
    quota = context.state.quota(request.graph)
    before = quota.limits.get(tag) if quota is not None else None
    if before is not None:
        context.notes.append(f"of the former quota, {before.used_turns} turns and {before.used_bytes} bytes were used")
    elif request.turns is None and request.bytes is None:
        raise AlreadyDoneError(f"graph {request.graph!r} has no such quota: nothing to lift")
    fields: dict[str, Any] = {"turns": request.turns, "bytes": request.bytes, **UNSTAMPED}
    return [QuotaSet(src=context.source, graph=request.graph, subject=tag, **fields)]
