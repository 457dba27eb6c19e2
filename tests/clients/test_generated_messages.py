"""The clients of other languages have the messages of the wire, field by field; told without their languages' tools."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from emgas.messages import topics

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS: dict[str, Any] = json.loads((ROOT / "emgas/schema/asyncapi.json").read_text())["components"]["schemas"]
TYPESCRIPT = (ROOT / "clients/typescript/src/messages.ts").read_text()
INTERFACES = {
    name: dict(re.findall(r"^  (\w+)(\??):", body, re.MULTILINE))
    for name, body in re.findall(r"^export interface (\w+) \{\n(.*?)^\}", TYPESCRIPT, re.MULTILINE | re.DOTALL)
}


def test_go_has_the_messages_that_the_schema_makes() -> None:
    script = [sys.executable, str(ROOT / "scripts/go_messages"), "--check"]
    assert subprocess.run(script).returncode == 0, "run scripts/go_messages"


@pytest.mark.parametrize("name", [name for name, schema in SCHEMAS.items() if "properties" in schema])
def test_typescript_has_the_fields_of_every_message(name: str) -> None:
    assert set(INTERFACES[name]) == set(SCHEMAS[name]["properties"]), "run `npm run messages` in clients/typescript"


def models(results: type[BaseModel]) -> set[type[BaseModel]]:
    """Find a model and all that stand in it."""
    inner = {each for field in results.model_fields.values() for each in parts(field.annotation)}
    return {results}.union(*(models(each) for each in inner))


def parts(annotation: Any) -> set[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    return set().union(*(parts(each) for each in get_args(annotation)))


ANSWERS = sorted(set().union(*(models(each) for each in topics.ANSWERS)), key=lambda model: model.__name__)


@pytest.mark.parametrize("model", ANSWERS, ids=lambda model: model.__name__)
def test_typescript_knows_what_an_answer_may_leave_out(model: type[BaseModel]) -> None:
    may_lack = {name for name, field in model.model_fields.items() if field.exclude_if is not None}
    optional = {name for name, mark in INTERFACES[model.__name__].items() if mark}
    assert optional == may_lack, "MAY_LACK in clients/typescript/scripts/messages.ts"
