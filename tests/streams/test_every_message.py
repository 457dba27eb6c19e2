"""Every message that the wire admits, in every state: decided, encoded, appended and folded, or rejected, and told."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import Any, get_args

import annotated_types
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from emgas import limits
from emgas.messages.fields import Modality
from emgas.messages.requests import Command, Right
from emgas.messages.settings.memory_settings import AllSettings
from emgas.messages.topics import INBOUND, read_inbound
from emgas.wire import partition_of
from lab.catalogue import GATES
from state.events.events import Claim, TurnRejected, decode, source_of
from state.events.memory_settings import PRESETS
from state.partition import Partition
from state.sealing.keyring import NO_KEYS, Keyring
from state.store.store import MemoryStore
from streams.ingest.command_handler import CommandHandler
from streams.ingest.partition_writer import PartitionWriter
from streams.ingest.sealing import Sealer
from streams.ingest.slices import Slices
from streams.ingest.turn_processor import Delivery, ProcessorContext, TurnProcessor
from streams.ingest.verbs.deciding import HandlerContext
from streams.transport.keys.key_store import MemoryKeys
from streams.transport.topic_plan import RECORD_BYTES
from tests.support.clocks import NOW
from tests.support.fakes import DEAD_LETTERS, MemoryLog, OneConcept, SentRecords, arrival, no_id
from tests.support.logs import fold
from tests.support.window_timers import timer_of
from tests.verbs import COMMAND_VERBS

PARTITIONS = 4
HERE = partition_of("ada", PARTITIONS)

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
EXISTING = ("t1", "t2", "kettle", "main")  # so that messages are about each other
NAMES = st.sampled_from(EXISTING) | st.text(CHARACTERS, min_size=1, max_size=limits.NAME_CHARACTERS)
TEXTS = st.one_of(
    st.text(CHARACTERS, max_size=200),
    st.builds(lambda text, bytes: text * (bytes // max(1, len(text.encode()))), st.text(CHARACTERS, max_size=9),
              st.sampled_from([1000, limits.TEXT_BYTES])),
)  # fmt: skip
METADATA = st.dictionaries(
    st.text(CHARACTERS, max_size=limits.METADATA_CHARACTERS),
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-limits.METADATA_INTEGER, limits.METADATA_INTEGER),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(CHARACTERS, max_size=limits.METADATA_CHARACTERS),
    ),
    max_size=limits.METADATA_ENTRIES,
)
MANY = st.lists(NAMES, max_size=limits.TOP)
POSITIONS = st.integers(0, 12) | st.sampled_from([2**53, 2**63 - 1])


def _setting(name: str) -> st.SearchStrategy[int | float]:
    """Draw what the wire admits for a setting, its bounds above all."""
    field = AllSettings.model_fields[name]
    low = next(it.ge if isinstance(it, annotated_types.Ge) else it.gt for it in field.metadata if _is_low(it))
    high = next(it.le for it in field.metadata if isinstance(it, annotated_types.Le))
    assert isinstance(low, (int, float))
    assert isinstance(high, (int, float))
    if isinstance(field.default, int):
        return st.sampled_from([int(low), int(high)]) | st.integers(int(low), int(high))
    return st.sampled_from([float(low), float(high)]) | st.floats(float(low), float(high))


def _is_low(bound: object) -> bool:
    return isinstance(bound, (annotated_types.Ge, annotated_types.Gt))


SETTINGS = st.fixed_dictionaries({}, optional={name: _setting(name) for name in AllSettings.model_fields})


def _request(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"kind": st.just(kind), "id": NAMES, "graph": st.just("ada"), **fields})


ATTACHMENTS = st.fixed_dictionaries(
    {"uri": NAMES},
    optional={"kind": st.sampled_from(get_args(Modality)), "caption": st.text(CHARACTERS, max_size=2000)},
)
TURNS = st.fixed_dictionaries(
    {"id": NAMES, "graph": st.just("ada"), "speaker": NAMES, "text": TEXTS},
    optional={
        "session": NAMES,
        "role": st.sampled_from(["user", "assistant", "system", "tool"]),
        "at": st.integers(NOW - 10**9, NOW) | st.integers(limits.EARLIEST_MS, limits.LATEST_MS),
        "metadata": METADATA,
        "importance": st.none() | st.floats(0, 1),
        "attachments": st.lists(ATTACHMENTS, max_size=3),
    },
)
NOTED = {"concepts": MANY, "turns": MANY}
OF_SUBJECTS = {"subject": NAMES, "rights": st.lists(st.sampled_from(get_args(Right)), min_size=1, max_size=4)}
RATED = st.fixed_dictionaries({"source": NAMES, "target": NAMES, "rating": st.floats(0, 1)})
PARTS = st.lists(
    st.fixed_dictionaries({"start": st.integers(0, 60), "end": st.integers(1, 60)}), min_size=2, max_size=4
)
REQUESTS = {
    "configure": _request("configure", preset=st.sampled_from(sorted(PRESETS)), settings=SETTINGS),
    "forget": _request("forget", **NOTED, sessions=MANY, everything=st.booleans()),
    "pin": _request("pin", **NOTED),
    "unpin": _request("unpin", **NOTED),
    "feedback": _request(
        "feedback", turns=st.lists(NAMES, min_size=1, max_size=3), query=st.none() | TEXTS, value=st.floats(-1, 1)
    ),
    "undo": _request("undo", first=POSITIONS, last=st.none() | POSITIONS),
    "erase": st.one_of(
        _request("erase", turn=NAMES), _request("erase", speaker=NAMES), _request("erase", whole=st.just(True))
    ),
    "endsession": _request("endsession", session=NAMES),
    "grant": _request("grant", **OF_SUBJECTS),
    "revoke": _request("revoke", **OF_SUBJECTS),
    "reinforce": _request("reinforce", **NOTED, at=st.integers(limits.EARLIEST_MS, limits.LATEST_MS)),
    "advice": st.one_of(
        _request("advice", by=NAMES, named=st.fixed_dictionaries({"theme": NAMES, "name": NAMES})),
        _request("advice", by=NAMES, rated=st.lists(RATED, min_size=1, max_size=3)),
        _request("advice", by=NAMES, summary=st.fixed_dictionaries({"session": NAMES, "summary": TEXTS})),
        _request("advice", by=NAMES, rewritten=st.fixed_dictionaries({"turn": NAMES, "text": TEXTS, "role": NAMES})),
        _request("advice", by=NAMES, split=st.fixed_dictionaries({"turn": NAMES, "parts": PARTS})),
        _request("advice", by=NAMES, judged=st.fixed_dictionaries({"turn": NAMES, "worth": st.floats(0, 1)})),
    ),
}


OF_TABLE = st.sampled_from(
    [verb.value(fields, graph="ada") for verb in COMMAND_VERBS for fields in (verb.fields, *verb.refused)]
)


def _is_admitted(message: dict[str, Any]) -> bool:
    try:
        INBOUND.validate_json(json.dumps(message))
    except ValidationError:
        return False
    return True


ADMITTED = (TURNS | TURNS | OF_TABLE | st.one_of(*REQUESTS.values())).filter(_is_admitted)


class BoundedLog(MemoryLog):
    """Takes what the topic `events` takes, and brings keys."""

    graph_keys: Keyring = NO_KEYS

    async def append(self, partition: int, records: Sequence[tuple[bytes | None, bytes]]) -> list[int]:
        assert all(len(key or b"") + len(value) < RECORD_BYTES for key, value in records)
        return await super().append(partition, records)


async def account_for(
    messages: list[dict[str, Any]], at_once: int, sealer: Sealer, *, encrypts: bool = True
) -> tuple[Partition, BoundedLog, SentRecords]:
    """Run a turn processor over messages; give its state, its log and what it sent.  Raises what it raises."""
    log, turns, sent = BoundedLog(PARTITIONS), MemoryLog(PARTITIONS), SentRecords()
    state = Partition(MemoryStore(), graph_keys=sealer.keys)
    log.graph_keys = sealer.keys
    writer = PartitionWriter(HERE, state, log, partitions=PARTITIONS, worker="me", timeout=60.0, sealer=sealer)
    handling = HandlerContext(
        gate=GATES.__getitem__,
        partitions=PARTITIONS,
        extractor=OneConcept(),
        skew_ms=0,
        preset="default",
        now=lambda: NOW,
        keys=sealer.keys,
        encrypts=encrypts,
    )
    processing = ProcessorContext(
        sender=sent.sender(),
        turns=turns,
        turns_topic="emgas.turns",
        topic_id=no_id,
        batch_turns=at_once,
        queued_turns=100,
        hold=lambda partition, is_full: None,
        slices=Slices(time.perf_counter),
        sealer=sealer,
    )
    handler = CommandHandler(state, HERE, handling)
    processor = TurnProcessor(writer=writer, timer=timer_of(writer, log, sent), handler=handler, context=processing)
    await writer.claim()
    for offset, message in enumerate(messages):
        value = json.dumps(message).encode()
        turns.put(value, b"ada", HERE)
        processor.put(Delivery(arrival(value, offset, timestamp=NOW + offset), lambda: None))
    working = asyncio.create_task(processor.run())
    folded = asyncio.create_task(writer.until_source(len(messages) - 1))
    await asyncio.wait({working, folded}, return_when=asyncio.FIRST_COMPLETED)
    working.cancel()
    (outcome,) = await asyncio.gather(working, return_exceptions=True)
    if isinstance(outcome, Exception):
        raise outcome
    return state, log, sent


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(ADMITTED, min_size=1, max_size=8), st.sampled_from([1, 8]), st.booleans())
def test_every_message_that_the_wire_admits_is_appended_and_folded_or_rejected_and_kept(
    messages: list[dict[str, Any]], at_once: int, is_encrypted: bool
) -> None:
    keys = MemoryKeys()
    state, log, sent = asyncio.run(account_for(messages, at_once, Sealer(keys, is_on=is_encrypted)))
    refolded = fold(log.values(HERE), Partition(MemoryStore(), graph_keys=keys))
    assert refolded.digest() == state.digest()
    assert state.position.source == len(messages) - 1
    sources = [source for event in _events(log) if (source := source_of(event)) is not None]
    assert sources == list(range(len(messages))), "each is accounted for, once and in order"
    rejected = [event for event in _events(log) if isinstance(event, TurnRejected)]
    assert len(sent.to(DEAD_LETTERS)) == len(rejected)


def _events(log: BoundedLog) -> list[Any]:
    return [event for _, value in log.values(HERE) if not isinstance(event := decode(value), Claim)]


def _decoded(read: Callable[[bytes], Command], value: bytes) -> Command | list[Any]:
    try:
        return read(value)
    except ValidationError as error:
        return error.errors(include_url=False)


@given(ADMITTED)
def test_a_record_is_read_as_what_it_says_it_is_and_a_turn_need_not_say_so(message: dict[str, Any]) -> None:
    value = json.dumps(message).encode()
    assert read_inbound(value) == INBOUND.validate_json(value)


@pytest.mark.parametrize(
    "value",
    [
        b"[]",
        b"{",
        b"null",
        b"{}",
        b'{"id": "t1", "graph": "ada", "speaker": "Ada"}',
        b'{"id": "t1", "graph": "ada", "speaker": "Ada", "text": "x", "more": 1}',
        b'{"id": "t1", "graph": "ada", "speaker": "Ada", "text": 7}',
        b'{"kind": "nothing"}',
        b'{"\\u006bind": "endsession", "id": "e1", "graph": "ada", "session": "s"}',
        b'{"\\u006bind": "pin", "id": "e1"}',
    ],
)
def test_what_cannot_be_read_is_refused_for_the_same_reason_whether_it_says_what_it_is_or_not(value: bytes) -> None:
    assert _decoded(read_inbound, value) == _decoded(INBOUND.validate_json, value)
