"""JSON Schema (2020-12) of every message on the wire, for clients in other languages: generated, and checked in.

asyncapi.json describes the topics that carry them (AsyncAPI 3).

The files beside this one are what `generate` returns; a test compares.  A schema says what is *accepted*; it cannot say
what is counted in bytes (emgas/limits.py), nor that text must hold no NUL; and JSON Schema takes 1.0 for an integer,
which the strict models refuse.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from emgas.messages.advice import Advice
from emgas.messages.contents import Graphs, List, Read, Turns
from emgas.messages.fields import Message
from emgas.messages.operator import Checkpoint, Checkpointed, Inspect, Inspection
from emgas.messages.pictures import Compare, Compared, Picture, Pictured
from emgas.messages.queries import Describe, Description, Failure, Query, Reply
from emgas.messages.rights import Grant, Revoke
from emgas.messages.sessions import EndSession, InMind, Recent
from emgas.messages.turns import Configure, Erase, Feedback, Forget, Outcome, Pin, Reinforce, Turn, Undo, Unpin
from emgas.messages.views import Explore, Explored, Habits, Recap, Recapped, Recurring, Trend, Trended
from emgas.schema.asyncapi import document

FOLDER = Path(__file__).parent
MESSAGES: tuple[type[Message], ...] = (
    *(Turn, Configure, Forget, Pin, Unpin, Feedback, Undo, Erase, EndSession, Grant, Revoke, Reinforce, Advice),
    *(Query, Describe, Read, Picture, Compare, Recap, Trend, Explore, Habits, Recent, List, Inspect, Checkpoint),
    *(
        Outcome,
        Reply,
        Description,
        Turns,
        Pictured,
        Compared,
        Recapped,
        Trended,
        Explored,
        Recurring,
        InMind,
        Graphs,
        Inspection,
        Checkpointed,
        Failure,
    ),
)


def generate() -> dict[str, bytes]:
    """Return the files by name: a schema for each message, and the document of the topics."""
    schemas = {model.__name__: _schema(model) for model in MESSAGES}
    files = {f"{name.lower()}.json": schema for name, schema in schemas.items()}
    return {name: _written(content) for name, content in {**files, "asyncapi.json": document(schemas)}.items()}


def stale(folder: Path = FOLDER) -> list[str]:
    """Return the names of files in `folder` that are missing, differ, or describe no message."""
    expected = generate()
    present = {path.name: path.read_bytes() for path in folder.glob("*.json")}
    return sorted(name for name in expected.keys() | present.keys() if expected.get(name) != present.get(name))


def write(folder: Path = FOLDER) -> None:
    """Write every file, and remove those that describe no message."""
    files = generate()
    for path in folder.glob("*.json"):
        if path.name not in files:
            path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _schema(model: type[Message]) -> dict[str, Any]:
    name = model.__name__.lower()
    schema: dict[str, Any] = model.model_json_schema()
    if "kind" in model.model_fields:
        # A default in Python, but required on the wire: `kind` is how the reader tells the messages of a topic apart.
        schema["required"] = list(dict.fromkeys(["kind", *schema.get("required", [])]))
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:emgas:{name}:v1",
        "title": model.__name__,
    }
    return {**head, **schema}


def _written(content: dict[str, Any]) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
