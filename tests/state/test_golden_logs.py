"""What every released version wrote folds as it did then; and nothing about an event changes without a new version."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from state.events.events import Claim, DataEvent, TurnRecorded, decode, encode
from state.events.registry import KINDS
from state.events.upcasting import VERSION
from state.graph.codec import LAYOUT
from state.log_position import Acceptance, LogPosition, draft, placed, stamp
from state.partition import Partition
from tests.support.golden import VERSIONS, as_lines, digests, expected, folder, golden, schema, values
from tests.support.stores import Opener

ROOT = Path(__file__).resolve().parent.parent.parent
NEWEST = [decode(value) for value in values(VERSION)]
CHANGED = "was changed without a new version: read 'Change the schema' in docs/extending.md"


def test_there_is_a_golden_log_of_every_version() -> None:
    assert list(range(1, VERSION + 1)) == VERSIONS, "make it: python -m tests.golden.make"


@pytest.mark.source("P43")
@pytest.mark.parametrize("version", VERSIONS)
def test_the_log_of_a_version_folds_to_its_digests(version: int) -> None:
    """If only the layout of graphs was raised: python -m tests.golden.make --digests.  `holds` must not change then."""
    actual, then = digests(golden(version)), expected(version)
    assert actual["holds"] == then["holds"]
    assert then["layout"] == LAYOUT, "python -m tests.golden.make --digests"
    assert actual == then


@pytest.mark.parametrize("version", VERSIONS)
def test_a_store_that_is_closed_and_opened_again_on_the_way_comes_to_the_same_digests(
    version: int, open_store: Opener
) -> None:
    for records, digest in zip(golden(version), expected(version)["partitions"], strict=True):
        partition = Partition(store := open_store(), memory=1)
        for number, record in enumerate(records, start=1):
            partition.fold(record.offset, record.value)
            if number % 16 == 0:
                partition.flush()
            if number % 64 == 0:
                partition.close()
                partition = Partition(store := open_store())
        assert partition.digest() == digest
        store.write({key: None for key, _ in store.scan(b"", b"")})  # for the next one
        store.close()


@pytest.mark.parametrize(
    "changes",
    [
        {"PYTHONHASHSEED": "0"}, {"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "random"},
        {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"},
    ],
    ids=str,
)  # fmt: skip
def test_the_digests_do_not_depend_on_hash_seeds_or_on_the_processor(changes: dict[str, str]) -> None:
    actual = "[digests(golden(version)) for version in VERSIONS]"
    script = f"import json; from tests.support.golden import *; print(json.dumps({actual}))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, **changes}, cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == [expected(version) for version in VERSIONS]


def test_the_golden_log_of_this_version_holds_every_kind_of_event_and_what_can_happen_to_one() -> None:
    assert {type(event) for event in NEWEST} == set(KINDS)
    turns = [event for event in NEWEST if isinstance(event, TurnRecorded)]
    assert {turn.live for turn in turns} == {turn.clamped for turn in turns} == {True, False}
    assert any(turn.times and not turn.text.isascii() for turn in turns)
    assert any(isinstance(event, Claim) and event.anew for event in NEWEST)
    acceptances = set()
    for records in golden(VERSION):
        position = LogPosition()
        for record in records:
            position, acceptance = position.after(record.offset, decode(record.value), record.value)
            acceptances.add(acceptance)
    assert acceptances == set(Acceptance)


def test_every_event_of_this_version_is_written_with_the_bytes_that_it_always_had() -> None:
    for event, value in zip(NEWEST, values(VERSION), strict=True):
        assert encode(event) == value, f"{type(event).__name__} {CHANGED}"


def test_an_event_that_was_drafted_is_placed_with_the_bytes_that_it_is_written_with() -> None:
    for event in NEWEST:
        if isinstance(event, DataEvent):
            assert placed(draft(event), event) == encode(event)


def test_an_event_that_was_drafted_is_stamped_as_it_is_read_back() -> None:
    for event in NEWEST:
        if isinstance(event, DataEvent):
            drafted = draft(event)
            stamped = stamp(drafted.event, LogPosition(epoch=7, claim="ab", seq=41, chain=bytes(range(32))))
            assert repr(stamped) == repr(decode(placed(drafted, stamped)))


def test_a_draft_holds_what_is_read_and_not_what_was_given() -> None:
    turn = next(event for event in NEWEST if isinstance(event, TurnRecorded))
    drafted = draft(replace(turn, importance=1)).event
    assert isinstance(drafted, TurnRecorded)
    assert isinstance(drafted.importance, float)


def test_the_fields_of_this_versions_events_their_types_and_bounds_are_what_they_always_were() -> None:
    then = json.loads((folder(VERSION) / "schema.json").read_text())["$defs"]
    now = schema()["$defs"]
    assert now.keys() == then.keys(), f"the kinds of event: one {CHANGED}"
    for name in then:
        assert _without_added(now[name], then[name]) == then[name], f"{name} {CHANGED}"


def _without_added(now: Any, then: Any) -> Any:
    """Leave out the fields that were added with a default: they are not in the bytes while they have it."""
    if not (isinstance(now, dict) and isinstance(then, dict)):
        return now
    before = then.get("properties", {})
    added = now.get("properties", {}).keys() - before.keys() - set(now.get("required", ()))
    rest = {name: _without_added(inner, then.get(name)) for name, inner in now.items() if name != "properties"}
    if "properties" not in now:
        return rest
    fields = {name: inner for name, inner in now["properties"].items() if name not in added}
    return {**rest, "properties": {name: _without_added(inner, before.get(name)) for name, inner in fields.items()}}


def test_a_field_that_is_added_with_a_default_needs_no_version_and_any_other_does() -> None:
    then = {"properties": {"a": {}}, "required": ["a"]}
    assert _without_added({"properties": {"a": {}, "b": {}}, "required": ["a"]}, then) == then
    settings, more = ({"properties": {"settings": each}} for each in (then, {**then, "properties": {"a": {}, "b": {}}}))
    assert _without_added(more, settings) == settings
    assert _without_added({"properties": {"a": {}, "b": {}}, "required": ["a", "b"]}, then) != then
    assert _without_added({"properties": {}, "required": []}, then) != then


def test_a_golden_log_is_kept_byte_for_byte() -> None:
    for version in VERSIONS:
        assert as_lines(golden(version)) == (folder(version) / "log.ndjson").read_bytes()
