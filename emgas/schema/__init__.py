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

from emgas.messages.fields import Message
from emgas.messages.requests import Command
from emgas.messages.topics import ANSWERS, COMMANDS, QUESTIONS
from emgas.schema.asyncapi import document

FOLDER = Path(__file__).parent
MESSAGES: tuple[type[Message], ...] = (*COMMANDS, *QUESTIONS, *ANSWERS)


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
    # Defaults in Python, but required on the wire: a reader tells messages apart by `kind`, and commands by `id`.
    named = {"kind"} | ({"id"} if issubclass(model, Command) else set())
    required = named & model.model_fields.keys() | {*schema.get("required", [])}
    schema["required"] = [name for name in model.model_fields if name in required]
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:emgas:{name}:v1",
        "title": model.__name__,
    }
    return {**head, **schema}


def _written(content: dict[str, Any]) -> bytes:
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
