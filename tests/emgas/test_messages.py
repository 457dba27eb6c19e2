"""The contract's bounds: what is accepted at a limit, what is refused over it, and that refusal says what to do."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from pydantic import ValidationError
from pydantic_core import from_json

from emgas import limits
from emgas.errors import InvalidMessageError
from emgas.messages.operator import Inspect
from emgas.messages.queries import Describe, Query
from emgas.messages.topics import REQUEST
from emgas.messages.turns import Turn
from emgas.times import milliseconds
from emgas.validation import build, describe, encode, not_json, parse
from tests.emgas.messages import turns

VALID: dict[str, Any] = {"id": "1", "graph": "ada", "speaker": "Ada", "text": "Hello"}


def problems(**fields: Any) -> str:
    """Return what is wrong with a turn that differs from a valid one in `fields`."""
    with pytest.raises(InvalidMessageError) as caught:
        build(Turn, VALID | fields)
    return str(caught.value)


@given(turns)
def test_any_valid_turn_survives_the_way_through_json(turn: Turn) -> None:
    assert parse(Turn, encode(turn)) == turn


@given(turns)
def test_any_valid_turn_can_be_read_by_another_json_library(turn: Turn) -> None:
    assert build(Turn, orjson.loads(encode(turn))) == turn


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "x" * limits.TEXT_BYTES},
        {"text": "é" * (limits.TEXT_BYTES // 2)},
        {"text": "x"},
        {"id": "é" * limits.NAME_CHARACTERS},
        {"graph": "a" * 128},
        {"graph": "0_.:@-"},
        {"graph": "auth0|5f7c"},
        {"graph": "张伟"},
        {"graph": "team a/Zoë"},
        {"at": limits.EARLIEST_MS},
        {"at": limits.LATEST_MS},
        {"metadata": {str(n): n for n in range(limits.METADATA_ENTRIES)}},
        {"metadata": {"k" * 1024: "v" * 1024}},
        {"metadata": {"big": limits.METADATA_INTEGER, "small": -limits.METADATA_INTEGER}},
    ],
)
def test_what_is_at_the_limit_is_accepted(fields: dict[str, Any]) -> None:
    build(Turn, VALID | fields)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"text": ""}, "`text` is empty: a turn needs a text or an attachment"),
        ({"text": "x" * (limits.TEXT_BYTES + 1)}, "text: is 32769 bytes of UTF-8, the limit is 32768"),
        ({"text": "é" * (limits.TEXT_BYTES // 2) + "x"}, "text: is 32769 bytes"),
        ({"id": ""}, "id: must have at least 1 character"),
        ({"id": "x" * 257}, "id: must have at most 256 characters"),
        ({"graph": ""}, "graph: must be 1 to 128 printable"),
        ({"graph": "a" * 129}, "graph: must be 1 to 128 printable"),
        ({"graph": " a"}, "graph: must be 1 to 128 printable"),
        ({"graph": ".."}, "graph: must be 1 to 128 printable"),
        ({"graph": "a//b"}, "graph: must be 1 to 128 printable"),
        ({"graph": "a\u200b"}, "graph: must be 1 to 128 printable"),
        ({"graph": "\ud800"}, "graph: must be 1 to 128 printable"),
        ({"graph": "a\n"}, "graph: must be 1 to 128 printable"),
        ({"at": 1_683_554_400}, "at: looks like seconds: give milliseconds"),
        ({"at": "noon"}, "at: must be a time"),
        ({"at": limits.EARLIEST_MS - 1}, "at: must be a time"),
        ({"at": limits.LATEST_MS + 1}, "at: must be a time"),
        ({"metadata": {str(n): n for n in range(33)}}, "metadata: must have at most 32 items"),
        ({"metadata": {"k": "v" * 1025}}, "metadata.k: must be a string of at most 1024 characters"),
        ({"metadata": {"k": 2**63}}, "metadata.k: is an integer beyond 64 bits"),
        ({"metadata": {"k": []}}, "metadata.k: must be a string"),
    ],
)
def test_what_is_over_the_limit_is_refused_with_the_limit(fields: dict[str, Any], problem: str) -> None:
    assert problems(**fields).startswith(problem)


@pytest.mark.parametrize("at", ["noon", "1683554160", 1.5, True, float("nan"), 10**30])
def test_a_time_that_is_none_is_told_what_a_time_is_with_an_example(at: Any) -> None:
    example = "2023-05-08T14:00"
    assert problems(at=at) == (
        f"at: must be a time: {example} (UTC, or with +02:00), or whole ms since 1970, in the years 1 to 9999"
    )
    assert milliseconds(example) == 1_683_554_400_000
    assert problems(metadata={"at": [at]}).startswith("metadata.at: must be a string")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_finite_number_is_refused(number: float) -> None:
    assert problems(metadata={"k": number}).startswith(
        "metadata.k: must be a string of at most 1024 characters, a finite"
    )


@pytest.mark.parametrize("field", ["id", "speaker", "text", "session"])
@pytest.mark.parametrize(("character", "name"), [("\x00", "U+0000"), ("\ud800", "lone surrogate")])
def test_what_no_store_can_keep_is_refused_everywhere(field: str, character: str, name: str) -> None:
    assert problems(**{field: f"a{character}b"}).startswith(f"{field}: holds")
    assert name in problems(**{field: f"a{character}b"})
    assert name in problems(metadata={"k": character})
    assert name in problems(metadata={character: 1})


@pytest.mark.parametrize(
    "fields",
    [
        {"id": 1},
        {"text": None},
        {"text": b"Hello"},
        {"at": 1.0},
        {"at": True},
        {"role": "boss"},
        {"metadata": []},
        {"session": None},
    ],
)
def test_nothing_is_coerced(fields: dict[str, Any]) -> None:
    (field,) = fields
    assert problems(**fields).startswith(f"{field}: must be")


@pytest.mark.parametrize("value", [True, 1, 1.0, None, "1"])
def test_metadata_keeps_the_type_of_its_values(value: object) -> None:
    turn = parse(Turn, encode(build(Turn, VALID | {"metadata": {"k": value}})))
    assert type(turn.metadata["k"]) is type(value)


def test_a_misspelt_field_is_named() -> None:
    assert problems(txt="Hello") == "txt: is not a known field: remove it, or correct its spelling"


def test_every_problem_is_told_once() -> None:
    assert problems(graph="/", at=1.5, metadata={"k": []}).count(";") == 2


def test_a_sentence_never_repeats_what_was_said() -> None:
    assert "secret" not in problems(text="secret\x00", role="secret", at="secret", metadata={"k": ["secret"]})


def test_a_hostile_field_name_is_made_printable_and_cut() -> None:
    message = problems(**{"\x1b[31m" + "x" * 100: 1})
    assert message.isprintable()
    assert len(message) < 120


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"\xff", b'{"id":"\\ud800"}', b"[" * 100_000, b"NaN", b'{"at":' + b"9" * 5000]
)
def test_what_is_not_json_is_told_as_such(raw: bytes) -> None:
    with pytest.raises(InvalidMessageError, match=r"this (is not valid JSON: .*|must be a JSON object)"):
        parse(Turn, raw)


def test_a_record_at_its_limit_is_accepted_and_one_byte_more_is_refused() -> None:
    def padded(size: int) -> Turn:
        metadata = {f"{n:02}": "\x01" * 1024 for n in range(22)}
        return build(Turn, VALID | {"text": "\x01" * 20_000 + "x" * size, "metadata": metadata})

    room = limits.RECORD_BYTES - len(padded(0).model_dump_json())
    assert 0 < room < 12_000
    assert len(encode(padded(room))) == limits.RECORD_BYTES
    with pytest.raises(InvalidMessageError, match=f"record: is {limits.RECORD_BYTES + 1} bytes"):
        encode(padded(room + 1))


def test_the_requests_are_told_apart_by_kind() -> None:
    assert REQUEST.validate_json(b'{"kind":"query","graph":"g","text":"?"}') == Query(graph="g", text="?")
    assert REQUEST.validate_json(b'{"kind":"inspect"}') == Inspect()
    assert REQUEST.validate_json(b'{"kind":"describe","graph":"g"}') == Describe(graph="g")


@pytest.mark.parametrize(
    ("raw", "problem"),
    [(b'{"graph":"g","text":"?"}', "this has no `kind`"), (b'{"kind":"order"}', "this has an unknown `kind`")],
)
def test_a_request_of_no_known_kind_is_told_so(raw: bytes, problem: str) -> None:
    with pytest.raises(ValidationError) as caught:
        REQUEST.validate_json(raw)
    assert describe(caught.value).startswith(problem)


def test_a_time_comes_as_a_number_as_text_or_as_a_date_and_is_one_number() -> None:
    for at in (
        1_683_554_400_000,
        "2023-05-08T14:00",
        "2023-05-08T16:00:00+02:00",
        datetime(2023, 5, 8, 14, tzinfo=UTC),
    ):
        assert build(Turn, VALID | {"at": at}).at == 1_683_554_400_000


def test_a_time_of_early_1970_survives_the_wire() -> None:
    turn = build(Turn, VALID | {"at": "1970-01-20T11:39:14.4"})
    assert turn.at == 1_683_554_400
    assert parse(Turn, encode(turn)) == turn


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ('{"a":', "it ends too early (column {})"),
        ('{"a": 1,}', "a comma stands before a closing bracket (column {})"),
        ('{"a": 1} x', "something follows the end (column {})"),
        ("{a: 1}", "a key must stand in double quotes (column {})"),
        ('{"a" 1}', "a colon is missing after a key (column {})"),
        ('{"a": 1 "b": 2}', "a comma or a closing bracket is missing (column {})"),
        ('{"a": "\\q"}', "a backslash begins no known escape (column {})"),
        ('{"a": "\t"}', "a line break or control character in a text must be written as \\n or \\u0000 (column {})"),
        ('{"a": 01}', "a number is not valid (column {})"),
        ('\n\n {"a": b}', "a value is expected (line 3, column {})"),
    ],
)
def test_what_is_no_json_is_told_in_plain_words_whatever_parser_found_it(raw: str, problem: str) -> None:
    for parse_json in (from_json, orjson.loads):
        with pytest.raises(ValueError, match="column") as found:
            parse_json(raw.encode())
        words = not_json(found.value)
        assert re.sub(r"column \d+", "column {}", words) == f"is not valid JSON: {problem}"
