"""`MemoryClient.send`: every kind of message gets the answer that its typed method returns."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from emgas import InvalidMessageError, MemoryClient, Query, QueryFailedError, Turn
from emgas.messages.advice import Advice
from emgas.messages.contents import List, Read
from emgas.messages.operator import Checkpoint, Inspect
from emgas.messages.pictures import Compare, Picture
from emgas.messages.queries import Describe
from emgas.messages.rights import Grant, Revoke
from emgas.messages.sessions import EndSession, Recent
from emgas.messages.topics import ANSWER_OF, Answer, Command, Question
from emgas.messages.turns import Configure, Erase, Feedback, Forget, Pin, Reinforce, Undo, Unpin
from emgas.messages.views import Explore, Habits, Recap, Trend

NOON = 1_700_000_000_000
TEXTS = ("The kettle broke again.", "Grace repaired the kettle in Lisbon.", "The kettle works.")
PATIENCE = 60.0

# kind of message → its fields beside id and graph, and the same by its typed method
COMMANDS: dict[type[Any], tuple[dict[str, Any], Callable[[MemoryClient, str], Awaitable[Answer]]]] = {
    Turn: (
        {"speaker": "Ada", "text": "Tea is ready.", "at": NOON + 9},
        lambda memory, graph: memory.record(
            {"id": "i", "graph": graph, "speaker": "Ada", "text": "Tea is ready.", "at": NOON + 9}
        ),
    ),
    Configure: ({"preset": "default"}, lambda memory, graph: memory.configure(graph, id="i")),
    Pin: ({"turns": ["t0"]}, lambda memory, graph: memory.pin(graph, turns=["t0"], id="i")),
    Unpin: ({"turns": ["t0"]}, lambda memory, graph: memory.unpin(graph, turns=["t0"], id="i")),
    Feedback: (
        {"turns": ["t1"], "value": 1.0},
        lambda memory, graph: memory.feedback(graph, ["t1"], 1.0, id="i"),
    ),
    Forget: ({"turns": ["t2"]}, lambda memory, graph: memory.forget(graph, turns=["t2"], id="i")),
    Undo: ({"first": 1, "last": 1}, lambda memory, graph: memory.undo(graph, 1, 1, id="i")),
    Erase: ({"turn": "t0"}, lambda memory, graph: memory.erase(graph, turn="t0", id="i")),
    EndSession: ({"session": "main"}, lambda memory, graph: memory.end_session(graph, id="i")),
    Advice: (
        {"by": "a person", "rewritten": {"turn": "t1", "text": "Grace mended it."}},
        lambda memory, graph: memory.advise(
            graph, "a person", rewritten={"turn": "t1", "text": "Grace mended it."}, id="i"
        ),
    ),
    Grant: (
        {"subject": "Ada", "rights": ["read"]},
        lambda memory, graph: memory.grant(graph, "Ada", ["read"], id="i"),
    ),
    Revoke: (
        {"subject": "Ada", "rights": ["read"]},
        lambda memory, graph: memory.revoke(graph, "Ada", ["read"], id="i"),
    ),
}
QUESTIONS: dict[type[Any], tuple[dict[str, Any], Callable[[MemoryClient, str], Awaitable[Answer]]]] = {
    Query: ({"text": "what broke?"}, lambda memory, graph: memory.query(graph, "what broke?")),
    Describe: ({"measures": True}, lambda memory, graph: memory.describe(graph, measures=True)),
    Read: ({"newest": True}, lambda memory, graph: memory.turns(graph, newest=True)),
    Picture: ({"nodes": 5}, lambda memory, graph: memory.picture(graph, nodes=5)),
    Compare: (
        {"since": NOON, "until": NOON + 5},
        lambda memory, graph: memory.compare(graph, NOON, NOON + 5),
    ),
    Recap: ({"sessions": ["main"]}, lambda memory, graph: memory.recap(graph, ["main"])),
    Trend: ({"text": "kettle"}, lambda memory, graph: memory.trend(graph, "kettle")),
    Explore: ({"concept": "kettle"}, lambda memory, graph: memory.explore(graph, "kettle")),
    Habits: ({}, lambda memory, graph: memory.habits(graph)),
    Recent: ({"session": "main"}, lambda memory, graph: memory.recent(graph, "main")),
}


def comparable(answer: Answer) -> str:
    """Return an answer without what differs between the two graphs: their name and their partition."""
    return re.sub(r"\b(sent|typed)\b", "GRAPH", answer.model_dump_json(exclude={"position", "timing"}))


async def record_turns(memory: MemoryClient) -> None:
    for graph in ("sent", "typed"):
        for number, text in enumerate(TEXTS):
            await memory.record(
                {"id": f"t{number}", "graph": graph, "speaker": "Ada", "text": text, "at": NOON + number}
            )


async def test_send_does_for_each_kind_of_message_what_its_typed_method_does(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory:
        await record_turns(memory)
        for kind, (fields, typed) in {**COMMANDS, **QUESTIONS}.items():
            of_command = {"id": "i", "kind": kind.__name__.lower()} if kind in COMMANDS else {}
            of_kind = {"id": "i"} if kind is Turn else of_command
            sent = await memory.send(kind(graph="sent", **of_kind, **fields))
            assert comparable(sent) == comparable(await typed(memory, "typed")), kind
        assert comparable(await memory.describe("sent")) == comparable(await memory.describe("typed"))


async def test_send_asks_the_partition_that_is_named(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory:
        await record_turns(memory)
        listed = [await memory.send(List(), partition=each) for each in range(await memory.partitions())]
        assert sorted(name for page in listed for name in page.graphs) == await memory.graphs() == ["sent", "typed"]
        assert await memory.send(Inspect(), partition=0) == await memory.inspect(0)
        with pytest.raises(InvalidMessageError, match="partition: `inspect` asks one partition: pass its number"):
            await memory.send(Inspect())
        with pytest.raises(QueryFailedError) as typed:
            await memory.checkpoint(0)
        with pytest.raises(QueryFailedError) as sent:
            await memory.send(Checkpoint(), partition=0)
        assert str(sent.value) == str(typed.value)


async def test_what_has_no_typed_method_is_sent_too(tmp_path: Path) -> None:
    async with MemoryClient(f"embedded:{tmp_path}", timeout=PATIENCE) as memory:
        await record_turns(memory)
        request = Reinforce(kind="reinforce", id="r", graph="sent", concepts=["kettle"], at=NOON + 5)
        assert (await memory.send(request)).kind == "outcome"


def test_every_kind_is_sent_above() -> None:
    assert {*COMMANDS, Reinforce} == set(get_args(Command))
    assert {*QUESTIONS, List, Inspect, Checkpoint} == set(get_args(Question)) == set(ANSWER_OF)
