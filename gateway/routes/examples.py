"""Examples for the OpenAPI document: of bodies, of parameters and of answers.

Messages declare their own (emgas/schema/examples.py); those of other routes are here.  A test sends every one of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emgas.messages.contents import Read
from emgas.messages.requests import Sendable
from emgas.messages.topics import COMMANDS, QUESTIONS
from emgas.schema.examples import EXAMPLES

OF_PATH = ("graph", "kind")
NOT_OVER_HTTP = ("after",)
TURNS: list[dict[str, Any]] = [
    {"id": "t1", "speaker": "Ada", "text": "The vet prescribed ear drops for Biscuit.", "session": "2023-05-08"},
    {"id": "t2", "speaker": "Ben", "text": "Is Biscuit better now?", "session": "2023-05-08"},
]
MESSAGES = [{"role": "user", "content": "What did the vet prescribe?"}]
BODIES: dict[str, Any] = {
    "record_turns": {"turns": TURNS},
    "query_several": {"graphs": ["ada", "team"], "text": "what did the vet prescribe?", "budget": 500},
    "send": {**EXAMPLES["Turn"], "graph": "ada"},
    "send_batch": [{**turn, "graph": "ada"} for turn in TURNS],
    "mem0_add": {"user_id": "ada", "messages": [{"role": "user", "content": "I moved to Porto."}]},
    "mem0_search": {"query": "where does she live?", "filters": {"user_id": "ada"}},
    "mem0_get_all": {"filters": {"user_id": "ada"}},
    "run_hook": {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "What did the vet prescribe?"},
    "openai_complete": {"model": "llama3.2", "user": "ada", "messages": MESSAGES},
}
PARAMETERS: dict[str, Any] = {
    "graph": "ada",
    "turn": "t1",
    "session": "2023-05-08",
    "topic": "turns",
    "key": "ada",
    "text": "vet",
    "format": "jsonl",
    "name": "chat.jsonl",
    "timezone": "Europe/Berlin",
    "memory_id": "ada~t1",
    "user_id": "ada",
    "kind": "user",
    "page": 1,
    "page_size": 100,
    "limit": 100,
    "seconds": 10,
    "host": "codex",
}
PARAMETERS_OF: dict[str, Any] = {"run_hook": {"graph": "project/shop-3fa94c"}}
ANSWERS: dict[str, Any] = {
    "run_hook": {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "…"}},
    "list_graphs": {"graphs": ["ada", "team"], "next": None},
    "partitions": 8,
    "mem0_ping": {"status": "ok"},
    "openai_models": {"object": "list", "data": [{"id": "llama3.2", "object": "model"}]},
}
FILE = '{"id": "t1", "speaker": "Ada", "text": "The vet prescribed ear drops for Biscuit."}\n'


def add_examples(operation: dict[str, Any]) -> None:
    """Add to an operation of the document an example of its body, of its parameters, and of its answer."""
    name = operation["operationId"]
    message = _MESSAGES.get(name)
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        if (body := _body(name, message) if media == "application/json" else FILE) is not None:
            content["example"] = body
    values = {**PARAMETERS, **PARAMETERS_OF.get(name, {}), **_parameters(message)}
    for parameter in operation.get("parameters", ()):
        if parameter["in"] != "header" and (parameter["name"] in values):
            parameter["example"] = values[parameter["name"]]
    if name in ANSWERS:
        operation["responses"]["200"].setdefault("content", {"application/json": {}})
    for status, response in operation["responses"].items():
        for media, content in response.get("content", {}).items() if int(status) < 300 else ():
            if media == "application/json" and (answer := _answer(name, content.get("schema", {}))) is not None:
                content["example"] = answer


def _body(name: str, message: type[Sendable] | None) -> Any:
    if message is None:
        return BODIES.get(name)
    example = EXAMPLES[message.__name__]
    return {key: value for key, value in example.items() if key not in (*OF_PATH, *NOT_OVER_HTTP)}


def _parameters(message: type[Sendable] | None) -> Mapping[str, Any]:
    """Return the values of a question's example under the names of its parameters."""
    if message is None:
        return {}
    fields = EXAMPLES[message.__name__]
    named = {parameter: fields[field] for parameter, field in message.parameters.items() if field in fields}
    return {**{name: value for name, value in fields.items() if name not in OF_PATH}, **named}


def _answer(name: str, schema: Mapping[str, Any]) -> Any:
    reference = schema.get("$ref") or next((each.get("$ref") for each in schema.get("anyOf", ())), "")
    return ANSWERS.get(name, EXAMPLES.get(str(reference).rpartition("/")[2]))


def operation_of(message: type[Sendable]) -> str:
    """Return the operationId of a message's route: its class in snake case."""
    text = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in message.__name__)
    return text.lstrip("_")


_BY_HAND = {"record_turn": "Turn", "query": "Query", "extract": "Extract"}
_ALL: list[type[Sendable]] = [*COMMANDS, *QUESTIONS]
_MESSAGES = {operation_of(message): message for message in _ALL if message.route is not None}
_MESSAGES |= {name: message for name, kind in _BY_HAND.items() for message in _ALL if message.__name__ == kind}
TAGS: dict[type[Sendable], str] = {Read: "turns"}  # of questions; "views" by default
