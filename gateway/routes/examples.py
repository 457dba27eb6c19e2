"""Examples for the OpenAPI document: of bodies, of parameters and of answers.

Bodies are here, or declared by messages (emgas/schema/examples.py).  Answers are recorded, as a real memory gave them:
`python -m tests.support.reference_calls` writes emgas/schema/recorded/answers.json, and a test makes every call again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emgas.messages.contents import Read
from emgas.messages.requests import Sendable
from emgas.messages.topics import COMMANDS, QUESTIONS
from emgas.schema.examples import EXAMPLES, RECORDED

OF_PATH = ("graph", "kind")
NOT_OVER_HTTP = ("after",)
SESSION = "monday"
# Turns without a time are from now.  With an old one they would fade as soon as a call without a time comes.
TURN: dict[str, Any] = {
    "id": "t1",
    "speaker": "Ada",
    "text": "The vet prescribed ear drops for Biscuit.",
    "session": SESSION,
    "metadata": {"channel": "phone"},
}
TURNS: list[dict[str, Any]] = [
    {"id": "t2", "speaker": "Ben", "text": "Is Biscuit better now?", "session": SESSION},
    {"id": "t3", "speaker": "Ada", "text": "I live in Porto, and I have a peanut allergy.", "session": SESSION},
    {"id": "t7", "speaker": "Ben", "text": "The kettle broke.", "session": "tuesday"},
]
RECORDS: list[dict[str, Any]] = [
    {"graph": "ada", "id": "t5", "speaker": "Ada", "text": "Biscuit scratches less today.", "session": "tuesday"},
    {"graph": "ada", "id": "t6", "speaker": "Ben", "text": "Good news!", "session": "tuesday"},
    {"graph": "team", "id": "t8", "speaker": "Ben", "text": "Our stand-up is at ten."},
]
MESSAGES = [{"role": "user", "content": "What did the vet prescribe?"}]
BODIES: dict[str, Any] = {
    "record_turn": TURN,
    "end_session": {"id": "s1", "session": SESSION},
    "undo": {"id": "u1", "first": 2, "last": 2},
    "record_turns": {"turns": TURNS},
    "query_several": {"graphs": ["ada", "team"], "text": "what did the vet prescribe?", "budget": 500},
    "send": RECORDS[0],
    "send_batch": RECORDS[1:],
    "mem0_add": {"user_id": "ada", "run_id": "chat", "messages": [{"role": "user", "content": "I play the cello."}]},
    "mem0_search": {"query": "what did the vet prescribe?", "filters": {"user_id": "ada"}},
    "mem0_get_all": {"filters": {"user_id": "ada"}},
    "run_hook": {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "What did the vet prescribe?"},
    "openai_complete": {"model": "llama3.2", "user": "ada", "messages": MESSAGES},
}
PARAMETERS: dict[str, Any] = {
    "graph": "ada",
    "turn": "t1",
    "session": SESSION,
    "topic": "turns",
    "key": "ada",
    "text": "vet",
    "format": "jsonl",
    "name": "chat.jsonl",
    "timezone": "Europe/Berlin",
    "memory_id": "ada~t1",
    "user_id": "ada",
    "run_id": "chat",
    "kind": "user",
    "page": 1,
    "page_size": 100,
    "limit": 100,
    "seconds": 10,
    "host": "codex",
}
PARAMETERS_OF: dict[str, Any] = {
    "read": {"session": SESSION},
    "recent": {"session": SESSION},
    "compare": {"until": "2100-01-01"},  # the graph began when you made the first call, so not before
    "people": {"name": "Ada"},
    "mem0_delete": {"memory_id": "ada~t5"},
    "mem0_delete_entity": {"name": "team"},
}
# Optional parameters that the call in the reference has, beside the required ones.
CALLED_WITH: dict[str, tuple[str, ...]] = {
    "send": ("key",),
    "mem0_delete_all": ("user_id", "run_id"),
    "run_hook": ("graph",),
}
# The order of the calls in the reference: these first, these last, and all others between them.
FIRST = ("record_turn", "record_turns")
_FORGETTING = ("forget", "forget_turn", "forget_session")
LAST = (*_FORGETTING, "mem0_delete", "mem0_delete_all", "mem0_delete_entity", "forget_graph")
FROM_THE_WIRE = ("habits",)  # a memory of a few turns has none
FILE = '{"id": "t4", "speaker": "Ada", "text": "Biscuit likes the garden."}\n'


def add_examples(operation: dict[str, Any]) -> None:
    """Add to an operation of the document an example of its body, of its parameters, and of its answer."""
    name = operation["operationId"]
    message = _MESSAGES.get(name)
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        if (body := _body(name, message) if media == "application/json" else FILE) is not None:
            content["example"] = body
    values = {**PARAMETERS, **_parameters(message), **PARAMETERS_OF.get(name, {})}
    for parameter in operation.get("parameters", ()):
        if parameter["in"] != "header" and (parameter["name"] in values):
            parameter["example"] = values[parameter["name"]]
    _add_answer(name, operation["responses"])


def _add_answer(name: str, responses: dict[str, Any]) -> None:
    """Add the answer that a memory gave to the call in the reference, under its status and media type."""
    if name in FROM_THE_WIRE:
        content = responses["200"]["content"]["application/json"]
        content["example"] = EXAMPLES[str(content["schema"]["$ref"]).rpartition("/")[2]]
    elif name in RECORDED:
        answer = RECORDED[name]
        content = responses[answer["status"]].setdefault("content", {}).setdefault(answer["media"], {})
        content["example"] = answer["example"]


def _body(name: str, message: type[Sendable] | None) -> Any:
    if message is None or name in BODIES:
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


def operation_of(message: type[Sendable]) -> str:
    """Return the operationId of a message's route: its class in snake case."""
    text = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in message.__name__)
    return text.lstrip("_")


_BY_HAND = {"record_turn": "Turn", "query": "Query", "extract": "Extract"}
_ALL: list[type[Sendable]] = [*COMMANDS, *QUESTIONS]
_MESSAGES = {operation_of(message): message for message in _ALL if message.route is not None}
_MESSAGES |= {name: message for name, kind in _BY_HAND.items() for message in _ALL if message.__name__ == kind}
TAGS: dict[type[Sendable], str] = {Read: "turns"}  # of questions; "views" by default
