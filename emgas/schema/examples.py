"""An example of every message on the wire: what docs/wire.md shows, and what the AsyncAPI document carries.

A test holds each against its model and its schema file; a message without an example fails it.
"""

from __future__ import annotations

from typing import Any, Final

POSITION: Final = {"partition": 3, "watermark": 1041, "source": 512}

EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "Turn": {
        "id": "t1",
        "graph": "ada",
        "speaker": "Ada",
        "text": "The vet prescribed ear drops for Biscuit.",
        "session": "2023-05-08",
        "role": "user",
        "at": 1683554160000,
        "metadata": {"channel": "phone"},
    },
    "Configure": {
        "kind": "configure",
        "id": "c1",
        "graph": "ada",
        "preset": "default",
        "settings": {"half_life": 604800000},
    },
    "Forget": {"kind": "forget", "id": "f1", "graph": "ada", "concepts": ["kettle"], "turns": ["t7"]},
    "Undo": {"kind": "undo", "id": "u1", "graph": "ada", "first": 41, "last": 43},
    "Query": {
        "kind": "query",
        "graph": "ada",
        "text": "what did the vet prescribe?",
        "budget": 500,
        "after": 512,
        "only": {"speakers": ["Ada"], "since": 1672531200000},
    },
    "Describe": {"kind": "describe", "graph": "ada"},
    "Inspect": {"kind": "inspect", "digest": True},
    "Checkpoint": {"kind": "checkpoint"},
    "Outcome": {"kind": "outcome", "status": "accepted", "turn": "t1", "reason": None, "position": POSITION},
    "Reply": {
        "kind": "reply",
        "graph": "ada",
        "found": True,
        "seeds": [{"id": "vet", "label": "vet", "energy": 1.0, "path": ["vet"]}],
        "concepts": [{"id": "ear drop", "label": "ear drops", "energy": 0.41, "path": ["vet", "ear drop"]}],
        "passages": [
            {
                "id": "t1",
                "session": "2023-05-08",
                "speaker": "Ada",
                "role": "user",
                "text": "The vet prescribed ear drops for Biscuit.",
                "at": 1683554160000,
                "score": 7.21,
            }
        ],
        "context": "2023-05-08 13:56 Ada: The vet prescribed ear drops for Biscuit.",
        "tokens": 17,
        "position": POSITION,
        "timing": {"waited_ms": 0.2, "recall_ms": 1.4},
    },
    "Description": {
        "kind": "description",
        "graph": "ada",
        "found": True,
        "preset": "default",
        "settings": {"half_life": 604800000},
        "clock": 1683554160000,
        "turns": 119,
        "archived": 4,
        "forgotten": 1,
        "concepts": 310,
        "archived_concepts": 22,
        "long_term": 9,
        "themes": [{"id": "topic-0", "label": "vet", "concepts": ["vet", "Biscuit"], "born": 1683554160000}],
        "position": POSITION,
    },
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
