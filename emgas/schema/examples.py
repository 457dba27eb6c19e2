"""An example of every message on the wire, for docs/wire.md and the AsyncAPI document.

The classes of commands and questions declare their own; those of answers are here.  A test checks each against its
model and its schema file; a message without an example fails it.
"""

from __future__ import annotations

from typing import Any, Final

from emgas.messages.requests import PartitionQuestion, Sendable
from emgas.messages.topics import COMMANDS, QUESTIONS

POSITION: Final = {"partition": 3, "watermark": 1041, "source": 512}

_ANSWERS: Final[dict[str, dict[str, Any]]] = {
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
    "Turns": {
        "kind": "turns",
        "graph": "ada",
        "found": True,
        "total": 41,
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
        "next": 38,
        "position": POSITION,
    },
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
    "Pictured": {
        "kind": "pictured",
        "graph": "ada",
        "found": True,
        "clock": 1683554160000,
        "total": 310,
        "concepts": {
            "ids": ["vet", "ear drop"],
            "labels": ["vet", "ear drops"],
            "strengths": [1.9, 1.0],
            "mentions": [3, 1],
            "themes": [0, -1],
            "hops": [0, 1],
            "born": [1682899200000, 1683554160000],
            "touched": [1683554160000, 1683554160000],
            "long_term": [True, False],
            "archived": [False, False],
            "pinned": [True, False],
        },
        "links": {"sources": [0], "targets": [1], "weights": [0.41], "times": [1]},
        "passages": {
            "ids": ["t1"],
            "sessions": ["2023-05-08"],
            "speakers": ["Ada"],
            "at": [1683554160000],
            "archived": [False],
            "held_by": [0, 0],
            "holds": [0, 1],
        },
        "themes": [{"id": "topic-0", "label": "vet", "born": 1683554160000}],
        "activity": {"first": 1682899200000, "last": 1683554160000, "turns": [12, 0, 107]},
        "position": POSITION,
    },
    "Compared": {
        "kind": "compared",
        "graph": "ada",
        "found": True,
        "since": 1682899200000,
        "until": 1683554160000,
        "turns": [104, 119],
        "totals": {"born": 1},
        "born": [{"id": "ear drop", "label": "ear drops", "before": 0.0, "after": 1.0}],
        "stronger": [{"id": "vet", "label": "vet", "before": 0.9, "after": 1.9}],
        "themes": [
            {"id": "topic-0", "label": "vet", "change": "born", "other": None, "joined": ["vet", "Biscuit"], "left": []}
        ],
        "pairs": [{"one": "vet", "other": "ear drops", "before": 0, "after": 1}],
        "added": ["t1"],
        "position": POSITION,
    },
    "Recapped": {
        "kind": "recapped",
        "graph": "ada",
        "found": True,
        "total": 12,
        "sessions": [
            {
                "session": "monday",
                "since": 1683554100000,
                "until": 1683554160000,
                "turns": 3,
                "archived": 0,
                "speakers": ["Ada"],
                "concepts": ["ear drops", "vet", "Biscuit"],
                "summary": [
                    {
                        "turn": "t1",
                        "speaker": "Ada",
                        "at": 1683554160000,
                        "text": "The vet prescribed ear drops for Biscuit.",
                    }
                ],
            }
        ],
        "position": POSITION,
    },
    "Trended": {
        "kind": "trended",
        "graph": "ada",
        "found": True,
        "concepts": ["latte"],
        "all": True,
        "turns": 2,
        "days": 2,
        "first": 1682929200000,
        "last": 1683534000000,
        "every": 7.0,
        "periods": [
            {"since": 1682895600000, "until": 1683500400000, "turns": 1},
            {"since": 1683500400000, "until": 1684105200000, "turns": 1},
        ],
        "pauses": [],
        "hours": [0] * 9 + [2] + [0] * 14,
        "weekdays": [2, 0, 0, 0, 0, 0, 0],
        "ids": ["t8", "t2"],
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
    "Explored": {
        "kind": "explored",
        "graph": "ada",
        "found": True,
        "concept": {
            "id": "ear drop",
            "label": "ear drops",
            "forms": {"ear drops": 1},
            "created": 1683554160000,
            "accessed": 1683554160000,
            "strength": 1.0,
            "turns": 1,
            "recalls": 0,
            "long_term": False,
            "archived": False,
            "pinned": False,
            "theme": None,
            "of": "product",
        },
        "neighbours": [
            {
                "id": "vet",
                "label": "vet",
                "strength": 0.21,
                "times": 1,
                "hops": 1,
                "confidence": 1.0,
                "path": ["ear drop", "vet"],
                "first": 1683534000000,
                "last": 1683534000000,
            }
        ],
        "paths": [["ear drop", "vet", "cat"]],
        "relations": [
            {
                "source": "ear drop",
                "type": "is-a",
                "target": "medicine",
                "source_label": "ear drops",
                "target_label": "medicine",
                "times": 1,
                "first": 1683554160000,
                "last": 1683554160000,
                "ids": ["t1"],
            }
        ],
        "inferred": [
            {"id": "medicine", "label": "medicine", "hops": 1, "confidence": 1.0, "path": ["ear drop", "medicine"]}
        ],
        "ids": ["t1"],
        "position": POSITION,
    },
    "InMind": {
        "kind": "inmind",
        "graph": "ada",
        "found": True,
        "session": "2023-05-09",
        "state": "working",
        "total": 1,
        "turns": [
            {
                "id": "t9",
                "session": "2023-05-09",
                "speaker": "Ada",
                "role": "user",
                "text": "Biscuit scratches less today.",
                "at": 1683640560000,
                "metadata": {},
                "archived": False,
            }
        ],
        "keywords": ["scratches", "Biscuit"],
        "themes": ["vet, Biscuit"],
        "inherited": {
            "session": "2023-05-08",
            "at": 1683554160000,
            "summary": "Ada: The vet prescribed ear drops for Biscuit.",
            "turns": ["t1"],
            "by": "extractive 1",
            "recorded": True,
        },
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
    "Extracted": {
        "kind": "extracted",
        "turns": [
            {
                "language": "en",
                "question": False,
                "concepts": [{"id": "porto", "label": "Porto", "weight": 0.87, "of": "place"}],
                "entities": [{"start": 11, "end": 16, "text": "Porto", "kind": "place"}],
                "times": [
                    {
                        "start": 17,
                        "end": 26,
                        "text": "yesterday",
                        "kind": "span",
                        "since": "2023-05-07T00:00:00",
                        "until": "2023-05-08T00:00:00",
                        "seconds": None,
                        "rule": None,
                        "direction": None,
                    }
                ],
                "mentions": [{"start": 0, "end": 1, "means": "Ada", "at": None, "confidence": 1.0}],
                "relations": [
                    {
                        "subject": "Ada",
                        "relation": "lives-in",
                        "object": "Porto",
                        "role": None,
                        "confidence": 0.9,
                        "start": 0,
                        "end": 16,
                    }
                ],
            }
        ],
        "card": {"Ada": {"home": ["porto"]}},
        "changes": [],
        "extractor": "yake 0.7.3, rules 5",
    },
    "Profiled": {
        "kind": "profiled",
        "graph": "ada",
        "found": True,
        "people": [
            {
                "name": "Ada",
                "also": [],
                "current": {
                    "home": [
                        {"value": "Porto", "since": 1683554160000, "until": None, "turn": "t9", "confidence": 0.9},
                    ],
                    "sibling": [
                        {
                            "value": "Ilse",
                            "since": 1683554160000,
                            "until": None,
                            "turn": "t9",
                            "confidence": 0.95,
                            "role": "sister",
                        },
                    ],
                },
                "history": {
                    "home": [
                        {
                            "value": "Lisbon",
                            "since": 1682899200000,
                            "until": 1683554160000,
                            "turn": "t2",
                            "confidence": 0.9,
                        },
                    ],
                },
                "ties": [{"relation": "sibling", "of": "Ilse", "turn": "t9"}],
            }
        ],
        "changes": [
            {"name": "Ada", "slot": "home", "old": "Lisbon", "new": "Porto", "turn": "t9", "at": 1683554160000},
        ],
        "total": 2,
        "position": POSITION,
    },
    "Failure": {"kind": "failure", "code": "not-yet", "message": "that turn is not folded yet: ask again"},
}


def _request(message: type[Sendable]) -> dict[str, Any]:
    """Return the example that a class declares, with its kind and its graph."""
    kind = {"kind": message.tag()} if "kind" in message.model_fields else {}
    graph = {} if issubclass(message, PartitionQuestion) else {"graph": "ada"}
    return kind | graph | dict(message.example or {})


_REQUESTS: tuple[type[Sendable], ...] = (*COMMANDS, *QUESTIONS)
EXAMPLES: Final = {message.__name__: _request(message) for message in _REQUESTS} | _ANSWERS
