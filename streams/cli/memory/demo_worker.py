"""The process that `emgas demo` starts and kills: publishes, asks, reports each step as a line of JSON, waits."""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.resources import files
from typing import Any

from emgas import Turn
from emgas.client.client import MemoryClient
from emgas.importers.registry import read
from emgas.messages.operator import Inspect
from emgas.messages.sessions import Recent
from emgas.messages.turns import Pin
from emgas.times import format_utc
from emgas.validation import build
from streams.cli.shared.client import session
from streams.cli.shared.live_state import graph_digests
from streams.cli.shared.output import configure_logging, explained
from streams.recovery.parallel_rebuild import of_graphs
from streams.settings import WorkerSettings

DEMO = files("streams.cli.memory") / "demo_data"
SHOWN = 5  # passages and concepts per question
ASSOCIATED = 20  # passages among which one is looked for that no word of the question finds
TALK, GOES_ON = "demo", "And then?"
IN_MIND = 3  # turns that are shown of what is in mind
LIFE = "demo-life"
PINNED = 1  # place of the turn in it that is pinned
LIFE_QUESTIONS = ("How often do I drink latte, and when not?", "Where do I live?", "What is the code of the lock?")
VIOLIN = "Can I go on with the violin?"  # the turn that answers it says neither
ANSWERS_VIOLIN = "life-22"
UNKNOWN = "Who wrote Hamlet?"  # no turn tells
FORGOTTEN = "violin"
BUDGET = 200  # tokens of context: some lines, to be read on a screen


def report(kind: str, **facts: Any) -> None:
    """Print one line for the parent."""
    print(json.dumps({"kind": kind, **facts}), flush=True)


async def _work() -> None:
    async with session(WorkerSettings()) as connected:
        await _publish(connected.memory)
        await _ask(connected.memory)
        await _go_on(connected.memory)
        await _live(connected.memory)
        await _report_holdings(connected.memory)
        await asyncio.to_thread(sys.stdin.read)  # until the parent kills us, or is gone


async def _publish(memory: MemoryClient) -> None:
    with (DEMO / "conversation.jsonl").open("rb") as stream:
        turns = [item for item in read(stream, "conversation.jsonl") if isinstance(item, Turn)]
    async for turn, _ in memory.publish_many(turns):
        report("turn", at=format_utc(turn.at or 0), speaker=turn.speaker, text=turn.text)


async def _ask(memory: MemoryClient) -> None:
    for each in json.loads((DEMO / "questions.json").read_text(encoding="utf-8")):
        is_associative = each["kind"] == "associative"
        passages = ASSOCIATED if is_associative else SHOWN
        shown = {"top_concepts": SHOWN, "top_passages": passages, "budget": BUDGET, "explain": is_associative}
        reply = await memory.query(each["graph"], each["question"], **shown)
        report("reply", question=each["question"], answers=each["answers"], reply=reply.model_dump())


async def _go_on(memory: MemoryClient) -> None:
    """Report the working memory of the conversation, and ask a question that only it can answer."""
    mind = await memory.send(build(Recent, {"graph": TALK, "limit": IN_MIND}))
    report("mind", mind=mind.model_dump())
    shown: dict[str, Any] = {"top_concepts": 0, "top_passages": IN_MIND, "budget": BUDGET, "session": mind.session}
    reply = await memory.query(TALK, GOES_ON, **shown)
    report("reply", question=GOES_ON, answers=[], reply=reply.model_dump())


async def _live(memory: MemoryClient) -> None:
    """Publish some weeks of a life: habits, outdated facts, a turn that is pinned, and one that is forgotten."""
    with (DEMO / "life.jsonl").open("rb") as stream:
        turns = [item for item in read(stream, "life.jsonl") if isinstance(item, Turn)]
    async for _ in memory.publish_many(turns):
        pass
    kept = turns[PINNED]
    await memory.send(build(Pin, {"graph": LIFE, "turns": [kept.id]}))
    report("life", turns=len(turns), pinned=kept.text)
    for question in (*LIFE_QUESTIONS, VIOLIN, UNKNOWN):
        await _ask_life(memory, question, kept.speaker)
    await memory.forget(LIFE, [FORGOTTEN])
    report("forgot", concept=FORGOTTEN)
    await _ask_life(memory, VIOLIN, kept.speaker)


async def _ask_life(memory: MemoryClient, question: str, asker: str) -> None:
    is_associative = question == VIOLIN
    shown: dict[str, Any] = {"top_concepts": SHOWN if is_associative else 0, "top_passages": 3, "budget": BUDGET}
    reply = await memory.query(LIFE, question, **shown, asker=asker, explain=is_associative)
    answers = [ANSWERS_VIOLIN] if is_associative else []
    report("reply", question=question, answers=answers, reply=reply.model_dump())


async def _report_holdings(memory: MemoryClient) -> None:
    partitions = range(await memory.partitions())
    reports = [await memory.send(Inspect(digest=False), partition=partition) for partition in partitions]
    sums = {name: sum(getattr(each, name) for each in reports) for name in ("turns", "graphs", "concepts", "pairs")}
    graphs = [await graph_digests(memory, partition) for partition in partitions]
    report("holds", digest=of_graphs(graphs), **sums)


if __name__ == "__main__":
    configure_logging("ERROR")
    with explained():
        asyncio.run(_work())
