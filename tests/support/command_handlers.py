"""Records of `turns` and the intake that judges them, with an extractor that finds one concept."""

from __future__ import annotations

import json
from typing import Any, cast

from emgas.wire import Record, partition_of
from processors.extraction.extractor import Extraction
from state.events.events import (
    DataEvent,
    GraphConfigured,
    TurnRecorded,
    TurnRejected,
    decode,
    encode,
)
from state.events.extraction_types import Concept
from state.log_position import Acceptance
from state.partition import Partition
from streams.ingest.command_handler import CommandHandler, Decision
from tests.support.logs import LogWriter

PARTITIONS = 4
HERE = partition_of("ada", PARTITIONS)
NOW, SKEW = 1_700_000_000_000, 300_000
LINK = {"epoch": 0, "claim": "", "seq": 1, "chain": ""}


class OneConcept:
    """An extractor that finds the same in every text."""

    version = "one concept"

    def of_turn(self, text: str, *, speaker: str, at: int) -> Extraction:
        return Extraction((Concept("kettle", "Kettle", 0.5, 1),), text.endswith("?"), len(text.split()))

    def of_query(self, text: str, at: int | None = None) -> Extraction:
        words = text.lower().split()
        return Extraction((Concept("kettle", "Kettle", 0.5, 1),) if "kettles" in words else (), False, len(words))


def intake(state: Partition | None = None, extractor: Any = None, embedder: Any = None) -> CommandHandler:
    state = state or LogWriter(partitions=PARTITIONS).folded()
    return CommandHandler(state, HERE, PARTITIONS, extractor or OneConcept(), SKEW, "mofox", lambda: NOW, embedder)


def a_turn(**changes: Any) -> bytes:
    turn = {"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The kettle broke.", **changes}
    return json.dumps({name: value for name, value in turn.items() if value is not ...}).encode()


def judge(judging: CommandHandler, came: Record) -> Decision:
    """Read and judge, as a turn loop does."""
    message = judging.read(came)
    return message if isinstance(message, Decision) else judging.judge(came, message)


def events_of(judged: Decision) -> list[DataEvent]:
    """Return the events that a judgement becomes, as the fold will read them."""
    events = [decode(encode(draft(**LINK))) for draft in judged.drafts]
    assert all(isinstance(event, DataEvent) for event in events)
    return cast("list[DataEvent]", events)


def event_of(judged: Decision) -> DataEvent:
    """Return the event that accounts for the record; before it only a graph's birth may come."""
    *births, event = events_of(judged)
    assert len(births) <= 1
    for birth in births:
        assert isinstance(birth, GraphConfigured)
        assert isinstance(event, TurnRecorded)
        assert (birth.src, birth.graph) == (None, event.graph), "only the turn moves the source position"
    return event


def fold_into(state: Partition, judged: Decision) -> None:
    """Fold what a judgement becomes."""
    for draft in judged.drafts:
        folded = state.fold(state.head.watermark + 1, encode(draft(**state.head.link)))
        assert folded.verdict is Acceptance.ACCEPTED


def recorded(judged: Decision) -> TurnRecorded:
    event = event_of(judged)
    assert isinstance(event, TurnRecorded), judged.reason
    return event


def reason_of(judged: Decision) -> str:
    event = event_of(judged)
    assert isinstance(event, TurnRejected)
    assert (judged.status, event.reason, event.src) == ("rejected", judged.reason, judged.arrival.offset)
    return event.reason
