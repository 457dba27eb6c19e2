"""A log of schema version 0, which never was, and the steps that lead from it to this version.

version 0                 this version
Claim: worker             Claim: writer
TurnRecorded: said        TurnRecorded: text
Faded                     DecayWindowClosed
the others                the same, but for `v`
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import orjson

from emgas.wire import Record
from state.events.events import Claim, decode
from state.events.registry import KINDS
from state.events.upcasting import VERSION, Plain
from state.log_position import Acceptance, LogPosition, fingerprint

RENAMED = {"Claim": ("writer", "worker"), "TurnRecorded": ("text", "said")}


def _same(plain: Plain) -> Plain:
    return {**plain, "v": VERSION}


def _claim(plain: Plain) -> Plain:
    others = {name: value for name, value in plain.items() if name != "worker"}
    return {**others, "v": VERSION, "writer": plain["worker"]}


def _turn(plain: Plain) -> Plain:
    others = {name: value for name, value in plain.items() if name != "said"}
    return {**others, "v": VERSION, "text": plain["said"]}


def _faded(plain: Plain) -> Plain:
    return {**plain, "v": VERSION, "kind": "DecayWindowClosed"}


STEPS = {(kind.__name__, 0): _same for kind in KINDS} | {
    ("Claim", 0): _claim,
    ("TurnRecorded", 0): _turn,
    ("Faded", 0): _faded,
}


def older(records: Iterable[Record]) -> list[Record]:
    """Return a log of this version as version 0 would have written it: links and chain are those of its own bytes."""
    names = {"": "", bytes(8).hex(): bytes(8).hex()}  # claims and links of the one log → of the other
    position, chain, made = LogPosition(), bytes(32), []
    for record in records:
        event = decode(record.value)
        value = orjson.dumps(_aged(orjson.loads(record.value), names))
        made.append(record._replace(value=value))
        position, acceptance = position.after(record.offset, event, record.value)
        if isinstance(event, Claim):
            names[fingerprint(record.value)] = fingerprint(value)
        if acceptance is Acceptance.ACCEPTED:
            chain = hashlib.sha256(chain + value).digest()
            names[position.chain[:8].hex()] = chain[:8].hex()
    return made


def _aged(plain: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    new, old = RENAMED.get(plain["kind"], ("", ""))
    links = {name: names[plain[name]] for name in ("claim", "chain") if name in plain}
    aged = {old if name == new else name: links.get(name, value) for name, value in plain.items()}
    return {**aged, "v": 0, "kind": "Faded" if plain["kind"] == "DecayWindowClosed" else plain["kind"]}
