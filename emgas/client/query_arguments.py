"""Build queries and filters from Python arguments: times in any form, parts as plain mappings."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Any

from emgas.messages.filters import Filter
from emgas.messages.queries import Query
from emgas.messages.settings.spreading import Spreading
from emgas.times import SECONDS, datetime_of, milliseconds
from emgas.validation import build


def build_query(
    spreading: Spreading | Mapping[str, Any] | None,
    only: Filter | Mapping[str, Any] | None,
    fields: Mapping[str, Any],
) -> Query:
    """Build a query; times without a zone are in `timezone`.  Raises InvalidMessageError."""
    timezone = fields.get("timezone")
    timezone = timezone if isinstance(timezone, str) else "UTC"  # anything else is refused with the other fields
    if not isinstance(spreading, Spreading):
        spreading = build(Spreading, spreading or {})
    parts = {
        "spreading": spreading,
        "only": build_filter(only, timezone),
        "as_of": _time(fields.get("as_of"), timezone),
    }
    return build(Query, {**fields, **parts})


def build_filter(only: Filter | Mapping[str, Any] | None, timezone: str = "UTC") -> Filter:
    """Build a filter; its times without a zone are in `timezone`.  Raises InvalidMessageError."""
    if isinstance(only, Filter):
        return only
    return build(Filter, {name: _plain(name, value, timezone) for name, value in (only or {}).items()})


def _plain(name: str, value: Any, timezone: str) -> Any:
    """Convert a filter's field to its form on the wire: times in ms, names in a list."""
    if name in ("since", "until", "spoken_since", "spoken_until"):
        return _time(value, timezone)
    return sorted(value) if isinstance(value, AbstractSet) else list(value) if isinstance(value, tuple) else value


def _time(value: Any, timezone: str) -> int | datetime | None:
    if value is None:
        return None
    at = milliseconds(value, timezone)
    return datetime_of(at) if at in SECONDS else at  # as a number, a message takes it for seconds
