"""Whole conversations, extracted as a worker does: at any moment, the past is what a memory held that heard no more.

The demo's conversation, and one in LoCoMo's format that is made here: dated sessions over a year, which is long enough
for things to fade, to become long-term, and for topics.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from emgas.importers.registry import read
from emgas.messages.fields import Position
from emgas.messages.queries import Query
from emgas.messages.turns import Turn
from emgas.wire import Record
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.steps import in_one_go
from processors.recall.answer.answer import Answerer
from processors.recall.answer.prepared_query import QueriedGraph
from replay.as_of.graph_as_of import AsOf
from replay.as_of.history import History, history
from state.events.events import GraphEvent, TurnRecorded
from state.graph.graph import Graph
from tests.support.builders import graph_configured, ticked, turn_recorded
from tests.support.clocks import DAY
from tests.support.fakes import ListReader
from tests.support.living import Life
from tests.support.logs import LogWriter

DEMO = Path(__file__).resolve().parents[2] / "streams" / "cli" / "memory" / "demo_data" / "conversation.jsonl"
MOMENTS = 50
EXTRACTOR = YakeExtractor(language="en")
ANSWERER = Answerer(EXTRACTOR)
THINGS = ["kettle", "teapot", "garden", "piano", "bicycle", "harbour", "recipe", "museum", "marathon", "telescope"]
WHO = ["Jonas", "Petra", "Amara", "Rashid", "Biscuit"]


def demo() -> list[Turn]:
    """Return the demo's conversation."""
    with DEMO.open("rb") as lines:
        return [turn for turn in read(lines, DEMO.name) if isinstance(turn, Turn) and turn.graph == "demo"]


def generated(seed: int = 7) -> list[Turn]:
    """Return a conversation in LoCoMo's format, read as any file of it."""
    seeded, start, conversation = random.Random(seed), datetime(2023, 5, 8, 13, 56, tzinfo=UTC), dict[str, Any]()
    for session in range(1, 25):
        start += timedelta(days=seeded.choice((1, 3, 14, 40)), minutes=seeded.randrange(600))
        things = seeded.sample(THINGS, 3)
        conversation[f"session_{session}_date_time"] = f"{start:%I:%M %p on %d %B, %Y}"
        conversation[f"session_{session}"] = [
            {"speaker": speaker, "dia_id": f"D{session}:{number}", "text": sentence(seeded, things)}
            for number, speaker in enumerate(("Ada", "Bo") * 7)
        ]
    document = json.dumps([{"sample_id": "made", "conversation": conversation}]).encode()
    return [turn for turn in read(io.BytesIO(document), "made.json", format="locomo") if isinstance(turn, Turn)]


def sentence(seeded: random.Random, things: Sequence[str]) -> str:
    one, other = seeded.sample(things, 2)
    return seeded.choice(
        (
            f"{seeded.choice(WHO)} finally repaired the {one} beside the {other}.",
            f"Did you see the {one} that {seeded.choice(WHO)} bought in Lisbon?",
            f"I dreamt about a {one} and an old {seeded.choice(THINGS)}.",
        )
    )


def recorded(turns: Iterable[Turn]) -> list[TurnRecorded]:
    """Return the events of `turns`, all in the graph "ada": what extraction finds is found once, and is then a fact."""
    return [_recorded(turn) for turn in turns]


def _recorded(turn: Turn) -> TurnRecorded:
    assert turn.at is not None
    extraction = EXTRACTOR.of_turn(turn.text, speaker=turn.speaker, at=turn.at)
    facts = {
        "question": extraction.question,
        "tokens": extraction.tokens,
        "concepts": list(extraction.concepts),
        "live": False,
    }
    return turn_recorded(**{**turn.model_dump(), "graph": "ada", **facts})


def live(events: Iterable[TurnRecorded], birth: GraphEvent) -> Life:
    """Return the life of a memory that heard just this."""
    life = Life([birth])
    for event in events:
        life.tell(event)
    return life


async def history_of(life: Life) -> History:
    """Return what a replay reads of the log of a life."""
    log = LogWriter()
    for event in life.events:
        log.keep(event)
    return await history(ListReader([[Record(offset, 0, None, value) for offset, value in log.records]], 500), 0, "ada")


async def check(
    turns: Sequence[TurnRecorded], birth: GraphEvent, seed: int, question: Callable[[int], str], moments: int = MOMENTS
) -> None:
    """Compare the past with a memory that heard only what came before, at random moments."""
    past, seeded = await history_of(live(turns, birth)), random.Random(seed)
    first, last = min(turn.at for turn in turns), max(turn.at for turn in turns)
    for number in range(moments):
        at = seeded.randint(first - DAY, last + 60 * DAY) if number % 3 else seeded.choice(turns).at
        as_of = AsOf(past, at)
        graph = as_of.finished()
        then = live([turn for turn in turns if turn.at <= at], birth)
        then.close_due(at)
        then.fold(ticked(at=at))
        if graph is None:
            assert at < first
            continue
        assert graph.digest() == then.graph.digest()
        assert answer(graph, as_of.text_of, question(number)) == answer(then.graph, _Texts(then), question(number))


def answer(graph: Graph, text_of: Callable[[Graph, int], TurnRecorded], text: str) -> Any:
    memory = QueriedGraph(graph, text_of, Position(partition=0, watermark=0, source=0))
    return in_one_go(ANSWERER.answer(Query(graph="ada", text=text, top_passages=20, top_concepts=20), memory))


class _Texts:
    """Finds the texts of a life."""

    def __init__(self, life: Life) -> None:
        self._events = life.events

    def __call__(self, graph: Graph, passage: int) -> TurnRecorded:
        event = self._events[graph.passages.event[passage]]
        assert isinstance(event, TurnRecorded)
        return event


CONVERSATIONS: dict[str, Callable[[], list[Turn]]] = {"demo": demo, "generated": generated}


@lru_cache
def conversation(name: str) -> tuple[TurnRecorded, ...]:
    return tuple(recorded(CONVERSATIONS[name]()))


@pytest.mark.parametrize("preset", ["default", "forgetful"])
@pytest.mark.parametrize("name", CONVERSATIONS)
async def test_the_past_of_a_conversation_is_what_a_memory_held_that_heard_no_more(name: str, preset: str) -> None:
    turns = conversation(name)
    await check(turns, graph_configured(preset=preset), 26, lambda number: turns[number * 7 % len(turns)].text)


@pytest.mark.parametrize("seed", range(2))
async def test_so_it_is_when_parts_of_it_were_imported_in_any_order(seed: int) -> None:
    turns = list(conversation("generated"))
    seeded = random.Random(seed)
    parts = [turns[at : at + 40] for at in range(0, len(turns), 40)]
    seeded.shuffle(parts)
    mixed = [turn for part in parts for turn in part]
    await check(mixed, graph_configured(preset="forgetful"), seed, lambda number: mixed[number].text, moments=15)


def test_the_generated_conversation_is_worth_the_comparison() -> None:
    """Things fade in it, become long-term, and gather into themes: else the past would be easy to tell."""
    life = live(conversation("generated"), graph_configured(preset="forgetful"))
    kinds = {type(window).__name__ for window in life.windows}
    assert kinds == {"MemoryArchived", "ConsolidationWindowClosed"}
    assert any(life.graph.concepts.long_term)
    assert life.graph.view().themes
