"""A graph's own events, received elsewhere: they fold to the same digest, and nothing that was erased comes along."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emgas.validation import encode
from replay.as_of.history import history
from replay.rebuild.rebuild import refold
from replay.transfer import Survey, Transferred, folded, forked, messages, restamped, survey
from state.events.events import Sealed, TurnRecorded, TurnRejected, decode
from state.graph import codec
from state.partition import Partition
from state.standing.placement import Placement
from state.store.store import MemoryStore
from streams.errors import RefusedError
from streams.ingest.sealing import Sealer
from streams.ingest.verbs.refusals import moved
from streams.ingest.verbs.transfer import EARLIER, ERASED_HERE, ERASED_THERE, EXISTS, GREW, LEFT, OVERTAKEN, STAYED
from streams.query.handler import check_answers
from streams.transport.keys.key_store import MemoryKeys
from tests.streams.test_any_history import HISTORIES, lived
from tests.streams.test_every_message import HERE, BoundedLog, account_for
from tests.support.clocks import NOW

SECRET = "The emerald of t1"
STAMP = ("v", "epoch", "claim", "seq", "chain")


def turn(name: str, text: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": name, "graph": "ada", "speaker": "Ada", "text": text or f"The kettle of {name}.", "at": NOW, **fields}


def request(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "id": kind, "graph": "ada", **fields}


async def exported(
    log: BoundedLog, name: str = "ada", *, hop: int = 0
) -> tuple[Survey, Transferred, list[dict[str, Any]]]:
    """Return what is received of the graph `ada` of a log, as messages."""
    known = await survey(log, HERE, "ada")
    assert known is not None
    digest = await folded(restamped(log, known, name), name)
    header = Transferred(name, known.origin, known.events, digest, known.is_encrypted, hop)
    sent = [each async for each in messages(restamped(log, known, name), header)]
    return known, header, [json.loads(encode(each)) for each in sent]


def received(sent: Sequence[dict[str, Any]], *, is_encrypted: bool = False) -> tuple[Partition, BoundedLog, MemoryKeys]:
    keys = MemoryKeys()
    state, log = lived(list(sent), keys, is_encrypted=is_encrypted)
    return state, log, keys


def digest_of(state: Partition) -> str:
    graph = state.graph("ada")
    assert graph is not None
    return graph.digest()


def event_count(state: Partition) -> int:
    graph = state.graph("ada")
    assert graph is not None
    return graph.events


def reasons(log: BoundedLog) -> list[str]:
    return [event.reason for _, value in log.values(HERE) if isinstance(event := decode(value), TurnRejected)]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(HISTORIES, st.booleans(), st.booleans())
def test_whatever_happened_a_graph_is_the_same_wherever_it_is_received(
    happened: list[dict[str, Any]], is_encrypted: bool, is_target_encrypted: bool
) -> None:
    keys = MemoryKeys()
    state, log = lived(happened, keys, is_encrypted=is_encrypted)
    before = state.graph("ada")
    if before is None:
        return
    _, header, sent = asyncio.run(exported(log))
    assert header.digest == before.digest()
    there, log_there, _ = received([*sent, *sent[:2]], is_encrypted=is_encrypted or is_target_encrypted)
    assert not reasons(log_there)
    assert digest_of(there) == before.digest()
    assert there.placement("ada") == Placement("received", header.origin, events=header.total)
    after = there.graph("ada")
    assert after is not None
    assert (after.events, after.undoable_from, after.clock) == (before.events, before.undoable_from, before.clock)
    again = asyncio.run(refold(log_there, HERE, len(log_there.records[HERE]), MemoryStore()))
    assert again.digest() == there.digest()
    assert asyncio.run(times(log)) == asyncio.run(times(log_there)), "the past is the same as well"


async def times(log: BoundedLog) -> list[tuple[int, int]]:
    past = await history(log, HERE, "ada")
    return [
        (time, ordinal)
        for time, ordinal, place in zip(past.times, past.ordinals, range(len(past)), strict=True)
        if type(past.event(place)).__name__ != "EventErased"
    ]


def spoken(count: int = 4) -> list[dict[str, Any]]:
    return [turn(f"t{number}") for number in range(count)]


def test_what_was_erased_is_in_no_export_even_while_a_key_would_still_open_it() -> None:
    keys = MemoryKeys()
    happened = [turn("t0"), turn("t1", f"{SECRET} is green."), turn("t2"), request("erase", turn="t1")]
    _, log = lived(happened, keys, is_encrypted=True)
    whole = [key for key in keys.every() if key.graph == "ada"]
    assert whole, "its secrets but one are kept"
    _, _, sent = asyncio.run(exported(log))
    assert SECRET not in json.dumps(sent)
    assert "emerald" not in json.dumps(sent)
    there, log_there, keys_there = received(sent, is_encrypted=True)
    graph = there.graph("ada")
    assert graph is not None
    assert list(graph.passages.numbers) == ["t0", "t2"]
    of_graph = {kind(value) for _, value in log_there.values(HERE)}
    assert of_graph == {"Claim", "GraphReceived", "Sealed"}, "nothing of it lies there in clear"
    assert {key.id for key in keys_there.every()}.isdisjoint(key.id for key in whole), "it has keys of its own"
    came_again, *_ = received([*sent, turn("t1", f"{SECRET} is green.")], is_encrypted=True)
    assert digest_of(came_again) == digest_of(there), "an erased turn is not recorded again"


def kind(value: bytes) -> str:
    return type(decode(value)).__name__


def test_an_erasure_that_comes_after_a_part_was_received_destroys_it_there_too() -> None:
    keys = MemoryKeys()
    early = [turn("t0"), turn("t1", f"{SECRET} is green."), turn("t2")]
    _, log = lived(early, keys, is_encrypted=True)
    _, _, begun = asyncio.run(exported(log))
    _, later = lived([*early, request("erase", turn="t1")], MemoryKeys(), is_encrypted=True)
    _, header, rest = asyncio.run(exported(later))
    same = [message | {"origin": header.origin, "id": f"again-{number}"} for number, message in enumerate(begun[:-1])]
    there, log_there, keys_there = received([*same, *rest], is_encrypted=True)
    assert digest_of(there) == header.digest
    values = [value for _, value in log_there.values(HERE) if kind(value) == "Sealed"]
    opened = [
        event
        for value in values
        if isinstance(event := decode(value), Sealed) and keys_there.of("ada")[event.key].secret_of(event.n)
    ]
    assert len(opened) == len(values) - 1, "the secret of the turn is destroyed here as well"


def test_all_of_a_graph_that_was_erased_and_begun_again_comes_along_as_what_it_is_now() -> None:
    happened = [*spoken(), request("erase", whole=True), turn("n1"), turn("n2")]
    before, log = lived(happened, MemoryKeys(), is_encrypted=True)
    _, header, sent = asyncio.run(exported(log))
    there, log_there, _ = received(sent, is_encrypted=True)
    assert not reasons(log_there)
    assert digest_of(there) == digest_of(before) == header.digest
    assert "kettle of t0" not in json.dumps(sent)


def test_until_all_is_here_a_graph_takes_nothing_else_and_the_rest_may_come_in_another_life() -> None:
    happened = [*spoken(), request("pin", turns=["t1"]), request("forget", turns=["t2"])]
    _, log = lived(happened, MemoryKeys(), is_encrypted=False)
    _, header, sent = asyncio.run(exported(log))
    half = [{**sent[0], "events": sent[0]["events"][:3], "id": "half"}]
    there, log_there, _ = received([*half, turn("t9"), {**sent[-1], "id": "end"}])
    assert there.placement("ada") == Placement("receiving", header.origin)
    not_yet, short = reasons(log_there)
    assert not_yet.startswith("graph 'ada' is incomplete: send this again in a moment.")
    assert "send event 3 next" in short
    assert there.graph_ids_with_content() == []
    there, log_there, _ = received([*half, *half, *sent, turn("t9")])
    assert not reasons(log_there)
    graph = there.graph("ada")
    assert graph is not None
    assert list(graph.passages.numbers) == ["t0", "t1", "t3", "t9"]


def test_what_the_receiver_has_already_need_not_be_sent_again() -> None:
    happened = [*spoken(), request("erase", turn="t1"), request("forget", turns=["t2"])]
    _, log = lived(happened, MemoryKeys(), is_encrypted=True)
    known, header, sent = asyncio.run(exported(log))

    async def rest(count: int) -> list[dict[str, Any]]:
        behind = messages(restamped(log, known), header, known=count)
        return [json.loads(encode(each)) | {"id": f"rest-{count}"} async for each in behind]

    for count in range(header.total + 1):
        behind = asyncio.run(rest(count))
        assert sum(len(each["events"]) for each in behind) == header.total - count
        begun = [{**sent[0], "events": sent[0]["events"][:count], "id": "begun"}] if 0 < count <= 4 else sent[:-1]
        there, log_there, _ = received([*begun, *behind], is_encrypted=True)
        assert not reasons(log_there)
        assert digest_of(there) == header.digest


def test_a_graph_that_exists_takes_no_events_of_another() -> None:
    _, log = lived(spoken(), MemoryKeys(), is_encrypted=False)
    _, _, sent = asyncio.run(exported(log))
    there, log_there, _ = received([turn("mine"), *sent])
    assert set(reasons(log_there)) == {EXISTS.format("ada")}
    graph = there.graph("ada")
    assert graph is not None
    assert list(graph.passages.numbers) == ["mine"]


def test_what_was_changed_on_the_way_stays_closed() -> None:
    _, log = lived(spoken(), MemoryKeys(), is_encrypted=False)
    _, header, (events, end) = asyncio.run(exported(log))
    changed = {**events, "events": [value.replace("kettle of t2", "kettle of t7") for value in events["events"]]}
    there, log_there, _ = received([changed, end])
    (reason,) = reasons(log_there)
    assert header.digest in reason
    assert there.placement("ada") == Placement("receiving", header.origin)


@pytest.mark.parametrize("spoiled", ["no event", '{"v":2}', '{"v":99,"kind":"TurnRecorded"}'])
def test_what_is_no_event_of_the_graph_is_rejected(spoiled: str) -> None:
    _, log = lived(spoken(), MemoryKeys(), is_encrypted=False)
    _, _, (events, _) = asyncio.run(exported(log))
    other = events["events"][0].replace('"graph":"ada"', '"graph":"bob"')
    for value in (spoiled, other):
        there, log_there, _ = received([{**events, "events": [value]}])
        assert len(reasons(log_there)) == 1
        assert there.graph("ada") is None


def test_what_was_received_can_be_undone_forgotten_and_erased_as_where_it_came_from() -> None:
    happened = [*spoken(), request("forget", turns=["t2"])]
    _, log = lived(happened, MemoryKeys(), is_encrypted=True)
    _, _, sent = asyncio.run(exported(log))
    for more in (request("undo", first=5), request("erase", turn="t1"), request("pin", turns=["t0"])):
        there, log_there, _ = received([*sent, more], is_encrypted=True)
        here, _ = lived([*happened, more], MemoryKeys(), is_encrypted=True)
        assert not reasons(log_there)
        assert digest_of(there) == digest_of(here)


def test_another_name_changes_nothing_but_the_name() -> None:
    happened = [*spoken(), request("erase", turn="t1"), request("forget", turns=["t2"]), request("undo", first=6)]
    _, log = lived(happened, MemoryKeys(), is_encrypted=True)
    before, after = (asyncio.run(contents(log, name)) for name in ("ada", "bob"))
    assert (before.pop("name"), after.pop("name")) == ("ada", "bob")
    assert before == after


async def contents(log: BoundedLog, name: str) -> dict[str, Any]:
    """Fold an export under a name; return the content of the graph."""
    known = await survey(log, HERE, "ada")
    assert known is not None
    state = Partition(MemoryStore())
    async for record in restamped(log, known, name):
        state.fold(record.offset, record.value)
    graph = state.graph(name)
    assert graph is not None
    assert graph.digest()  # compacts it
    values, arrays = codec.content(graph)
    return {**values, **{name: array.tolist() for name, array in arrays.items()}}


def test_a_graph_of_an_encrypted_memory_goes_into_no_memory_in_clear() -> None:
    _, log = lived(spoken(), MemoryKeys(), is_encrypted=True)
    _, _, sent = asyncio.run(exported(log))
    state, beside, _ = asyncio.run(account_for(sent, 8, Sealer(MemoryKeys(), is_on=False), encrypts=False))
    assert state.graph("ada") is None
    assert "set EMGAS_ENCRYPTION=on" in reasons(beside)[0]


def test_a_graph_that_leaves_accepts_nothing_and_stays_if_the_move_is_cancelled() -> None:
    to = "embedded:/elsewhere"
    leaves = request("move", to=to, phase="begin")
    there, log = lived([*spoken(), leaves, leaves, turn("late")], MemoryKeys(), is_encrypted=False)
    assert there.placement("ada") == Placement("leaving", to, events=event_count(there))
    assert [reason.split(":")[0] for reason in reasons(log)] == [f"graph 'ada' is being moved to {'embedded'}"]
    left = [*spoken(), leaves, request("move", to=to, phase="finish"), turn("late")]
    gone, log = lived(left, MemoryKeys(), is_encrypted=False)
    assert reasons(log) == [f"graph 'ada' was moved to {to}: use it there"]
    assert gone.graph_ids_with_content() == []
    assert digest_of(gone) == digest_of(there), "where a graph is belongs to no digest of it"
    stays = [*spoken(), leaves, request("move", to=to, phase="cancel"), turn("late")]
    stayed, log = lived(stays, MemoryKeys(), is_encrypted=False)
    assert not reasons(log)
    assert digest_of(stayed) == digest_of(lived([*spoken(), turn("late")], MemoryKeys(), is_encrypted=False)[0])
    finished = [*spoken(), leaves, request("move", to=to, phase="finish"), request("move", to=to, phase="cancel")]
    _, log = lived(finished, MemoryKeys(), is_encrypted=False)
    assert reasons(log) == [LEFT.format("ada", to)], "it lives there, and would live in two places"
    _, log = lived([*spoken(), leaves, request("move", to="x", phase="finish")], MemoryKeys(), is_encrypted=False)
    assert reasons(log) == [f"graph 'ada' is being moved, or was moved, to {to}"]


def test_a_mover_that_was_overtaken_does_not_let_a_graph_leave_of_which_only_a_part_arrived() -> None:
    leaves, stays = (request("move", to="x", phase=phase) for phase in ("begin", "cancel"))
    late = request("move", to="x", phase="finish", events=4)
    there, log = lived([*spoken(), leaves, stays, turn("more"), leaves, late], MemoryKeys(), is_encrypted=False)
    assert reasons(log) == [GREW.format("ada", event_count(there), 4)]
    placement = there.placement("ada")
    assert placement is not None
    assert placement.status == "leaving"


def test_where_graphs_are_survives_a_restart_and_is_folded_alike_one_by_one_and_together() -> None:
    _, log = lived([*spoken(), request("move", to="x", phase="begin")], MemoryKeys(), is_encrypted=False)
    one_by_one, together = Partition(MemoryStore()), Partition(store := MemoryStore())
    for offset, value in log.values(HERE):
        one_by_one.fold(offset, value)
    together.fold_all(log.values(HERE))
    assert one_by_one.digest() == together.digest()
    together.flush()
    assert Partition(store).placement("ada") == Placement("leaving", "x", events=event_count(together))


def test_a_mover_whose_move_was_cancelled_behind_its_last_message_leaves_a_closed_copy() -> None:
    """Each message in the order in which the two memories get it: check there, cancel here, finish here, open there."""
    begin, cancel = (request("move", to="x", phase=phase) for phase in ("begin", "cancel"))
    _, log = lived(spoken(), MemoryKeys(), is_encrypted=False)
    _, header, (events, opening) = asyncio.run(exported(log))
    check = {**opening, "id": "check", "opens": False}
    finish = request("move", to="x", phase="finish", events=header.total)
    here, log_here = lived([*spoken(), begin, cancel, finish, turn("more")], MemoryKeys(), is_encrypted=False)
    assert reasons(log_here) == [STAYED.format("ada")], "so the mover does not open it there"
    assert here.placement("ada") is None
    there, log_there, _ = received([events, check, turn("t9")])
    assert there.placement("ada") == Placement("receiving", header.origin)
    assert [reason.split(":")[0] for reason in reasons(log_there)] == ["graph 'ada' is incomplete"]
    _, later, (all_events, opening) = asyncio.run(exported(log_here))
    events, check = ({**each, "origin": later.origin} for each in (events, check))  # of one log, which grew
    there, log_there, _ = received([events, check, all_events, {**opening, "id": "again", "opens": False}, opening])
    assert not reasons(log_there)
    assert there.placement("ada") == Placement("received", later.origin, events=later.total)
    assert digest_of(there) == digest_of(here)


def test_what_a_cancelled_move_brought_can_be_erased() -> None:
    _, log = lived([*spoken(), turn("t7", f"{SECRET} is green.")], MemoryKeys(), is_encrypted=True)
    _, _, (events, opening) = asyncio.run(exported(log))
    there, log_there, keys = received([events, request("erase", whole=True)], is_encrypted=True)
    assert not reasons(log_there)
    assert all(key.is_destroyed for key in keys.every() if key.graph == "ada")
    there, log_there, _ = received([events, request("erase", whole=True), opening], is_encrypted=True)
    (reason,) = reasons(log_there)
    assert "choose another name" in reason
    assert there.graph_ids_with_content() == []


def test_an_opening_that_comes_when_the_graph_has_moved_on_opens_nothing() -> None:
    begun, before = away(LIVED)
    _, back = elsewhere(LIVED, [], before.origin)
    opening = {**back[-1], "id": "late"}
    there, log, _ = received([*begun, opening], is_encrypted=True)
    assert reasons(log) == ["graph 'ada' was moved to there: use it there"]
    assert there.graph_ids_with_content() == []


def away(happened: list[dict[str, Any]], *, is_encrypted: bool = True) -> tuple[list[dict[str, Any]], Transferred]:
    """Let a graph leave; return all that its first memory was sent, and how its receiver knows it."""
    _, log = lived(happened, MemoryKeys(), is_encrypted=is_encrypted)
    _, header, _ = asyncio.run(exported(log))
    phases = [request("move", to="there", phase=phase, origin=header.origin) for phase in ("begin", "finish")]
    return [*happened, *phases], header


def elsewhere(
    happened: list[dict[str, Any]], later: list[dict[str, Any]], origin: str = "0" * 64, *, is_encrypted: bool = True
) -> tuple[Transferred, list[dict[str, Any]]]:
    """Let a graph live on where it was received; return what is sent back."""
    _, log = lived(happened, MemoryKeys(), is_encrypted=is_encrypted)
    sent = [{**each, "origin": origin} for each in asyncio.run(exported(log))[2]]
    there, log_there, _ = received([*sent, *later], is_encrypted=is_encrypted)
    assert not reasons(log_there)
    _, header, (*events, opening) = asyncio.run(exported(log_there))
    assert header.digest == digest_of(there)
    return header, [*events, {**opening, "id": "check", "opens": False}, opening]


LIVED = [*spoken(), request("forget", turns=["t2"])]
LATER = [turn("t7", f"{SECRET} is green."), request("pin", turns=["t0"]), request("undo", first=5, last=5)]


@pytest.mark.parametrize("later", [[], LATER, [*LATER, request("erase", turn="t1")]], ids=["same", "more", "erased"])
@pytest.mark.parametrize("is_encrypted", [True, False])
def test_a_graph_comes_back_to_where_it_left_with_all_that_happened_elsewhere(
    later: list[dict[str, Any]], is_encrypted: bool
) -> None:
    if not is_encrypted and later and later[-1]["kind"] == "erase":
        later = later[:-1]  # what is in clear cannot be erased
    begun, before = away(LIVED, is_encrypted=is_encrypted)
    header, back = elsewhere(LIVED, later, before.origin, is_encrypted=is_encrypted)
    again, log, _ = received([*begun, *back, turn("t8")], is_encrypted=is_encrypted)
    assert not reasons(log)
    assert again.placement("ada") == Placement("received", header.origin, events=header.total)
    ids = [event.id for _, value in log.values(HERE) if isinstance(event := decode(value), TurnRecorded)]
    assert len(ids) == len(set(ids)), "what stayed here does not come twice"
    same, log_same, _ = received([*back, turn("t8")], is_encrypted=is_encrypted)
    assert not reasons(log_same)
    assert digest_of(again) == digest_of(same)
    refolded = asyncio.run(refold(log, HERE, len(log.records[HERE]), MemoryStore()))
    assert refolded.digest() == again.digest()


@pytest.mark.parametrize("later", [[], LATER], ids=["same", "more"])
def test_a_graph_that_comes_back_is_said_to_be_where_it_still_lives_until_it_is_open_here(later: Requests) -> None:
    begun, before = away(LIVED)
    _, back = elsewhere(LIVED, later, before.origin)
    for end in range(len(back)):
        there, log, _ = received([*begun, *back[:end], turn("t9")], is_encrypted=True)
        (reason,) = reasons(log)
        assert reason in {moved("ada", "there"), moved("ada", "there", returns=True)}
        restarted = Partition(MemoryStore())
        restarted.fold_all(log.values(HERE))
        for placement in (there.placement("ada"), restarted.placement("ada")):
            with pytest.raises(RefusedError) as refused:
                check_answers("ada", placement)
            assert (refused.value.failure.code, refused.value.failure.moved_to) == ("moved", "there")
    there, log, _ = received([*begun, *back, turn("t9")], is_encrypted=True)
    assert not reasons(log)
    check_answers("ada", there.placement("ada"))


def test_a_return_is_continued_in_another_life_and_leaves_again() -> None:
    begun, before = away(LIVED)
    header, back = elsewhere(LIVED, LATER, before.origin)
    half = [{**back[0], "events": back[0]["events"][: before.total + 1], "id": "half"}]
    there, log, _ = received([*begun, *half, turn("t9")], is_encrypted=True)
    assert there.placement("ada") == Placement("receiving", header.origin, events=before.total, comes_from="there")
    assert reasons(log) == [moved("ada", "there", returns=True)]
    leaves = [request("move", to="there", phase=phase, origin=header.origin) for phase in ("begin", "finish")]
    there, log, _ = received([*begun, *half, *half, *back, *leaves], is_encrypted=True)
    assert not reasons(log)
    assert digest_of(there) == header.digest
    assert there.placement("ada") == Placement("left", "there", header.origin, header.total)


def test_nothing_else_comes_in_the_place_of_a_graph_that_left() -> None:
    begun, before = away(LIVED)
    _, back = elsewhere([turn("other"), *LIVED], [])
    there, log, _ = received([*begun, *back], is_encrypted=True)
    assert set(reasons(log)) == {EXISTS.format("ada")}
    assert there.placement("ada") is not None
    _, back = elsewhere(LIVED, LATER, before.origin)
    _, log, _ = received([*begun, request("erase", whole=True), *back], is_encrypted=True)
    assert set(reasons(log)) == {ERASED_HERE.format("ada")}


def test_a_copy_is_another_history_and_what_grew_since_is_refused_and_not_passed_over() -> None:
    _, log = lived(spoken(), MemoryKeys(), is_encrypted=False)
    known, header, _ = asyncio.run(exported(log))
    assert forked(known.origin) not in (known.origin, forked(forked(known.origin)))
    _, grown = lived([*spoken(), turn("t9")], MemoryKeys(), is_encrypted=False)
    _, later, _ = asyncio.run(exported(grown))
    first = [{**each, "origin": later.origin} for each in asyncio.run(exported(log))[2]]
    more = [{**each, "origin": later.origin} for each in asyncio.run(exported(grown))[2]]
    there, log_there, _ = received([*first, *first, *more])
    assert set(reasons(log_there)) == {EARLIER.format("ada", header.total, later.total)}
    assert digest_of(there) == header.digest


def test_a_part_may_end_with_the_end_of_a_window_which_no_request_led_to() -> None:
    _, log = lived(spoken(), MemoryKeys(), is_encrypted=False)
    _, _, sent = asyncio.run(exported(log))
    first = sent[0]
    stamp = {name: value for name, value in json.loads(first["events"][-1]).items() if name in STAMP}
    closed = {"kind": "ConsolidationWindowClosed", "graph": "ada", "at": NOW, "consolidated": [], "topics": []}
    first["events"] = [*first["events"], json.dumps(stamp | closed)]
    there, log_there, _ = received([first, first])
    assert reasons(log_there) == []
    assert event_count(there) == len(first["events"])
    kinds = [type(decode(value)).__name__ for _, value in log_there.values(HERE)]
    assert kinds[-3:] == ["ConsolidationWindowClosed", "TurnDuplicated", "TurnDuplicated"]


Requests = list[dict[str, Any]]


class RoundTrip:
    """All that both memories of a graph are sent: it moves away, grows or not, comes back, and begins to move again.

    late_*   the messages of the first move, from another run of it     back_*   where they may come: from there on
    """

    def __init__(self, later: Requests) -> None:
        _, log = lived(LIVED, MemoryKeys(), is_encrypted=True)
        known, _, away = asyncio.run(exported(log, hop=1))
        away = [*away[:-1], {**away[-1], "id": "check", "opens": False}, away[-1]]
        leaves = [self._move("there", phase, known, 1) for phase in ("begin", "finish")]
        _, log_there, _ = received([*away, *later], is_encrypted=True)
        grown, _, back = asyncio.run(exported(log_there, hop=2))
        back = [*back[:-1], {**back[-1], "id": "check", "opens": False}, back[-1]]
        returns = [self._move("here", phase, grown, 2) for phase in ("begin", "finish")]
        _, log_here, _ = received([*LIVED, *leaves, *back], is_encrypted=True)
        whole, _, again = asyncio.run(exported(log_here, hop=3))
        check = {**again[-1], "id": "check", "opens": False}
        self.late_here, self.late_there = leaves, away
        self.here = [*LIVED, *leaves, *back, self._move("there", "begin", whole, 3)]
        self.there = [*away, *later, *returns, *again[:-1], check]
        self.back_here, self.back_there = len(LIVED) + 2 + len(back), len(away) + len(later) + 2

    def _move(self, to: str, phase: str, known: Survey, hop: int) -> dict[str, Any]:
        events = {"events": known.events} if phase == "finish" else {}
        return request("move", to=to, phase=phase, origin=known.origin, hop=hop, **events)


@pytest.mark.parametrize("later", [[], LATER], ids=["same", "more"])
@pytest.mark.parametrize("side", ["here", "there"])
def test_a_mover_that_stood_still_while_its_graph_came_back_changes_nothing(side: str, later: Requests) -> None:
    trip = RoundTrip(later)
    sent, late, back = (getattr(trip, name.format(side)) for name in ("{}", "late_{}", "back_{}"))
    for end in range(back, len(sent) + 1):
        undisturbed, log, _ = received(sent[:end], is_encrypted=True)
        assert not reasons(log)
        disturbed, log, _ = received([*sent[:end], *late], is_encrypted=True)
        assert disturbed.placement("ada") == undisturbed.placement("ada")
        assert digest_of(disturbed) == digest_of(undisturbed)
        assert len(reasons(log)) == len(late), "each is refused"


def test_a_late_opening_that_comes_once_a_later_move_was_checked_opens_no_second_graph() -> None:
    trip = RoundTrip([])
    there, log, _ = received([*trip.there, trip.late_there[-1]], is_encrypted=True)
    assert reasons(log) == [OVERTAKEN.format("ada", 3, 1)]
    assert there.graph_ids_with_content() == []
    here, log, _ = received([*trip.here, request("move", to="there", phase="cancel")], is_encrypted=True)
    assert not reasons(log)
    assert here.graph_ids_with_content() == ["ada"], "it stays here after all, and here alone"


def test_each_move_has_a_number_of_its_own_even_if_the_one_before_was_cancelled() -> None:
    begin, cancel = request("move", to="x", phase="begin", hop=1), request("move", to="x", phase="cancel")
    again = request("move", to="x", phase="begin", hop=2)
    late = request("move", to="x", phase="finish", hop=1)
    there, log = lived([*spoken(), begin, cancel, turn("more"), begin, again, late], MemoryKeys(), is_encrypted=False)
    assert reasons(log) == [OVERTAKEN.format("ada", 1, 1), OVERTAKEN.format("ada", 2, 1)]
    assert there.placement("ada") == Placement("leaving", "x", events=event_count(there), hop=2)
    known, *_ = asyncio.run(exported(log))
    assert known.hop == 2
    stayed, log = lived([*spoken(), begin, cancel], MemoryKeys(), is_encrypted=False)
    assert asyncio.run(exported(log))[0].hop == 2
    assert stayed.graph_ids_with_content() == ["ada"]


def test_a_mover_that_does_not_count_moves_moves_no_graph_whose_moves_are_counted() -> None:
    begin, cancel = request("move", to="x", phase="begin", hop=1), request("move", to="x", phase="cancel")
    old = request("move", to="x", phase="begin")
    _, log = lived([*spoken(), begin, cancel, old], MemoryKeys(), is_encrypted=False)
    assert reasons(log) == [OVERTAKEN.format("ada", 1, 0)]


def test_what_was_erased_between_leaving_and_opening_is_erased_where_it_went_before_it_opens() -> None:
    happened = [turn("t0"), turn("t1", f"{SECRET} is green.")]
    _, log = lived(happened, MemoryKeys(), is_encrypted=True)
    known, _, came = asyncio.run(exported(log, hop=1))
    check = {**came[-1], "id": "check", "opens": False}
    leaves = [
        request("move", to="there", phase=phase, origin=known.origin, hop=1, events=known.events)
        for phase in ("begin", "finish")
    ]
    _, log = lived([*happened, *leaves, request("erase", whole=True)], MemoryKeys(), is_encrypted=True)
    assert not reasons(log)
    later, header, rest = asyncio.run(exported(log, hop=1))
    assert (later.has_left, later.has_grown, later.hop) == (True, True, 1)
    assert SECRET not in json.dumps(rest)
    rest = [{**each, "origin": known.origin, "id": f"rest-{number}"} for number, each in enumerate(rest)]
    there, log_there, keys = received([*came[:-1], check, *rest], is_encrypted=True)
    assert not reasons(log_there)
    assert all(key.is_destroyed for key in keys.every() if key.graph == "ada")
    assert there.placement("ada") == Placement("received", known.origin, events=header.total, hop=1)
    opened_first, log_there, keys = received([*came, *rest], is_encrypted=True)
    assert set(reasons(log_there)) == {ERASED_THERE.format("ada", known.events)}
    assert digest_of(opened_first) == came[-1]["digest"]


def test_a_graph_of_which_all_events_arrived_leaves_without_being_fenced_before() -> None:
    count = event_count(lived(spoken(), MemoryKeys(), is_encrypted=False)[0])
    finish = request("move", to="x", phase="finish", hop=1, events=count)
    there, log = lived([*spoken(), finish, turn("late")], MemoryKeys(), is_encrypted=False)
    assert reasons(log) == ["graph 'ada' was moved to x: use it there"]
    assert there.placement("ada") == Placement("left", "x", events=event_count(there), hop=1)
    back, log = lived([*spoken(), finish, request("move", to="x", phase="cancel")], MemoryKeys(), is_encrypted=False)
    assert reasons(log) == [LEFT.format("ada", "x")]
    assert back.graph_ids_with_content() == []


def test_a_graph_that_went_on_does_not_leave_unfenced_and_takes_turns() -> None:
    finish = request("move", to="x", phase="finish", hop=1, events=4)
    here, log = lived([*spoken(), finish, turn("more")], MemoryKeys(), is_encrypted=False)
    assert reasons(log) == [GREW.format("ada", event_count(here) - 1, 4)]
    assert (here.placement("ada"), here.graph_ids_with_content()) == (None, ["ada"])


def test_a_graph_whose_move_was_cancelled_does_not_leave_by_a_late_message_of_that_move() -> None:
    begin, cancel = request("move", to="x", phase="begin", hop=1), request("move", to="x", phase="cancel")
    count = event_count(lived(spoken(), MemoryKeys(), is_encrypted=False)[0])
    late = request("move", to="x", phase="finish", hop=1, events=count)
    here, log = lived([*spoken(), begin, cancel, late], MemoryKeys(), is_encrypted=False)
    assert reasons(log) == [OVERTAKEN.format("ada", 1, 1)]
    assert here.graph_ids_with_content() == ["ada"]
