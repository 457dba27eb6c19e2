"""Every command and question in one table: the right that it needs, an accepted message, its event, and refusals.

The tests of the wire, the gateway, the decisions, the rights and `MemoryClient.send` run through this table, and the
golden logs contain every event in it.  A message without a row fails tests/streams/test_verbs.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from emgas.messages.advice import Advice
from emgas.messages.contents import List, Read
from emgas.messages.extracts import Extract
from emgas.messages.forgetting import Forget, PreviewForget
from emgas.messages.operator import Checkpoint, Inspect
from emgas.messages.people import Profile
from emgas.messages.pictures import Compare, Picture
from emgas.messages.queries import Describe, Query
from emgas.messages.requests import Command, PartitionQuestion, Right, Sendable
from emgas.messages.rights import Grant, Quota, Revoke
from emgas.messages.sessions import EndSession, Recent
from emgas.messages.transfer import Move, Receive
from emgas.messages.turns import Configure, Erase, Feedback, Pin, Reinforce, Turn, Undo, Unpin
from emgas.messages.views import Explore, Habits, Recap, Trend
from state.events.base import DataEvent
from state.events.events import (
    AccessGranted,
    AccessRevoked,
    ConceptsRecalled,
    FeedbackGiven,
    Forgotten,
    GraphConfigured,
    GraphMoved,
    GraphReceived,
    Pinned,
    QuotaSet,
    Retracted,
    SessionEnded,
    SubjectErased,
    TurnRecorded,
    Unpinned,
    WorthJudged,
    encode,
)
from state.events.memory_settings import PRESETS
from state.log_position import ANYWHERE
from tests.support.clocks import NOW

Fields = Mapping[str, Any]
READ_TURNS = {"turns": [{"text": "The kettle broke."}]}


@dataclass(frozen=True)
class Verb:
    """A row.  Its graph has one turn, "t1" of Ada in the session "main"; flo may `forget` in it.

    fields     of an accepted message, beside kind and graph
    event      that a command becomes
    refused    fields of messages that are rejected
    parameters of its GET route
    encrypted  whether the graph is
    is_new     there is no graph yet
    """

    message: type[Sendable]
    right: Right
    fields: Fields = field(default_factory=dict)
    event: type[DataEvent] | None = None
    refused: tuple[Fields, ...] = ()
    parameters: str = ""
    encrypted: bool = False
    is_new: bool = False

    @property
    def topic(self) -> str:
        return "turns" if issubclass(self.message, Command) else "queries"

    @property
    def is_of_partition(self) -> bool:
        return issubclass(self.message, PartitionQuestion)

    def value(self, fields: Fields | None = None, **more: Any) -> dict[str, Any]:
        """Return the message as JSON on the wire, with these fields in place of its own."""
        kind = {"kind": self.message.tag()} if "kind" in self.message.model_fields else {}
        name = {"id": "i1"} if issubclass(self.message, Command) else {}
        return {**kind, **name, **(self.fields if fields is None else fields), **more}


NOWHERE = {"turns": ["nowhere"]}
T1 = {"turns": ["t1"]}
LEAVES = {"to": "embedded:/elsewhere", "phase": "begin"}
BIRTH = GraphConfigured(graph="ada", preset="default", settings=PRESETS["default"], **ANYWHERE.link)
RECEIVED = {"origin": "0" * 64, "first": 0, "total": 1, "digest": "0" * 64, "encrypted": False}
SAID = {"speaker": "Ada", "text": "The kettle broke."}
VERBS = (
    Verb(Turn, "write", {"id": "t2", **SAID}, TurnRecorded, ({"id": "t1", **SAID, "text": "It works."},)),
    Verb(Configure, "admin", {"preset": "forgetful"}, GraphConfigured, ({"weights": {"nothing": 1.0}},)),
    Verb(Forget, "forget", T1, Forgotten, (NOWHERE, {}, {**T1, "expected": 2})),
    Verb(Pin, "write", T1, Pinned, (NOWHERE, {})),
    Verb(Unpin, "write", T1, Unpinned, (NOWHERE, {})),
    Verb(Feedback, "write", {**T1, "value": 1.0}, FeedbackGiven, ({**NOWHERE, "value": 1.0},)),
    Verb(Undo, "forget", {"first": 1}, Retracted, ({"first": 99},)),
    Verb(Erase, "admin", {"whole": True}, SubjectErased, ({"turn": "nowhere"},), encrypted=True),
    Verb(EndSession, "write", {"session": "main"}, SessionEnded, ({"session": "nowhere"},)),
    Verb(Grant, "admin", {"subject": "planner", "rights": ["read"]}, AccessGranted),
    Verb(
        Revoke,
        "admin",
        {"subject": "flo", "rights": ["forget"]},
        AccessRevoked,
        ({"subject": "nobody", "rights": ["read"]},),
    ),
    Verb(Reinforce, "write", {"concepts": ["kettle"], "at": NOW}, ConceptsRecalled),
    Verb(
        Advice,
        "admin",
        {"by": "us", "judged": {"turn": "t1", "worth": 0.9}},
        WorthJudged,
        ({"by": "us", "judged": {"turn": "nowhere", "worth": 0.9}},),
    ),
    Verb(Quota, "admin", {"turns": 9}, QuotaSet),
    Verb(Move, "admin", LEAVES, GraphMoved, ({**LEAVES, "phase": "finish"},)),
    Verb(
        Receive,
        "admin",
        {**RECEIVED, "events": [encode(BIRTH).decode()]},
        GraphReceived,
        ({**RECEIVED, "events": ["no event"]}, {**RECEIVED, "events": []}),
        is_new=True,
    ),
    Verb(Query, "read", {"text": "what broke?", "only": {"sessions": ["main"]}}),
    Verb(Describe, "read"),
    Verb(PreviewForget, "forget", {"concepts": ["kettle"]}),
    Verb(Read, "read", {"concept": "kettle"}, parameters="concept=kettle&limit=3"),
    Verb(Picture, "read", {"nodes": 5}, parameters="around=kettle"),
    Verb(Compare, "read", {"since": 0}, parameters="since=2025-01-01"),
    Verb(Recap, "read", {"sessions": ["main"]}, parameters="limit=3"),
    Verb(Trend, "read", {"text": "kettle"}, parameters="text=kettle&by=week"),
    Verb(Explore, "read", {"concept": "kettle"}, parameters="name=kettle&hops=2"),
    Verb(Habits, "read", parameters="text=kettle&limit=3"),
    Verb(Profile, "read", {"name": "Ada"}, parameters="limit=3"),
    Verb(Recent, "read", {"session": "main"}, parameters="limit=3"),
    Verb(List, "read"),
    Verb(Extract, "read", READ_TURNS),
    Verb(Inspect, "admin"),
    Verb(Checkpoint, "admin"),
)
COMMAND_VERBS = tuple(verb for verb in VERBS if verb.topic == "turns")
