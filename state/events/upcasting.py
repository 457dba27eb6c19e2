"""Older versions of an event's schema, brought up to the one that this EMGAS reads, step by step.

    record ── decode ──▶ event                       of this version: never comes here
       └─ refused: plain dict ── upcast ──▶ plain dict of VERSION ── decode ──▶ event

A step is registered under (kind, the version it starts from).  It gets a dict of its own, and returns the event in a
later version, with `v` raised.  It is pure: the same event always becomes the same one, as the fold depends on it.

    version 2   more kinds, and fields that have a default: every event of version 1 is one of version 2, but for `v`.
                Nearly all that an old log holds is of version 1, so `decode` reads what EMGAS wrote without a step

Only what is read changes.  The log, the rows of a store and a backup keep the bytes as they were written, and the chain
is a hash over those (state/log_position.py).

Changing the schema: whatever changes the bytes of an event, a field, its type or its bounds needs a new version, else
tests/state/test_golden_logs.py fails.  A field that is added with a default needs none: it is left out of the bytes
while it has it.  The steps are in docs/extending.md, "Change the schema".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from state.errors import UnreadableEventError

Plain = dict[str, Any]
VERSION: Literal[2] = 2  # of the schema that this EMGAS writes
UNCHANGED_FROM = 1  # events of the versions from here on have all fields that this one wants
KINDS_OF_VERSION_1 = (
    "Claim",
    "TurnRecorded",
    "TurnEmbedded",
    "TurnDuplicated",
    "TurnRejected",
    "ConceptsRecalled",
    "GraphConfigured",
    "Forgotten",
    "Retracted",
    "Ticked",
    "DecayWindowClosed",
    "ConsolidationWindowClosed",
)


def _to_version_2(plain: Plain) -> Plain:
    return {**plain, "v": 2}


UPCASTERS: dict[tuple[str, int], Callable[[Plain], Plain]] = {(kind, 1): _to_version_2 for kind in KINDS_OF_VERSION_1}

_BEGINNING = b'{"v":%d,'  # of every record that EMGAS writes: `v` is the first field of all events
_UNCHANGED = tuple(_BEGINNING % version for version in range(UNCHANGED_FROM, VERSION))
_PRESENT = _BEGINNING % VERSION


def as_present(value: bytes) -> bytes:
    """Raise `v` of a record value to this version if nothing was changed since its own; return others unchanged.

    Raises TypeError for what is no bytes (a tombstone).
    """
    beginning = value[: len(_PRESENT)]
    return _PRESENT + value[len(_PRESENT) :] if beginning in _UNCHANGED else value


def upcast(plain: Any) -> Plain | None:
    """Bring the plain form of an event up to VERSION, None for what has no step: it is no older event.

    Raises UnreadableEventError for an event of a newer version than VERSION, TypeError for a step that leads nowhere.
    """
    upcasted = None
    while (step := UPCASTERS.get(at := _kind_and_version(plain))) is not None:
        upcasted = plain = step(plain)
        if not upcasted["v"] > at[1]:
            raise TypeError(f"the step from version {at[1]} of {at[0]} does not raise `v`: it would run endlessly")
    return upcasted


def _kind_and_version(plain: Any) -> tuple[str, int]:
    if not isinstance(plain, dict):
        return "", VERSION
    version = plain.get("v", VERSION)
    if type(version) is not int:
        return "", VERSION
    if version > VERSION:
        raise UnreadableEventError(
            f"an event of the log has schema version {version}, this EMGAS reads up to {VERSION}. It was written by a "
            "newer version of EMGAS. Run the version that wrote it; do not skip it."
        )
    return str(plain.get("kind")), version
