"""An example of every message on the wire, for docs/wire.md and the AsyncAPI document.

The classes of commands and questions declare their own.  Those of answers are what a real memory gave to the calls of
the reference (recorded/answers.json, which `python -m tests.support.reference_calls` writes), or here, if no route of
the reference gives them.  A test checks each against its model and its schema file; a message without one fails it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import orjson

from emgas.messages.requests import PartitionQuestion, Sendable
from emgas.messages.topics import ANSWERS, COMMANDS, QUESTIONS

SHOWN: Final = 2  # objects of a list
SHOWN_NUMBERS: Final = 24  # and other values: the hours of a day
POSITION: Final = {"partition": 3, "watermark": 1041, "source": 512}
# operation of HTTP → status, media type, and what a memory answered to the call in the reference
RECORDED: Final[dict[str, dict[str, Any]]] = orjson.loads(
    Path(__file__).with_name("recorded").joinpath("answers.json").read_bytes()
)

_BY_HAND: Final[dict[str, dict[str, Any]]] = {
    "ForgetPreview": {
        "kind": "forgetpreview",
        "graph": "ada",
        "found": True,
        "total": 1,
        "concepts": 3,
        "remains": 118,
        "turns": [
            {
                "id": "t1",
                "session": "2023-05-08",
                "speaker": "Ada",
                "role": "user",
                "text": "The vet prescribed ear drops for Biscuit.",
                "at": 1683554160000,
                "metadata": {"channel": "phone"},
                "archived": False,
            }
        ],
        "position": POSITION,
    },
    "Recurring": {
        "kind": "recurring",
        "graph": "ada",
        "found": True,
        "total": 1,
        "habits": [
            {
                "id": "habit-5e0c1b7a9d24",
                "speaker": "Ada",
                "text": "Ada: latte: 5 times on 5 days since 2023-05-01, about every week, in the morning, on Mondays; "
                "last on 2023-06-05; not from 2023-05-16 to 2023-05-28",
                "concepts": ["latte"],
                "turns": 5,
                "days": 5,
                "first": 1682929200000,
                "last": 1685953200000,
                "period": 7.0,
                "hours": [0] * 8 + [5] + [0] * 15,
                "weekdays": [5, 0, 0, 0, 0, 0, 0],
                "exceptions": [{"since": 1684195200000, "until": 1685318400000, "turn": None}],
                "members": ["t2", "t8", "t9", "t14", "t20"],
                "by": "template 1",
            }
        ],
        "groups": [],
        "position": POSITION,
    },
    "Graphs": {"kind": "graphs", "graphs": ["ada", "ben"], "next": "ben", "position": POSITION},
    "Inspection": {
        "kind": "inspection",
        "position": POSITION,
        "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "graphs": 12,
        "turns": 1388,
        "concepts": 2960,
        "pairs": 18411,
        "topics": 31,
        "forgotten": 5,
        "archived": 64,
        "digests": {},
    },
    "Checkpointed": {"kind": "checkpointed", "snapshot": "3/1041", "position": POSITION, "bytes": 1048576},
    "Failure": {"kind": "failure", "code": "not-yet", "message": "that turn is not folded yet: ask again"},
}


def _recorded() -> dict[str, Any]:
    """Return the first recorded answer of each class."""
    names = {answer.__name__.lower(): answer.__name__ for answer in ANSWERS}
    bodies = [each["example"] for each in RECORDED.values() if isinstance(each["example"], dict)]
    return {names[body["kind"]]: _short(body) for body in reversed(bodies) if body.get("kind") in names}


def _short(value: Any) -> Any:
    """Return an answer with the first few values of each of its lists."""
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items()}
    if isinstance(value, list):
        is_of_objects = bool(value) and isinstance(value[0], dict)
        return [_short(each) for each in value[: SHOWN if is_of_objects else SHOWN_NUMBERS]]
    return value


def _request(message: type[Sendable]) -> dict[str, Any]:
    """Return the example that a class declares, with its kind and its graph."""
    kind = {"kind": message.tag()} if "kind" in message.model_fields else {}
    graph = {} if issubclass(message, PartitionQuestion) else {"graph": "ada"}
    return kind | graph | dict(message.example or {})


_REQUESTS: tuple[type[Sendable], ...] = (*COMMANDS, *QUESTIONS)
EXAMPLES: Final = {message.__name__: _request(message) for message in _REQUESTS} | _BY_HAND | _recorded()
