"""Whatever was asked of a memory: it can be exported, imported, branched, undone and rebuilt."""

from __future__ import annotations

import asyncio
import io
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emgas import limits
from emgas.messages.requests import Command
from emgas.messages.topics import read_inbound
from emgas.messages.turns import Turn
from emgas.validation import encode
from emgas.wire import Record
from replay.as_of.history import counting_events
from replay.backup.backup import write
from replay.backup.lines import Header
from replay.backup.restore import restore
from replay.branch import messages
from replay.rebuild.rebuild import refold
from replay.verify.verify import verify_partition
from state.events.events import TurnRejected, decode
from state.partition import Partition
from state.store.store import MemoryStore
from streams.ingest.sealing import Sealer
from streams.transport.keys.key_store import MemoryKeys
from tests.replay.test_restore import Topic
from tests.streams.test_every_message import ADMITTED, HERE, PARTITIONS, BoundedLog, account_for
from tests.support.clocks import NOW

MOST = 3 * limits.TOP
NAMED = st.sampled_from([f"t{number}" for number in range(6)])
_spoken = st.builds(
    lambda name, session, at: _turn(name, session=session, at=at),
    NAMED,
    st.sampled_from(["main", "work"]),
    st.sampled_from([NOW - 10**9, NOW, "1970-01-24T03:33:20Z", "0001-01-01T00:00:00Z"]),
)
_selections = st.sampled_from(
    [{"everything": True}, {"sessions": ["main"]}, {"turns": ["t1", "t2"]}, {"concepts": ["kettle"]}]
)
_requests = st.one_of(
    st.builds(lambda selection: {"kind": "forget", "id": "f", "graph": "ada", **selection}, _selections),
    st.builds(lambda turn: {"kind": "erase", "id": "e", "graph": "ada", "turn": turn}, NAMED),
    st.builds(lambda turn: {"kind": "pin", "id": "p", "graph": "ada", "turns": [turn]}, NAMED),
    st.builds(lambda turn: {"kind": "feedback", "id": "b", "graph": "ada", "turns": [turn], "value": 1.0}, NAMED),
    st.builds(lambda first: {"kind": "undo", "id": "u", "graph": "ada", "first": first}, st.integers(0, 12)),
)
HISTORIES = st.builds(
    lambda *parts: [message for part in parts for message in part],
    st.lists(_spoken, min_size=4, max_size=8),
    st.lists(_spoken | _requests | ADMITTED, min_size=2, max_size=12),
)


def _turn(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "graph": "ada", "speaker": "Ada", "text": f"The kettle of {name}.", **fields}


def lived(happened: list[dict[str, Any]], keys: MemoryKeys, *, is_encrypted: bool) -> tuple[Partition, BoundedLog]:
    state, log, _ = asyncio.run(account_for(happened, 8, Sealer(keys, is_on=is_encrypted)))
    return state, log


async def branched(log: BoundedLog) -> list[Command]:
    return [each.message async for each in messages(counting_events(log, HERE))]


async def imported(log: BoundedLog) -> Topic:
    """Export a log, and import it into a memory that has none."""
    file, bounds = io.BytesIO(), [await log.bounds(partition) for partition in range(PARTITIONS)]
    await write(log, file, Header("emgas", None, tuple(bounds), "0.1.0", NOW))
    topic = Topic(*([] for _ in bounds))
    await restore(io.BytesIO(file.getvalue()), topic, NOW, lambda: "nonce")
    return topic


def values(records: list[Record]) -> list[bytes]:
    return [record.value for record in records]


def check(happened: list[dict[str, Any]], *, is_encrypted: bool) -> Partition:
    """Export, import, rebuild and branch what happened; return the state of the branch."""
    keys = MemoryKeys()
    state, log = lived(happened, keys, is_encrypted=is_encrypted)
    end = len(log.records[HERE])
    rebuilt = asyncio.run(refold(log, HERE, end, MemoryStore()))
    assert rebuilt.position == state.position
    assert rebuilt.digest() == state.digest()
    again = asyncio.run(imported(log))
    assert values(again.records[HERE])[:end] == values(log.records[HERE]), "the claim that follows is the import's"
    verified = asyncio.run(verify_partition(log, HERE, end - 1, state.digest()))
    assert verified.match
    sent = asyncio.run(branched(log))
    for message in sent:
        value = encode(message)
        assert len(value) <= limits.RECORD_BYTES
        assert read_inbound(value) == message, "the wire admits it"
    if not sent:
        return Partition(MemoryStore())
    branch, beside = lived([json.loads(encode(message)) for message in sent], MemoryKeys(), is_encrypted=is_encrypted)
    refused = {event.src for _, value in beside.values(HERE) if isinstance(event := decode(value), TurnRejected)}
    assert not [message for place, message in enumerate(sent) if place in refused and isinstance(message, Turn)]
    return branch


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(HISTORIES, st.booleans())
def test_whatever_happened_it_can_be_exported_imported_branched_undone_and_rebuilt(
    happened: list[dict[str, Any]], is_encrypted: bool
) -> None:
    check(happened, is_encrypted=is_encrypted)


def test_what_forgot_or_pinned_or_undid_more_than_a_message_may_name_can_be_branched() -> None:
    turns = [_turn(f"t{number}", at=NOW - 10**6 + number) for number in range(MOST)]
    kept = [_turn(f"k{number}", session="kept", at=NOW) for number in range(3)]
    forget = {"kind": "forget", "id": "f", "graph": "ada", "sessions": ["main"]}
    undo = {"kind": "undo", "id": "u", "graph": "ada", "first": MOST + 4}
    graph = check([*turns, *kept, forget], is_encrypted=False).graph("ada")
    assert graph is not None
    assert list(graph.passages.numbers) == ["k0", "k1", "k2"]
    graph = check([*turns, *kept, forget, undo], is_encrypted=False).graph("ada")
    assert graph is not None
    assert len(graph.passages.numbers) == MOST + 3


def test_what_was_erased_leaves_no_message_that_the_wire_refuses() -> None:
    turns = [_turn(f"t{number}", at=NOW - 10**6 + number) for number in range(3)]
    judged = {"kind": "feedback", "id": "b", "graph": "ada", "turns": ["t1"], "value": 1.0}
    pinned = {"kind": "pin", "id": "p", "graph": "ada", "turns": ["t1"]}
    erased = {"kind": "erase", "id": "e", "graph": "ada", "turn": "t1"}
    graph = check([*turns, judged, pinned, erased], is_encrypted=True).graph("ada")
    assert graph is not None
    assert list(graph.passages.numbers) == ["t0", "t2"]
