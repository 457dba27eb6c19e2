"""Every record of `turns` becomes one event that the fold can read, whatever was in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emgas.limits import RECORD_BYTES, TEXT_BYTES
from emgas.times import DAY_MS
from emgas.wire import Record, as_mapping, partition_of
from processors.extraction.yake_extractor import YakeExtractor
from processors.lifecycle.sessions import preceding_turns as preceding_turns_module
from processors.recall.ranking.dense import Vectors
from processors.text.pronouns.mentions import TurnBefore
from state.events.events import (
    GraphConfigured,
    Superseded,
    TurnDuplicated,
    TurnEmbedded,
    TurnRecorded,
    TurnRejected,
)
from state.graph.graph import Graph
from streams.ingest.verbs import unfolded
from tests.support.clocks import NOW
from tests.support.command_handlers import (
    HERE,
    PARTITIONS,
    SKEW,
    a_handler,
    a_turn,
    decide,
    event_of,
    events_of,
    fold_into,
    reason_of,
    recorded,
)
from tests.support.fakes import arrival
from tests.support.logs import LogWriter


class FixedEmbedder:
    """A model that gives every text the same vector."""

    name, version = "given", "7"

    def __init__(self, *vector: float) -> None:
        self._vector = vector

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._vector] * len(texts), np.float32)


def test_a_good_turn_is_recorded_with_what_was_found_in_it() -> None:
    value = a_turn(session="s", role="user", metadata={"n": 1, "x": 1.5, "y": None, "z": True}, at=5, text="A kettle?")
    decision = decide(a_handler(), arrival(value, offset=7))
    event = recorded(decision)
    assert (decision.status, decision.turn, decision.reason) == ("accepted", "t1", None)
    assert (event.src, event.graph, event.id, event.session, event.role, event.at) == (7, "ada", "t1", "s", "user", 5)
    assert event.metadata == {"n": 1, "x": 1.5, "y": None, "z": True}
    assert (event.question, event.tokens, event.extractor, event.clamped) == (True, 2, "one concept", False)
    assert [concept.id for concept in event.concepts] == ["kettle"]


@pytest.mark.parametrize(
    ("sent_at", "at", "clamped"),
    [
        (NOW + SKEW, NOW + SKEW, False),
        (NOW + SKEW + 1, NOW + SKEW, True),
        (253_402_300_799_999, NOW + SKEW, True),
        (-62_135_596_800_000, -62_135_596_800_000, False),
        (..., NOW - 5, False),
        (None, NOW - 5, False),
    ],
)
def test_a_time_is_kept_unless_it_lies_in_the_future_or_is_missing(sent_at: Any, at: int, clamped: bool) -> None:
    event = recorded(decide(a_handler(), arrival(a_turn(at=sent_at), timestamp=NOW - 5)))
    assert (event.at, event.clamped) == (at, clamped)


@pytest.mark.parametrize(("role", "history"), [("user", [["t1"]]), ("assistant", [])])
def test_a_turn_of_a_user_that_says_how_things_are_now_comes_with_what_it_makes_history(
    role: str, history: list[list[str]]
) -> None:
    state = LogWriter(partitions=PARTITIONS).folded()
    fold_into(state, decide(a_handler(state), arrival(a_turn(text="I live in Berlin.", at=NOW))))
    now = a_turn(id="t2", text="I live in Lisbon.", role=role, at=NOW + 1)
    events = events_of(decide(a_handler(state), arrival(now, offset=1)))
    assert [event.older for event in events if isinstance(event, Superseded)] == history


def test_a_log_whose_clock_is_ahead_is_clamped_too() -> None:
    event = recorded(decide(a_handler(), arrival(a_turn(), timestamp=NOW + 10 * SKEW)))
    assert (event.at, event.clamped) == (NOW + SKEW, True)


def test_a_known_turn_is_a_duplicate_and_with_another_text_it_is_rejected() -> None:
    log = LogWriter(partitions=PARTITIONS)
    log.turn(id="t1", text="The kettle broke.")
    existing = a_handler(log.folded())
    event = event_of(decide(existing, arrival(a_turn(speaker="Bob"), offset=3)))
    assert isinstance(event, TurnDuplicated)
    assert (event.src, event.graph, event.id) == (3, "ada", "t1")
    assert "turn id 't1' is known with another text" in reason_of(decide(existing, arrival(a_turn(text="Another."))))


def test_within_a_batch_the_same_holds_before_anything_is_folded() -> None:
    handler = a_handler()
    assert decide(handler, arrival(a_turn())).status == "accepted"
    assert decide(handler, arrival(a_turn())).status == "duplicate"
    assert decide(handler, arrival(a_turn(text="Another."))).status == "rejected"
    assert decide(handler, arrival(a_turn(id="t2"))).status == "accepted"


def test_who_talked_before_is_looked_up_once_for_turns_that_are_decided_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked, log = list[str](), LogWriter(partitions=PARTITIONS)
    log.turn(id="t0", speaker="Ben", session="main", concepts="kettle @speaker:ben")
    state = log.folded()

    def counted(graph: Graph, session: str, most: int) -> list[TurnBefore]:
        looked.append(session)
        return preceding_turns_module.preceding_turns(graph, session, most)

    monkeypatch.setattr(unfolded, "preceding_turns", counted)
    handler = a_handler(state)
    came = [arrival(a_turn(id=f"t{n}", text="Do you see it?"), offset=n) for n in range(1, 6)]
    decided = [decide(handler, each) for each in came]
    assert looked == ["main"]
    assert {event_of(each).mentions[0].concept for each in decided} == {"@speaker:ben"}
    fold_into(state, decided[0])
    decide(handler, arrival(a_turn(id="t6", text="I see."), offset=6))
    assert looked == ["main"]  # who speaks is known
    decide(handler, arrival(a_turn(id="t7", text="Do you?"), offset=7))
    assert looked == ["main", "main"]


def test_what_was_decided_and_then_folded_is_known_from_the_state() -> None:
    log = LogWriter(partitions=PARTITIONS)
    state = log.folded()
    handler = a_handler(state)
    fold_into(state, decide(handler, arrival(a_turn())))
    handler.folded()
    assert decide(handler, arrival(a_turn())).status == "duplicate"


@pytest.mark.parametrize(
    ("value", "message"),
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
        (a_turn(graph="a//b"), "graph: must be 1 to 128 printable"),
        (a_turn(graph="../ada"), "graph: must be 1 to 128 printable"),
        (a_turn(mood="good"), "mood: is not a known field"),
        (a_turn(metadata={"a": float("nan")}), "metadata"),
        (a_turn(metadata={"a": [1]}), "metadata.a: must be"),
        (a_turn(metadata={"a": 2**63}), "metadata.a: is an integer beyond 64 bits"),
        (a_turn(at=1.5), "at: "),
        (a_turn(text="x" * (TEXT_BYTES + 1)), f"the limit is {TEXT_BYTES}"),
        (b" " * (RECORD_BYTES + 1), f"the limit is {RECORD_BYTES}"),
    ],
)
def test_what_cannot_be_accepted_is_rejected_with_the_reason(value: bytes, message: str) -> None:
    assert message in reason_of(decide(a_handler(), arrival(value, offset=9)))


def test_a_reason_never_repeats_what_was_said() -> None:
    secret = "my password is hunter2"
    for changes in ({"role": secret}, {"metadata": {"a": [secret]}}, {"graph": secret}, {"id": 1, "text": secret}):
        assert "hunter2" not in reason_of(decide(a_handler(), arrival(a_turn(**changes))))


def test_a_reason_stays_short_however_many_things_are_wrong() -> None:
    many = {f"unknown-{number}": 1 for number in range(5000)}
    assert len(reason_of(decide(a_handler(), arrival(a_turn(**many))))) <= 1000


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (None, "has no key: it must be the graph id"),
        (b"", "is not the turn's graph"),
        (b"bob", "is not the turn's graph"),
        (b"\xff" * 100_000, "is not the turn's graph"),
    ],
)
def test_a_key_that_is_not_the_graph_is_rejected(key: bytes | None, message: str) -> None:
    reason = reason_of(decide(a_handler(), arrival(a_turn(), key=key)))
    assert message in reason
    assert len(reason) < 2000


def test_a_graph_of_another_partition_is_rejected_with_the_fix() -> None:
    stray = next(name for name in ("bob", "eve", "joe", "kim") if partition_of(name, PARTITIONS) != HERE)
    reason = reason_of(decide(a_handler(), arrival(a_turn(graph=stray), key=stray.encode())))
    assert f"belongs to partition {partition_of(stray, PARTITIONS)}, the record came to {HERE}" in reason
    assert "partitioner=murmur2_random" in reason


# vectors


def test_with_a_model_the_vector_of_a_turn_comes_right_behind_it() -> None:
    handler = a_handler(embedder=FixedEmbedder(0.6, -0.8))
    events = events_of(decide(handler, arrival(a_turn(at=NOW + 10 * SKEW))))
    assert [type(event) for event in events] == [GraphConfigured, TurnRecorded, TurnEmbedded]
    turn, embedded = events[1:]
    assert isinstance(turn, TurnRecorded)
    assert isinstance(embedded, TurnEmbedded)
    assert (embedded.graph, embedded.id, embedded.at, embedded.model) == ("ada", "t1", turn.at, "given 7")
    assert np.frombuffer(embedded.vector, "<f2") == pytest.approx([0.6, -0.8], abs=1e-3)
    again = decide(handler, arrival(a_turn(), offset=1))
    assert [type(event) for event in events_of(again)] == [TurnDuplicated]


class Watched(FixedEmbedder):
    """A model that notes what it is asked for at once, and fails at one word."""

    def __init__(self) -> None:
        super().__init__(0.6, 0.8)
        self.batches: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        if any("mercury" in text for text in texts):
            raise RuntimeError("no such token")
        return super().embed(texts)


def test_turns_that_come_together_are_embedded_together() -> None:
    model = Watched()
    handler = a_handler(embedder=model)
    arrivals = [arrival(a_turn(id=f"t{at}", text=text), offset=at) for at, text in enumerate(("tea", "cup", "tea"))]
    handler.embed_ahead([*arrivals, arrival(b"noise", offset=3)])
    kinds = [[type(event) for event in events_of(decide(handler, each))] for each in arrivals]
    assert kinds == [[GraphConfigured, TurnRecorded, TurnEmbedded], *[[TurnRecorded, TurnEmbedded]] * 2]
    assert model.batches == [["tea", "cup"]]
    handler.folded()
    decide(handler, arrival(a_turn(id="t9", text="tea"), offset=9))
    assert model.batches == [["tea", "cup"], ["tea"]], "nothing is kept beyond the batch"


def test_a_text_that_a_model_fails_at_costs_the_others_of_its_batch_nothing() -> None:
    handler = a_handler(embedder=Watched())
    arrivals = [arrival(a_turn(id=f"t{at}", text=text), offset=at) for at, text in enumerate(("tea", "mercury"))]
    handler.embed_ahead(arrivals)
    assert [decide(handler, each).status for each in arrivals] == ["accepted", "rejected"]


@pytest.mark.parametrize("vector", [(0.0, 0.0), (float("nan"), 1.0), (float("inf"), 0.0)])
def test_a_text_of_which_the_model_says_nothing_is_recorded_without_a_vector(vector: tuple[float, ...]) -> None:
    events = events_of(decide(a_handler(embedder=FixedEmbedder(*vector)), arrival(a_turn())))
    assert [type(event) for event in events] == [GraphConfigured, TurnRecorded]


# laws

scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20)


trees = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


keys = st.sampled_from(["id", "graph", "speaker", "text", "session", "role", "at", "metadata", "v", ""])


nearly = st.dictionaries(keys, scalars | trees | st.just("ada"), max_size=9).map(lambda d: json.dumps(d).encode())


records = st.binary(max_size=200) | nearly | trees.map(lambda tree: json.dumps(tree).encode())


headers = st.dictionaries(st.text(max_size=5), st.binary(max_size=5), max_size=2)


@given(st.builds(Record, st.integers(0, 2**62), st.integers(0, 2**41), st.none() | st.binary(), records, headers))
def test_whatever_arrives_is_accounted_for_by_one_event_that_can_be_read(came: Record) -> None:
    decision = decide(a_handler(), came)
    event = event_of(decision)
    assert event.src == came.offset  # type: ignore[union-attr]
    assert (decision.status == "rejected") == isinstance(event, TurnRejected) == (decision.reason is not None)


texts = st.text(max_size=300) | st.lists(st.sampled_from(["kettle", "茶壶", "?", "\n", "🫖", "١٢", "Müller's"])).map(
    " ".join
)


names = st.text(min_size=1, max_size=40)


@settings(max_examples=150)
@given(text=texts, speaker=names, session=names, at=st.none() | st.integers(-(2**45), 2**47))
def test_whatever_is_accepted_can_be_folded(text: str, speaker: str, session: str, at: int | None) -> None:
    """With the real extractor: an event that the fold cannot read would halt its partition for ever."""
    log = LogWriter(partitions=PARTITIONS)
    state = log.folded()
    handler = a_handler(state, EXTRACTOR)
    decision = decide(handler, arrival(a_turn(text=text, speaker=speaker, session=session, at=at)))
    fold_into(state, decision)
    assert state.position.turns == (decision.status == "accepted")
    assert state.position.source == 0


EXTRACTOR = YakeExtractor(language="en")


@pytest.mark.parametrize(
    ("behind", "by_broker", "clamped"), [(DAY_MS, True, False), (DAY_MS, False, True), (0, True, False)]
)
def test_a_worker_whose_clock_is_behind_the_brokers_moves_no_turn_into_the_past(
    behind: int, by_broker: bool, clamped: bool
) -> None:
    """Only the broker's own time is believed: a sender's would let it be said in the year 9999."""
    text = NOW + behind
    event = recorded(decide(a_handler(), arrival(a_turn(at=text), timestamp=text, by_broker=by_broker)))
    assert (event.at, event.clamped) == ((NOW + SKEW, True) if clamped else (text, False))


def test_of_a_record_larger_than_any_message_a_letter_keeps_the_beginning_and_no_secret() -> None:
    secret = b"ghp_" + b"aB3" * 12
    value = secret + b" " + b"x" * (12 << 20)  # all of it, looked through for secrets, took 15 s of CPU time
    came = arrival(value)
    letter = a_handler().redacted(came)
    headers = as_mapping(letter.headers)
    assert len(letter.value) < RECORD_BYTES
    assert letter.value.startswith(b"[secret: github token] xxx")
    assert headers["emgas.errors.bytes"] == str(len(value)).encode()
    assert headers["emgas.errors.sha256"] == sha256(value).hexdigest().encode()
    assert a_handler().redacted(arrival(value[:RECORD_BYTES])).headers == came.headers
