"""The importers: what becomes a turn, what is reported as a bad line, and that importing again changes nothing."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emgas import limits
from emgas.errors import InvalidMessageError
from emgas.importers import jsonl, locomo
from emgas.importers.files import lines
from emgas.importers.registry import FORMATS, BadLine, Item, detect, read
from emgas.messages.turns import Turn
from tests.emgas.messages import turns

GOOD = b'{"id":"1","graph":"ada","speaker":"Ada","text":"Hello"}'
TURN = Turn(id="1", graph="ada", speaker="Ada", text="Hello")


def items(raw: bytes, name: str = "x.jsonl", graph: str | None = None, format: str | None = None) -> list[Item]:
    return list(read(io.BytesIO(raw), name, graph, format=format))


def reasons(results: list[Item]) -> list[str]:
    return [item.reason for item in results if isinstance(item, BadLine)]


# ── our own ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.lists(turns, max_size=5))
def test_any_turns_written_as_lines_are_read_back(written: list[Turn]) -> None:
    assert items(b"\n".join(turn.model_dump_json().encode() for turn in written)) == written


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"{", "this is not valid JSON: "),
        (b"\xff\xfe", "this is not valid JSON: "),
        (b"[1]", "this must be a JSON object"),
        (GOOD[:-1] + b',"txt":"x"}', "txt: is not a known field"),
        (GOOD.replace(b'"ada"', b'"../ada"'), "graph: must be 1 to 128"),
        (GOOD.replace(b"Hello", b"\\u0000"), "text: holds the character U+0000"),
        (GOOD.replace(b"Hello", b"\\ud800"), "this is not valid JSON: "),
    ],
)
def test_a_bad_line_is_reported_with_its_number_and_bytes_and_reading_goes_on(bad: bytes, reason: str) -> None:
    first, broken, last = items(GOOD + b"\n" + bad + b"\n" + GOOD)
    assert first == last == TURN
    assert isinstance(broken, BadLine)
    assert (broken.number, broken.raw) == (2, bad)
    assert broken.reason.startswith(reason)


def test_a_line_whose_record_would_be_too_large_is_bad() -> None:
    escaped = orjson.loads(GOOD) | {"text": "\x01" * 32_768, "metadata": {str(n): "\x01" * 1024 for n in range(32)}}
    (reason,) = reasons(items(orjson.dumps(escaped)))
    assert reason.startswith("record: is ")


def test_blank_lines_carriage_returns_and_a_byte_order_mark_are_no_mistakes() -> None:
    assert items(b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n  \n" + GOOD + b"\r\n") == [TURN, TURN]


def test_a_line_over_the_bound_is_reported_and_its_rest_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_BYTES", 100)
    results = items(GOOD + b"\n" + b"x" * 350 + b"\n" + GOOD)
    assert [type(item) for item in results] == [Turn, BadLine, Turn]
    assert reasons(results) == ["line: is over 100 bytes: split it"]


def test_a_graph_given_by_the_caller_takes_the_place_of_the_lines_own() -> None:
    assert items(GOOD, graph="eve") == [TURN.model_copy(update={"graph": "eve"})]


def test_lines_are_read_only_as_the_turns_are_drawn() -> None:
    stream = io.BytesIO((GOOD + b"\n") * 1000)
    next(read(stream, "x.jsonl"))
    assert stream.tell() == len(GOOD) + 1


# ── OpenAI ───────────────────────────────────────────────────────────────────────────────────────────────────────────

CHAT = orjson.dumps(
    {
        "messages": [
            {"role": "tool", "name": "clock", "content": "Be kind."},
            {"role": "user", "name": "Ada", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "text", "text": "Hello"}, {"type": "image_url"}]},
        ]
    }
)


def test_openai_messages_become_turns_of_one_session_per_line() -> None:
    results = [item for item in items(CHAT + b"\n" + CHAT, graph="ada") if isinstance(item, Turn)]
    assert [(t.session, t.speaker, t.role, t.text) for t in results[:3]] == [
        ("line-1", "clock", "tool", "Be kind."),
        ("line-1", "Ada", "user", "Hi"),
        ("line-1", "assistant", "assistant", "Hello"),
    ]
    assert {t.session for t in results[3:]} == {"line-2"}
    assert {t.graph for t in results} == {"ada"}


def test_openai_ids_are_the_same_on_every_import_and_differ_in_all_else() -> None:
    first, again = (items(CHAT + b"\n" + CHAT, graph="ada") for _ in range(2))
    assert first == again
    everything = [*first, *items(CHAT, graph="eve")]
    assert len({item.id for item in everything if isinstance(item, Turn)}) == 9


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_stable_id_does_not_run_its_parts_together(a: str, b: str) -> None:
    assert lines.stable_id(a, b, 0, text="") != lines.stable_id(a + b, "", 0, text="")


def test_openai_messages_without_a_graph_are_refused() -> None:
    with pytest.raises(InvalidMessageError, match="say which graph"):
        items(CHAT)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"messages":[', "this is not valid JSON: "),
        (b"5", "messages: is missing"),
        (b'{"message":[]}', "messages: is missing"),
        (b'{"messages":{}}', "messages: must be a list"),
        (b'{"messages":["Hi"]}', "messages[0]: must be an object"),
        (b'{"messages":[{"content":"Hi"}]}', "messages[0]: must be an object with role"),
        (b'{"messages":[{"role":"user","content":null}]}', "messages[0]: content: holds no text"),
        (b'{"messages":[{"role":"user","content":[{"type":"image_url"}]}]}', "messages[0]: content: holds no text"),
        (b'{"messages":[{"role":"boss","content":"Hi"}]}', "messages[0]: role: must be"),
        (b'{"messages":[{"role":"user","content":' + b"[" * 900 + b"]" * 900 + b"}]}", "messages[0]: content: holds"),
    ],
)
def test_what_is_no_openai_message_is_a_bad_line(raw: bytes, reason: str) -> None:
    results = items(raw + b"\n" + CHAT, graph="ada", format="openai")
    assert len(results) == 4
    assert isinstance(results[0], BadLine)
    assert (results[0].number, results[0].raw) == (1, raw)
    assert results[0].reason.startswith(reason)


def test_a_bad_message_does_not_take_its_neighbours_with_it() -> None:
    raw = CHAT.replace(b'"Hi"', b"null")
    assert [type(item) for item in items(raw, graph="ada")] == [Turn, BadLine, Turn]


# ── LoCoMo ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def sample(**changes: Any) -> dict[str, Any]:
    conversation = {
        "speaker_a": "Ada",
        "session_10_date_time": "12:09 am on 13 September, 2023",
        "session_10": [{"speaker": "Eve", "dia_id": "D10:1", "text": "Later"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {"speaker": "Ada", "dia_id": "D2:1", "text": "Look!", "blip_caption": "a photo of a cat", "img_url": ["x"]},
            {"speaker": "Eve", "dia_id": "D2:2", "text": "Sweet"},
        ],
    }
    return {"sample_id": "26", "conversation": conversation | changes, "qa": [{"question": "?"}]}


def locomo_turns(*samples: Any, graph: str | None = None) -> list[Item]:
    return items(orjson.dumps(samples), "locomo.json", graph)


def test_locomo_sessions_come_in_their_order_with_times_from_their_dates() -> None:
    first, second, third = locomo_turns(sample())
    assert first == Turn(
        id="26/D2:1",
        graph="locomo-26",
        speaker="Ada",
        text="Look! [shares a photo: a photo of a cat]",
        session="session_2",
        at=1_683_554_160_000,
        metadata={"dia_id": "D2:1"},
    )
    assert isinstance(second, Turn)
    assert isinstance(third, Turn)
    assert second.at == 1_683_554_160_000 + locomo.TURN_MS
    assert (third.session, third.at) == ("session_10", 1_694_563_740_000)


def test_a_sample_id_is_made_a_valid_graph_id() -> None:
    named = [{**sample(), "sample_id": name} for name in ("a b/c", "x" * 200, 7)]
    graphs = {item.graph for item in locomo_turns(*named) if isinstance(item, Turn)}
    assert graphs == {"locomo-a-b-c", ("locomo-" + "x" * 200)[:128], "locomo-7"}


def test_in_one_graph_the_sessions_of_two_samples_stay_apart() -> None:
    results = locomo_turns(sample(), {**sample(), "sample_id": "27"}, graph="all")
    assert {(t.graph, t.session) for t in results if isinstance(t, Turn)} == {
        ("all", f"{name}/session_{n}") for name in ("26", "27") for n in (2, 10)
    }


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("text", "conversation: must be an object"),
        ({"sample_id": "26"}, "conversation: must be an object"),
        (sample(session_2_date_time="yesterday"), "session_2_date_time: must be like"),
        (sample(session_2_date_time=None), "session_2_date_time: must be like"),
        (sample(session_2="text"), "session_2: must be a list"),
        (sample(session_2=["text"]), "turn: must be an object"),
        (sample(session_2=[{"dia_id": "D2:1", "text": "Hi"}]), "speaker: must be"),
    ],
)
def test_what_is_wrong_in_one_conversation_is_reported_and_the_rest_is_read(broken: Any, reason: str) -> None:
    results = locomo_turns(broken, sample())
    (bad,) = [item for item in results if isinstance(item, BadLine)]
    assert bad.number == 1
    assert bad.reason.startswith(reason)
    assert results[-3:] == locomo_turns(sample())


def test_deep_nesting_where_a_turn_should_be_is_a_bad_line() -> None:
    raw = orjson.dumps([sample(session_2=["deep"])]).replace(b'"deep"', b"[" * 900 + b"]" * 900)
    assert reasons(items(raw, "locomo.json")) == ["turn: must be an object with speaker, dia_id and text"]


@pytest.mark.parametrize("raw", [b"[", b"\xff", b'{"sample_id":"26"}', b'["\\ud800"]'])
def test_a_file_that_is_no_array_is_one_bad_line(raw: bytes) -> None:
    (bad,) = items(raw, "locomo.json", format="locomo")
    assert isinstance(bad, BadLine)
    assert bad.reason.startswith("file: ")


# ── which format it is ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("head", "name", "format"),
    [
        (GOOD, "", "jsonl"),
        (CHAT, "", "openai"),
        (b'{"id":1, "messages" : [', "", "openai"),
        (b'{"id":"1","text":"he wrote \\"messages\\": [] and left"}', "", "jsonl"),
        (b"\xef\xbb\xbf \n[{", "", "locomo"),
        (b"not JSON", "broken.JSONL", "jsonl"),
        (b"", "empty.ndjson", "jsonl"),
    ],
)
def test_a_format_is_known_by_its_first_bytes_or_its_name(head: bytes, name: str, format: str) -> None:
    assert detect(head, name).name == format


def test_a_file_in_no_known_format_is_refused_with_those_that_are() -> None:
    with pytest.raises(InvalidMessageError, match=r"notes\.txt: is in none of the formats .*\bjsonl\b"):
        items(b"Dear diary", "notes.txt")
    with pytest.raises(InvalidMessageError, match=r"choose one of .*\bjsonl\b"):
        items(GOOD, format="pdf")


@pytest.mark.parametrize(
    ("raw", "advice"),
    [
        (b'[{"text": "Hello"}, {"id": "2"}]', "The first object lacks `id`, `graph`, `speaker`"),
        (b'[{"text": "Hello", "speaker": "Ada"}]', "The first object lacks `id`, `graph`"),
        (b'[{"id": "1", "graph": "ada", "speaker": "Ada", "text": "Hello"}]', '"at": "2023-05-08T14:00"}'),
        (b"[1, 2, 3]", "It holds no JSON objects"),
        (b'["Hello"]', "It holds no JSON objects"),
        (b"[" * 60_000, "It holds no JSON objects"),
        (b'[{"a": ' + b'{"a": ' * 9_000, "It holds no JSON objects"),
        (b"Dear diary", "Name its format with --format"),
    ],
)
def test_json_in_no_known_format_is_told_which_fields_a_turn_needs(raw: bytes, advice: str) -> None:
    with pytest.raises(InvalidMessageError) as refused:
        items(raw, "notes.json")
    assert advice in str(refused.value)
    assert 'Write one turn per line, as {"id": "1", "graph": "ada"' in str(refused.value)


def test_the_example_of_a_turn_is_one() -> None:
    (turn,) = items(jsonl.EXAMPLE.encode(), "notes.jsonl")
    assert isinstance(turn, Turn)
    assert turn.at == 1_683_554_400_000


def test_a_line_without_several_fields_names_them_together() -> None:
    (reason,) = reasons(items(b'{"text": "Hello", "mood": 1}', "notes.jsonl"))
    assert reason.startswith("`id`, `graph` and `speaker` are missing: add them; mood: is not a known field")
    assert reasons(items(b'{"text": "Hello", "graph": "ada", "id": "1"}')) == ["speaker: is missing: add it"]


@pytest.mark.parametrize("format", FORMATS)
def test_an_invalid_graph_is_refused_once_and_not_per_line(format: str) -> None:
    with pytest.raises(InvalidMessageError, match="graph: must be 1 to 128 printable"):
        items(GOOD, graph="../ada", format=format)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for end in (reading, writing):
        try:
            os.close(end)
        except OSError:
            continue  # the test closed it


def test_standard_input_is_read_whole_although_it_cannot_be_rewound(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.write(writing, GOOD + b"\n" + GOOD)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert list(read(stream, "-")) == [TURN, TURN]


def test_a_stream_that_cannot_be_looked_into_needs_its_format_named() -> None:
    class Stream(io.BytesIO):
        def seekable(self) -> bool:
            return False

    with pytest.raises(InvalidMessageError, match="name its format"):
        list(read(Stream(GOOD), "-"))
    assert list(read(Stream(GOOD), "-", format="jsonl")) == [TURN]


def test_no_limit_of_the_importers_is_below_that_of_the_log() -> None:
    assert lines.LINE_BYTES >= limits.TRANSPORT_BYTES


@pytest.mark.parametrize("format", [None, "jsonl", "whatsapp"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_named_as_such_and_not_read_line_by_line(format: str | None, encoding: str) -> None:
    with pytest.raises(InvalidMessageError, match=r"x\.jsonl: is in UTF-16: save it in UTF-8"):
        items(("\ufeff" + GOOD.decode()).encode(encoding), format=format)


def test_an_empty_file_and_a_zip_where_there_can_be_none_are_told_as_what_they_are() -> None:
    assert items(b"") == []
    for raw in (b"", b" \n\n"):
        with pytest.raises(InvalidMessageError, match=r"notes\.txt: is empty"):
            items(raw, "notes.txt")
    with pytest.raises(InvalidMessageError, match=r"x\.jsonl: is compressed by gzip: unpack it"):
        items(b"\x1f\x8b\x08 and so on")
    with pytest.raises(InvalidMessageError, match="is a ZIP, in which no jsonl is looked for: unpack it"):
        items(b"PK\x03\x04 and so on", format="jsonl")


def test_an_array_of_turns_and_a_day_of_slack_are_told_what_to_do_instead() -> None:
    with pytest.raises(
        InvalidMessageError, match=r"is a JSON array of turns, which must be lines\. Write one turn per line"
    ):
        items(b"[" + GOOD + b"]", "turns.json")
    with pytest.raises(InvalidMessageError, match="Slack exports a ZIP"):
        items(b'[{"type":"message","user":"U1","text":"Hi","ts":"1683554160.000200"}]', "2023-05-08.json")


@pytest.mark.parametrize(
    ("format", "raw", "message"),
    [
        ("jsonl", GOOD + b"\n{", "line 2: this is not valid JSON: it ends too early (column 1)"),
        ("locomo", b'[{"sample_id":', "file: is not valid JSON: it ends too early (column 15)"),
        ("locomo", b"[5]", "conversation 1: conversation: must be an object"),
        ("chatgpt", b"[5]", "conversation 1: conversation: must be an object"),
        ("sharegpt", b'[{"id":"x","conversations":[5]}]', "conversation 1: conversations[0]: must be"),
        ("sharegpt", b'\n{"id":"x","conversations":[5]}', "line 2: conversations[0]: must be"),
        ("telegram", b'{"id":1,"messages":[{"id":7,"type":"message","text":5}]}', "chat 1: message 7: text: must be"),
        ("telegram", b"[", "file: is not valid JSON: it ends too early"),
    ],
)
def test_what_is_wrong_is_told_by_what_a_format_is_made_of(format: str, raw: bytes, message: str) -> None:
    (bad,) = [item for item in items(raw, format=format) if isinstance(item, BadLine)]
    assert bad.description.startswith(message)
