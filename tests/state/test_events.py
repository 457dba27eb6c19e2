"""Records: the bytes of events, what cannot be written, and how records of other versions are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs, to_builtins

from state.errors import UnreadableEventError
from state.events.events import (
    _FIELDS,
    Claim,
    RecordSkipped,
    Ticked,
    TurnRecorded,
    TurnsLost,
    decode,
    encode,
    source_of,
)
from state.events.extraction_types import Anchor, Attached, Concept, Mention, Relation, Statement, TimeSpan
from state.events.upcasting import UPCASTERS
from state.log_position import LogPosition, _outline, accept_all
from tests.support.builders import UNLINKED, concept, graph_configured, ticked, topic_change, turn_recorded
from tests.support.logs import LogWriter, golden_log
from tests.support.strategies import Step, steps, written

TURN = (
    b'{"v":2,"epoch":0,"claim":"","seq":1,"chain":"0000000000000000","graph":"ada","kind":"TurnRecorded","src":0,'
    b'"id":"t0","session":"main","speaker":"Ada","role":"user","text":"text of t0","metadata":{"n":1.5},'
    b'"at":1683547200000,"clamped":false,"live":true,"question":false,"tokens":3,'
    b'"concepts":[["tea","Tea",0.987654,2],["milk","milk",1.0,1]],'
    b'"times":[["last week",1682899200000,1683504000000]],"extractor":"test 1"}'
)


@pytest.mark.source("P13")
def test_the_bytes_of_a_turn_are_pinned() -> None:
    """They are what the chain of every log is made of."""
    concepts = [concept("tea", "Tea", 0.987654, 2), concept("milk", weight=1.0)]
    times = [TimeSpan("last week", 1_682_899_200_000, 1_683_504_000_000)]
    assert encode(turn_recorded(concepts=concepts, times=times, metadata={"n": 1.5})) == TURN
    assert encode(Claim(writer="w", partitions=4, nonce="n")) == (
        b'{"v":2,"kind":"Claim","writer":"w","partitions":4,"nonce":"n"}'
    )


def as_any_other(turn: TurnRecorded) -> bytes:
    """Write a turn field by field, as all other events are."""
    plain = to_builtins(turn)
    plain["concepts"] = [each if each[-1] else each[:-1] for each in plain["concepts"]]
    plain["times"] = [each if each[3] else each[:3] for each in plain["times"]]
    return orjson.dumps({name: value for name, unsaid in _FIELDS[TurnRecorded] if (value := plain[name]) != unsaid})


NUMBERS = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**63), 2**63 - 1), st.booleans())
TIMES = [
    TimeSpan("last week", 5, 9),
    TimeSpan("for an hour", 5, 9, "duration", "PT1H"),
    TimeSpan("soon", 5, 9, "vague"),
]
CONCEPTS = st.lists(
    st.builds(
        Concept,
        id=st.text(max_size=4),
        label=st.sampled_from(["", ',""]', "Tea", "茶"]),
        weight=st.floats(0, 1),
        count=st.integers(1, 3),
        kind=st.sampled_from(["", "person", "phrase"]),
    ),
    max_size=4,
    unique_by=lambda result: result.id,
)


@given(
    st.fixed_dictionaries(
        {"concepts": CONCEPTS, "times": st.lists(st.sampled_from(TIMES), max_size=3), "text": st.text(max_size=9)},
        optional={
            "metadata": st.dictionaries(st.text(max_size=3), st.one_of(st.none(), st.text(max_size=3), NUMBERS)),
            "importance": st.one_of(st.none(), st.floats(0, 1)),
            "anchor": st.sampled_from([None, Anchor("code", "forced")]),
            "statements": st.sampled_from([[], [Statement("lives in", "lisbon", ends=True)]]),
            "attachments": st.sampled_from([[], [Attached("a", "image"), Attached("b", "file", caption="c")]]),
            "ahead": st.integers(-2, 2),
            "relations": st.sampled_from([[], [Relation("a", "lives-in", "b", 0, 3)]]),
            "mentions": st.sampled_from([[], [Mention(0, 1, "ada", 0.9)]]),
            "novelty": st.one_of(st.none(), st.floats(0, 1)),
            "uncounted": st.sampled_from(["", "redundant"]),
            "role": st.sampled_from([None, "user"]),
        },
    )
)
def test_a_turn_is_written_as_any_other_event_would_be(fields: dict[str, Any]) -> None:
    turn = turn_recorded(**fields)
    assert encode(turn) == as_any_other(turn)


@given(steps())
def test_what_was_written_is_read_as_it_was_and_writes_the_same_bytes(happened: list[Step]) -> None:
    assert all(encode(decode(value)) == value for _, value in written(happened).records)


def test_kind_is_the_name_of_the_class() -> None:
    for _, value in golden_log().records:
        assert orjson.loads(value)["kind"] == type(decode(value)).__name__


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (turn_recorded(metadata={"a": float("nan")}), "read as another"),
        (turn_recorded(role="bot"), r"\$\.role"),
        (ticked(v=4), r"\$\.v"),
        (Claim(writer="w", partitions=0, nonce="n"), r"\$\.partitions"),
    ],
    ids=["not a number", "role", "version", "partitions"],
)
def test_an_event_that_would_not_be_read_back_cannot_be_written(event: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode(event)


def changed(value: bytes, **changes: Any) -> bytes:
    fields = {**orjson.loads(value), **changes}
    return orjson.dumps({name: field for name, field in fields.items() if field is not ...})


SETTINGS = orjson.loads(encode(graph_configured()))["settings"]


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (changed(TURN, seq="1"), r"\$\.seq"),
        (changed(TURN, seq=1.0), r"\$\.seq"),
        (changed(TURN, live=1), r"\$\.live"),
        (changed(TURN, chain=...), "`chain`"),
        (changed(TURN, mood="good"), "`mood`"),
        (changed(TURN, graph=""), r"\$\.graph"),
        (changed(TURN, concepts=[["tea", "Tea", 2, 1]]), r"\$\.concepts\[0\]\[2\]"),
        (changed(TURN, concepts=[["tea", "Tea", 1, 1], ["tea", "tea", 1, 1]]), "concepts"),
        (changed(TURN, times=[["yesterday", 0, 1.5]]), r"\$\.times\[0\]\[2\]"),
        (changed(TURN, times=[["now", 0, 1]] * 17), r"\$\.times"),
        (changed(TURN, times=[["now", 1, 1]]), "`until` must be later than `since`"),
        (changed(TURN, kind="GraphErased"), "GraphErased"),
        (changed(encode(graph_configured()), settings={**SETTINGS, "half_life": 0}), "half_life"),
        (TURN.replace(b'"text of t0"', b'"\\ud800"'), "surrogate"),
        (TURN.replace(b"text of t0", b"\xff"), "utf-8"),
        (TURN[:-1], "truncated|malformed"),
        (b'{"nested":' + b"[" * 10**5 + b"]" * 10**5 + b',"kind":"Claim"}', "recursion"),
    ],
)
def test_what_cannot_be_read_is_named(value: bytes, named: str) -> None:
    with pytest.raises(UnreadableEventError, match=rf"(?s){named}.*do not skip it"):
        decode(value)


@pytest.mark.parametrize("value", [changed(TURN, v=7), b'{"v":7,"kind":"GraphErased","whose":"ada"}'])
def test_an_event_of_a_newer_version_says_which_and_what_to_run(value: bytes) -> None:
    with pytest.raises(UnreadableEventError, match=r"schema version 7, this EMGAS reads up to 2\..*Run the version"):
        decode(value)


@pytest.mark.parametrize("value", [b'{"v":[1],"kind":["Ticked"]}', b"[1]", b"7", b'{"v":true,"kind":"Ticked"}'])
def test_a_record_that_is_no_event_has_no_version(value: bytes) -> None:
    with pytest.raises(UnreadableEventError, match="cannot read an event of the log"):
        decode(value)


def upcaster(version: int, **changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def step(plain: dict[str, Any]) -> dict[str, Any]:
        assert plain["v"] == version
        return {**plain, **changes, "v": version + 1}

    return step


@pytest.mark.source("P43")
def test_an_older_event_goes_through_every_step_up_to_this_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions -1 and 0 never were: they stand for older ones, as long as there is only one."""
    monkeypatch.setitem(UPCASTERS, ("Ticked", -1), upcaster(-1, graph="bob"))
    monkeypatch.setitem(UPCASTERS, ("Ticked", 0), upcaster(0, at=5))
    old = changed(encode(ticked()), v=-1, at=...)
    assert decode(old) == ticked(graph="bob", at=5)
    assert decode(encode(ticked())) == ticked(), "one of this version takes no step"
    with pytest.raises(UnreadableEventError, match=r"\$\.seq"):
        decode(changed(old, seq="1"))
    with pytest.raises(UnreadableEventError, match=r"\$\.v"):
        decode(changed(TURN, v=0))


CLAIM = Claim(writer="w", partitions=4, nonce="n")


def test_an_event_of_version_1_is_read_as_one_of_today_however_it_was_written() -> None:
    for event in (TURN, encode(ticked()), encode(CLAIM)):
        assert event.startswith(b'{"v":2,')
        old = event.replace(b'{"v":2,', b'{"v":1,')
        spaced = old.replace(b'{"v":1,', b'{ "v" : 1, ')  # as no EMGAS ever wrote it: by a step
        assert decode(old) == decode(spaced) == decode(event)
        assert encode(decode(old)) == event


def test_a_log_of_version_1_is_outlined_without_being_decoded_as_one_of_today_is() -> None:
    assert accept_all(LogPosition(), [(0, encode(CLAIM).replace(b'"v":2', b'"v":1'))])[0].watermark == 0
    outline = _outline(TURN)
    assert outline is not None
    assert _outline(TURN.replace(b'"v":2', b'"v":1')) == structs.replace(outline, v=1)
    assert _outline(changed(TURN, v=0)) is _outline(changed(TURN, v=4)) is None


@pytest.mark.parametrize(("first", "last"), [(3, 2), (0, 4)])
def test_turns_that_were_lost_are_a_range_that_ends_at_the_source(first: int, last: int) -> None:
    assert source_of(TurnsLost(**UNLINKED, src=5, first=5, last=5)) == 5
    with pytest.raises(ValueError, match="last: lies before first, or is not src"):
        TurnsLost(**UNLINKED, src=2, first=first, last=last)


def test_a_skipped_record_is_named_by_its_whole_hash() -> None:
    skipped = RecordSkipped(**UNLINKED, offset=7, sha256="ab" * 32, reason="written by a foreign program")
    assert decode(encode(skipped)) == skipped
    assert source_of(skipped) is None
    with pytest.raises(ValueError, match=r"unreadable \w+: .*sha256"):
        encode(structs.replace(skipped, sha256="ab"))


def test_a_topic_change_is_read_as_it_was_written() -> None:
    log = LogWriter()
    event = log.consolidation(topics=[topic_change("topic-1", "tea milk", label="Tea")])
    assert decode(log.records[-1][1]) == event
    assert isinstance(decode(encode(ticked())), Ticked)
