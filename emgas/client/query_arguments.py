"""From what a Python program says to a query: times as people write them, parts as plain mappings."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from emgas.messages.filters import Filter
from emgas.messages.queries import Query
from emgas.messages.spreading import Spreading
from emgas.times import milliseconds
from emgas.validation import build


def asking(
    spreading: Spreading | Mapping[str, Any] | None,
    only: Filter | Mapping[str, Any] | None,
    fields: Mapping[str, Any],
) -> Query:
    """Build a query; in `fields`, `as_of` as emgas.times reads it.  Raises InvalidMessageError."""
    if not isinstance(spreading, Spreading):
        spreading = build(Spreading, spreading or {})
    parts = {"spreading": spreading, "only": filtering(only), "as_of": _time(fields.get("as_of"))}
    return build(Query, {**fields, **parts})


def filtering(only: Filter | Mapping[str, Any] | None) -> Filter:
    """Build a filter.  Raises InvalidMessageError."""
    if isinstance(only, Filter):
        return only
    return build(Filter, {name: _plain(name, value) for name, value in (only or {}).items()})


def _plain(name: str, value: Any) -> Any:
    """Turn a filter's field into what the wire has: times in ms, names in a list."""
    if name in ("since", "until"):
        return _time(value)
    return sorted(value) if isinstance(value, AbstractSet) else list(value) if isinstance(value, tuple) else value


def _time(value: Any) -> int | None:
    return None if value is None else milliseconds(value)
