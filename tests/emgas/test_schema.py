"""The schema files: fresh, valid, and in agreement with the models about what is a message."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from emgas.messages.requests import Command
from emgas.messages.topics import INBOUND
from emgas.messages.turns import Turn
from emgas.schema import FOLDER, MESSAGES, generate, stale, write
from emgas.schema.asyncapi import CHANGE, document
from emgas.schema.examples import EXAMPLES
from tests.emgas.messages import turns

POSITION = {"partition": 0, "watermark": 7, "source": -1}
CONCEPT = {"id": "cat", "label": "Cat", "energy": 1.0, "path": ["cat"]}
PASSAGE = {"id": "1", "session": "main", "speaker": "Ada", "role": None, "text": "x", "at": 0, "score": 0.5}
REPLY = {
    "kind": "reply",
    "graph": "g",
    "found": True,
    "seeds": [CONCEPT],
    "concepts": [],
    "passages": [PASSAGE],
    "context": "",
    "tokens": 0,
    "position": POSITION,
    "timing": {"waited_ms": 0.0, "recall_ms": 1.5},
}
DESCRIPTION = {
    "kind": "description",
    "graph": "g",
    "found": True,
    "preset": "default",
    "settings": {"half_life": 1, "prune_below": 0.5},
    "themes": [{"id": "topic-0", "label": "Cats", "concepts": ["cat"], "born": 0}],
    "position": POSITION,
}
GOOD: list[tuple[str, dict[str, Any]]] = [
    ("turn", {"id": "1", "graph": "ada", "speaker": "Ada", "text": "Hello"}),
    (
        "turn",
        {"id": "1", "graph": "ada", "speaker": "Ada", "text": "Hello", "role": None, "metadata": {"k": [1, 2][0]}},
    ),
    ("query", {"kind": "query", "graph": "ada", "text": "what?", "spreading": {"delta": 0.5}, "after": 3}),
    ("inspect", {"kind": "inspect"}),
    ("outcome", {"kind": "outcome", "status": "rejected", "turn": None, "reason": "x", "position": POSITION}),
    ("reply", REPLY),
    (
        "inspection",
        {
            "kind": "inspection",
            "position": POSITION,
            "digest": None,
            "graphs": 0,
            "turns": 0,
            "concepts": 0,
            "pairs": 0,
            "topics": 0,
            "forgotten": 0,
        },
    ),
    ("failure", {"kind": "failure", "code": "not-yet", "message": "later"}),
    ("configure", {"kind": "configure", "id": "1", "graph": "ada", "preset": "elephant", "settings": {"idle": 60_000}}),
    ("forget", {"kind": "forget", "id": "1", "graph": "ada", "concepts": ["cat"]}),
    ("describe", {"kind": "describe", "graph": "ada", "after": 3}),
    ("description", DESCRIPTION),
]
BAD: list[tuple[str, dict[str, Any]]] = [
    ("turn", {"id": "1", "graph": "ada", "speaker": "Ada"}),
    ("turn", {"id": "1", "graph": "ada ", "speaker": "Ada", "text": "Hello"}),
    ("turn", {"id": "", "graph": "ada", "speaker": "Ada", "text": "Hello"}),
    ("turn", {"id": "1", "graph": "ada", "speaker": "Ada", "text": 5}),
    ("turn", {"id": "1", "graph": "ada", "speaker": "Ada", "text": "Hello", "txt": "Hello"}),
    ("turn", {"id": "1", "graph": "ada", "speaker": "Ada", "text": "Hello", "at": 1.5}),
    ("turn", {"id": "1", "graph": "ada", "speaker": "Ada", "text": "Hello", "metadata": {"k": {}}}),
    ("query", {"kind": "query", "graph": "ada", "text": "what?", "top_concepts": 101}),
    ("query", {"kind": "query", "graph": "ada", "text": "what?", "spreading": {"decay": 1}}),
    ("query", {"kind": "inspect", "graph": "ada", "text": "what?"}),
    ("outcome", {"kind": "outcome", "status": "perhaps", "turn": None, "position": POSITION}),
    ("reply", {**REPLY, "seeds": None}),
    ("failure", {"kind": "failure", "code": "bored", "message": "later"}),
    ("configure", {"id": "1", "graph": "ada"}),
    ("configure", {"kind": "configure", "id": "1", "graph": "ada", "preset": "goldfish"}),
    ("configure", {"kind": "configure", "id": "1", "graph": "ada", "settings": {"half_life": 0}}),
    ("configure", {"kind": "configure", "id": "1", "graph": "ada", "settings": {"halflife": 5}}),
    ("forget", {"kind": "forget", "id": "1", "graph": "ada", "concepts": "cat"}),
    ("forget", {"kind": "forget", "id": "1", "graph": "ada", "turns": [""]}),
    ("describe", {"kind": "describe"}),
    ("description", {**DESCRIPTION, "themes": [{"id": "topic-0"}]}),
]
MODELS = {model.__name__.lower(): model for model in MESSAGES}


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(orjson.loads((FOLDER / f"{name}.json").read_bytes()))


def accepted_by_model(name: str, example: dict[str, Any]) -> bool:
    model, value = MODELS[name], orjson.dumps(example)
    try:
        INBOUND.validate_json(value) if issubclass(model, Command) else model.model_validate_json(value)
    except ValidationError:
        return False
    return True


def test_the_checked_in_files_are_what_the_models_say() -> None:
    assert stale() == [], "run `python -m emgas.schema`"


def test_a_missing_a_changed_and_a_foreign_file_are_stale(tmp_path: Path) -> None:
    write(tmp_path)
    assert stale(tmp_path) == []
    (tmp_path / "turn.json").unlink()
    (tmp_path / "query.json").write_bytes(b"{}")
    (tmp_path / "order.json").write_bytes(b"{}")
    assert stale(tmp_path) == ["order.json", "query.json", "turn.json"]
    write(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == generate()


def test_the_check_on_the_command_line_agrees() -> None:
    assert subprocess.run([sys.executable, "-m", "emgas.schema", "--check"], check=False).returncode == 0


@pytest.mark.parametrize("name", MODELS)
def test_every_schema_is_valid_and_names_itself(name: str) -> None:
    schema = orjson.loads((FOLDER / f"{name}.json").read_bytes())
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:emgas:{name}:v1"
    assert schema["title"].lower() == name


@pytest.mark.parametrize(("name", "example"), GOOD)
def test_what_the_model_accepts_the_schema_accepts(name: str, example: dict[str, Any]) -> None:
    assert accepted_by_model(name, example)
    validator(name).validate(example)


@pytest.mark.parametrize(("name", "example"), BAD)
def test_what_the_model_refuses_the_schema_refuses(name: str, example: dict[str, Any]) -> None:
    assert not accepted_by_model(name, example)
    assert not validator(name).is_valid(example)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "turn"])
def test_kind_is_required_because_the_reader_tells_messages_apart_by_it(name: str) -> None:
    assert "kind" in orjson.loads((FOLDER / f"{name}.json").read_bytes())["required"]


@pytest.mark.parametrize("name", MODELS)
def test_every_message_has_an_example_that_is_one_and_leaves_nothing_to_guess(name: str) -> None:
    example = EXAMPLES[MODELS[name].__name__]
    assert accepted_by_model(name, example), "mend it in emgas/schema/examples.py"
    validator(name).validate(example)
    assert example.get("kind", "turn") == name


def test_no_example_is_left_of_a_message_that_is_gone() -> None:
    assert EXAMPLES.keys() == {model.__name__ for model in MESSAGES}


# the topics


def test_the_document_of_the_topics_has_every_message_and_points_to_what_it_holds() -> None:
    results = document({model.__name__: model.model_json_schema() for model in MESSAGES})
    assert results["components"]["messages"].keys() == {CHANGE, *(model.__name__ for model in MESSAGES)}
    for ref in pointers(results):
        place = results
        for step in ref.removeprefix("#/").split("/"):
            place = place[step]  # a KeyError names what is missing
    listed = [name for channel in results["channels"].values() for name in channel["messages"]]
    assert sorted(listed) == sorted(results["components"]["messages"])


def test_an_example_is_valid_by_the_document_alone() -> None:
    results = orjson.loads((FOLDER / "asyncapi.json").read_bytes())
    for message in results["components"]["messages"].values():
        for example in message.get("examples", ()):
            schema = {**message["payload"], "components": results["components"]}
            Draft202012Validator(schema).validate(example["payload"])


def test_messages_that_share_a_name_for_what_they_hold_mean_the_same() -> None:
    meant: dict[str, set[bytes]] = {}
    for model in MESSAGES:
        schema = model.model_json_schema()
        for name, inner in schema.get("$defs", {}).items():
            meant.setdefault(name, set()).add(orjson.dumps(inner, option=orjson.OPT_SORT_KEYS))
    assert [name for name, forms in meant.items() if len(forms) > 1 or name in EXAMPLES] == []


def pointers(part: Any) -> Iterator[str]:
    """Yield every $ref in a document."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from pointers(each)


@given(turns)
def test_any_valid_turn_satisfies_the_schema(turn: Turn) -> None:
    validator("turn").validate(orjson.loads(turn.model_dump_json()))
