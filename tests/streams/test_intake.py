"""Every record of `turns` becomes one event that the fold can read, whatever was in it; a graph's birth comes first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emgas.limits import RECORD_BYTES, TEXT_BYTES
from emgas.wire import partition_of
from processors.concepts import YakeExtractor
from processors.dense import Vectors
from processors.extractor import Extraction
from state.events import (
    DataEvent,
    Forgotten,
    GraphConfigured,
    Retracted,
    TurnDuplicated,
    TurnEmbedded,
    TurnRecorded,
    TurnRejected,
    decode,
    encode,
)
from state.facts import Concept
from state.head import Verdict
from state.partition import Partition
from state.presets import HOUR, PRESETS
from streams.intake import Arrival, Intake, Judged
from tests.support.logs import LogWriter
from tests.support.outbox import arrival

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


class Given:
    """A model that gives every text the same vector."""

    name, version = "given", "7"

    def __init__(self, *vector: float) -> None:
        self._vector = vector

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._vector] * len(texts), np.float32)


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


def test_a_good_turn_is_recorded_with_what_was_found_in_it() -> None:
    value = a_turn(session="s", role="user", metadata={"n": 1, "x": 1.5, "y": None, "z": True}, at=5, text="A kettle?")
    judged = judge(intake(), arrival(value, offset=7))
    event = recorded(judged)
    assert (judged.status, judged.turn, judged.reason) == ("accepted", "t1", None)
    assert (event.src, event.graph, event.id, event.session, event.role, event.at) == (7, "ada", "t1", "s", "user", 5)
    assert event.metadata == {"n": 1, "x": 1.5, "y": None, "z": True}
    assert (event.question, event.tokens, event.extractor, event.clamped) == (True, 2, "one concept", False)
    assert [concept.id for concept in event.concepts] == ["kettle"]


@pytest.mark.parametrize(
    ("said_at", "at", "clamped"),
    [
        (NOW + SKEW, NOW + SKEW, False),
        (NOW + SKEW + 1, NOW + SKEW, True),
        (253_402_300_799_999, NOW + SKEW, True),
        (-62_135_596_800_000, -62_135_596_800_000, False),
        (..., NOW - 5, False),
        (None, NOW - 5, False),
    ],
)
def test_a_time_is_kept_unless_it_lies_in_the_future_or_is_missing(said_at: Any, at: int, clamped: bool) -> None:
    event = recorded(judge(intake(), arrival(a_turn(at=said_at), timestamp=NOW - 5)))
    assert (event.at, event.clamped) == (at, clamped)


def test_a_log_whose_clock_is_ahead_is_clamped_too() -> None:
    event = recorded(judge(intake(), arrival(a_turn(), timestamp=NOW + 10 * SKEW)))
    assert (event.at, event.clamped) == (NOW + SKEW, True)


def test_a_known_turn_is_a_duplicate_and_with_another_text_it_is_rejected() -> None:
    log = LogWriter(partitions=PARTITIONS)
    log.turn(id="t1", text="The kettle broke.")
    known = intake(log.folded())
    event = event_of(judge(known, arrival(a_turn(speaker="Bob"), offset=3)))
    assert isinstance(event, TurnDuplicated)
    assert (event.src, event.graph, event.id) == (3, "ada", "t1")
    assert "turn id 't1' is known with another text" in reason_of(judge(known, arrival(a_turn(text="Another."))))


def test_within_a_batch_the_same_holds_before_anything_is_folded() -> None:
    judging = intake()
    assert judge(judging, arrival(a_turn())).status == "accepted"
    assert judge(judging, arrival(a_turn())).status == "duplicate"
    assert judge(judging, arrival(a_turn(text="Another."))).status == "rejected"
    assert judge(judging, arrival(a_turn(id="t2"))).status == "accepted"


def test_what_was_judged_and_then_folded_is_known_from_the_state() -> None:
    log = LogWriter(partitions=PARTITIONS)
    state = log.folded()
    judging = intake(state)
    fold_into(state, judge(judging, arrival(a_turn())))
    judging.folded()
    assert judge(judging, arrival(a_turn())).status == "duplicate"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (b"", "is not valid JSON"),
        (b"{", "is not valid JSON"),
        (b"\xff\xfe", "is not valid JSON"),
        (b"null", "must be a JSON object"),
        (a_turn(id=...), "id: is missing"),
        (a_turn(id=""), "id: "),
        (a_turn(id="x" * 257), "id: "),
        (a_turn(id=1), "id: "),
        (a_turn(id="a\x00"), "id: holds the character U+0000"),
        (a_turn(speaker=...), "speaker: is missing"),
        (a_turn(role="robot"), "role: "),
        (a_turn(graph="a b"), "graph: must be 1 to 128 letters"),
        (a_turn(graph="../ada"), "graph: must be 1 to 128 letters"),
        (a_turn(mood="good"), "mood: is not a known field"),
        (a_turn(metadata={"a": float("nan")}), "metadata"),
        (a_turn(metadata={"a": [1]}), "metadata.a: must be"),
        (a_turn(metadata={"a": 2**63}), "metadata.a: is an integer beyond 64 bits"),
        (a_turn(at=1.5), "at: "),
        (a_turn(text="x" * (TEXT_BYTES + 1)), f"the limit is {TEXT_BYTES}"),
        (b" " * (RECORD_BYTES + 1), f"the limit is {RECORD_BYTES}"),
    ],
)
def test_what_cannot_be_accepted_is_rejected_with_the_reason(value: bytes, told: str) -> None:
    assert told in reason_of(judge(intake(), arrival(value, offset=9)))


def test_a_reason_never_repeats_what_was_said() -> None:
    secret = "my password is hunter2"
    for changes in ({"role": secret}, {"metadata": {"a": [secret]}}, {"graph": secret}, {"id": 1, "text": secret}):
        assert "hunter2" not in reason_of(judge(intake(), arrival(a_turn(**changes))))


def test_a_reason_stays_short_however_many_things_are_wrong() -> None:
    many = {f"unknown-{number}": 1 for number in range(5000)}
    assert len(reason_of(judge(intake(), arrival(a_turn(**many))))) <= 1000


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (None, "has no key: it must be the graph id, 'ada'"),
        (b"", "is not the turn's graph"),
        (b"bob", "is not the turn's graph"),
        (b"\xff" * 100_000, "is not the turn's graph"),
    ],
)
def test_a_key_that_is_not_the_graph_is_rejected(key: bytes | None, told: str) -> None:
    reason = reason_of(judge(intake(), arrival(a_turn(), key=key)))
    assert told in reason
    assert len(reason) < 2000


def test_a_graph_of_another_partition_is_rejected_with_the_fix() -> None:
    stray = next(name for name in ("bob", "eve", "joe", "kim") if partition_of(name, PARTITIONS) != HERE)
    reason = reason_of(judge(intake(), arrival(a_turn(graph=stray), key=stray.encode())))
    assert f"belongs to partition {partition_of(stray, PARTITIONS)}, the record came to {HERE}" in reason
    assert "partitioner=murmur2_random" in reason


# vectors


def test_with_a_model_the_vector_of_a_turn_comes_right_behind_it() -> None:
    judging = intake(embedder=Given(0.6, -0.8))
    events = events_of(judge(judging, arrival(a_turn(at=NOW + 10 * SKEW))))
    assert [type(event) for event in events] == [GraphConfigured, TurnRecorded, TurnEmbedded]
    turn, embedded = events[1:]
    assert isinstance(turn, TurnRecorded)
    assert isinstance(embedded, TurnEmbedded)
    assert (embedded.graph, embedded.id, embedded.at, embedded.model) == ("ada", "t1", turn.at, "given 7")
    assert np.frombuffer(embedded.vector, "<f2") == pytest.approx([0.6, -0.8], abs=1e-3)
    again = judge(judging, arrival(a_turn(), offset=1))
    assert [type(event) for event in events_of(again)] == [TurnDuplicated]


@pytest.mark.parametrize("vector", [(0.0, 0.0), (float("nan"), 1.0), (float("inf"), 0.0)])
def test_a_text_of_which_the_model_says_nothing_is_recorded_without_a_vector(vector: tuple[float, ...]) -> None:
    events = events_of(judge(intake(embedder=Given(*vector)), arrival(a_turn())))
    assert [type(event) for event in events] == [GraphConfigured, TurnRecorded]


# how a graph lives


def configure(**changes: Any) -> bytes:
    return json.dumps({"kind": "configure", "id": "c1", "graph": "ada", **changes}).encode()


def forget(**changes: Any) -> bytes:
    return json.dumps({"kind": "forget", "id": "f1", "graph": "ada", **changes}).encode()


def undo(**changes: Any) -> bytes:
    return json.dumps({"kind": "undo", "id": "u1", "graph": "ada", **changes}).encode()


def known_state() -> Partition:
    """Return a state in which Ada said two things."""
    log = LogWriter(partitions=PARTITIONS)
    log.turn(id="t1", text="The kettle broke.", concepts="kettle", session="one")
    log.turn(id="t2", text="Tea is sad.", concepts="tea", session="two")
    return log.folded()


def test_a_graph_is_born_once_with_the_preset_of_the_worker() -> None:
    state = LogWriter(partitions=PARTITIONS).folded()
    judging = intake(state)
    first = judge(judging, arrival(a_turn()))
    birth, _ = events_of(first)
    assert isinstance(birth, GraphConfigured)
    assert (birth.graph, birth.preset, birth.settings, birth.src) == ("ada", "mofox", PRESETS["mofox"], None)
    assert len(judge(judging, arrival(a_turn(id="t2"), offset=1)).drafts) == 1, "within a batch"
    fold_into(state, first)
    judging.folded()
    assert len(judge(judging, arrival(a_turn(id="t3"), offset=1)).drafts) == 1, "and once it is folded"


@pytest.mark.parametrize(("at", "live"), [(NOW, True), (NOW - HOUR, True), (NOW - HOUR - 1, False), (NOW + 1, True)])
def test_a_turn_is_live_that_is_recorded_within_an_hour_of_being_said(at: int, live: bool) -> None:
    assert recorded(judge(intake(), arrival(a_turn(at=at)))).live is live


def test_a_wish_to_configure_is_the_preset_with_its_differences_in_full() -> None:
    value = configure(preset="forgetful", settings={"least_turns": 3})
    judged = judge(intake(known_state()), arrival(value, offset=9))
    (event,) = events_of(judged)
    assert isinstance(event, GraphConfigured)
    assert (judged.status, judged.turn, event.src, event.graph) == ("accepted", "c1", 9, "ada")
    assert (event.preset, event.settings) == ("forgetful", PRESETS["forgetful"].model_copy(update={"least_turns": 3}))


def test_a_graph_that_is_configured_before_its_first_turn_is_not_born_again() -> None:
    judging = intake()
    assert len(judge(judging, arrival(configure(preset="elephant"))).drafts) == 1
    assert len(judge(judging, arrival(a_turn(), offset=1)).drafts) == 1, "the birth would undo what was configured"


@pytest.mark.parametrize(
    ("wish", "concepts", "turns"),
    [
        ({"concepts": ["kettle"]}, ["kettle"], ["t1"]),
        ({"concepts": ["the Kettles"]}, ["kettle"], ["t1"]),
        ({"turns": ["t2"]}, ["tea"], ["t2"]),
        ({"sessions": ["one"]}, ["kettle"], ["t1"]),
        ({"concepts": ["kettle", "unheard-of"], "turns": ["t2", "t9"]}, ["kettle", "tea"], ["t1", "t2"]),
    ],
)
def test_a_wish_to_forget_is_recorded_as_what_goes(wish: dict[str, Any], concepts: list[str], turns: list[str]) -> None:
    state = known_state()
    judged = judge(intake(state), arrival(forget(**wish), offset=9))
    (event,) = events_of(judged)
    assert isinstance(event, Forgotten), judged.reason
    assert (judged.status, judged.turn, event.src, event.graph) == ("accepted", "f1", 9, "ada")
    assert (event.concepts, event.turns) == (concepts, turns)
    fold_into(state, judged)
    assert "nothing to forget" in reason_of(judge(intake(state), arrival(forget(**wish), offset=10)))


def test_what_nobody_wrote_cannot_be_forgotten() -> None:
    unknown = judge(intake(), arrival(forget(concepts=["kettle"]), offset=4))
    assert "nobody has written to graph 'ada'" in reason_of(unknown)
    assert unknown.turn == "f1"
    nothing = judge(intake(known_state()), arrival(forget(concepts=["submarine"], turns=["t9"]), offset=4))
    assert reason_of(nothing) == "none of these is in the graph: nothing to forget"


@pytest.mark.parametrize(("wish", "last"), [({}, 1), ({"last": None}, 1), ({"last": 0}, 0), ({"last": 99}, 1)])
def test_a_wish_to_undo_is_recorded_as_the_events_that_go(wish: dict[str, Any], last: int) -> None:
    state = known_state()
    judged = judge(intake(state), arrival(undo(first=0, **wish), offset=9))
    (event,) = events_of(judged)
    assert isinstance(event, Retracted), judged.reason
    assert (judged.status, judged.turn, event.src, event.graph) == ("accepted", "u1", 9, "ada")
    assert (event.first, event.last) == (0, last)
    fold_into(state, judged)
    assert "nothing left to undo" in reason_of(judge(intake(state), arrival(undo(first=0, last=last), offset=10)))


def test_a_turn_that_was_taken_back_may_come_again_in_a_graph_that_is_born_again() -> None:
    state = known_state()
    fold_into(state, judge(intake(state), arrival(undo(first=0), offset=9)))
    birth, turn = events_of(judge(intake(state), arrival(a_turn(id="t1", text="Another text."), offset=10)))
    assert isinstance(birth, GraphConfigured)
    assert isinstance(turn, TurnRecorded)


def test_what_cannot_be_taken_back_is_refused_with_the_reason() -> None:
    unknown = judge(intake(), arrival(undo(first=0), offset=4))
    assert "nobody has written to graph 'ada'" in reason_of(unknown)
    beyond = judge(intake(known_state()), arrival(undo(first=2), offset=4))
    assert "has 2 events, counted from 0: it has no event 2" in reason_of(beyond)
    backwards = judge(intake(known_state()), arrival(undo(first=1, last=0), offset=4))
    assert "the last event to undo, 0, lies before the first, 1" in reason_of(backwards)
    log = LogWriter(partitions=PARTITIONS)
    log.configure(undo_events=2)
    for _ in range(4):
        log.turn()
    too_late = judge(intake(log.folded()), arrival(undo(first=2), offset=9))
    assert "can undo its last 2 events; to go further back, make a branch" in reason_of(too_late)


@pytest.mark.parametrize("value", [configure(preset="goldfish"), configure(settings={"idle": 0}), forget(concepts="x")])
def test_a_command_that_is_none_is_rejected(value: bytes) -> None:
    assert reason_of(judge(intake(known_state()), arrival(value, offset=9)))


@pytest.mark.parametrize("value", [configure(), forget(turns=["t1"])])
def test_a_command_needs_the_key_of_its_graph_too(value: bytes) -> None:
    reason = reason_of(judge(intake(known_state()), arrival(value, offset=9, key=b"bob")))
    assert "is not the turn's graph" in reason


# laws

scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20)
trees = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))
keys = st.sampled_from(["id", "graph", "speaker", "text", "session", "role", "at", "metadata", "v", ""])
nearly = st.dictionaries(keys, scalars | trees | st.just("ada"), max_size=9).map(lambda d: json.dumps(d).encode())
records = st.binary(max_size=200) | nearly | trees.map(lambda tree: json.dumps(tree).encode())
headers = st.dictionaries(st.text(max_size=5), st.binary(max_size=5), max_size=2)


@given(st.builds(Arrival, st.integers(0, 2**62), st.integers(0, 2**41), st.none() | st.binary(), records, headers))
def test_whatever_arrives_is_accounted_for_by_one_event_that_can_be_read(came: Arrival) -> None:
    judged = judge(intake(), came)
    event = event_of(judged)
    assert event.src == came.offset  # type: ignore[union-attr]
    assert (judged.status == "rejected") == isinstance(event, TurnRejected) == (judged.reason is not None)


texts = st.text(max_size=300) | st.lists(st.sampled_from(["kettle", "茶壶", "?", "\n", "🫖", "١٢", "Müller's"])).map(
    " ".join
)
names = st.text(min_size=1, max_size=40)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
@given(text=texts, speaker=names, session=names, at=st.none() | st.integers(-(2**45), 2**47))
def test_whatever_is_accepted_can_be_folded(text: str, speaker: str, session: str, at: int | None) -> None:
    """With the real extractor: an event that the fold cannot read would halt its partition for ever."""
    log = LogWriter(partitions=PARTITIONS)
    state = log.folded()
    judging = intake(state, EXTRACTOR)
    judged = judge(judging, arrival(a_turn(text=text, speaker=speaker, session=session, at=at)))
    fold_into(state, judged)
    assert state.head.turns == (judged.status == "accepted")
    assert state.head.source == 0


EXTRACTOR = YakeExtractor(language="en")
