"""Golden logs: for every version of the schema a log as its EMGAS wrote it, what it folds to, and the schema itself.

    tests/golden/v<version>/log.ndjson     {"partition":0,"offset":3,"key":"ada","value":<the record, byte for byte>}
    tests/golden/v<version>/digests.json   what its fold must give, and the layout of graphs that the digests are of
    tests/golden/v<version>/schema.json    every field that an event of this version may have, its type and bounds

A log and a schema are made once, by tests/golden/make.py, and never changed after the version was released.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from emgas.wire import Record
from state.events.events import SCHEMA
from state.events.memory_settings import MemorySettings
from state.graph.codec import LAYOUT
from state.partition import Partition
from state.store.store import MemoryStore

FOLDER = Path(__file__).resolve().parent.parent / "golden"
VERSIONS = sorted(int(path.name[1:]) for path in FOLDER.iterdir() if re.fullmatch(r"v\d+", path.name))
TIMESTAMP = 1_750_000_000_000  # of every record, ms: no fold looks at it


class Line(msgspec.Struct):
    """One line of a golden log; `Raw` keeps the bytes of the record as they are."""

    partition: int
    offset: int
    key: str | None
    value: msgspec.Raw


_LINES = msgspec.json.Decoder(Line)


def folder(version: int) -> Path:
    """Return where everything of a version lies."""
    return FOLDER / f"v{version}"


def golden(version: int) -> list[list[Record]]:
    """Return the golden log of a version, by partition."""
    lines = [_LINES.decode(line) for line in (folder(version) / "log.ndjson").read_bytes().splitlines()]
    partitions: list[list[Record]] = [[] for _ in range(1 + max(line.partition for line in lines))]
    for line in lines:
        key = None if line.key is None else line.key.encode()
        partitions[line.partition].append(Record(line.offset, TIMESTAMP, key, bytes(line.value)))
    return partitions


def expected(version: int) -> Any:
    """Return what the fold of a version's golden log must give."""
    return json.loads((folder(version) / "digests.json").read_text())


def as_lines(partitions: Sequence[Iterable[Record]]) -> bytes:
    """Return a log as the lines that `golden` reads."""
    lines = (
        Line(partition, record.offset, None if record.key is None else record.key.decode(), msgspec.Raw(record.value))
        for partition, records in enumerate(partitions)
        for record in records
    )
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def digests(partitions: Sequence[Iterable[Record]]) -> dict[str, Any]:
    """Fold a log in memory; return the digests of its partitions and graphs, and how much each graph holds."""
    states = [Partition(MemoryStore()) for _ in partitions]
    for state, records in zip(states, partitions, strict=True):
        for record in records:
            state.fold(record.offset, record.value)
    graphs = {graph.graph_id: graph for state in states for graph in state.graphs()}
    return {
        "layout": LAYOUT,
        "partitions": [state.digest() for state in states],
        "graphs": {name: graph.digest() for name, graph in sorted(graphs.items())},
        "holds": {
            name: {"events": graph.events, "turns": len(graph.passages.numbers), "concepts": len(graph.concepts.ids)}
            for name, graph in sorted(graphs.items())
        },
    }


def schema() -> Any:
    """Return the schema of all events as this EMGAS reads them: JSON Schema, without descriptions."""

    def hook(kind: type) -> dict[str, Any]:
        if kind is not MemorySettings:
            raise NotImplementedError(kind)
        return MemorySettings.model_json_schema()

    return _bare(msgspec.json.schema(SCHEMA, schema_hook=hook))


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _bare(inner) for name, inner in value.items() if name not in ("description", "title")}
    return [_bare(inner) for inner in value] if isinstance(value, list) else value


def values(version: int) -> list[bytes]:
    """Return every record of a version's golden log."""
    return [record.value for records in golden(version) for record in records]
