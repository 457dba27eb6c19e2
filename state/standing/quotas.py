"""Quotas: how much a graph, or a subject in it, may send, and how much was sent since the quota was set.

    QuotaSet {turns, bytes}     a quota begins, from 0; without a limit, it ends
    QuotaCounted {of, bytes}    a turn is about to be recorded, the one at offset `of` of `turns`

A count comes before its turn.  If the writer dies in between, the turn is read again, and `of` says that it counts
already.  A graph without a quota has no such events.

These are unencrypted control events: they do not move with a graph to another memory, need no key, and no erasure
changes them.  So a subject is stored as a hash of its name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec

from state.events.events import Claim, QuotaCounted, QuotaSet
from state.store import keys

ALL = ""  # the tag of a quota of the whole graph
COUNTING = (QuotaSet, QuotaCounted)


def tag_of(graph_id: str, subject: str | None) -> str:
    """Return the tag of a subject of a graph in the log; "" for the whole graph."""
    return ALL if subject is None else hashlib.sha256(f"{graph_id}\n{subject}".encode()).hexdigest()[:16]


class Limit(msgspec.Struct, frozen=True):
    """A quota, and how much of it is used."""

    turns: int | None
    bytes: int | None
    used_turns: int = 0
    used_bytes: int = 0

    def after(self, turns: int, size: int) -> Limit:
        """Return the same with so many more turns and bytes used."""
        return Limit(self.turns, self.bytes, self.used_turns + turns, self.used_bytes + size)

    @property
    def is_exceeded(self) -> bool:
        """Return whether more is used than the quota allows."""
        return (self.turns is not None and self.used_turns > self.turns) or (
            self.bytes is not None and self.used_bytes > self.bytes
        )


class GraphQuota(msgspec.Struct, frozen=True):
    """The quotas of a graph, by tag.  counted: the last offset of `turns` that they count."""

    limits: dict[str, Limit]
    counted: int = -1


class Quotas:
    """The quotas of a partition's graphs; most have none."""

    def __init__(self, stored: Iterable[tuple[bytes, bytes]] = (), source_topic: str = "") -> None:
        """Read stored keys and values; `source_topic` is the id of the topic `turns` that they count."""
        self._source_topic = source_topic
        self._by_graph = {keys.graph_of(key): msgspec.json.decode(value, type=GraphQuota) for key, value in stored}

    def of(self, graph_id: str) -> GraphQuota | None:
        """Return the quotas of a graph; None for one without."""
        return self._by_graph.get(graph_id)

    def apply(self, event: QuotaSet | QuotaCounted) -> tuple[bytes, bytes | None]:
        """Apply an event; return the key and value to store."""
        before = self._by_graph.get(event.graph, GraphQuota({}))
        after = _set(before, event) if isinstance(event, QuotaSet) else _counted(before, event)
        return self._store(event.graph, after)

    def restart(self, claim: Claim) -> list[tuple[bytes, bytes | None]]:
        """Note that offsets of `turns` begin again, if they do with this claim; return what to store."""
        before, named = self._source_topic, claim.source_topic
        self._source_topic = named or before
        if not (claim.anew or (before and named and before != named)):
            return []
        return [self._store(name, GraphQuota(each.limits)) for name, each in list(self._by_graph.items())]

    def _store(self, graph_id: str, quota: GraphQuota) -> tuple[bytes, bytes | None]:
        if not quota.limits:
            self._by_graph.pop(graph_id, None)
            return keys.quota_key(graph_id), None
        self._by_graph[graph_id] = quota
        return keys.quota_key(graph_id), msgspec.json.encode(quota)

    def lines(self) -> list[str]:
        """List all of them, for a digest."""
        return [f"{name} {msgspec.json.encode(each, order='sorted').decode()}\n"
                for name, each in sorted(self._by_graph.items())]  # fmt: skip


def _set(before: GraphQuota, event: QuotaSet) -> GraphQuota:
    limits = {tag: limit for tag, limit in before.limits.items() if tag != event.subject}
    if event.turns is not None or event.bytes is not None:
        limits[event.subject] = Limit(event.turns, event.bytes)
    return GraphQuota(limits, before.counted)


def _counted(before: GraphQuota, event: QuotaCounted) -> GraphQuota:
    if event.of <= before.counted:
        return before
    counts = (ALL, event.subject)
    limits = {tag: limit.after(1, event.bytes) if tag in counts else limit for tag, limit in before.limits.items()}
    return GraphQuota(limits, event.of)
