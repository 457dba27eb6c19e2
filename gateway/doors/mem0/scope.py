"""The scope of a request of mem0's API: users and filters as a graph, a session, metadata and times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from emgas.errors import InvalidMessageError
from emgas.messages.contents import RecordedTurn
from emgas.times import DAY_MS, milliseconds
from emgas.validation import checked_graph
from gateway.doors.mem0.shapes import Whose

OWNERS = ("user_id", "agent_id", "app_id", "run_id")
KINDS = ("agent", "app", "run")  # of graphs that are no user's
FILTERS = "filters: give user_id, agent_id, app_id, run_id, metadata and created_at, alone or below AND"
SCALARS = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class MemoryScope:
    """Turns of a graph.  `metadata`: a filter's, and the agent and app beside a user."""

    graph: str
    session: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    since: int | None = None
    until: int | None = None

    @property
    def is_whole(self) -> bool:
        """Check whether the scope is a whole graph or a whole session."""
        return not self.metadata and self.since is None and self.until is None

    def lets_through(self, turn: RecordedTurn) -> bool:
        """Check whether a turn is in the scope, whatever its session."""
        late = self.until is not None and turn.at >= self.until
        early = self.since is not None and turn.at < self.since
        return not (early or late) and self.metadata.items() <= turn.metadata.items()

    def only(self) -> dict[str, Any]:
        """Return the filter for a query."""
        sessions = {} if self.session is None else {"sessions": [self.session]}
        times = {name: at for name, at in (("since", self.since), ("until", self.until)) if at is not None}
        return {**sessions, **times, **({"metadata": self.metadata} if self.metadata else {})}


def scope_of(
    body: Whose, metadata: Mapping[str, Any] | None = None, since: str | None = None, until: str | None = None
) -> MemoryScope:
    """Return the scope that a body names.  Raises InvalidMessageError."""
    filters = _flat(body.filters or {})
    owners = {name: getattr(body, name) or filters.pop(name, None) for name in OWNERS}
    owners = {name: owner for name, owner in owners.items() if owner not in (None, "", "*")}
    if not all(isinstance(owner, str) for owner in owners.values()):
        raise InvalidMessageError(f"{FILTERS}; each names one of them")
    times = {"gte": since, "lte": until, **_mapping(filters.pop("created_at", None))}
    required = {**(metadata or {}), **_mapping(filters.pop("metadata", None))}
    if filters or not times.keys() <= {"gte", "gt", "lte", "lt"} or not _are_scalars(required):
        raise InvalidMessageError(FILTERS)
    if not owners:
        raise InvalidMessageError("user_id: is missing: name a user_id, agent_id, app_id or run_id")
    first, *others = owners
    beside = {name: owners[name] for name in others if name != "run_id"}
    return MemoryScope(
        graph=graph_of(first.removesuffix("_id"), owners[first]),
        session=owners["run_id"] if "run_id" in others else None,
        metadata={**required, **beside},
        since=_since(times),
        until=_until(times),
    )


def _flat(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the parts of an AND.  Raises InvalidMessageError."""
    parts = filters.get("AND", [])
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise InvalidMessageError(FILTERS)
    flat = {name: value for name, value in filters.items() if name != "AND"}
    for part in parts:
        for name, value in _flat(part).items():
            both = isinstance(flat.get(name), dict) and isinstance(value, dict)
            if flat.setdefault(name, value) != value and not both:
                raise InvalidMessageError(FILTERS)
            flat[name] = {**flat[name], **value} if both else value
    return flat


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict | None):
        raise InvalidMessageError(FILTERS)
    return value or {}


def _are_scalars(values: Mapping[str, Any]) -> bool:
    return all(isinstance(value, SCALARS) for value in values.values())


def _since(times: Mapping[str, Any]) -> int | None:
    bounds = [_ms(times.get("gte")), _after(_ms(times.get("gt")))]
    return max((at for at in bounds if at is not None), default=None)


def _until(times: Mapping[str, Any]) -> int | None:
    """Return the exclusive end; `lte` with a date includes the whole day."""
    last = times.get("lte")
    is_day = isinstance(last, str) and len(last) == len("2024-05-08")
    end = _ms(last)
    bounds = [_ms(times.get("lt")), _after(end) if not is_day or end is None else end + DAY_MS]
    return min((at for at in bounds if at is not None), default=None)


def _ms(when: Any) -> int | None:
    if when is None:
        return None
    if not isinstance(when, str):
        raise InvalidMessageError(f"{FILTERS}; write times in ISO 8601")
    return milliseconds(when)


def _after(at: int | None) -> int | None:
    return None if at is None else at + 1


def graph_of(kind: str, name: str) -> str:
    """Return the graph of a user, an agent, an app or a run.  Raises InvalidMessageError."""
    if kind != "user":
        return checked_graph(f"{kind}:{name}")
    if name.partition(":")[0] in KINDS:
        raise InvalidMessageError("user_id: must not begin with agent:, app: or run:, the other kinds of entities")
    return checked_graph(name)


def kind_and_name(graph_id: str) -> tuple[str, str]:
    """Return a graph's kind for mem0 (user, agent, app or run) and its name."""
    kind, colon, name = graph_id.partition(":")
    return (kind, name) if colon and kind in KINDS else ("user", graph_id)
