"""Quotas: the writer counts each turn once, whatever happens in between, and says what to do where one is used up."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from emgas.messages.rights import OVER_QUOTA
from emgas.wire import Record
from state.events.events import Claim, QuotaCounted, TurnRecorded, TurnRejected, decode, encode
from state.partition import Partition
from state.standing.quotas import ALL, Limit, tag_of
from state.store.store import MemoryStore
from streams.ingest.sealing import Sealer
from streams.transport.keys.key_store import MemoryKeys
from tests.streams.test_every_message import HERE, BoundedLog, account_for
from tests.support.clocks import NOW
from tests.support.command_handlers import a_handler, a_turn, decide, fold_into
from tests.support.fakes import arrival
from tests.support.logs import LogWriter


def turn(name: str, graph: str = "ada", **fields: Any) -> dict[str, Any]:
    return {"id": name, "graph": graph, "speaker": "Ada", "text": f"The kettle of {name}.", "at": NOW, **fields}


def quota(**fields: Any) -> dict[str, Any]:
    return {"kind": "quota", "id": "q", "graph": "ada", **fields}


def happened(messages: list[dict[str, Any]], at_once: int = 8, *, is_on: bool = False) -> tuple[Partition, BoundedLog]:
    state, log, _ = asyncio.run(account_for(messages, at_once, Sealer(MemoryKeys(), is_on=is_on)))
    return state, log


def numbers(state: Partition) -> list[str]:
    graph = state.graph("ada")
    return list(graph.passages.numbers) if graph is not None else []


def reasons(log: BoundedLog) -> list[str]:
    return [event.reason for _, value in log.values(HERE) if isinstance(event := decode(value), TurnRejected)]


@pytest.mark.parametrize("at_once", [1, 3, 64])
@pytest.mark.parametrize("is_on", [False, True], ids=["clear", "encrypted"])
def test_a_graph_takes_exactly_as_many_turns_as_its_quota_says_however_they_are_batched(
    at_once: int, is_on: bool
) -> None:
    spoken = [turn(f"t{number}") for number in range(8)]
    state, log = happened([quota(turns=5), *spoken[:3], *spoken[:3], *spoken[3:]], at_once, is_on=is_on)
    assert numbers(state) == [f"t{number}" for number in range(5)], "what came twice counts once"
    assert len(reasons(log)) == 3
    assert all(
        reason.startswith(f"{OVER_QUOTA}the quota of graph 'ada' is used up: 5 turns ") for reason in reasons(log)
    )
    assert "emgas admin quota" in reasons(log)[0]


def test_a_quota_counts_bytes_as_they_were_sent() -> None:
    size = len(json.dumps(turn("t0")).encode())
    state, _ = happened([quota(bytes=2 * size + 5), *(turn(f"t{number}") for number in range(4))])
    assert numbers(state) == ["t0", "t1"]
    limits = state.quota("ada")
    assert limits is not None
    assert limits.limits[ALL] == Limit(None, 2 * size + 5, 2, 2 * size)


def test_a_quota_that_is_set_again_begins_at_0_and_one_that_is_lifted_counts_no_more() -> None:
    state, log = happened([quota(turns=1), turn("t0"), turn("t1"), quota(turns=1), turn("t2"), quota(), turn("t3")])
    assert numbers(state) == ["t0", "t2", "t3"]
    assert state.quota("ada") is None
    assert len([value for _, value in log.values(HERE) if isinstance(decode(value), QuotaCounted)]) == 2


def test_what_is_forgotten_or_erased_still_counts_as_sent() -> None:
    forget = {"kind": "forget", "id": "f", "graph": "ada", "turns": ["t0"]}
    erase = {"kind": "erase", "id": "e", "graph": "ada", "turn": "t1"}
    state, log = happened([quota(turns=2), turn("t0"), turn("t1"), forget, erase, turn("t2")], is_on=True)
    assert numbers(state) == []
    assert len(reasons(log)) == 1


def of_subject(name: str | None, offset: int, turn_id: str) -> Record:
    more = {} if name is None else {"subject": name.encode()}
    return arrival(a_turn(id=turn_id), offset, **more)


def test_a_subject_has_a_quota_of_its_own_within_that_of_the_graph() -> None:
    state = LogWriter(partitions=4).folded()
    handler = a_handler(state)
    for offset, request in enumerate([quota(turns=3), quota(subject="planner", turns=1)]):
        fold_into(state, decide(handler, arrival(json.dumps(request).encode(), offset)))
    outcomes = []
    for offset, name in enumerate(["planner", "planner", "coach", None, "coach"], start=2):
        decision = decide(handler, of_subject(name, offset, f"t{offset}"))
        outcomes.append((name, decision.status))
        fold_into(state, decision)
    handler.folded()
    accepted = [("planner", "accepted"), ("planner", "rejected"), ("coach", "accepted"), (None, "accepted")]
    assert outcomes == [*accepted, ("coach", "rejected")]
    limits = state.quota("ada")
    assert limits is not None
    assert limits.limits[tag_of("ada", "planner")].used_turns == 1
    assert "planner" not in str(limits)


def test_a_subject_may_not_set_a_quota() -> None:
    refused = decide(a_handler(), arrival(json.dumps(quota(turns=9)).encode(), 0, subject=b"planner", rights=b"admin"))
    assert (refused.status, refused.reason) == ("rejected", "only an operator sets quotas, not a subject")


def test_a_turn_that_was_counted_before_its_writer_died_is_recorded_and_counts_once() -> None:
    state = LogWriter(partitions=4).folded()
    handler = a_handler(state)
    fold_into(state, decide(handler, arrival(json.dumps(quota(turns=1)).encode(), 0)))
    decision = decide(handler, of_subject(None, 1, "t1"))
    assert isinstance(decision.events[0], QuotaCounted)
    died = decide(a_handler(state), of_subject(None, 1, "t1"))
    died.events = died.events[:1]  # the writer dies behind it
    fold_into(state, died)
    again = decide(a_handler(state), of_subject(None, 1, "t1"))
    assert again.status == "accepted"
    assert not any(isinstance(event, QuotaCounted) for event in again.events)
    assert isinstance(again.events[-1], TurnRecorded)
    fold_into(state, again)
    assert decide(a_handler(state), of_subject(None, 2, "t2")).status == "rejected"


def test_counts_survive_a_restart_and_are_folded_alike_one_by_one_and_together() -> None:
    _, log = happened([quota(turns=5), *(turn(f"t{number}") for number in range(3))])
    one_by_one, together = Partition(MemoryStore()), Partition(store := MemoryStore())
    for offset, value in log.values(HERE):
        one_by_one.fold(offset, value)
    together.fold_all(log.values(HERE))
    assert one_by_one.digest() == together.digest()
    together.flush()
    opened = Partition(store).quota("ada")
    assert opened is not None
    assert opened.limits[ALL] == Limit(5, None, 3, 3 * len(json.dumps(turn("t0")).encode()))


def test_a_topic_that_was_created_again_is_counted_from_its_beginning() -> None:
    _, log = happened([quota(turns=5), turn("t0"), turn("t1")])
    for changes in ({"anew": True}, {"source_topic": "other"}):
        state = Partition(MemoryStore())
        first = encode(Claim(writer="me", partitions=4, nonce="n0", source_topic="first"))
        state.fold_all([*log.values(HERE), (100, first)])
        before = state.quota("ada")
        assert before is not None
        assert before.counted == 2
        state.fold(101, encode(Claim(writer="me", partitions=4, nonce="n1", **changes)))
        after = state.quota("ada")
        assert after is not None
        assert (after.counted, after.limits) == (-1, before.limits)
