"""Records of `turns` and the intake that judges them, with an extractor that finds one concept."""

from __future__ import annotations

import json
from typing import Any, cast

from emgas.wire import partition_of
from processors.extractor import Extraction
from state.events import (
    DataEvent,
    GraphConfigured,
    TurnRecorded,
    TurnRejected,
    decode,
    encode,
)
from state.facts import Concept
from state.head import Verdict
from state.partition import Partition
from streams.intake import Arrival, Intake, Judged
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


def intake(state: Partition | None = None, extractor: Any = None, embedder: Any = None) -> Intake:
    state = state or LogWriter(partitions=PARTITIONS).folded()
    return Intake(state, HERE, PARTITIONS, extractor or OneConcept(), SKEW, "mofox", lambda: NOW, embedder)


def a_turn(**changes: Any) -> bytes:
    turn = {"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The kettle broke.", **changes}
    return json.dumps({name: value for name, value in turn.items() if value is not ...}).encode()


def judge(judging: Intake, came: Arrival) -> Judged:
    """Read and judge, as a turn loop does."""
    message = judging.read(came)
    return message if isinstance(message, Judged) else judging.judge(came, message)


def events_of(judged: Judged) -> list[DataEvent]:
    """Return the events that a judgement becomes, as the fold will read them."""
    events = [decode(encode(draft(**LINK))) for draft in judged.drafts]
    assert all(isinstance(event, DataEvent) for event in events)
    return cast("list[DataEvent]", events)


def event_of(judged: Judged) -> DataEvent:
    """Return the event that accounts for the record; before it only a graph's birth may come."""
    *births, event = events_of(judged)
    assert len(births) <= 1
    for birth in births:
        assert isinstance(birth, GraphConfigured)
        assert isinstance(event, TurnRecorded)
        assert (birth.src, birth.graph) == (None, event.graph), "only the turn moves the source position"
    return event


def fold_into(state: Partition, judged: Judged) -> None:
    """Fold what a judgement becomes."""
    for draft in judged.drafts:
        folded = state.fold(state.head.watermark + 1, encode(draft(**state.head.link)))
        assert folded.verdict is Verdict.ACCEPTED


def recorded(judged: Judged) -> TurnRecorded:
    event = event_of(judged)
    assert isinstance(event, TurnRecorded), judged.reason
    return event


def reason_of(judged: Judged) -> str:
    event = event_of(judged)
    assert isinstance(event, TurnRejected)
    assert (judged.status, event.reason, event.src) == ("rejected", judged.reason, judged.arrival.offset)
    return event.reason
