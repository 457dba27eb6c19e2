"""Records of `turns` and the handler that decides them."""

from __future__ import annotations

import json
from typing import Any, cast

from emgas.wire import Record, partition_of
from lab.catalogue import GATES
from state.events.events import (
    DataEvent,
    GraphConfigured,
    TurnRecorded,
    TurnRejected,
    decode,
    encode,
)
from state.log_position import Acceptance, stamp
from state.partition import Partition
from state.sealing.keyring import NO_KEYS, Keyring
from streams.ingest.command_handler import CommandHandler
from streams.ingest.turns import Decision
from streams.ingest.verbs.deciding import HandlerContext
from tests.support.clocks import NOW
from tests.support.fakes import OneConcept
from tests.support.logs import LogWriter

PARTITIONS = 4
HERE = partition_of("ada", PARTITIONS)
SKEW = 300_000


def a_handler(
    state: Partition | None = None, extractor: Any = None, embedder: Any = None, *, keys: Keyring = NO_KEYS
) -> CommandHandler:
    context = HandlerContext(
        gate=GATES.__getitem__,
        partitions=PARTITIONS,
        extractor=extractor or OneConcept(),
        embedder=embedder,
        skew_ms=SKEW,
        preset="mofox",
        now=lambda: NOW,
        keys=keys,
    )
    return CommandHandler(state or LogWriter(partitions=PARTITIONS).folded(), HERE, context)


def a_turn(**changes: Any) -> bytes:
    turn = {"id": "t1", "graph": "ada", "speaker": "Ada", "text": "The kettle broke.", **changes}
    return json.dumps({name: value for name, value in turn.items() if value is not ...}).encode()


def decide(handler: CommandHandler, came: Record) -> Decision:
    """Read and decide, as a turn processor does."""
    command = handler.read(came)
    return command if isinstance(command, Decision) else handler.decide(came, command)


def events_of(decision: Decision) -> list[DataEvent]:
    """List the events that a decision becomes, as the fold will read them."""
    position = LogWriter(partitions=PARTITIONS).folded().position
    events = [decode(encode(stamp(event, position))) for event in decision.events]
    assert all(isinstance(event, DataEvent) for event in events)
    return cast("list[DataEvent]", events)


def event_of(decision: Decision) -> DataEvent:
    """Return the event that accounts for the record; before it only a graph's birth may come."""
    *births, event = events_of(decision)
    assert len(births) <= 1
    for birth in births:
        assert isinstance(birth, GraphConfigured)
        assert isinstance(event, TurnRecorded)
        assert (birth.src, birth.graph) == (None, event.graph), "only the turn moves the source position"
    return event


def fold_into(state: Partition, decision: Decision) -> None:
    """Fold what a decision becomes."""
    for event in decision.events:
        folded = state.fold(state.position.watermark + 1, encode(stamp(event, state.position)))
        assert folded.acceptance is Acceptance.ACCEPTED


def recorded(decision: Decision) -> TurnRecorded:
    event = event_of(decision)
    assert isinstance(event, TurnRecorded), decision.reason
    return event


def reason_of(decision: Decision) -> str:
    event = event_of(decision)
    assert isinstance(event, TurnRejected)
    assert (decision.status, event.reason, event.src) == ("rejected", decision.reason, decision.arrival.offset)
    return event.reason
